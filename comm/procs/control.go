package procs

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/comm/internal/ranks"
)

// control is the channel among the processes of a group, beside the library that carries the data:
// a TCP connection of every rank to rank 0, open from start to end. An end of file is the death of
// a process, seen at once even after kill -9. It carries failures, heartbeats, and with Check the
// signatures of collectives. Rank 0 decides which failure counts.
type control struct {
	rank, size int
	host       string
	life       *comm.Life
	links      []*link // by rank; of a rank other than 0, link 0 alone
	verdict    chan *comm.RankError
	orphan     chan struct{}            // closed when rank 0 is gone
	now        atomic.Pointer[progress] // of this rank
	began      time.Time

	mu     sync.Mutex
	seen   []progress       // of each rank, on rank 0
	checks map[string]*poll // under way, on rank 0
	answer chan string      // of a check
	shared chan []byte      // from rank 0
	closed bool
	after  func() // after close; or nil
}

// progress is what a rank was last seen doing.
type progress struct {
	number uint64 // of the collective, 0 before the first
	kind   comm.Kind
	began  time.Time // of the collective
	heard  time.Time // by rank 0
}

// poll gathers the signatures of a collective.
type poll struct {
	all  []comm.Signature
	from []int // rank in the whole group + 1; 0 before its signature
	n    int
}

const (
	heartbeat   = 2 * time.Second
	silence     = 10 * time.Second // without a heartbeat
	graceOfTell = 2 * time.Second  // for rank 0's verdict
	maxLine     = 1 << 24
)

// hostName returns the name of this machine for messages.
func hostName() string {
	name, err := os.Hostname()
	if err != nil {
		return "unknown host"
	}
	return name
}

// accept makes the control channel on rank 0: it waits on the listener for the other ranks, which
// prove that they know the token. It closes the listener.
func accept(ctx context.Context, listener net.Listener, size int, token string, l *comm.Life) (*control, error) {
	defer listener.Close()
	c := newControl(0, size, l)
	stop := context.AfterFunc(ctx, func() { listener.Close() })
	defer stop()
	type joined struct {
		rank int
		link *link
		err  error
	}
	found := make(chan joined)
	done := make(chan struct{})
	defer close(done)
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				rank, k, err := greet(conn, size, token)
				if k == nil {
					conn.Close()
				}
				select {
				case found <- joined{rank, k, err}:
				case <-done:
					conn.Close()
				}
			}()
		}
	}()
	var refused error
	for n := 1; n < size; {
		select {
		case j := <-found:
			switch {
			case j.err != nil:
				refused = j.err // perhaps a stranger: the missing rank is named if it stays away
			case c.links[j.rank] != nil:
				j.link.conn.Close()
				refused = fmt.Errorf("two processes are rank %d", j.rank)
			default:
				c.links[j.rank] = j.link
				n++
			}
		case <-ctx.Done():
			var missing []int
			for r := 1; r < size; r++ {
				if c.links[r] == nil {
					missing = append(missing, r)
				}
			}
			c.hangUp()
			err := fmt.Errorf("%w: rank 0 waits for ranks %s of %d at %v", comm.CauseOf(ctx), ranks.Short(missing), size, listener.Addr())
			if refused != nil {
				err = fmt.Errorf("%w; refused: %w", err, refused)
			}
			return nil, err
		}
	}
	for r := 1; r < size; r++ {
		if err := c.links[r].send(message{Do: "hello", Size: size, Host: c.host}); err != nil {
			c.hangUp()
			return nil, fmt.Errorf("rank %d: %w", r, err)
		}
	}
	c.start()
	return c, nil
}

// greet verifies who connects.
func greet(conn net.Conn, size int, token string) (int, *link, error) {
	k := newLink(conn)
	_ = conn.SetReadDeadline(time.Now().Add(silence))
	m, err := k.receive()
	_ = conn.SetReadDeadline(time.Time{})
	switch {
	case err != nil || m.Do != "hello":
		return 0, nil, fmt.Errorf("%v is no rank: %w", conn.RemoteAddr(), cmpErr(err, errors.New("no greeting")))
	case subtle.ConstantTimeCompare([]byte(m.Token), []byte(token)) != 1:
		err = fmt.Errorf("rank %d on %s has another token: it belongs to another job", m.Rank, m.Host)
	case m.Size != size:
		err = fmt.Errorf("rank %d on %s is of a group of %d, want %d", m.Rank, m.Host, m.Size, size)
	case m.Rank < 1 || m.Rank >= size:
		err = fmt.Errorf("rank %d on %s is out of range, want 1 … %d", m.Rank, m.Host, size-1)
	}
	if err != nil {
		_ = k.send(message{Do: "dead", Fail: toWire(&comm.RankError{Rank: m.Rank, Host: m.Host, Cause: err})})
		return 0, nil, err
	}
	k.host = m.Host
	return m.Rank, k, nil
}

func cmpErr(err, otherwise error) error {
	if err != nil {
		return err
	}
	return otherwise
}

// connect makes the control channel on a rank other than 0. It asks where rank 0 is and tries the
// addresses in turn until rank 0 answers or ctx is done.
func connect(ctx context.Context, where func() (addresses []string, token string), rank, size int, l *comm.Life) (*control, error) {
	c := newControl(rank, size, l)
	var last error
	for {
		addresses, token := where()
		for _, address := range addresses {
			k, err := c.dial(ctx, address, token)
			if err == nil {
				c.links[0] = k
				c.start()
				return c, nil
			}
			var refused *comm.RankError
			if errors.As(err, &refused) {
				return nil, err
			}
			last = fmt.Errorf("%s: %w", address, err)
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("%w: rank %d does not reach rank 0: %w", comm.CauseOf(ctx), rank, cmpErr(last, errors.New("no address")))
		case <-time.After(pollRendezvous):
		}
	}
}

func (c *control) dial(ctx context.Context, address, token string) (*link, error) {
	attempt, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	var d net.Dialer
	conn, err := d.DialContext(attempt, "tcp", address)
	if err != nil {
		return nil, err
	}
	k := newLink(conn)
	err = k.send(message{Do: "hello", Rank: c.rank, Size: c.size, Token: token, Host: c.host})
	if err == nil {
		stop := context.AfterFunc(ctx, func() { conn.Close() })
		var m message
		m, err = k.receive() // when all ranks are there
		stop()
		switch {
		case err != nil:
		case m.Do == "dead" && m.Fail != nil:
			err = m.Fail.rankError()
		case m.Do != "hello" || m.Size != c.size:
			err = errors.New("this is not rank 0")
		default:
			k.host = m.Host
		}
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return k, nil
}

func newControl(rank, size int, l *comm.Life) *control {
	c := &control{
		rank: rank, size: size, host: hostName(), life: l, links: make([]*link, size),
		verdict: make(chan *comm.RankError, 1), orphan: make(chan struct{}), seen: make([]progress, size), checks: map[string]*poll{},
		answer: make(chan string, 1), shared: make(chan []byte, 1), began: time.Now(),
	}
	c.now.Store(&progress{})
	for r := range c.seen {
		c.seen[r].heard = c.began
	}
	return c
}

// start reads the links and sends heartbeats, until the group is closed or has failed.
func (c *control) start() {
	c.life.Tell(c.announce)
	for r, k := range c.links {
		if k != nil {
			go c.read(r, k)
		}
	}
	go c.beat()
}

func (c *control) hangUp() {
	for _, k := range c.links {
		if k != nil {
			k.conn.Close()
		}
	}
}

// read handles what a rank sends.
func (c *control) read(from int, k *link) {
	for {
		m, err := k.receive()
		if err != nil {
			c.mu.Lock()
			quiet := k.bye || c.closed
			c.mu.Unlock()
			if !quiet {
				if from == 0 {
					close(c.orphan)
					c.life.Fail(c.rank0Died())
					return
				}
				e := &comm.RankError{Rank: from, Host: k.host, Cause: comm.ErrRankDied}
				c.addCollective(e)
				c.life.Fail(e)
			}
			return
		}
		switch m.Do {
		case "beat":
			c.mu.Lock()
			c.seen[from] = progress{number: m.Number, kind: m.Kind, heard: time.Now()}
			c.mu.Unlock()
		case "fail":
			if m.Fail != nil {
				c.life.Fail(m.Fail.rankError())
			}
		case "dead":
			if m.Fail != nil {
				select {
				case c.verdict <- m.Fail.rankError():
				default:
				}
				c.life.Fail(m.Fail.rankError())
			}
		case "bye":
			c.mu.Lock()
			k.bye = true
			c.mu.Unlock()
		case "check":
			if m.Check != nil {
				c.vote(m)
			}
		case "go":
			c.answered(m.Group)
		case "share":
			c.shared <- m.Data
		}
	}
}

// rank0Died is the failure when the process of rank 0 ended. Nobody is left to decide which
// collective it was, and all ranks are to say the same.
func (c *control) rank0Died() *comm.RankError {
	return &comm.RankError{Rank: 0, Host: c.hostOf(0), Cause: comm.ErrRankDied}
}

// finalFailure returns what rank 0 decided before its process ended, or that it ended.
func (c *control) finalFailure() *comm.RankError {
	select {
	case v := <-c.verdict:
		return v
	default:
		return c.rank0Died()
	}
}

// addCollective adds the collective under way to a failure.
func (c *control) addCollective(e *comm.RankError) {
	now := c.now.Load()
	if e.Op == "" && !now.began.IsZero() {
		e.Op, e.Number, e.Elapsed = now.kind.String(), now.number, time.Since(now.began)
	}
}

// announce makes a failure known to all ranks, and returns the one that counts.
func (c *control) announce(e *comm.RankError) *comm.RankError {
	select {
	case v := <-c.verdict: // rank 0 has decided
		return v
	default:
	}
	if c.rank == 0 {
		e = c.blame(e)
		if e.Host == "" {
			e.Host = c.hostOf(e.Rank)
		}
		for r, k := range c.links {
			if k != nil && r != 0 {
				_ = k.send(message{Do: "dead", Fail: toWire(e)})
			}
		}
		return e
	}
	select {
	case <-c.orphan:
		return c.finalFailure()
	default:
	}
	_ = c.links[0].send(message{Do: "fail", Fail: toWire(e)})
	select {
	case v := <-c.verdict:
		return v
	case <-c.orphan:
		return c.finalFailure()
	case <-time.After(graceOfTell):
		return e
	}
}

// blame changes a timeout to name a rank that is behind, as heartbeats tell.
func (c *control) blame(e *comm.RankError) *comm.RankError {
	if !errors.Is(e.Cause, comm.ErrTimeout) || e.Number == 0 {
		return e
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now.Load()
	c.seen[0] = progress{number: now.number, kind: now.kind}
	behind, text := -1, ""
	for r, s := range c.seen {
		if s.number < e.Number && (behind < 0 || s.number < c.seen[behind].number) {
			behind = r
		}
	}
	out := *e
	out.Rank, out.Host = behind, c.hostOf(behind)
	if behind < 0 {
		text = "all ranks were seen in the collective"
	} else {
		text = fmt.Sprintf("rank %d was last seen before it, after %d collectives", behind, c.seen[behind].number)
	}
	out.Cause = fmt.Errorf("%w; %s", e.Cause, text)
	return &out
}

// hostOf returns the host of a rank as far as this rank knows it.
func (c *control) hostOf(rank int) string {
	switch {
	case rank == c.rank:
		return c.host
	case rank >= 0 && rank < c.size && c.links[rank] != nil:
		return c.links[rank].host
	}
	return ""
}

// enter notes the collective under way.
func (c *control) enter(k *comm.Collective) {
	c.now.Store(&progress{number: k.Number, kind: k.Kind, began: time.Now()})
}

// leave notes the end of a collective.
func (c *control) leave() {
	p := *c.now.Load()
	p.began = time.Time{}
	c.now.Store(&p)
}

// beat sends heartbeats to rank 0, which also looks for ranks that send none.
func (c *control) beat() {
	interval := min(heartbeat, max(c.life.Timeout()/8, 5*time.Millisecond))
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-c.life.Context().Done():
			return
		case <-tick.C:
		}
		c.mu.Lock()
		closed := c.closed
		c.mu.Unlock()
		if closed {
			return
		}
		if c.rank != 0 {
			now := c.now.Load()
			_ = c.links[0].send(message{Do: "beat", Number: now.number, Kind: now.kind})
			continue
		}
		c.mu.Lock()
		var lost *comm.RankError
		for r := 1; r < c.size; r++ {
			if quiet := time.Since(c.seen[r].heard); quiet > max(silence, 5*interval) && !c.links[r].bye {
				lost = &comm.RankError{Rank: r, Host: c.links[r].host, Cause: fmt.Errorf("%w: no heartbeat for %v", comm.ErrRankDied, quiet.Round(time.Second))}
			}
		}
		c.mu.Unlock()
		if lost != nil {
			c.addCollective(lost)
			c.life.Fail(lost)
		}
	}
}

// check compares the signatures of a collective of a group among its ranks. group names the group;
// rank and size are within it.
func (c *control) check(ctx context.Context, k *comm.Collective, group string, rank, size int) error {
	s := k.Signature()
	m := message{Do: "check", Check: &s, Group: fmt.Sprint(group, "/", k.Number), Member: rank, Of: size, Rank: c.rank}
	if c.rank == 0 {
		c.vote(m)
	} else if err := c.links[0].send(m); err != nil {
		return &comm.RankError{Rank: 0, Cause: fmt.Errorf("%w: %w", comm.ErrRankDied, err)}
	}
	for {
		select {
		case name := <-c.answer:
			if name == m.Group {
				return nil
			}
		case <-c.life.Context().Done():
			return c.life.Failure()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// vote counts a signature on rank 0. The last one decides.
func (c *control) vote(m message) {
	c.mu.Lock()
	p := c.checks[m.Group]
	if p == nil && m.Of > 0 && m.Of <= c.size {
		p = &poll{all: make([]comm.Signature, m.Of), from: make([]int, m.Of)}
		c.checks[m.Group] = p
	}
	if p == nil || m.Of != len(p.all) || m.Member < 0 || m.Member >= m.Of || p.from[m.Member] != 0 {
		c.mu.Unlock()
		c.life.Fail(&comm.RankError{Rank: m.Rank, Cause: fmt.Errorf("%w: an invalid signature", comm.ErrMismatch)})
		return
	}
	p.all[m.Member], p.from[m.Member] = *m.Check, m.Rank+1
	p.n++
	full := p.n == m.Of
	if full {
		delete(c.checks, m.Group)
	}
	c.mu.Unlock()
	if !full {
		return
	}
	if bad, err := comm.Disagree(p.all); err != nil {
		e := &comm.RankError{Rank: p.from[bad] - 1, Cause: err}
		c.addCollective(e)
		c.life.Fail(e)
		return
	}
	for _, r := range p.from {
		if r > 1 {
			_ = c.links[r-1].send(message{Do: "go", Group: m.Group})
		} else {
			c.answered(m.Group)
		}
	}
}

func (c *control) answered(group string) {
	select {
	case c.answer <- group:
	case <-c.life.Context().Done():
	}
}

// share gives every rank the data of rank 0.
func (c *control) share(ctx context.Context, data []byte) ([]byte, error) {
	if c.rank == 0 {
		for r := 1; r < c.size; r++ {
			if err := c.links[r].send(message{Do: "share", Data: data}); err != nil {
				return nil, &comm.RankError{Rank: r, Host: c.links[r].host, Cause: fmt.Errorf("%w: %w", comm.ErrRankDied, err)}
			}
		}
		return data, nil
	}
	select {
	case data := <-c.shared:
		return data, nil
	case <-c.life.Context().Done():
		return nil, c.life.Failure()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// close ends the channel on this rank. The others see that it ended in order.
func (c *control) close() {
	if c.after != nil {
		defer c.after()
		c.after = nil
	}
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	for _, k := range c.links {
		if k != nil {
			_ = k.send(message{Do: "bye"})
		}
	}
	c.hangUp()
}
