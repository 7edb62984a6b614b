// Package text reads program files, and runs their texts on the host: package ctext compiles them,
// and an engine of package host calls the code.
package text

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// File is program.File.
type File struct {
	Name                 string // of the file, for messages
	State, Edge, Message string
	Init                 string
	Seeds                []FileSeed
	Send, Gather, If     string
	Sum, Identity        string
	Apply, Skip          string
	Everywhere           bool
	Idempotent           bool
	Supersteps           int
	Phases               []FilePhase
}

// FileSeed is program.FileSeed.
type FileSeed struct {
	ID    int
	State string
}

// FileError is program.FileError.
type FileError struct {
	File   string
	Line   int
	Reason string
}

func (e *FileError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %s", e.File, e.Reason)
	}
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Reason)
}

var (
	sums = []string{"plus", "times", "min", "max", "any"}
	keys = []string{"state", "edge", "message", "init", "seed", "send", "gather", "if", "sum", "identity", "apply", "skip", "everywhere", "idempotent", "supersteps", "phase", "reverse", "all"}
)

// The limits of a program file, which is written by hand.
const (
	maxFile = 1 << 20
	MaxPart = 1 << 14 // bytes of a line and of a part
)

// Read reads a program file. Messages use name. Read returns a *FileError if the text is
// wrong, and the error of r if reading fails.
func Read(r io.Reader, name string) (*File, error) {
	if r == nil {
		return nil, &FileError{File: name, Reason: "there is no reader"}
	}
	var parts []part
	scan := bufio.NewScanner(io.LimitReader(r, maxFile+1))
	scan.Buffer(make([]byte, 0, 4096), MaxPart)
	size, line := 0, 0
	for scan.Scan() {
		line++
		size += len(scan.Bytes()) + 1
		fail := func(format string, args ...any) (*File, error) {
			return nil, &FileError{name, line, fmt.Sprintf(format, args...)}
		}
		if size > maxFile {
			return fail("the file has more than %d bytes; a program is text written by hand", maxFile)
		}
		text := scan.Text()
		if !utf8.ValidString(text) || strings.ContainsFunc(text, func(c rune) bool { return c < ' ' && c != '\t' && c != '\r' }) {
			return fail("the line is not text; write the program in UTF-8")
		}
		text, _, _ = strings.Cut(text, "#")
		if strings.TrimSpace(text) == "" {
			continue
		}
		if text[0] == ' ' || text[0] == '\t' {
			if len(parts) == 0 {
				return fail("the line begins with a blank and continues nothing; begin it with one of %s", strings.Join(keys, ", "))
			}
			last := &parts[len(parts)-1]
			last.text = strings.TrimSpace(last.text + " " + strings.TrimSpace(text))
			continue
		}
		key, rest, _ := strings.Cut(strings.ReplaceAll(text, "\t", " "), " ")
		key = strings.TrimSpace(key)
		if !slices.Contains(keys, key) {
			return fail("%q is no part of a program; want one of %s", key, strings.Join(keys, ", "))
		}
		parts = append(parts, part{key: key, text: strings.TrimSpace(rest), line: line})
	}
	if err := scan.Err(); errors.Is(err, bufio.ErrTooLong) {
		return nil, &FileError{name, line + 1, fmt.Sprintf("the line has more than %d bytes; continue it on lines that begin with a blank", MaxPart)}
	} else if err != nil {
		return nil, err
	}
	return assemble(name, parts)
}

// A part is a part of a file.
type part struct {
	key, text string
	line      int
	phase     int // from 1; 0 before the phases
}

// assemble makes parts a program.
func assemble(name string, parts []part) (*File, error) {
	f := &File{Name: name}
	seen := map[string]int{} // of a phase
	for k, p := range parts {
		if p.key == "phase" {
			if reason := f.begin(p.text); reason != "" {
				return nil, &FileError{name, p.line, reason}
			}
			seen = map[string]int{}
			continue
		}
		if first, twice := seen[p.key]; twice && p.key != "seed" {
			return nil, &FileError{name, p.line, fmt.Sprintf("%s is given twice, first in line %d", p.key, first)}
		}
		seen[p.key] = p.line
		if reason := f.inPhase(p.key); reason != "" {
			return nil, &FileError{name, p.line, reason}
		}
		reason := ""
		if parts[k].phase = len(f.Phases); parts[k].phase > 0 {
			reason = f.Phases[len(f.Phases)-1].set(p.key, p.text)
		} else {
			reason = f.set(p.key, p.text)
		}
		if reason != "" {
			return nil, &FileError{name, p.line, reason}
		}
	}
	for _, p := range parts {
		if p.key == "phase" {
			continue
		}
		in := f
		if p.phase > 0 {
			in = f.Phase(p.phase - 1)
		}
		if reason := in.badUse(p.key, p.text); reason != "" {
			return nil, &FileError{name, p.line, p.key + " " + reason}
		}
		if p.key == "sum" && in.badSum() != "" {
			return nil, &FileError{name, p.line, in.badSum()}
		}
	}
	if reason := f.Incomplete(); reason != "" {
		return nil, &FileError{File: name, Reason: reason}
	}
	return f, nil
}

// set reads a part, and returns what is wrong with it or "".
func (f *File) set(key, text string) string {
	typed := map[string]*string{"state": &f.State, "edge": &f.Edge, "message": &f.Message}
	texts := map[string]*string{"init": &f.Init, "send": &f.Send, "gather": &f.Gather, "if": &f.If,
		"sum": &f.Sum, "identity": &f.Identity, "skip": &f.Skip, "apply": &f.Apply}
	switch {
	case typed[key] != nil:
		canonical, reason := readType(text)
		if reason != "" {
			return key + " " + reason
		}
		*typed[key] = canonical
	case texts[key] != nil:
		if reason := badText(text, key == "apply"); reason != "" {
			return key + " " + reason
		}
		*texts[key] = text
	case key == "everywhere", key == "idempotent":
		if text != "" {
			return fmt.Sprintf("%s is followed by %q, want nothing", key, text)
		}
		f.Everywhere = f.Everywhere || key == "everywhere"
		f.Idempotent = f.Idempotent || key == "idempotent"
	case key == "supersteps":
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return fmt.Sprintf("supersteps is %q, want a number from 1", text)
		}
		f.Supersteps = n
	case key == "seed":
		at, state, _ := strings.Cut(text, " ")
		n, err := strconv.ParseInt(at, 10, 32)
		if err != nil || n < 0 {
			return fmt.Sprintf("the seed is vertex %q, want a number from 0 and an expression of its state", at)
		}
		state = strings.TrimSpace(state)
		if reason := badText(state, false); reason != "" {
			return "seed " + reason
		}
		f.Seeds = append(f.Seeds, FileSeed{int(n), state})
	}
	return ""
}

// badText says what is wrong with CUDA text, as far as brackets tell; the compiler says the rest.
func badText(text string, statements bool) string {
	if text == "" {
		return "has no text; write an expression after it"
	}
	if len(text) > MaxPart {
		return fmt.Sprintf("has more than %d bytes", MaxPart)
	}
	var open []byte
	pairs := map[byte]byte{')': '(', ']': '[', '}': '{'}
	for k := range len(text) {
		switch c := text[k]; c {
		case '(', '[', '{':
			open = append(open, c)
		case ')', ']', '}':
			if len(open) == 0 || open[len(open)-1] != pairs[c] {
				return fmt.Sprintf("has a %q that closes nothing", c)
			}
			open = open[:len(open)-1]
		case ';':
			if !statements && len(open) == 0 {
				return "has a \";\"; want an expression"
			}
		case '\\', '"', '\'':
			return fmt.Sprintf("has a %q, which programs do not need", c)
		}
	}
	if len(open) > 0 {
		return fmt.Sprintf("has a %q that nothing closes", open[len(open)-1])
	}
	return ""
}

// What a program cannot do without.
const (
	noState = "there is no state, the type of a vertex"
	noInit  = "there is no init, the state of each vertex"
)

// Incomplete says which part is missing, or "".
func (f *File) Incomplete() string {
	if len(f.Phases) > 0 {
		return f.incompletePhases()
	}
	switch {
	case f.State == "":
		return noState
	case f.Message == "":
		return "there is no message, the type of a message"
	case f.Init == "":
		return noInit
	case (f.Send == "") == (f.Gather == ""):
		return "give one of send and gather"
	case f.If != "" && f.Gather == "":
		return "if is the condition of a gather, and there is none"
	case f.Apply == "":
		return "there is no apply, which sets state"
	case f.Sum == "":
		return "there is no sum"
	case f.badSum() != "":
		return f.badSum()
	case slices.Contains(sums, f.Sum) == (f.Identity != ""):
		return "identity belongs to a sum that is an expression; other sums are " + strings.Join(sums, ", ")
	case f.Everywhere && f.Skip != "":
		return "skip and everywhere exclude each other"
	}
	return ""
}

// badSum says that a sum by name does not suit a struct, or "".
func (f *File) badSum() string {
	if IsStruct(f.Message) && slices.Contains(sums, f.Sum) && f.Sum != "any" {
		return fmt.Sprintf("sum is %s, and the message is a struct; write an expression in x and y, and its identity", f.Sum)
	}
	return ""
}

// String returns the program as ReadFile reads it.
func (f *File) String() string {
	if f == nil {
		return ""
	}
	var b strings.Builder
	put := func(key, text string) {
		if text != "" {
			fmt.Fprintf(&b, "%s %s\n", key, text)
		}
	}
	put("state", f.State)
	put("edge", f.Edge)
	put("message", f.Message)
	put("init", f.Init)
	for _, s := range f.Seeds {
		put("seed", fmt.Sprint(s.ID, " ", s.State))
	}
	functions := func(f *File, p FilePhase) {
		put("send", f.Send)
		put("gather", f.Gather)
		put("if", f.If)
		put("sum", f.Sum)
		put("identity", f.Identity)
		put("apply", f.Apply)
		put("skip", f.Skip)
		for _, flag := range []struct {
			key   string
			given bool
		}{{"everywhere", f.Everywhere}, {"idempotent", f.Idempotent}, {"reverse", p.Reverse}, {"all", p.All}} {
			if flag.given {
				b.WriteString(flag.key + "\n")
			}
		}
	}
	functions(f, FilePhase{})
	if f.Supersteps > 0 {
		put("supersteps", strconv.Itoa(f.Supersteps))
	}
	for k, p := range f.Phases {
		put("phase", p.Name)
		put("message", p.Message)
		functions(f.Phase(k), p)
	}
	return b.String()
}
