// Package filelock keeps two processes, or two goroutines, from writing the same file at once.
//
// A lock is a small file beside the one that it protects. The owner holds an advisory lock of the
// operating system on it (flock, LockFileEx), which ends with the process, so a crashed owner
// does not block others. Its text names the owner for the message of the next one.
package filelock

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"
)

// Owner is the process that holds a lock. A field that could not be read is zero.
type Owner struct {
	PID   int
	Host  string
	Since time.Time
}

// String describes the owner, such as "process 1234 on host ada since 2026-11-22 13:04:05".
func (o Owner) String() string {
	s := "another process"
	if o.PID > 0 {
		s = fmt.Sprintf("process %d", o.PID)
	}
	if o.Host != "" {
		s += " on host " + o.Host
	}
	if !o.Since.IsZero() {
		s += " since " + o.Since.Local().Format(time.DateTime)
	}
	return s
}

// A HeldError reports that somebody else holds a lock.
type HeldError struct {
	Path  string // of the lock
	Owner Owner
}

func (e *HeldError) Error() string { return e.Path + " is held by " + e.Owner.String() }

// errHeld is what lock returns if another open file holds the lock.
var errHeld = errors.New("held")

// Lock is a lock that is held.
type Lock struct {
	path string
	f    *os.File
}

// Acquire takes the lock of the file path, without waiting. It returns a *HeldError if another open
// file holds the lock, else the error of the file system.
func Acquire(path string) (*Lock, error) {
	for {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
		if err != nil {
			return nil, err
		}
		if err := lock(f); err != nil {
			owner := ownerOf(f)
			f.Close()
			if errors.Is(err, errHeld) {
				return nil, &HeldError{path, owner}
			}
			return nil, &os.PathError{Op: "lock", Path: path, Err: err}
		}
		// The owner before may have removed the file after it was opened here.
		mine, err := f.Stat()
		now, e := os.Stat(path)
		if err == nil && e == nil && os.SameFile(mine, now) {
			l := &Lock{path, f}
			if err := l.sign(); err != nil {
				l.Release()
				return nil, err
			}
			return l, nil
		}
		f.Close()
		if err != nil {
			return nil, err
		}
		if e != nil && !errors.Is(e, os.ErrNotExist) {
			return nil, e
		}
	}
}

// sign writes the owner into the lock.
func (l *Lock) sign() error {
	host, _ := os.Hostname()
	text := fmt.Sprintf("%d\n%s\n%s\n", os.Getpid(), host, time.Now().UTC().Format(time.RFC3339))
	if err := l.f.Truncate(0); err != nil {
		return err
	}
	_, err := l.f.WriteAt([]byte(text), 0)
	return err
}

// ownerOf reads what sign wrote. An owner may be about to write it.
func ownerOf(f *os.File) (o Owner) {
	for try := range 5 {
		if try > 0 {
			time.Sleep(5 * time.Millisecond)
		}
		text, err := io.ReadAll(io.NewSectionReader(f, 0, 1024))
		lines := strings.Split(string(text), "\n")
		if err != nil || len(lines) < 4 {
			continue
		}
		o.PID, _ = strconv.Atoi(lines[0])
		o.Host = lines[1]
		o.Since, _ = time.Parse(time.RFC3339, lines[2])
		break
	}
	return o
}

// Release removes the file of the lock and gives the lock up. Release of a nil lock, or a second
// one, does nothing.
func (l *Lock) Release() {
	if l == nil || l.f == nil {
		return
	}
	release(l.path, l.f)
	l.f = nil
}
