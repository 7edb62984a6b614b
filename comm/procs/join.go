package procs

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/comm/nccl"
)

// A JoinOption changes Join.
type JoinOption func(*joining)

type joining struct {
	launch     *Launch
	device     comm.Device
	rendezvous string
	token      string
	opts       []comm.Option
}

// As gives Join the place of the process, instead of Detect.
func As(l Launch) JoinOption { return func(j *joining) { j.launch = &l } }

// OnGPU makes buffers of the group live on a device; NCCL carries the data.
func OnGPU(d comm.Device) JoinOption { return func(j *joining) { j.device = d } }

// Rendezvous says how the processes find each other: "mpi", by the launcher of Open MPI;
// "tcp://host:port", where rank 0 listens; or "file:///path", a file on a disk that all see, in
// which rank 0 writes where it listens. The default is HIVEBLAS_RENDEZVOUS, else mpi under Open
// MPI, else tcp at the address of the launcher.
func Rendezvous(url string) JoinOption { return func(j *joining) { j.rendezvous = url } }

// Token is a secret that all processes of a job know, for tcp; the default is HIVEBLAS_TOKEN, else
// the job's number by the launcher, which keeps jobs apart but is no secret.
func Token(secret string) JoinOption { return func(j *joining) { j.token = secret } }

// With gives the group options.
func With(opts ...comm.Option) JoinOption {
	return func(j *joining) { j.opts = append(j.opts, opts...) }
}

// Join returns the group of all processes of the job; Detect gives the rank of this process.
// Without a launcher the group is this process alone. With OnGPU the data go by NCCL, else by MPI
// between buffers of the host, for which the launcher must be Open MPI's. All processes call it; it
// fails after two minutes if some are missing, and names them on rank 0.
func Join(ctx context.Context, options ...JoinOption) (comm.Comm, error) {
	if ctx == nil {
		ctx = context.Background()
	}
	j := joining{rendezvous: os.Getenv("HIVEBLAS_RENDEZVOUS"), token: os.Getenv("HIVEBLAS_TOKEN")}
	for _, f := range options {
		if f != nil {
			f(&j)
		}
	}
	if j.launch == nil {
		l, err := Detect(nil)
		if err != nil {
			return nil, err
		}
		j.launch = &l
	}
	l := *j.launch
	if l.Size < 1 || l.Rank < 0 || l.Rank >= l.Size {
		return nil, &comm.ArgumentError{Op: "Join", Arg: "the launch", Reason: fmt.Sprintf("says rank %d of %d", l.Rank, l.Size), Remedy: "give a rank of 0 … size−1"}
	}
	switch {
	case j.device == nil && l.By == "openmpi":
		return JoinMPI(ctx, j.opts...)
	case j.device == nil && l.Size > 1:
		return nil, fmt.Errorf("%w: buffers of the host travel between processes by Open MPI, and %s started this one: use mpirun, or GPUs", ErrLaunch, cmpText(l.By, "no launcher"))
	case j.device == nil:
		group, err := comm.Local(1, j.opts...)
		if err != nil {
			return nil, err
		}
		return group[0], nil
	case l.Size == 1:
		group, err := comm.Peers([]comm.Device{j.device}, j.opts...)
		if err != nil {
			return nil, err
		}
		return group[0], nil
	}
	return j.nccl(ctx, l)
}

// nccl joins processes of one GPU each.
func (j *joining) nccl(ctx context.Context, l Launch) (comm.Comm, error) {
	if _, _, err := nccl.Version(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, initTimeout, comm.ErrTimeout)
	defer cancel()
	life := comm.NewLife(j.opts...)
	c, err := j.meet(ctx, l, life)
	if err != nil {
		return nil, fmt.Errorf("rank %d of %d: %w", l.Rank, l.Size, err)
	}
	fail := func(err error) (comm.Comm, error) {
		var known *comm.RankError
		if !errors.As(err, &known) {
			known = &comm.RankError{Rank: l.Rank, Host: c.host, Cause: err}
		}
		err = life.Fail(known)
		c.close()
		return nil, err
	}
	var id []byte
	if l.Rank == 0 {
		if id, err = nccl.NewID(); err != nil {
			return fail(err)
		}
	}
	if id, err = c.share(ctx, id); err != nil {
		return fail(err)
	}
	p, err := nccl.New(ctx, j.device, id, l.Rank, l.Size, life)
	if err != nil {
		return fail(err)
	}
	return comm.NewComm(&controlled{Transport: p, control: c, life: life, name: "nccl", rank: l.Rank, size: l.Size, first: true}, l.Rank, l.Size, life, c.host)
}

// meet makes the control channel by the rendezvous.
func (j *joining) meet(ctx context.Context, l Launch, life *comm.Life) (*control, error) {
	how := j.rendezvous
	switch {
	case how != "":
	case l.By == "openmpi":
		how = "mpi"
	case l.Address != "":
		how = "tcp://" + l.Address
	default:
		return nil, fmt.Errorf("%w: %s names no address: set HIVEBLAS_RENDEZVOUS to tcp://host:port or file:///path", ErrLaunch, cmpText(l.By, "no launcher"))
	}
	scheme, rest, _ := strings.Cut(how, "://")
	switch {
	case how == "mpi":
		return meetByMPI(ctx, life)
	case scheme == "tcp" && rest != "":
		token := j.token
		if token == "" {
			token = l.Job
		}
		if token == "" {
			return nil, fmt.Errorf("%w: the processes share no token: set HIVEBLAS_TOKEN to the same secret for all", ErrLaunch)
		}
		if l.Rank != 0 {
			return connect(ctx, func() ([]string, string) { return []string{rest}, token }, l.Rank, l.Size, life)
		}
		_, port, err := net.SplitHostPort(rest)
		if err != nil {
			return nil, fmt.Errorf("%w: %s: %w", ErrLaunch, how, err)
		}
		listener, err := net.Listen("tcp", ":"+port)
		if err != nil {
			return nil, err
		}
		return accept(ctx, listener, l.Size, token, life)
	case scheme == "file" && rest != "":
		return meetByFile(ctx, rest, l, life)
	}
	return nil, fmt.Errorf("%w: the rendezvous %q is none of mpi, tcp://host:port, file:///path", ErrLaunch, how)
}

// meetByFile has rank 0 write where it listens. The file is gone when all have met.
func meetByFile(ctx context.Context, path string, l Launch, life *comm.Life) (*control, error) {
	if l.Rank != 0 {
		return connect(ctx, func() ([]string, string) {
			text, err := os.ReadFile(path)
			var v invitation
			if err != nil || json.Unmarshal(text, &v) != nil {
				return nil, "" // not yet
			}
			return v.addresses(), v.Token
		}, l.Rank, l.Size, life)
	}
	listener, v, err := invite()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(v)
	if err == nil {
		err = writeSecret(path, text)
	}
	if err != nil {
		listener.Close()
		return nil, err
	}
	defer os.Remove(path)
	return accept(ctx, listener, l.Size, v.Token, life)
}

// writeSecret writes a file that the user alone can read, all at once.
func writeSecret(path string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*") // mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

// invite opens a port for the other ranks.
func invite() (net.Listener, *invitation, error) {
	listener, err := net.Listen("tcp", ":0")
	if err != nil {
		return nil, nil, err
	}
	return listener, &invitation{Host: hostName(), Token: rand.Text(), Port: listener.Addr().(*net.TCPAddr).Port, IPs: ownIPs()}, nil
}

// invitation is where rank 0 listens.
type invitation struct {
	Host, Token string
	Port        int
	IPs         []string
}

// addresses lists where rank 0 may be reached, the loopback first if it is on this host.
func (v *invitation) addresses() (list []string) {
	port := fmt.Sprint(v.Port)
	if v.Host == hostName() {
		list = append(list, net.JoinHostPort("127.0.0.1", port))
	}
	for _, ip := range v.IPs {
		list = append(list, net.JoinHostPort(ip, port))
	}
	return append(list, net.JoinHostPort(v.Host, port))
}

// ownIPs returns the addresses of this machine without loopback addresses.
func ownIPs() (list []string) {
	all, _ := net.InterfaceAddrs()
	for _, a := range all {
		if n, ok := a.(*net.IPNet); ok && !n.IP.IsLoopback() && !n.IP.IsLinkLocalUnicast() {
			list = append(list, n.IP.String())
		}
	}
	return list
}

// pollRendezvous is the pause between two attempts to reach rank 0.
const pollRendezvous = 20 * time.Millisecond
