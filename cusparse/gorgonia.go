//go:build gorgonia && cgo

package cusparse

import (
	"fmt"

	"gorgonia.org/cu"

	"github.com/hiveblas/hiveblas/cusparse/driver"
)

// FromContext makes a context of gorgonia.org/cu, on the GPU of that number, a
// place for matrices: programs of the Gorgonia family and hiveblas then share
// memory without a copy, by [WrapVector] of driver.WrapPtr(p) and by [Share]
// and driver.UnwrapPtr. The context stays the caller's. See [Attach].
func FromContext(ctx cu.CUContext, gpu int, opts ...Option) (*Device, error) {
	d, err := driver.OpenGorgonia()
	if err != nil {
		return nil, err
	}
	props, err := d.Describe(gpu)
	if err != nil {
		return nil, fmt.Errorf("cusparse.FromContext: %w", err)
	}
	c, err := driver.FromContext(ctx)
	if err != nil {
		return nil, err
	}
	return Attach(c, gpu, props, opts...)
}
