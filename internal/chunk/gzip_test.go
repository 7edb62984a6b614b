package chunk

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/klauspost/compress/gzip"
)

// Members follow each other, with zeros between and after them; anything else is damage.
func TestGzipMembers(t *testing.T) {
	member := func(text string) string {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		if _, err := io.WriteString(z, text); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	long := strings.Repeat("line\n", 1<<18)
	zeros := strings.Repeat("\x00", 1000)
	for _, c := range []struct {
		reason, file, want string
		err                error
	}{
		{"zeros after the file", member("a\n") + zeros, "a\n", nil},
		{"zeros between members", member("a\n") + "\x00" + member("b\n") + zeros, "a\nb\n", nil},
		{"members", member("a\n") + member("") + member(long), "a\n" + long, nil},
		{"a long member and zeros", member(long) + zeros, long, nil},
		{"other bytes after the zeros", member("a\n") + zeros + "x", "a\n", ErrGzip},
		{"a member that is cut", member("a\n") + zeros + member("b\n")[:15], "a\n", ErrGzip},
		{"one byte of a member", member("a\n") + "\x1f", "a\n", ErrGzip},
	} {
		for _, r := range []io.Reader{strings.NewReader(c.file), iotest.OneByteReader(strings.NewReader(c.file))} {
			plain, _, err := Open(r)
			if err != nil {
				t.Fatal(c.reason, err)
			}
			got, err := io.ReadAll(plain)
			if string(got) != c.want || !errors.Is(err, c.err) {
				t.Errorf("%s: %d bytes, %v; want %d, %v", c.reason, len(got), err, len(c.want), c.err)
			}
		}
	}
}

// limited fails after some bytes.
type limited struct {
	left int
	err  error
}

func (l *limited) Write(p []byte) (int, error) {
	if l.left -= len(p); l.left < 0 {
		return 0, l.err
	}
	return len(p), nil
}

// The file has one member, the text, and the same bytes at every number of threads; errors of
// either side return, and leave no goroutine.
func TestGzip(t *testing.T) {
	var text strings.Builder
	for k := range 200_000 {
		fmt.Fprintln(&text, k, k*k%1000)
	}
	for _, size := range []int{0, 1, gzipBlock - 1, gzipBlock, gzipBlock + 1, text.Len()} {
		want := text.String()[:size]
		var first []byte
		for _, threads := range []int{1, 2, 3, 8, 16} {
			var file bytes.Buffer
			if err := Gzip(&file, threads, func(w io.Writer) error { _, err := io.WriteString(w, want); return err }); err != nil {
				t.Fatal(err)
			}
			z, err := gzip.NewReader(&file)
			if err != nil {
				t.Fatal(err)
			}
			if first == nil {
				first = bytes.Clone(file.Bytes())
			} else if !bytes.Equal(first, file.Bytes()) {
				t.Errorf("%d bytes, %d threads: the file differs", size, threads)
			}
			z.Multistream(false)
			got, err := io.ReadAll(z)
			if err != nil || string(got) != want {
				t.Errorf("%d bytes, %d threads: %d bytes, %v", size, threads, len(got), err)
			}
			if rest, _ := io.ReadAll(&file); len(rest) > 0 {
				t.Errorf("%d bytes follow the member", len(rest))
			}
		}
	}
	before := runtime.NumGoroutine()
	failed := errors.New("failed")
	for _, left := range []int{0, 5, 100, 100_000, 1 << 30} {
		err := Gzip(&limited{left, failed}, 3, func(w io.Writer) error {
			if _, err := io.WriteString(w, text.String()); err != nil || left < 1<<30 {
				return err
			}
			return failed
		})
		if !errors.Is(err, failed) {
			t.Errorf("after %d bytes: %v", left, err)
		}
	}
	for end := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d goroutines are left of %d", runtime.NumGoroutine(), before)
		}
	}
}
