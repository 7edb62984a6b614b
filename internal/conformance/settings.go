package conformance

import (
	"errors"
	"fmt"
	"strings"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
)

// settings are the write and run settings of a case.
type settings struct {
	mask                   masker // nil: none
	structural, complement bool
	accum                  int // index into kind.accums, −1: none
	accumName              string
	replace                bool
	threads                int
	method                 ops.Method
	listed                 bool // the mask has a sparse format
}

func (s settings) String() string {
	var parts []string
	if s.mask != nil {
		how := "valued"
		if s.structural {
			how = "structural"
		}
		if s.complement {
			how += " complemented"
		}
		parts = append(parts, how+" mask")
	}
	if s.accum >= 0 {
		parts = append(parts, "accumulate "+s.accumName)
	}
	if s.replace {
		parts = append(parts, "replace")
	}
	parts = append(parts, fmt.Sprintf("threads %d", s.threads))
	if s.method != ops.Auto {
		parts = append(parts, "method "+string(s.method))
	}
	return strings.Join(parts, ", ")
}

func (s settings) options() []ops.Option {
	return []ops.Option{ops.Using(s.method), ops.WithThreads(s.threads)}
}

// masker is an Input of any type in the role of a mask.
type masker interface {
	input
	mask(r *runner) interface {
		matrix.Mask
		Structure() matrix.MaskView
	}
	allowed(structural bool) []bool
	isListed() bool
}

func (in *Input[T]) isListed() bool { return in.format <= matrix.Hypersparse }

func (in *Input[T]) mask(r *runner) interface {
	matrix.Mask
	Structure() matrix.MaskView
} {
	if in.vector {
		return vectorOf(r, in)
	}
	return matrixOf(r, in)
}

// allowed is the oracle of a mask before complementing.
func (in *Input[T]) allowed(structural bool) []bool {
	ok := make([]bool, len(in.d.Cell))
	for p, x := range in.d.Cell {
		ok[p] = len(x) > 0 && (structural || x[0] != *new(T))
	}
	return ok
}

// allowed returns the writable positions, nil for all.
func (s settings) allowed() []bool {
	if s.mask == nil {
		return nil
	}
	ok := s.mask.allowed(s.structural)
	for p := range ok {
		ok[p] = ok[p] != s.complement
	}
	return ok
}

func (s settings) maskView(r *runner) matrix.Mask {
	m := s.mask.mask(r)
	view := m.MaskView()
	if s.structural {
		view = m.Structure()
	}
	if s.complement {
		return view.Not()
	}
	return view
}

// target returns the destination with its settings.
func target[C comparable](r *runner, c *Input[C]) matrix.Target[C] {
	r.dst = c
	m, s := matrixOf(r, c), r.plan.set
	if s.mask == nil && s.accum < 0 && !s.replace {
		return m
	}
	d := m.Accum(nil)
	if s.mask != nil {
		d = d.Masked(s.maskView(r))
	}
	if s.accum >= 0 {
		d = d.Accum(kindOf[C]().accums[s.accum].combiner)
	}
	if s.replace {
		d = d.Replace()
	}
	return d
}

// vectorTarget is target for vectors.
func vectorTarget[C comparable](r *runner, c *Input[C]) matrix.VectorTarget[C] {
	r.dst = c
	v, s := vectorOf(r, c), r.plan.set
	if s.mask == nil && s.accum < 0 && !s.replace {
		return v
	}
	d := v.Accum(nil)
	if s.mask != nil {
		d = d.Masked(s.maskView(r))
	}
	if s.accum >= 0 {
		d = d.Accum(kindOf[C]().accums[s.accum].combiner)
	}
	if s.replace {
		d = d.Replace()
	}
	return d
}

// destination is target or vectorTarget, for operations that take either.
func destination[C comparable](r *runner, c *Input[C]) matrix.Destination[C] {
	if c.vector {
		return vectorTarget(r, c)
	}
	return target(r, c)
}

// accumulated returns the function of the accumulator, or nil.
func accumulated[C comparable](s settings) func(x, y C) C {
	if s.accum < 0 {
		return nil
	}
	return kindOf[C]().accums[s.accum].f
}

// refused checks the error for a Go function without a CUDA form on a GPU, and that the destination
// is unchanged.
func refused[C comparable](r *runner, c *Input[C], err error) error {
	if !errors.Is(err, ops.ErrOperator) || !strings.Contains(err.Error(), "CUDA") {
		return fmt.Errorf("a plain function as accumulator: error %v, want one about its CUDA form", err)
	}
	return compare(c.stored(r), c.d, true)
}

// lacksText reports whether the accumulator is a plain Go function.
func lacksText[C comparable](s settings) bool {
	if s.accum < 0 {
		return false
	}
	_, plain := kindOf[C]().accums[s.accum].combiner.(matrix.CombineFunc[C])
	return plain
}

// conclude checks the destination against the result of the oracle.
func conclude[C comparable](r *runner, c *Input[C], t Dense[C], exact bool, err error) error {
	s := r.plan.set
	if onDevice(r.b) && lacksText[C](s) {
		return refused(r, c, err)
	}
	if err != nil {
		return err
	}
	return finish(r, c, write(c.d, t, s.allowed(), accumulated[C](s), s.replace), exact)
}

// onDevice reports whether a backend runs CUDA text, not Go functions.
func onDevice(b Backend) bool {
	_, group := b.Place().(*comm.Group)
	return b.Place() != nil && !group
}
