package chunk

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
)

// dribble is a reader that returns a few bytes at a time.
type dribble struct {
	r   io.Reader
	rng *rand.Rand
}

func (d dribble) Read(p []byte) (int, error) {
	return d.r.Read(p[:min(len(p), 1+d.rng.IntN(100_000))])
}

func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d %s\n", i+1, strings.Repeat("x", i%100))
	}
	return b.String()
}

func TestReadKeepsOrderAndNumbers(t *testing.T) {
	text := numbered(100_000)
	for _, final := range []bool{true, false} {
		in := text
		if !final {
			in = strings.TrimSuffix(text, "\n")
		}
		for _, threads := range []int{1, 3} {
			s, taken, err := NewSource(dribble{strings.NewReader(in), rand.New(rand.NewPCG(1, 2))})
			if err != nil {
				t.Fatal(err)
			}
			for want := int64(1); want <= 3; want++ {
				line, number, err := s.Line()
				if err != nil || number != want || !strings.HasPrefix(string(line), fmt.Sprintf("line %d ", want)) {
					t.Fatalf("line %d: %q, %d, %v", want, line, number, err)
				}
				if want == 3 {
					s.Unread(line)
				}
			}
			next, blocks := int64(3), 0
			err = Read(nil, s, threads, func(b Block) Block { return b }, func(b Block) error {
				if b.Line != next {
					t.Fatalf("block at line %d, want %d", b.Line, next)
				}
				if !bytes.HasPrefix(b.Data, fmt.Appendf(nil, "line %d", next)) || b.Data[len(b.Data)-1] != '\n' {
					t.Fatalf("block at line %d begins %.20q", next, b.Data)
				}
				next += int64(bytes.Count(b.Data, []byte("\n")))
				blocks++
				return nil
			})
			if err != nil || next != 100_001 || s.At() != next || taken() != int64(len(in)) || blocks < 4 {
				t.Errorf("threads %d: ended at line %d (%d) after %d bytes and %d blocks, %v", threads, next, s.At(), taken(), blocks, err)
			}
		}
	}
}

func TestReadErrorsComeInFileOrder(t *testing.T) {
	text := numbered(100_000)
	for range 5 {
		s, _, _ := NewSource(strings.NewReader(text))
		err := Read(nil, s, 4, func(b Block) int64 { return b.Line }, func(line int64) error {
			if line > 20_000 {
				return fmt.Errorf("block at %d", line)
			}
			return nil
		})
		s2, _, _ := NewSource(strings.NewReader(text))
		want := Read(nil, s2, 1, func(b Block) int64 { return b.Line }, func(line int64) error {
			if line > 20_000 {
				return fmt.Errorf("block at %d", line)
			}
			return nil
		})
		if err == nil || err.Error() != want.Error() {
			t.Fatalf("got %v, want %v", err, want)
		}
	}
}

func TestReadPanicReachesCaller(t *testing.T) {
	defer func() {
		if recover() != "a bug" {
			t.Error("the panic of a worker was lost")
		}
	}()
	s, _, _ := NewSource(strings.NewReader(numbered(100_000)))
	_ = Read(nil, s, 3, func(b Block) int { panic("a bug") }, func(int) error { return nil })
}

type broken struct{ err error }

func (b broken) Read([]byte) (int, error) { return 0, b.err }

func TestReadStream(t *testing.T) {
	failed := errors.New("failed")
	s, _, err := NewSource(io.MultiReader(strings.NewReader(numbered(50_000)), broken{failed}))
	if err == nil {
		err = Read(nil, s, 2, func(Block) int { return 0 }, func(int) error { return nil })
	}
	if !errors.Is(err, failed) {
		t.Errorf("got %v", err)
	}
	if _, _, err := NewSource(broken{nil}); !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("a reader without progress: %v", err)
	}
	s = &Source{r: broken{nil}, line: 1}
	if err := Read(nil, s, 2, func(Block) int { return 0 }, func(int) error { return nil }); !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("a reader that stops making progress: %v", err)
	}
	s = &Source{r: broken{nil}, line: 1}
	if _, _, err := s.Line(); !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("a reader that stops making progress: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	s, _, _ = NewSource(strings.NewReader(numbered(100_000)))
	n := 0
	err = Read(ctx, s, 2, func(Block) int { return 0 }, func(int) error { n++; cancel(); return nil })
	if !errors.Is(err, context.Canceled) || n > 1 {
		t.Errorf("cancelled: %v after %d blocks", err, n)
	}
}

func TestLongLine(t *testing.T) {
	s, _, _ := NewSource(strings.NewReader(strings.Repeat("x", 3<<20) + "\ny\n"))
	lines := 0
	err := Read(nil, s, 2, func(b Block) int { return bytes.Count(b.Data, []byte("\n")) }, func(n int) error { lines += n; return nil })
	if err != nil || lines != 2 {
		t.Errorf("a line of 3 MiB: %d lines, %v", lines, err)
	}
	endless := strings.NewReader(strings.Repeat("x", 40<<20))
	s, _, _ = NewSource(endless)
	if err := Read(nil, s, 2, func(Block) int { return 0 }, func(int) error { return nil }); !errors.Is(err, ErrLine) {
		t.Errorf("no newline at all: %v", err)
	}
	endless.Reset(strings.Repeat("x", 40<<20))
	s, _, _ = NewSource(endless)
	if _, _, err := s.Line(); !errors.Is(err, ErrLine) {
		t.Errorf("no newline at all: %v", err)
	}
}

func TestWrite(t *testing.T) {
	var b strings.Builder
	written := 0
	err := Write(nil, &b, 3, 100, func(p int, buf []byte) []byte { return fmt.Appendf(buf, "%d ", p) }, func(n int) {
		if n <= written || strings.Count(b.String(), " ") != n {
			t.Errorf("%d pieces reported after %d, with %q", n, written, b.String())
		}
		written = n
	})
	if err != nil || written != 100 {
		t.Fatal(written, err)
	}
	var want strings.Builder
	for p := range 100 {
		fmt.Fprintf(&want, "%d ", p)
	}
	if b.String() != want.String() {
		t.Errorf("got %s", b.String())
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := Write(ctx, &b, 3, 100, func(int, []byte) []byte { return nil }, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if err := Write(nil, &b, 3, 0, nil, nil); err != nil {
		t.Errorf("an empty text: %v", err)
	}
}

// TestItems: blocks end at cuts and keep the numbers of lines. What follows the last cut, or a
// block that is not accepted, is left, with the error that ended the stream.
func TestItems(t *testing.T) {
	failed := errors.New("failed")
	cut := func(text []byte) int { return bytes.LastIndexByte(text, '<') }
	text := strings.Repeat("<one\n<two three\n\n", 50) + "<last\n"
	for _, size := range []int{1, 3, 20, 1000, 10_000} {
		for _, threads := range []int{1, 3} {
			for _, refuse := range []int64{1, 2, 17, 90, 1000} {
				s := Items(io.MultiReader(dribble{strings.NewReader(text), rand.New(rand.NewPCG(1, 2))}, broken{failed}), 5, size, cut)
				var got strings.Builder
				err := Read(nil, s, threads, func(b Block) Block { return b }, func(b Block) error {
					if want := 5 + int64(strings.Count(got.String(), "\n")); b.Line != want {
						t.Fatalf("block at line %d, want %d", b.Line, want)
					}
					if b.Line >= refuse {
						return ErrUnread
					}
					if b.Data[0] != '<' {
						t.Fatalf("block begins %.20q", b.Data)
					}
					got.Write(b.Data)
					return nil
				})
				if err != nil && (err != ErrUnread || got.Len() == len(text)) {
					t.Fatal(err)
				}
				if want := 5 + int64(strings.Count(got.String(), "\n")); s.At() != want {
					t.Errorf("size %d, %d threads: ended at line %d, want %d", size, threads, s.At(), want)
				}
				rest, err := io.ReadAll(s.Rest())
				if got.String()+string(rest) != text || !errors.Is(err, failed) {
					t.Errorf("size %d, %d threads: %q and %q, %v", size, threads, got.String(), rest, err)
				}
				if refuse == 1000 && string(rest) != "<last\n" {
					t.Errorf("size %d, %d threads: %q is left", size, threads, rest)
				}
			}
		}
	}
	s := Items(strings.NewReader(strings.Repeat("x", 40<<20)), 1, 100, cut)
	if err := Read(nil, s, 2, func(Block) int { return 0 }, func(int) error { return nil }); err != nil || s.At() != 1 {
		t.Errorf("no item at all: %v", err)
	}
	if n, err := io.Copy(io.Discard, s.Rest()); n != 40<<20 || err != nil {
		t.Errorf("no item at all: %d bytes are left, %v", n, err)
	}
}
