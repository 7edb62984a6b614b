//go:build linux

// Command hosts runs a program of several processes on simulated hosts: network namespaces of this
// machine, joined by a switch that delays frames and loses some. Open MPI starts the processes over
// TCP, as it does on several machines. It needs root, ip, unshare and mpirun:
//
//	go run ./scripts/hosts -hosts 4 -delay 500us -loss 0.1 -- hiveblas-bench rank
//
// Every frame takes the delay, so that a round trip takes twice as much. The processes share the
// processors and the memory of the machine.
package main

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	prefix = "hbhost" // of namespaces and devices
	subnet = "10.77.0."
	mtu    = 9000
)

func main() {
	if len(os.Args) > 3 && os.Args[1] == "-agent" {
		fail(agent(os.Args[2], os.Args[3:]))
		return
	}
	hosts := flag.Int("hosts", 4, "simulate `N` hosts, 2 to 64")
	delay := flag.Duration("delay", 0, "time that a frame takes")
	loss := flag.Float64("loss", 0, "`PERCENT` of the frames that are lost")
	per := flag.Int("per", 1, "start `N` processes on each host")
	flag.Parse()
	switch {
	case *hosts < 2 || *hosts > 64 || *per < 1 || *delay < 0 || !(*loss >= 0 && *loss < 100):
		fail(errors.New("hosts are 2 to 64, processes 1 or more, the delay 0 or more, the loss 0 to 100"))
	case flag.NArg() == 0:
		fail(errors.New("no command; give one after --"))
	}
	fail(run(*hosts, *per, *delay, *loss/100, flag.Args()))
}

func fail(err error) {
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		os.Exit(max(exit.ExitCode(), 1))
	case err != nil:
		fmt.Fprintln(os.Stderr, "hosts:", err)
		os.Exit(1)
	}
}

func name(host int) string    { return fmt.Sprint(prefix, host) }
func address(host int) string { return fmt.Sprint(subnet, host+1) }

// run starts the command on all hosts and waits for it.
func run(hosts, per int, delay time.Duration, loss float64, command []string) error {
	s := &wires{ports: make([]*port, hosts), of: map[[6]byte]int{}, delay: delay, loss: loss}
	defer func() {
		for h := range hosts {
			_ = exec.Command("ip", "netns", "del", name(h)).Run()
		}
	}()
	for h := range hosts {
		if err := s.plug(h); err != nil {
			return err
		}
	}
	for h := range hosts {
		go s.receive(h)
		go s.send(s.ports[h])
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	var list []string
	for h := range hosts {
		list = append(list, fmt.Sprintf("%s:%d", address(h), per))
	}
	args := []string{"netns", "exec", name(0), "mpirun", "--allow-run-as-root", "--bind-to", "none", "--mca", "mpi_yield_when_idle", "1", "-np", fmt.Sprint(hosts * per),
		"--host", strings.Join(list, ","), "--mca", "plm_rsh_agent", self + " -agent", "--mca", "plm_rsh_no_tree_spawn", "1",
		"--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", subnet + "0/24", "--mca", "oob_tcp_if_include", subnet + "0/24"}
	cmd := exec.Command("ip", append(args, command...)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() {
		for range signals {
			_ = cmd.Process.Signal(syscall.SIGTERM)
		}
	}()
	return cmd.Wait()
}

// agent is what Open MPI calls in place of ssh: it starts a command on a host, which has a name and
// a folder of temporary files of its own.
func agent(at string, command []string) error {
	var host int
	if _, err := fmt.Sscanf(at, subnet+"%d", &host); err != nil {
		return fmt.Errorf("%s is none of the hosts", at)
	}
	n := name(host - 1)
	dir, err := os.MkdirTemp("", n+"-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	cmd := exec.Command("ip", "netns", "exec", n, "unshare", "--uts", "sh", "-c",
		"hostname "+n+"; export TMPDIR="+dir+"; "+strings.Join(command, " "))
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	return cmd.Run()
}

// wires are the switch between the hosts.
type wires struct {
	ports []*port
	delay time.Duration
	loss  float64

	mu sync.Mutex
	of map[[6]byte]int // the port of each address
}

// port is the end of a host's wire.
type port struct {
	fd    int
	queue chan frame
}

type frame struct {
	due  time.Time
	data []byte
}

// plug makes a host.
func (s *wires) plug(host int) error {
	fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("/dev/net/tun: %w; run as root on a machine with it", err)
	}
	request, err := unix.NewIfreq(name(host))
	if err != nil {
		return err
	}
	request.SetUint16(unix.IFF_TAP | unix.IFF_NO_PI)
	if err := unix.IoctlIfreq(fd, unix.TUNSETIFF, request); err != nil {
		return fmt.Errorf("device %s: %w", name(host), err)
	}
	s.ports[host] = &port{fd, make(chan frame, 1<<14)}
	n := name(host)
	for _, args := range []string{
		"netns add " + n, "link set " + n + " netns " + n, "-n " + n + " link set lo up",
		fmt.Sprintf("-n %s link set %s mtu %d up", n, n, mtu), fmt.Sprintf("-n %s addr add %s/24 dev %s", n, address(host), n),
	} {
		if out, err := exec.Command("ip", strings.Fields(args)...).CombinedOutput(); err != nil {
			return fmt.Errorf("ip %s: %w: %s", args, err, out)
		}
	}
	return nil
}

// receive queues the frames of a host at their receivers.
func (s *wires) receive(host int) {
	buf := make([]byte, mtu+64)
	for {
		n, err := unix.Read(s.ports[host].fd, buf)
		if err != nil {
			return // the host is gone
		}
		if n < 14 || rand.Float64() < s.loss {
			continue
		}
		f := frame{time.Now().Add(s.delay), append([]byte(nil), buf[:n]...)}
		s.mu.Lock()
		s.of[[6]byte(f.data[6:12])] = host
		to, known := s.of[[6]byte(f.data[:6])]
		s.mu.Unlock()
		for h, p := range s.ports {
			if h != host && (!known || h == to) {
				p.queue <- f
			}
		}
	}
}

// send gives a host its frames when they are due.
func (s *wires) send(p *port) {
	for f := range p.queue {
		time.Sleep(time.Until(f.due))
		if _, err := unix.Write(p.fd, f.data); err != nil && !errors.Is(err, unix.EIO) {
			return
		}
	}
}
