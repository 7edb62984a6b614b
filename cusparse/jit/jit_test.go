package jit_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hiveblas/hiveblas/cusparse/driver"
	"github.com/hiveblas/hiveblas/cusparse/jit"
	"github.com/hiveblas/hiveblas/internal/emu"
	"github.com/hiveblas/hiveblas/internal/sure"
)

// compiler makes an image of the source's text and counts.
type compiler struct {
	n     atomic.Int32
	delay time.Duration
	err   error
}

func (c *compiler) Name() string    { return "counting" }
func (c *compiler) Version() string { return "7" }
func (c *compiler) Compile(source, name, arch string) ([]byte, error) {
	c.n.Add(1)
	time.Sleep(c.delay)
	if source == "panic" {
		panic("a bug of the compiler")
	}
	return []byte("image of " + source + "\nfor " + arch), c.err
}

func (c *compiler) open() (driver.Compiler, error) { return c, nil }

func want(t *testing.T, c *jit.Cache, source, image string) {
	t.Helper()
	got, err := c.Image(source, "k.cu")
	if err != nil || string(got) != image {
		t.Errorf("got %q, %v, want %q", got, err, image)
	}
}

func TestMemoryDiskCompile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	k := new(compiler)
	a := jit.Open(dir, "sm_90", "1", k.open)
	for range 3 {
		want(t, a, "x", "image of x\nfor sm_90")
	}
	if s := a.Stats(); s.Compiled != 1 || s.Memory != 2 || s.Disk != 0 || k.n.Load() != 1 {
		t.Errorf("%+v", s)
	}
	opened := false
	b := jit.Open(dir, "sm_90", "1", func() (driver.Compiler, error) { opened = true; return k, nil })
	want(t, b, "x", "image of x\nfor sm_90")
	if s := b.Stats(); s.Disk != 1 || s.Compiled != 0 || opened {
		t.Errorf("%+v, compiler opened: %v", s, opened)
	}
	want(t, b, "y", "image of y\nfor sm_90")
	want(t, jit.Open(dir, "sm_80", "1", k.open), "x", "image of x\nfor sm_80")
	want(t, jit.Open(dir, "sm_90", "2", k.open), "x", "image of x\nfor sm_90")
	if k.n.Load() != 4 {
		t.Errorf("%d compilations, want one for every source, architecture and version", k.n.Load())
	}
	if a.DiskError() != nil || b.DiskError() != nil {
		t.Error(a.DiskError(), b.DiskError())
	}
}

func TestDamage(t *testing.T) {
	for name, damage := range map[string]func([]byte) []byte{
		"empty":          func(b []byte) []byte { return nil },
		"half":           func(b []byte) []byte { return b[:len(b)/2] },
		"last byte gone": func(b []byte) []byte { return b[:len(b)-1] },
		"flipped":        func(b []byte) []byte { b[len(b)-3] ^= 1; return b },
		"other format":   func(b []byte) []byte { b[0] = 'H'; return b },
		"other key":      func(b []byte) []byte { return bytes.Replace(b, []byte(`"key":"`), []byte(`"key":"00`), 1) },
		"no JSON":        func(b []byte) []byte { return bytes.Replace(b, []byte(`{`), []byte(`[`), 1) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			k := new(compiler)
			want(t, jit.Open(dir, "sm_90", "1", k.open), "x", "image of x\nfor sm_90")
			list, _ := os.ReadDir(dir)
			if len(list) != 1 {
				t.Fatal(list)
			}
			path := filepath.Join(dir, list[0].Name())
			good, _ := os.ReadFile(path)
			sure.Do(os.WriteFile(path, damage(bytes.Clone(good)), 0o644))
			c := jit.Open(dir, "sm_90", "1", k.open)
			if es, err := c.List(); len(es) != 1 || err != nil || (es[0].Damaged == nil) != (name == "other key") {
				t.Errorf("%+v, %v", es, err)
			}
			want(t, c, "x", "image of x\nfor sm_90")
			if s := c.Stats(); s.Damaged != 1 || s.Compiled != 1 || k.n.Load() != 2 {
				t.Errorf("%+v", s)
			}
			c = jit.Open(dir, "sm_90", "1", k.open)
			want(t, c, "x", "image of x\nfor sm_90")
			if s := c.Stats(); s.Disk != 1 {
				t.Errorf("the file was not replaced: %+v", s)
			}
		})
	}
}

func TestConcurrentCallers(t *testing.T) {
	k := &compiler{delay: 20 * time.Millisecond}
	c := jit.Open("off", "sm_90", "1", k.open)
	var wg sync.WaitGroup
	for i := range 40 {
		wg.Go(func() {
			s := fmt.Sprint("source ", i%4)
			if got, err := c.Image(s, "k.cu"); err != nil || string(got) != "image of "+s+"\nfor sm_90" {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
	wg.Wait()
	if s := c.Stats(); k.n.Load() != 4 || s.Compiled != 4 || s.Memory != 36 || s.Time < 4*k.delay {
		t.Errorf("%+v", s)
	}
}

func TestConcurrentProcesses(t *testing.T) {
	if dir := os.Getenv("HB_JIT_TEST_DIR"); dir != "" {
		c := jit.Open(dir, "sm_90", "1", new(compiler).open)
		for i := range 20 {
			s := strings.Repeat(fmt.Sprint(i), 100000)
			want(t, c, s, "image of "+s+"\nfor sm_90")
		}
		if s := c.Stats(); s.Damaged > 0 || c.DiskError() != nil {
			t.Errorf("%+v, %v", s, c.DiskError())
		}
		return
	}
	self := sure.Get(os.Executable())
	dir := t.TempDir()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			cmd := exec.Command(self, "-test.run", "^TestConcurrentProcesses$")
			cmd.Env = append(os.Environ(), "HB_JIT_TEST_DIR="+dir)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
	wg.Wait()
	list, err := os.ReadDir(dir)
	if err != nil || len(list) != 20 {
		t.Errorf("%d files, %v: want 20 and nothing unfinished", len(list), err)
	}
}

func TestDiskThatFails(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	sure.Do(os.WriteFile(file, nil, 0o644))
	k := new(compiler)
	c := jit.Open(filepath.Join(file, "cache"), "sm_90", "1", k.open)
	want(t, c, "x", "image of x\nfor sm_90")
	want(t, c, "x", "image of x\nfor sm_90")
	if c.DiskError() == nil || k.n.Load() != 1 {
		t.Errorf("%v, %d compilations", c.DiskError(), k.n.Load())
	}
}

func TestErrors(t *testing.T) {
	k := &compiler{err: errors.New("no memory")}
	c := jit.Open(t.TempDir(), "sm_90", "1", k.open)
	for n := int32(1); n <= 2; n++ {
		if _, err := c.Image("x", "k.cu"); err != k.err || k.n.Load() != n {
			t.Errorf("got %v after %d: an error that may pass is tried again", err, k.n.Load())
		}
	}
	k.err = nil
	want(t, c, "x", "image of x\nfor sm_90")

	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic is gone")
			}
		}()
		c.Image("panic", "k.cu")
	}()
	k2 := jit.Open("off", "sm_90", "1", func() (driver.Compiler, error) { return nil, driver.ErrNoCompiler })
	if _, err := k2.Image("x", "k.cu"); !errors.Is(err, driver.ErrNoCompiler) {
		t.Errorf("got %v", err)
	}
	if _, err := jit.Open("off", "sm_90", "1", nil).Image("x", "k.cu"); !errors.Is(err, driver.ErrNoCompiler) {
		t.Errorf("got %v", err)
	}
}

func TestCompileErrorShowsLines(t *testing.T) {
	source := "first\nsecond\nthird\nfourth\nfifth"
	for _, log := range []string{
		"k.cu(4): error: no zebra here\n\n1 error detected",
		"k.cu: In function 'void k()':\nk.cu:4:9: error: no zebra here",
	} {
		k := &compiler{err: &driver.CompileError{Name: "k.cu", Log: log}}
		c := jit.Open("off", "sm_90", "1", k.open)
		for range 2 {
			_, err := c.Image(source, "k.cu")
			var ce *driver.CompileError
			if !errors.As(err, &ce) || !strings.Contains(ce.Log, "error: no zebra here\n      2  second\n      3  third\n>     4  fourth\n      5  fifth") {
				t.Errorf("got %v", err)
			}
		}
		if k.n.Load() != 1 {
			t.Errorf("%d compilations of what cannot compile", k.n.Load())
		}
	}
	k := &compiler{err: &driver.CompileError{Name: "k.cu", Log: "k.cu(400): error: beyond the end"}}
	if _, err := jit.Open("off", "sm_90", "1", k.open).Image(source, "k.cu"); !strings.Contains(err.Error(), "beyond the end") {
		t.Errorf("got %v", err)
	}
}

func TestListAndClear(t *testing.T) {
	dir := t.TempDir()
	none := jit.Open(filepath.Join(dir, "none"), "", "", nil)
	if es, err := none.List(); len(es) != 0 || err != nil {
		t.Error(es, err)
	}
	if n, err := none.Clear(); n != 0 || err != nil {
		t.Error(n, err)
	}
	k := new(compiler)
	c := jit.Open(dir, "sm_90", "1", k.open)
	for i := range 3 {
		if _, err := c.Image(fmt.Sprint(i), fmt.Sprint("kernel\n", i)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"mine.txt", ".0123.hbk.00ff00ff.tmp"} {
		sure.Do(os.WriteFile(filepath.Join(dir, name), nil, 0o644))
	}
	es, err := jit.Open(dir, "", "", nil).List()
	if len(es) != 3 || err != nil {
		t.Fatal(es, err)
	}
	seen := map[string]bool{}
	for _, e := range es {
		seen[e.Name] = true
		if e.Arch != "sm_90" || e.Compiler != "counting 7" || time.Since(e.Time) > time.Minute || e.Damaged != nil || e.Bytes < 20 || len(e.Key) != 64 {
			t.Errorf("%+v", e)
		}
	}
	if !seen["kernel\n0"] || !seen["kernel\n2"] {
		t.Errorf("%v", seen)
	}
	if n, err := c.Clear(); n != 4 || err != nil {
		t.Errorf("%d, %v: want three kernels and one unfinished", n, err)
	}
	if list, _ := os.ReadDir(dir); len(list) != 1 || list[0].Name() != "mine.txt" {
		t.Errorf("%v: a file that is not the cache's is gone, or another is left", list)
	}
}

func TestDir(t *testing.T) {
	t.Setenv("HIVEBLAS_CACHE", "")
	t.Setenv("XDG_CACHE_HOME", "/somewhere")
	t.Setenv("HOME", "/somewhere")
	if d := jit.Dir(""); !strings.HasPrefix(d, "/somewhere") || !strings.HasSuffix(d, filepath.Join("hiveblas", "kernels")) {
		t.Error(d)
	}
	t.Setenv("HIVEBLAS_CACHE", "/elsewhere")
	if d := jit.Open("", "", "", nil).Dir(); d != "/elsewhere" {
		t.Error(d)
	}
	if d := jit.Dir("/here"); d != "/here" {
		t.Error(d)
	}
	t.Setenv("HIVEBLAS_CACHE", "off")
	if d := jit.Dir(""); d != "" {
		t.Error(d)
	}
	k := new(compiler)
	c := jit.Open("", "sm_90", "1", k.open)
	want(t, c, "x", "image of x\nfor sm_90")
	if es, err := c.List(); es != nil || err != nil {
		t.Error(es, err)
	}
	if n, err := c.Clear(); n != 0 || err != nil {
		t.Error(n, err)
	}
}

// What comes out of the cache is what the compiler made, with a real one.
func TestEmulator(t *testing.T) {
	k, err := emu.NewCompiler()
	if errors.Is(err, emu.ErrUnavailable) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	const source = "extern \"C\" __global__ void k(int *a) { *a = 1; }\n"
	open := func() (driver.Compiler, error) { return k, nil }
	a, err := jit.Open(dir, "sm_90", k.Version(), open).Image(source, "k.cu")
	if err != nil {
		t.Fatal(err)
	}
	b, err := jit.Open(dir, "sm_90", k.Version(), nil).Image(source, "k.cu")
	if err != nil || !bytes.Equal(a, b) {
		t.Errorf("from the disk: %v", err)
	}
	_, err = jit.Open(dir, "sm_90", k.Version(), open).Image(source+"zebra", "k.cu")
	if err == nil || !strings.Contains(err.Error(), ">     2  zebra") {
		t.Errorf("got %v", err)
	}
}
