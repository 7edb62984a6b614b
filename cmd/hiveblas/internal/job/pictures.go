package job

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

// Alarm is the colour of what stands out in a picture.
var Alarm = color.RGBA{0xd6, 0x27, 0x28, 0xff}

// CheckPicture verifies the file of --plot, before any work. "" is none. It must not overwrite an
// input or the output.
func (j *Job) CheckPicture(path string, inputs ...string) error {
	bad := func(format string, args ...any) error {
		return cli.Usage(j.Cmd.CommandPath(), fmt.Sprintf(format, args...))
	}
	if path == "" {
		if j.Cmd.Flags().Changed("plot") {
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
	if filepath.Clean(path) == filepath.Clean(j.Out.Path) {
		return bad("--plot %s is also the output; write to another file", path)
	}
	for _, in := range inputs {
		if from, e := os.Stat(in); err == nil && e == nil && os.SameFile(from, st) {
			return bad("--plot %s is an input; write to another file", path)
		}
	}
	if name := SameFile(j.Cmd, "plot", st); name != "" {
		return bad("--plot %s is the file of --%s; write to another file", path, name)
	}
	return nil
}

// Draw writes the picture of --plot, which appears complete or not at all.
func (j *Job) Draw(path string, picture func(w io.Writer) error) error {
	if path == "" {
		return nil
	}
	return j.Stage("plot", func() error {
		j.Cleaning.Store(true)
		defer j.Cleaning.Store(false)
		err := atomicfile.WriteFile(j.Ctx, path, picture)
		var e *fs.PathError
		if errors.As(err, &e) { // --plot names the file as the user gave it
			return cli.Fail(path, "cannot be written: "+e.Err.Error(), cli.PathRemedy(e), err)
		}
		return Explain(path, err)
	})
}
