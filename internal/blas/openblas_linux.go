//go:build linux && (amd64 || arm64)

package blas

import (
	"strings"

	"github.com/ebitengine/purego"
)

// open opens OpenBLAS, with 32-bit integers. It returns nil if it is not there or lacks a function.
func open() *library {
	for _, path := range []string{"libopenblas.so.0", "libopenblas.so"} {
		h, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
		if err != nil {
			continue
		}
		l := &library{name: "OpenBLAS"}
		var threads func(n int32)
		for name, f := range map[string]any{"cblas_sgemm": &l.sgemm, "cblas_dgemm": &l.dgemm, "openblas_set_num_threads": &threads} {
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
				l.name += " " + f[1]
			}
		}
		return l
	}
	return nil
}
