//go:build linux && (amd64 || arm64)

package openblas

import (
	"strings"

	"github.com/ebitengine/purego"

	"github.com/hiveblas/hiveblas/internal/blas"
)

func init() { blas.Register(open) }

// open opens OpenBLAS, with 32-bit integers. It returns nil if it is not there or lacks a function.
func open() *blas.Library {
	for _, path := range []string{"libopenblas.so.0", "libopenblas.so"} {
		h, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
		if err != nil {
			continue
		}
		l := &blas.Library{Name: "OpenBLAS"}
		var threads func(n int32)
		for name, f := range map[string]any{"cblas_sgemm": &l.Sgemm, "cblas_dgemm": &l.Dgemm, "openblas_set_num_threads": &threads} {
			at, err := purego.Dlsym(h, name)
			if err != nil {
				return nil
			}
			purego.RegisterFunc(f, at)
		}
		threads(1)
		if at, err := purego.Dlsym(h, "openblas_get_config"); err == nil {
			var config func() string
			purego.RegisterFunc(&config, at)
			if f := strings.Fields(config()); len(f) > 1 && f[0] == "OpenBLAS" {
				l.Name += " " + f[1]
			}
		}
		return l
	}
	return nil
}
