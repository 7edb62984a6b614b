package procs

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/hiveblas/hiveblas/comm"
)

// message is a line of JSON.
type message struct {
	Do     string          `json:"do"` // hello, beat, fail, dead, bye, check, go, share
	Rank   int             `json:"rank,omitempty"`
	Size   int             `json:"size,omitempty"`
	Token  string          `json:"token,omitempty"`
	Host   string          `json:"host,omitempty"`
	Number uint64          `json:"number,omitempty"`
	Kind   comm.Kind       `json:"kind,omitempty"`
	Fail   *wireError      `json:"fail,omitempty"`
	Check  *comm.Signature `json:"check,omitempty"`
	Group  string          `json:"group,omitempty"`
	Member int             `json:"member,omitempty"` // rank within Group
	Of     int             `json:"of,omitempty"`     // size of Group
	Data   []byte          `json:"data,omitempty"`
}

// wireError is a comm.RankError between processes.
type wireError struct {
	Rank    int
	Host    string
	Op      string
	Number  uint64
	Text    string
	Is      []int // indices of sentinels
	Elapsed time.Duration
}

// sentinels are the errors that errors.Is finds on every rank.
var sentinels = []error{
	comm.ErrTimeout, comm.ErrMismatch, comm.ErrRankDied, comm.ErrArgument, comm.ErrGroupClosed, comm.ErrInjected, comm.ErrNoOp,
	context.Canceled, context.DeadlineExceeded,
}

func toWire(e *comm.RankError) *wireError {
	w := &wireError{Rank: e.Rank, Host: e.Host, Op: e.Op, Number: e.Number, Text: e.Cause.Error(), Elapsed: e.Elapsed}
	for i, s := range sentinels {
		if errors.Is(e.Cause, s) {
			w.Is = append(w.Is, i)
		}
	}
	return w
}

func (w *wireError) rankError() *comm.RankError {
	cause := &remoteError{text: w.Text}
	for _, i := range w.Is {
		if i >= 0 && i < len(sentinels) {
			cause.is = append(cause.is, sentinels[i])
		}
	}
	return &comm.RankError{Rank: w.Rank, Host: w.Host, Op: w.Op, Number: w.Number, Cause: cause, Elapsed: w.Elapsed}
}

// remoteError is the cause of a failure in another process.
type remoteError struct {
	text string
	is   []error
}

func (e *remoteError) Error() string        { return e.text }
func (e *remoteError) Is(target error) bool { return slices.Contains(e.is, target) }

// link is one connection.
type link struct {
	conn net.Conn
	host string
	in   *bufio.Scanner
	mu   sync.Mutex // of writes
	bye  bool       // the other side closed the group
}

func newLink(conn net.Conn) *link {
	l := &link{conn: conn, in: bufio.NewScanner(conn)}
	l.in.Buffer(make([]byte, 0, 4096), maxLine)
	return l
}

func (l *link) send(m message) error {
	line, err := json.Marshal(m)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = l.conn.SetWriteDeadline(time.Now().Add(silence))
	_, err = l.conn.Write(append(line, '\n'))
	return err
}

func (l *link) receive() (m message, err error) {
	if !l.in.Scan() {
		if err = l.in.Err(); err == nil {
			err = errors.New("the connection was closed")
		}
		return m, err
	}
	return m, json.Unmarshal(l.in.Bytes(), &m)
}
