package text

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// FilePhase is program.FilePhase.
type FilePhase struct {
	Name             string
	Message          string // "": as of the file
	Send, Gather, If string
	Sum, Identity    string
	Apply, Skip      string
	Everywhere       bool
	Reverse, All     bool
}

// wholeKeys are the parts that stand before the phases; phaseKeys are parts that only phases have.
var (
	wholeKeys = []string{"state", "edge", "init", "seed", "supersteps", "idempotent"}
	phaseKeys = []string{"reverse", "all"}
)

// Phase returns a phase as a program.
func (f *File) Phase(k int) *File {
	p := f.Phases[k]
	return &File{Name: f.Name, State: f.State, Edge: f.Edge, Message: cmp.Or(p.Message, f.Message), Init: f.Init, Seeds: f.Seeds,
		Send: p.Send, Gather: p.Gather, If: p.If, Sum: p.Sum, Identity: p.Identity, Apply: p.Apply, Skip: p.Skip,
		Everywhere: p.Everywhere}
}

// begin begins a phase, and returns what is wrong with its name or "".
func (f *File) begin(name string) string {
	switch {
	case !fieldName.MatchString(name) || len(name) > maxField:
		return fmt.Sprintf("the phase is named %q; want a letter, and then letters, digits and _", name)
	case slices.ContainsFunc(f.Phases, func(p FilePhase) bool { return p.Name == name }):
		return fmt.Sprintf("there are two phases %q; choose another name", name)
	}
	f.Phases = append(f.Phases, FilePhase{Name: name})
	return ""
}

// inPhase says why a part cannot stand where the file has come to, or "".
func (f *File) inPhase(key string) string {
	switch {
	case len(f.Phases) > 0 && slices.Contains(wholeKeys, key):
		return key + " stands in a phase; write it before the first phase, if at all"
	case len(f.Phases) == 0 && slices.Contains(phaseKeys, key):
		return key + " belongs to a phase, and there is none; begin one by a line \"phase NAME\""
	}
	return ""
}

// set reads a part of a phase, and returns what is wrong with it or "".
func (p *FilePhase) set(key, text string) string {
	if slices.Contains(phaseKeys, key) {
		if text != "" {
			return fmt.Sprintf("%s is followed by %q, want nothing", key, text)
		}
		p.Reverse, p.All = p.Reverse || key == "reverse", p.All || key == "all"
		return ""
	}
	own := (&File{Phases: []FilePhase{*p}}).Phase(0)
	reason := own.set(key, text)
	*p = FilePhase{Name: p.Name, Message: own.Message, Send: own.Send, Gather: own.Gather, If: own.If, Sum: own.Sum, Identity: own.Identity,
		Apply: own.Apply, Skip: own.Skip, Everywhere: own.Everywhere, Reverse: p.Reverse, All: p.All}
	return reason
}

// incompletePhases says which part is missing in a file with phases, or "".
func (f *File) incompletePhases() string {
	switch {
	case f.State == "":
		return noState
	case f.Init == "":
		return noInit
	}
	for key, text := range map[string]string{"send": f.Send, "gather": f.Gather, "if": f.If, "sum": f.Sum, "identity": f.Identity,
		"apply": f.Apply, "skip": f.Skip, "everywhere": strings.Repeat("everywhere", int(bit(f.Everywhere))), "idempotent": strings.Repeat("idempotent", int(bit(f.Idempotent)))} {
		if text != "" {
			return key + " is given for the whole program, which has phases; give it to phases, idempotent to none"
		}
	}
	for k, p := range f.Phases {
		if reason := f.Phase(k).Incomplete(); reason != "" {
			return "phase " + p.Name + ": " + reason
		}
	}
	return ""
}

// Steps returns the phases as programs. A program without phases is one itself.
func (f *File) Steps() []*File {
	if len(f.Phases) == 0 {
		return []*File{f}
	}
	var list []*File
	for k := range f.Phases {
		list = append(list, f.Phase(k))
	}
	return list
}

// Named returns an error of a phase with its name.
func (f *File) Named(k int, err error) error {
	if e, is := err.(*FileError); is && len(f.Phases) > 0 {
		return &FileError{e.File, e.Line, "phase " + f.Phases[k].Name + ": " + e.Reason}
	}
	return err
}
