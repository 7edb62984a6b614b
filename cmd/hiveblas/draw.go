package main

import (
	"errors"
	"fmt"
	"image/color"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/hiveblas/hiveblas/internal/atomicfile"
	"github.com/hiveblas/hiveblas/internal/cli"
)

// alarm is the colour of what stands out in a picture.
var alarm = color.RGBA{0xd6, 0x27, 0x28, 0xff}

// checkPicture verifies the file of --plot, before any work. "" is none. It must not overwrite an
// input or the output.
func (j *job) checkPicture(path string, inputs ...string) error {
	bad := func(format string, args ...any) error {
		return cli.Usage(j.cmd.CommandPath(), fmt.Sprintf(format, args...))
	}
	if path == "" {
		if j.cmd.Flags().Changed("plot") {
			return bad("--plot is empty, want a file name")
		}
		return nil
	}
	if strings.ToLower(filepath.Ext(path)) != ".png" {
		return bad("--plot %s: pictures are .png", path)
	}
	if dir, err := os.Stat(filepath.Dir(path)); err != nil || !dir.IsDir() {
		return cli.Fail(path, "the directory "+filepath.Dir(path)+" does not exist", "create it first", nil)
	}
	st, err := os.Stat(path)
	if err == nil && st.IsDir() {
		return cli.Fail(path, "is a directory", "name a file", nil)
	}
	if filepath.Clean(path) == filepath.Clean(j.out.path) {
		return bad("--plot %s is also the output; write to another file", path)
	}
	for _, in := range inputs {
		if from, e := os.Stat(in); err == nil && e == nil && os.SameFile(from, st) {
			return bad("--plot %s is an input; write to another file", path)
		}
	}
	if name := sameFile(j.cmd, "plot", st); name != "" {
		return bad("--plot %s is the file of --%s; write to another file", path, name)
	}
	return nil
}

// draw writes the picture of --plot, which appears complete or not at all.
func (j *job) draw(path string, picture func(w io.Writer) error) error {
	if path == "" {
		return nil
	}
	return j.stage("plot", func() error {
		j.Cleaning.Store(true)
		defer j.Cleaning.Store(false)
		err := atomicfile.WriteFile(j.Ctx, path, picture)
		var e *fs.PathError
		if errors.As(err, &e) { // --plot names the file as the user gave it
			return cli.Fail(path, "cannot be written: "+e.Err.Error(), cli.PathRemedy(e), err)
		}
		return explain(path, err)
	})
}
