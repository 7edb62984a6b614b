package jit

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"github.com/hiveblas/hiveblas/internal/atomicfile"
)

// format is the first line of a file; the second is an Entry as JSON, and the
// rest is the image.
const format = "hiveblas kernel 1\n"

const extension = ".hbk"

// Entry describes a file of the cache.
type Entry struct {
	Key      string    `json:"key"` // hash of source, architecture and compiler
	Name     string    `json:"name"`
	Arch     string    `json:"arch"`
	Compiler string    `json:"compiler"`
	Time     time.Time `json:"time"` // of compiling
	Sum      string    `json:"sum"`  // SHA-256 of the image
	// The rest is not in the file.
	Path    string `json:"-"`
	Bytes   int64  `json:"-"` // size of the file
	Damaged error  `json:"-"` // why it would be made anew, or nil
}

var errDamaged = errors.New("damaged")

func (c *Cache) path(k key) string {
	return filepath.Join(c.dir, hex.EncodeToString(k[:20])+extension)
}

// read returns the image of k in the file at path. A file that is there and
// wrong is errDamaged.
func read(path string, k key) ([]byte, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	e, image, err := parse(data)
	if err != nil {
		return nil, err
	}
	if e.Key != hex.EncodeToString(k[:]) {
		return nil, fmt.Errorf("%w: the kernel is another", errDamaged)
	}
	return image, nil
}

func parse(data []byte) (Entry, []byte, error) {
	var e Entry
	rest, ok := bytes.CutPrefix(data, []byte(format))
	if !ok {
		return e, nil, fmt.Errorf("%w: it does not begin as a kernel does", errDamaged)
	}
	head, image, ok := bytes.Cut(rest, []byte("\n"))
	if !ok {
		return e, nil, fmt.Errorf("%w: it is truncated", errDamaged)
	}
	if err := json.Unmarshal(head, &e); err != nil {
		return e, nil, fmt.Errorf("%w: %w", errDamaged, err)
	}
	if sum := sha256.Sum256(image); e.Sum != hex.EncodeToString(sum[:]) {
		return e, nil, fmt.Errorf("%w: the checksum differs", errDamaged)
	}
	return e, image, nil
}

// write writes e and the image to path, whole or not at all.
func write(path string, e Entry, image []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := atomicfile.Create(path)
	if err != nil {
		return err
	}
	defer f.Abort()
	sum := sha256.Sum256(image)
	e.Sum = hex.EncodeToString(sum[:])
	head, err := json.Marshal(e)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	w.WriteString(format)
	w.Write(head)
	w.WriteByte('\n')
	w.Write(image)
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Commit()
}

// List returns what is on the disk, for every architecture and compiler, the
// newest first.
func (c *Cache) List() ([]Entry, error) {
	if c == nil || c.dir == "" {
		return nil, nil
	}
	files, err := os.ReadDir(c.dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []Entry
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), extension) || strings.HasPrefix(f.Name(), ".") {
			continue
		}
		path := filepath.Join(c.dir, f.Name())
		data, err := os.ReadFile(path)
		if errors.Is(err, os.ErrNotExist) {
			continue // another process has cleared it
		}
		var e Entry
		if err == nil {
			e, _, err = parse(data)
		}
		e.Path, e.Bytes, e.Damaged = path, int64(len(data)), err
		out = append(out, e)
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].Time.After(out[j].Time) })
	return out, nil
}

// Clear removes all that List returns and what interrupted processes have left,
// no other file, and returns how many files it was. Kernels in memory stay.
func (c *Cache) Clear() (int, error) {
	if c == nil || c.dir == "" {
		return 0, nil
	}
	files, err := os.ReadDir(c.dir)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	n := 0
	var failed []error
	for _, f := range files {
		kept := strings.HasSuffix(f.Name(), extension)
		unfinished := strings.HasPrefix(f.Name(), ".") && strings.HasSuffix(f.Name(), ".tmp") && strings.Contains(f.Name(), extension+".")
		if !kept && !unfinished {
			continue
		}
		switch err := os.Remove(filepath.Join(c.dir, f.Name())); {
		case err == nil:
			n++
		case !errors.Is(err, os.ErrNotExist):
			failed = append(failed, err)
		}
	}
	return n, errors.Join(failed...)
}
