// Package jit keeps compiled kernels, in memory and on the disk, and compiles
// those that it does not have.
//
// On the disk a kernel is one file, named by the hash of everything that it
// was made from: the source, the architecture, the compiler's version and the
// format of the file. Files are written under another name and renamed, hold
// a checksum, and are made anew when they are damaged, so processes can share
// the folder. Where it cannot be written to, compiling goes on without it.
package jit

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hiveblas/hiveblas/cusparse/driver"
)

// Cache is a cache of the kernels of one architecture. It may be used by
// several goroutines.
type Cache struct {
	dir     string // "" for none
	version string
	arch    string
	open    func() (driver.Compiler, error)

	compilerMu sync.Mutex
	compiler   driver.Compiler

	mu      sync.Mutex
	kernels map[key]*kernel
	stats   Stats
	diskErr error
}

// key is the hash of what a kernel is made from.
type key [sha256.Size]byte

// kernel is an image, or one that somebody is about to have.
type kernel struct {
	ready chan struct{} // closed once the others are set
	image []byte
	err   error
}

// Stats counts what Image has done.
type Stats struct {
	Memory   int           // images that were in memory, or being compiled by another goroutine
	Disk     int           // images read from the disk
	Compiled int           // images compiled
	Damaged  int           // files that were damaged and made anew
	Time     time.Duration // of compiling, summed over goroutines
}

// Open returns the cache in dir of kernels for arch, such as "sm_90". With dir
// "" it is $HIVEBLAS_CACHE, and hiveblas/kernels in os.UserCacheDir without
// that; "off", in either place, keeps nothing on the disk. Nothing is touched
// before the first call of a method.
//
// open is called when the first kernel has to be compiled, since loading a
// compiler takes longer than reading a kernel. version has to tell compilers
// apart without that: driver.CompilerIdentity does for NVRTC.
func Open(dir, arch, version string, open func() (driver.Compiler, error)) *Cache {
	return &Cache{dir: Dir(dir), arch: arch, version: version, open: open, kernels: map[key]*kernel{}}
}

// Dir returns the folder that Open uses for dir, "" for none.
func Dir(dir string) string {
	if dir == "" {
		dir = os.Getenv("HIVEBLAS_CACHE")
	}
	switch dir {
	case "off":
		return ""
	case "":
		user, err := os.UserCacheDir()
		if err != nil {
			return ""
		}
		return filepath.Join(user, "hiveblas", "kernels")
	}
	return dir
}

// Dir returns the folder of the cache, "" for none.
func (c *Cache) Dir() string {
	if c == nil {
		return ""
	}
	return c.dir
}

// errNoCache is the error of a nil cache.
var errNoCache = errors.New("jit: the cache is nil; open one with jit.Open")

// key hashes source with all that makes its image what it is.
func (c *Cache) key(source string) key {
	h := sha256.New()
	for _, s := range []string{format, c.arch, c.version, source} {
		var n [8]byte
		binary.LittleEndian.PutUint64(n[:], uint64(len(s)))
		h.Write(n[:])
		h.Write([]byte(s))
	}
	return key(h.Sum(nil))
}

// Image returns source compiled, from memory, from the disk, or by the
// compiler; name is for messages. Several callers that want the same kernel
// wait for one compilation of it. The image is not to be written to.
//
// The log of a *driver.CompileError shows the lines of source that the
// compiler complains of. That error is kept with the kernel, others are not:
// the next call tries again.
func (c *Cache) Image(source, name string) ([]byte, error) {
	if c == nil {
		return nil, errNoCache
	}
	k := c.key(source)
	c.mu.Lock()
	if c.kernels == nil {
		c.kernels = map[key]*kernel{}
	}
	if e := c.kernels[k]; e != nil {
		c.stats.Memory++
		c.mu.Unlock()
		<-e.ready
		return e.image, e.err
	}
	e := &kernel{ready: make(chan struct{}), err: errors.New("compiling " + name + " has panicked")}
	c.kernels[k] = e
	c.mu.Unlock()

	defer func() { // even if the compiler panics, others must not wait for ever
		var ce *driver.CompileError
		if e.err != nil && !errors.As(e.err, &ce) {
			c.mu.Lock()
			delete(c.kernels, k)
			c.mu.Unlock()
		}
		close(e.ready)
	}()
	e.image, e.err = c.make(k, source, name)
	return e.image, e.err
}

// make reads the image of k or compiles it.
func (c *Cache) make(k key, source, name string) ([]byte, error) {
	if c.dir != "" {
		image, err := read(c.path(k), k)
		c.mu.Lock()
		switch {
		case err == nil:
			c.stats.Disk++
		case errors.Is(err, errDamaged):
			c.stats.Damaged++
		case !errors.Is(err, os.ErrNotExist):
			c.diskErr = err
		}
		c.mu.Unlock()
		if err == nil {
			return image, nil
		}
	}
	compiler, err := c.Compiler()
	if err != nil {
		return nil, err
	}
	start := time.Now()
	image, err := compiler.Compile(source, name, c.arch)
	c.mu.Lock()
	c.stats.Compiled++
	c.stats.Time += time.Since(start)
	c.mu.Unlock()
	if err != nil {
		return nil, explain(err, source)
	}
	if c.dir != "" {
		err := write(c.path(k), Entry{
			Key: hex.EncodeToString(k[:]), Name: name, Arch: c.arch,
			Compiler: compiler.Name() + " " + compiler.Version(), Time: time.Now().UTC().Truncate(time.Second),
		}, image)
		if err != nil {
			c.mu.Lock()
			c.diskErr = err
			c.mu.Unlock()
		}
	}
	return image, nil
}

// Compiler returns the compiler, which is opened if it has not been.
func (c *Cache) Compiler() (driver.Compiler, error) {
	if c == nil {
		return nil, errNoCache
	}
	c.compilerMu.Lock()
	defer c.compilerMu.Unlock()
	if c.compiler == nil {
		if c.open == nil {
			return nil, driver.ErrNoCompiler
		}
		k, err := c.open()
		if err != nil {
			return nil, err
		}
		c.compiler = k
	}
	return c.compiler, nil
}

// Stats returns what has been done so far.
func (c *Cache) Stats() Stats {
	if c == nil {
		return Stats{}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stats
}

// DiskError returns the last error of the disk, which is no reason for Image
// to fail, or nil.
func (c *Cache) DiskError() error {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.diskErr
}

// complaint finds the line number in NVRTC's "name(12): error: …" and in
// g++'s "name:12:5: error: …".
var complaint = regexp.MustCompile(`[(:](\d+)(?:\)|:\d+)?: (?:fatal |catastrophic )?error`)

// explain puts the lines of source that a CompileError's log speaks of below
// what it says of them.
func explain(err error, source string) error {
	var ce *driver.CompileError
	if !errors.As(err, &ce) {
		return err
	}
	lines := strings.Split(source, "\n")
	var out strings.Builder
	shown := 0
	for _, text := range strings.Split(ce.Log, "\n") {
		out.WriteString(text)
		out.WriteByte('\n')
		m := complaint.FindStringSubmatch(text)
		if m == nil || shown == 8 {
			continue
		}
		at, _ := strconv.Atoi(m[1])
		if at < 1 || at > len(lines) {
			continue
		}
		shown++
		for i := max(1, at-2); i <= min(len(lines), at+1); i++ {
			mark := ' '
			if i == at {
				mark = '>'
			}
			fmt.Fprintf(&out, "%c %5d  %s\n", mark, i, lines[i-1])
		}
	}
	return &driver.CompileError{Name: ce.Name, Log: strings.TrimRight(out.String(), "\n")}
}
