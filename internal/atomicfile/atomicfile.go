// Package atomicfile writes files that appear complete or not at all.
//
// The bytes go to a temporary file in the directory of the target, which is synced
// and then renamed over the target. Until then an existing target is unchanged. An
// error removes the temporary file. Errors name the target. Files beside the target, such
// as names of vertices, change with it.
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

// File is an unfinished file. Commit or Abort must end it. Abort after Commit does
// nothing, so that it can be deferred.
type File struct {
	f      *os.File
	path   string // as given, which errors name
	target string
	temp   string // "" for a target that is not a regular file, and once it is in place
	old    string // second name of the target that a file beside another replaces
	mode   fs.FileMode
	done   bool
	placed bool
	beside []*File
}

// Create begins a file at path. It follows symbolic links and keeps the permissions
// of an existing file. A target that is not a regular file, such as a pipe or a
// terminal, is written directly.
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

// Beside begins a file of path with the bytes of data. Commit puts it in place with a, and Abort
// removes it.
func (a *File) Beside(path string, data []byte) error {
	b, err := Create(path)
	if err != nil {
		return err
	}
	a.beside = append(a.beside, b)
	_, err = b.Write(data)
	return err
}

// Commit syncs the file and renames it to its final name. An error removes the
// temporary file and leaves the target unchanged.
//
// The files of Beside are complete and synced before any rename, and renamed first. If a rename
// fails, Commit restores the targets that it replaced. A crash between the renames leaves the new
// files beside the old target; a checksum in the target lets its reader find that.
func (a *File) Commit() error {
	if a.done {
		return errors.New("atomicfile: Commit of a file that is closed")
	}
	defer a.Abort()
	all := append(a.beside[:len(a.beside):len(a.beside)], a)
	for _, f := range all {
		if err := f.finish(); err != nil {
			return f.named(err)
		}
	}
	for _, f := range all {
		err := error(nil)
		if f != a {
			err = f.keep()
		}
		if err == nil {
			err = f.place()
		}
		if err != nil {
			for _, b := range a.beside {
				b.restore()
			}
			return f.named(err)
		}
	}
	// The rename is durable after a sync of the directory. Not every system can sync
	// one, and the file is complete either way.
	if d, e := os.Open(filepath.Dir(a.target)); e == nil {
		_ = d.Sync()
		d.Close()
	}
	return nil
}

// finish syncs the file and closes it.
func (a *File) finish() (err error) {
	a.done = true
	if a.temp != "" {
		err = a.f.Sync()
		if err == nil && a.mode != 0 {
			err = a.f.Chmod(a.mode)
		}
	}
	if e := a.f.Close(); err == nil {
		err = e
	}
	return err
}

// keep gives an existing target a second name for restore. On a file system without links it
// renames the target.
func (a *File) keep() error {
	if a.temp == "" {
		return nil
	}
	old := a.temp + ".old"
	err := os.Link(a.target, old)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		err = os.Rename(a.target, old)
	}
	if err == nil {
		a.old = old
	} else if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return err
}

// place renames the temporary file to the target.
func (a *File) place() error {
	if a.temp == "" {
		return nil
	}
	err := os.Rename(a.temp, a.target)
	if err == nil {
		a.temp, a.placed = "", true
	}
	return err
}

// restore undoes keep and place.
func (a *File) restore() {
	if a.old != "" {
		if os.Rename(a.old, a.target) == nil {
			return
		}
		a.old = "" // it has the only copy, which Abort must not remove
	} else if a.placed {
		os.Remove(a.target)
	}
}

// Abort removes the temporary files and leaves the targets unchanged.
func (a *File) Abort() {
	for _, b := range a.beside {
		b.Abort()
	}
	if !a.done {
		a.done = true
		a.f.Close()
	}
	if a.temp != "" {
		os.Remove(a.temp)
	}
	if a.old != "" {
		os.Remove(a.old)
	}
}

// A Companion writes a file and takes files beside it, as [File] does.
type Companion interface {
	io.Writer
	Beside(path string, data []byte) error
}

// Through returns w, a buffer or a compressor before file, as a Companion if file is one.
func Through(w, file io.Writer) io.Writer {
	if c, ok := file.(Companion); ok {
		return through{w, c}
	}
	return w
}

type through struct {
	io.Writer
	file Companion
}

func (t through) Beside(path string, data []byte) error { return t.file.Beside(path, data) }

// WriteFile writes the file at path with write. An error of write, or the end of ctx,
// leaves the target unchanged.
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
