package job

import (
	"bufio"
	"bytes"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/hiveblas/hiveblas/graphio"
	"github.com/hiveblas/hiveblas/internal/chunk"
	"github.com/hiveblas/hiveblas/internal/cli"
)

// standardInput is the name of "-" in messages.
const standardInput = "standard input"

// Inputs is what a command has read.
type Inputs struct {
	Graph    *Graph
	Infinite bool   // weights may be infinite
	Kept     []byte // standard input, if it is read twice
	inputs   int    // files of the command line
}

// input is a file of a graph, or standard input.
type input struct {
	name       string // for messages
	file       *os.File
	R          io.Reader
	size       int64 // in bytes, 0 if unknown
	head       []byte
	compressed bool // by gzip
}

// OpenInput opens a file, or standard input for "-".
func (j *Job) OpenInput(path string) (*input, error) {
	in := &input{name: path, R: j.Stdin}
	if path == "-" {
		in.name = standardInput
	} else {
		f, err := os.Open(path)
		if err != nil && isDrawn(path) {
			return nil, cli.Fail(path, j.Cmd.Name()+" reads files", "write the graph with hiveblas generate first", nil)
		}
		if err != nil {
			return nil, err
		}
		in.file, in.R = f, f
		if st, err := f.Stat(); err == nil && st.Mode().IsRegular() {
			in.size = st.Size()
		}
	}
	b := bufio.NewReaderSize(in.R, 1<<16)
	head, err := b.Peek(4096)
	if err != nil && err != io.EOF {
		in.Close()
		return nil, err
	}
	in.R, in.head, in.compressed = b, plainHead(head), chunk.IsGzip(head)
	if in.size > 0 {
		in.R = randomInput{b, in.file}
	}
	if err := j.canRead(in); err != nil {
		in.Close()
		return nil, err
	}
	return in, nil
}

// randomInput is a file that is read from its start, or by a format such as .npz from any place.
type randomInput struct {
	io.Reader
	file *os.File
}

func (r randomInput) ReadAt(p []byte, off int64) (int, error) { return r.file.ReadAt(p, off) }

func (r randomInput) Stat() (fs.FileInfo, error) { return r.file.Stat() }

func (in *input) Close() {
	if in.file != nil {
		in.file.Close()
	}
}

// EachLine calls use with the lines of a text, gzip-compressed or not, and their numbers from 1. It
// drops a byte order mark.
func EachLine(r io.Reader, name string, use func(text string, line int) error) error {
	src, _, err := chunk.NewSource(r)
	for err == nil {
		var text []byte
		var line int64
		if text, line, err = src.Line(); err != nil {
			break
		}
		if err := use(strings.TrimPrefix(string(text), "\ufeff"), int(line)); err != nil {
			return err
		}
	}
	if err == io.EOF {
		return nil
	}
	return cli.Fail(name, Reason(err), "give a text file", err)
}

// keep reads standard input to its end, so that it can be read twice.
func (j *Job) keep(path string) error {
	if path != "-" {
		return nil
	}
	text, err := io.ReadAll(j.Stdin)
	if err != nil {
		return err
	}
	j.Kept = text
	j.Stdin = bytes.NewReader(text)
	return nil
}

// rewind restarts standard input after keep.
func (j *Job) rewind() {
	if j.Kept != nil {
		j.Stdin = bytes.NewReader(j.Kept)
	}
}

// plainHead returns the first bytes of a file, decompressed.
func plainHead(head []byte) []byte {
	plain, _, err := chunk.OpenText(bytes.NewReader(head))
	if err != nil {
		return nil
	}
	text := make([]byte, 4096)
	n, _ := io.ReadFull(plain, text) // a truncated stream gives its first bytes
	return text[:n]
}

// The start of a file in the binary form.
const (
	binaryMagic   = "\x89HGB"
	binaryElement = 11 // offset of the element type
)

// The element types of the binary form.
const (
	elementNone = iota // another format
	ElementBool
	ElementInt8
	ElementInt16
	ElementInt32
	ElementInt64
	ElementUint8
	ElementUint16
	ElementUint32
	ElementUint64
	ElementFloat32
	ElementFloat64
)

// element returns the element type of a file in the binary form, elementNone
// for other files.
func (in *input) element() byte {
	if len(in.head) <= binaryElement || !bytes.HasPrefix(in.head, []byte(binaryMagic)) {
		return elementNone
	}
	return in.head[binaryElement]
}

// real reports whether the file is a Matrix Market file of real numbers.
func (in *input) real() bool {
	line, _, _ := strings.Cut(strings.ToLower(string(in.head)), "\n")
	f := strings.Fields(strings.TrimPrefix(line, "\ufeff"))
	return len(f) == 5 && f[0] == "%%matrixmarket" && (f[3] == "real" || f[3] == "double")
}

// Format returns the format as which the input is read.
func (in *input) Format(flags *ReadFlags) graphio.FileFormat {
	if format, _ := graphio.ParseFormat(flags.Format); format != graphio.FormatAuto {
		return format
	}
	return graphio.DetectFormat(in.head, in.name)
}

// title returns the text of the progress bar.
func (in *input) title() string { return "read " + filepath.Base(in.name) }
