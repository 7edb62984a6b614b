// Package atomicfile writes files that appear complete or not at all.
//
// The bytes go to a temporary file in the directory of the target, which is
// flushed to the disk and renamed over the target. Until then a file of that
// name stays as it was; on an error nothing is left behind.
package atomicfile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// File is a file that is being written. It must be ended by Commit or Abort;
// Abort after Commit does nothing, so it can be deferred.
type File struct {
	f      *os.File
	path   string // as given, which errors name
	target string
	temp   string // "" for a target that is not a regular file
	mode   fs.FileMode
	done   bool
}

// Create begins a file at path. An existing one keeps its permissions, and a
// symbolic link is followed. A target that is no regular file, such as a pipe
// or a terminal, is written to directly.
func Create(path string) (*File, error) {
	target := path
	if p, err := filepath.EvalSymlinks(path); err == nil {
		target = p
	}
	a := &File{path: path, target: target}
	switch info, err := os.Stat(target); {
	case err == nil && info.IsDir():
		return nil, &fs.PathError{Op: "create", Path: path, Err: errors.New("is a directory")}
	case err == nil && !info.Mode().IsRegular():
		a.f, err = os.OpenFile(target, os.O_WRONLY, 0)
		if err != nil {
			return nil, err
		}
		return a, nil
	case err == nil:
		a.mode = info.Mode().Perm()
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	for try := 0; ; try++ {
		a.temp = filepath.Join(filepath.Dir(target), fmt.Sprintf(".%s.%08x.tmp", filepath.Base(target), rand.Uint32()))
		f, err := os.OpenFile(a.temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if errors.Is(err, fs.ErrExist) && try < 100 {
			continue
		}
		if err != nil {
			return nil, a.named(err)
		}
		a.f = f
		return a, nil
	}
}

// named returns err with the path of the file in place of the temporary one.
func (a *File) named(err error) error {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		return &fs.PathError{Op: path.Op, Path: a.path, Err: path.Err}
	case errors.As(err, &link):
		return &fs.PathError{Op: link.Op, Path: a.path, Err: link.Err}
	}
	return err
}

// Write appends p.
func (a *File) Write(p []byte) (int, error) {
	n, err := a.f.Write(p)
	if err != nil {
		err = a.named(err)
	}
	return n, err
}

// Commit flushes the file to the disk and gives it its name. On an error the
// temporary file is removed and the target untouched.
func (a *File) Commit() error {
	if a.done {
		return errors.New("atomicfile: Commit of a file that is closed")
	}
	if a.temp == "" {
		a.done = true
		if err := a.f.Close(); err != nil {
			return a.named(err)
		}
		return nil
	}
	err := a.f.Sync()
	if err == nil && a.mode != 0 {
		err = a.f.Chmod(a.mode)
	}
	if e := a.f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(a.temp, a.target)
	}
	a.done = true
	if err != nil {
		os.Remove(a.temp)
		return a.named(err)
	}
	// The name is on the disk only once the directory is. Not every system
	// can sync one, and the file itself is whole either way.
	if d, e := os.Open(filepath.Dir(a.target)); e == nil {
		_ = d.Sync()
		d.Close()
	}
	return nil
}

// Abort removes what was written and leaves the target as it was.
func (a *File) Abort() {
	if a.done {
		return
	}
	a.done = true
	a.f.Close()
	if a.temp != "" {
		os.Remove(a.temp)
	}
}

// WriteFile writes the file at path with write. An error of write, and a
// context that has ended, leave the target as it was.
func WriteFile(ctx context.Context, path string, write func(w io.Writer) error) error {
	a, err := Create(path)
	if err != nil {
		return err
	}
	defer a.Abort()
	if err := write(a); err != nil {
		return err
	}
	if ctx != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return a.Commit()
}
