package gpuside

import (
	"errors"
	"fmt"
	"math"
	"unsafe"

	"github.com/hiveblas/hiveblas/bench/gen"
	"github.com/hiveblas/hiveblas/cusparse/driver"
)

// code is kernels that a contender has written by hand.
type code struct {
	module    driver.Module
	functions map[string]driver.Function
}

// load compiles kernels, once.
func (s *Peers) load(source, name string, compiler func() (driver.Compiler, error)) error {
	if s.code != nil {
		return nil
	}
	p, err := s.driver.Describe(s.device)
	if err != nil {
		return err
	}
	c, err := compiler()
	if err != nil {
		return err
	}
	image, err := c.Compile(source, name, fmt.Sprintf("sm_%d%d", p.Major, p.Minor))
	if err != nil {
		return err
	}
	return s.do(func() error {
		m, err := s.ctx.Load(image)
		if err == nil {
			s.code = &code{m, map[string]driver.Function{}}
			s.blocks = 8 * max(p.Multiprocessors, 1)
		}
		return err
	})
}

// byHandThreads is the number of threads of a block of kernels/own.cu.
const byHandThreads = 256

// launch queues a kernel of the code with blocks of byHandThreads. The context is bound. Arguments
// are driver.Ptr, int, which the kernel takes as 32 bits, uint64 and float32.
func (s *Peers) launch(kernel string, blocks int, args ...any) error {
	f, ok := s.code.functions[kernel]
	if !ok {
		var err error
		if f, err = s.ctx.Function(s.code.module, kernel); err != nil {
			return err
		}
		s.code.functions[kernel] = f
	}
	words, at := make([]uint64, len(args)), make([]unsafe.Pointer, len(args))
	for k, a := range args {
		switch x := a.(type) {
		case driver.Ptr:
			words[k] = uint64(x)
		case int:
			words[k] = uint64(uint32(x))
		case uint64:
			words[k] = x
		case float32:
			words[k] = uint64(math.Float32bits(x))
		default:
			return fmt.Errorf("bench: %s has an argument of type %T", kernel, a)
		}
		at[k] = unsafe.Pointer(&words[k])
	}
	return s.ctx.Launch(f, [3]uint32{uint32(blocks), 1, 1}, [3]uint32{byHandThreads, 1, 1}, 0, s.stream, at)
}

// fill sets bytes of device memory. The context is bound.
func (s *Peers) fill(p driver.Ptr, b byte, n uint64) error { return s.ctx.Fill(p, b, n, s.stream) }

// read copies values to the host and waits. The context is bound.
func read[T any](s *Peers, to []T, from driver.Ptr) error {
	n := uint64(len(to)) * uint64(unsafe.Sizeof(*new(T)))
	return errors.Join(s.ctx.ToHost(unsafe.Pointer(unsafe.SliceData(to)), from, n, s.stream), s.ctx.Sync(s.stream))
}

// offsets are the row offsets of a graph with 32 bits.
func offsets(g *gen.Graph) []int32 {
	short := make([]int32, len(g.Ptr))
	for i, p := range g.Ptr {
		short[i] = int32(p)
	}
	return short
}
