package filelock

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestMain is also the process that TestCrash kills while it holds a lock.
func TestMain(m *testing.M) {
	if path := os.Getenv("FILELOCK_TEST_HOLD"); path != "" {
		if _, err := Acquire(path); err != nil {
			os.Stdout.WriteString(err.Error())
			os.Exit(1)
		}
		os.Stdout.WriteString("held\n")
		time.Sleep(time.Minute)
	}
	os.Exit(m.Run())
}

func TestHeld(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.lock")
	first, err := Acquire(path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = Acquire(path)
	var held *HeldError
	if !errors.As(err, &held) || held.Path != path || held.Owner.PID != os.Getpid() || time.Since(held.Owner.Since) > time.Minute {
		t.Fatalf("the second owner gets %#v", err)
	}
	if host, _ := os.Hostname(); held.Owner.Host != host || !strings.Contains(err.Error(), "since 20") {
		t.Errorf("got %v", err)
	}
	first.Release()
	first.Release()
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the lock's file stays: %v", err)
	}
	again, err := Acquire(path)
	if err != nil {
		t.Fatal(err)
	}
	again.Release()
	(*Lock)(nil).Release()
	if _, err := Acquire(filepath.Join(path, "no", "directory")); err == nil || errors.As(err, &held) {
		t.Errorf("without a directory: %v", err)
	}
}

// TestCrash kills an owner: its lock is free, though its file stays.
func TestCrash(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.lock")
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), "FILELOCK_TEST_HOLD="+path)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	line := make([]byte, 5)
	if _, err := out.Read(line); err != nil || string(line) != "held\n" {
		t.Fatalf("the owner says %q, %v", line, err)
	}
	var held *HeldError
	if _, err := Acquire(path); !errors.As(err, &held) || held.Owner.PID != c.Process.Pid {
		t.Errorf("while the owner lives: %v", err)
	}
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait()
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
	l, err := Acquire(path)
	if err != nil {
		t.Fatalf("after the owner died: %v", err)
	}
	l.Release()
}

// TestOneAtATime: of many who take the lock over and over, one has it.
func TestOneAtATime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.lock")
	var inside, taken atomic.Int64
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 200 {
				l, err := Acquire(path)
				if err != nil {
					continue
				}
				if inside.Add(1) != 1 {
					t.Error("two owners")
				}
				taken.Add(1)
				inside.Add(-1)
				l.Release()
			}
		})
	}
	wg.Wait()
	if taken.Load() == 0 {
		t.Error("no goroutine got the lock")
	}
}
