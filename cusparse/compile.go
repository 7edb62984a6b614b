package cusparse

import (
	"embed"
	"fmt"
	"io/fs"
	"strings"

	"github.com/hiveblas/hiveblas/cusparse/driver"
	"github.com/hiveblas/hiveblas/internal/device"
)

//go:embed kernels
var kernelFiles embed.FS

var kernelText = readKernels()

// readKernels returns the texts of kernels by their path without the ending, such as "layout/csr".
func readKernels() map[string]string {
	text := map[string]string{}
	err := fs.WalkDir(kernelFiles, "kernels", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := kernelFiles.ReadFile(path)
		text[strings.TrimSuffix(strings.TrimPrefix(path, "kernels/"), ".cu")] = string(b)
		return err
	})
	if err != nil {
		panic("cusparse: embedded kernels: " + err.Error())
	}
	return text
}

// module is a compiled program, loaded.
type module struct {
	handle  driver.Module
	kernels map[string]*kernel
}

type kernel struct {
	fn     driver.Function
	shared int    // dynamic shared memory it was allowed
	blocks uint32 // of a traversal that fit the device at a time, 0 if not asked
}

// program is the text of a kernel file with its types and operators.
type program struct {
	body string          // the file
	name string          // for messages: what it was composed from
	text strings.Builder // definitions between the prelude and the body
	defs map[string]bool // struct definitions that are there
	mod  *module         // once a kernel of it was used
	ones string          // sets parameters of ⊗ that have no values to true
	own  string          // replaces the file, in a program of another package
	rows string          // the text of a layout of a user's own, after the part layout/own
	// parts are the kernel files of a composed program, in order; without them it is body after the
	// file that body needs.
	parts []string
}

func compose(body, name string) *program { return &program{body: body, name: name} }

// needs writes the definition of a struct type, once.
func (p *program) needs(t device.Type) {
	if t.Def == "" || p.defs[t.Name] {
		return
	}
	if p.defs == nil {
		p.defs = map[string]bool{}
	}
	p.defs[t.Name] = true
	p.text.WriteString(t.Def)
}

// typ names an element type.
func (p *program) typ(name string, t device.Type) *program {
	p.needs(t)
	p.text.WriteString("typedef ")
	p.text.WriteString(t.Name)
	p.text.WriteByte(' ')
	p.text.WriteString(name)
	p.text.WriteString(";\n")
	return p
}

// lump names a type of size bytes, to be moved and not looked into.
func (p *program) lump(name string, size int) *program {
	names := map[int]string{1: "hb_u8", 2: "hb_u16", 4: "hb_u32", 8: "hb_u64"}
	n, ok := names[size]
	if !ok {
		n = fmt.Sprintf("hb_lump_%d", size)
		fmt.Fprintf(&p.text, "struct %s { hb_u8 bytes[%d]; };\n", n, size)
	}
	fmt.Fprintf(&p.text, "typedef %s %s;\n", n, name)
	return p
}

func (p *program) define(name string, x any) *program {
	fmt.Fprintf(&p.text, "#define %s %v\n", name, x)
	return p
}

func (p *program) flag(name string, on bool) *program {
	if on {
		return p.define(name, 1)
	}
	return p.define(name, 0)
}

// pattern says how a value is read: HB_GET_A(store, place). It is not read if
// no operator uses it, and true if there is none.
func (p *program) pattern(letter string, reads, pattern bool) *program {
	text := fmt.Sprintf("(((const HB_%s *)(s).val)[p])", letter)
	switch {
	case pattern:
		text = fmt.Sprintf("((HB_%s)1)", letter)
	case !reads:
		text = fmt.Sprintf("(HB_%s())", letter)
	}
	return p.define("HB_GET_"+letter+"(s, p)", text)
}

// function writes an operator of the given parameters, such as "HB_A x, HB_B
// y". Within its text A, B, C and T are the types of x, y and the result.
func (p *program) function(name, out, params, locals, text string) *program {
	fmt.Fprintf(&p.text, "HB_DEVICE %s %s(%s) { %s return (%s)(%s); }\n", out, name, params, locals, out, text)
	return p
}

// names are the types that an operator's text may speak of.
func (p *program) names(f device.Func) string {
	p.needs(f.X)
	p.needs(f.Y)
	p.needs(f.Out)
	y := f.Y.Name
	if y == "" {
		y = f.X.Name
	}
	return fmt.Sprintf("typedef %s A; typedef %s B; typedef %s C; typedef A T;", f.X.Name, y, f.Out.Name)
}

func (p *program) binary(name string, f device.Func) *program {
	return p.function(name, f.Out.Name, f.X.Name+" x, "+f.Y.Name+" y", p.names(f), f.Text)
}

// monoid writes hb_add, HB_IDENTITY and what goes with them.
func (p *program) monoid(m device.Monoid) *program {
	p.binary("hb_add", m.Func)
	p.flag("HB_ANY", m.Any)
	return p.define("HB_IDENTITY", m.Identity)
}

// semiring writes hb_mul and the monoid. The parameters of hb_mul are the matrix's element and the
// other operand's, or with flip exchanged.
func (p *program) semiring(s device.Semiring, flip bool) *program {
	locals := p.names(s.Mul) + p.ones
	if s.Ends {
		ends := fmt.Sprintf("%s weight, const %s &src, const %s &dst", s.Mul.X.Name, s.Mul.Y.Name, s.Mul.Y.Name)
		locals += " typedef A E; typedef B V; typedef C M;"
		condition := s.If
		if condition == "" {
			condition = "true"
		}
		p.function("hb_sends", "bool", ends, locals, condition)
		p.function("hb_gather", s.Mul.Out.Name, ends, locals, s.Mul.Text)
		return p.monoid(s.Add)
	}
	params := s.Mul.X.Name + " x, " + s.Mul.Y.Name + " y"
	if flip {
		params = s.Mul.Y.Name + " y, " + s.Mul.X.Name + " x"
	}
	params += ", hb_i32 i = 0, hb_i32 k = 0, hb_i32 j = 0"
	p.function("hb_mul", s.Mul.Out.Name, params, locals, s.Mul.Text)
	return p.monoid(s.Add)
}

// uses says which operands of ⊗ are read: HB_USES_A, HB_USES_X. One that has
// no values must not be (⊗ of a pattern takes true where it reads).
func (p *program) uses(a, x bool) *program {
	return p.flag("HB_USES_A", a).flag("HB_USES_X", x)
}

// title names the program in messages and lists.
func (p *program) title() string { return p.body + " of " + p.name }

// source returns the whole text.
func (p *program) source() string {
	var b strings.Builder
	b.WriteString(kernelText["prelude"])
	b.WriteString(kernelText["warp"])
	b.WriteString(p.text.String())
	if p.own != "" || p.parts != nil {
		for _, part := range p.parts {
			b.WriteString(kernelText[part])
			if part == ownLayoutPart {
				b.WriteString(p.rows)
			}
		}
		b.WriteString(p.own)
		return b.String()
	}
	parts, ok := bodyParts[p.body]
	if !ok {
		parts = []string{"common"}
	}
	for _, part := range parts {
		b.WriteString(kernelText[part])
	}
	b.WriteString(kernelText[p.body])
	return b.String()
}

// bodyParts are the files before the file of a program, besides the prelude and warp; common where
// nothing is named.
var bodyParts = map[string][]string{
	"scan": {"block"}, "sort": nil, "compact": nil, "short": nil, "segment": nil, "sums": nil,
	"reduce": {"common", "fold"}, "spmv": {"common", "block"}, "scatter": {"common", "atomics"},
}

// once returns the program that was composed under key, composing it at
// first: that takes 8 µs, as long as three launches.
func (f *frame) once(key any, compose func() *program) *program {
	p := f.d.programs[key]
	if p == nil {
		p = compose()
		f.d.programs[key] = p
	}
	return p
}

// fixed is a kernel file that takes neither types nor operators.
func (f *frame) fixed(body, name string) *program {
	return f.once([2]string{body, name}, func() *program { return compose(body, name) })
}

// kernel returns a kernel of the program, compiling it if no process has yet.
func (f *frame) kernel(p *program, name string) *kernel {
	if f.err != nil {
		return nil
	}
	m := p.mod
	key := ""
	if m == nil {
		key = p.body + strings.Join(p.parts, " ") + "\x00" + p.own + "\x00" + p.rows + "\x00" + p.text.String()
		m = f.d.modules[key]
	}
	if m == nil {
		image, err := f.d.cache.Image(p.source(), p.title())
		if err != nil {
			f.fail(err)
			return nil
		}
		h, err := f.d.ctx.Load(image)
		if err != nil {
			f.fail(err)
			return nil
		}
		m = &module{handle: h, kernels: map[string]*kernel{}}
		f.d.modules[key] = m
	}
	p.mod = m
	k := m.kernels[name]
	if k == nil {
		fn, err := f.d.ctx.Function(m.handle, name)
		if err != nil {
			f.fail(err)
			return nil
		}
		k = &kernel{fn: fn}
		m.kernels[name] = k
	}
	return k
}
