package atomicfile

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/hiveblas/hiveblas/internal/sure"
)

func names(t *testing.T, dir string) []string {
	t.Helper()
	list := sure.Get(os.ReadDir(dir))
	var out []string
	for _, e := range list {
		out = append(out, e.Name())
	}
	return out
}

func TestCommit(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x")
	f, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Abort()
	if _, err := io.WriteString(f, "hello"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file is there before Commit: %v", err)
	}
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
	if data, _ := os.ReadFile(path); string(data) != "hello" || len(names(t, dir)) != 1 {
		t.Errorf("got %q, files %v", data, names(t, dir))
	}
	if f.Commit() == nil {
		t.Error("a second Commit succeeds")
	}
}

func TestAbortAndErrors(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x")
	sure.Do(os.WriteFile(path, []byte("old"), 0o600))
	f, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	f.Abort()
	f.Abort()
	broken := errors.New("broken")
	if err := WriteFile(nil, path, func(w io.Writer) error { io.WriteString(w, "new"); return broken }); err != broken {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	err = WriteFile(ctx, path, func(w io.Writer) error { cancel(); return nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled while writing: got %v", err)
	}
	func() {
		defer func() { recover() }()
		_ = WriteFile(nil, path, func(w io.Writer) error { panic("a bug") })
	}()
	if data, _ := os.ReadFile(path); string(data) != "old" || len(names(t, dir)) != 1 {
		t.Errorf("got %q, files %v", data, names(t, dir))
	}
	if _, err := Create(dir); err == nil {
		t.Error("a directory can be written")
	}
	if _, err := Create(filepath.Join(dir, "none", "x")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no directory: got %v", err)
	}
}

func TestSymlinkAndDevice(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no symbolic links without privileges, and no /dev/null")
	}
	dir := t.TempDir()
	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link")
	sure.Do(os.WriteFile(target, []byte("old"), 0o604))
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(nil, link, func(w io.Writer) error { _, err := io.WriteString(w, "new"); return err }); err != nil {
		t.Fatal(err)
	}
	info, _ := os.Lstat(link)
	data, _ := os.ReadFile(target)
	if info.Mode()&fs.ModeSymlink == 0 || string(data) != "new" {
		t.Errorf("link is %v, target %q", info.Mode(), data)
	}
	if info, _ := os.Stat(target); info.Mode().Perm() != 0o604 {
		t.Errorf("permissions %v", info.Mode())
	}
	if err := WriteFile(nil, os.DevNull, func(w io.Writer) error { _, err := io.WriteString(w, "x"); return err }); err != nil {
		t.Errorf("a device: %v", err)
	}
}

// Errors name the file, not the temporary one beside it.
func TestErrorsNameTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	wants := func(err error) {
		t.Helper()
		var at *fs.PathError
		if !errors.As(err, &at) || at.Path != path {
			t.Errorf("got %v, want an error of %s", err, path)
		}
	}
	f, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	f.f.Close()
	_, err = f.Write([]byte("x"))
	wants(err)
	wants(f.Commit())
	if f, err = Create(path); err != nil {
		t.Fatal(err)
	}
	defer f.Abort()
	if err := os.MkdirAll(filepath.Join(path, "sub"), 0o755); err != nil { // nothing can be renamed over it
		t.Fatal(err)
	}
	wants(f.Commit())
	path = filepath.Join(t.TempDir(), "none", "x")
	_, err = Create(path)
	wants(err)
}

// Files beside another change with it, or not at all.
func TestBeside(t *testing.T) {
	write := func(path, text string, last func()) error {
		return WriteFile(nil, path, func(w io.Writer) error {
			if _, err := io.WriteString(w, text); err != nil {
				return err
			}
			through := Through(io.Discard, w).(Companion)
			if err := errors.Join(through.Beside(path+".names", []byte(text+" names")), through.Beside(path+".more", []byte(text+" more"))); err != nil {
				return err
			}
			last()
			return nil
		})
	}
	for _, c := range []struct {
		reason string
		old    bool
	}{{"nothing is there before", false}, {"older files are there", true}} {
		dir := t.TempDir()
		path := filepath.Join(dir, "x")
		if c.old {
			if err := write(path, "old", func() {}); err != nil {
				t.Fatal(err)
			}
			sure.Do(os.Remove(path))
		}
		before := names(t, dir)
		err := write(path, "new", func() {
			if err := os.MkdirAll(filepath.Join(path, "sub"), 0o755); err != nil { // no file can replace it
				t.Fatal(err)
			}
		})
		var at *fs.PathError
		if !errors.As(err, &at) || at.Path != path {
			t.Errorf("%s: %v", c.reason, err)
		}
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
		if after := names(t, dir); !slices.Equal(before, after) {
			t.Errorf("%s: files %v before a failure, %v after", c.reason, before, after)
		}
		if c.old {
			if data, err := os.ReadFile(path + ".names"); string(data) != "old names" {
				t.Errorf("%s: the file beside has %q (%v)", c.reason, data, err)
			}
		}
		if err := write(path, "new", func() {}); err != nil {
			t.Fatal(err)
		}
		if data, err := os.ReadFile(path + ".names"); string(data) != "new names" || len(names(t, dir)) != 3 {
			t.Errorf("%s: the file beside has %q (%v), files %v", c.reason, data, err, names(t, dir))
		}
	}
}
