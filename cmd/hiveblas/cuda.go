package main

import (
	"fmt"

	"github.com/hiveblas/hiveblas/cusparse/driver"
	"github.com/hiveblas/hiveblas/cusparse/jit"
)

// The libraries that info opens. Tests replace them.
var (
	openDriver   = driver.Open
	openCompiler = driver.OpenCompiler
)

// cudaFields are the figures of info about CUDA: each library with its version, or the
// reason why it is missing.
func cudaFields() []field {
	devices := []string{"cpu"}
	var out, gpus []field
	missing := func(key, label string, err error) {
		out = append(out, field{key + "_error", label, err.Error()})
	}
	list := []object{}
	d, err := openDriver()
	version := 0
	if err == nil {
		version, err = d.Version()
	}
	if err != nil {
		missing("cuda", "driver", err)
	} else {
		cuda := fmt.Sprintf("%d.%d", version/1000, version%1000/10)
		out = append(out, field{"cuda", "", cuda}, field{"", "driver", "CUDA " + cuda + ", by " + d.Name()})
		n, err := d.Devices()
		if err == nil && n == 0 {
			err = driver.ErrNoDevice
		}
		if err != nil {
			missing("gpus", "gpu", err)
		}
		for i := range n {
			name := fmt.Sprintf("gpu:%d", i)
			p, err := d.Describe(i)
			if err != nil {
				missing(name, name, err)
				continue
			}
			devices = append(devices, fmt.Sprintf("%s (%s)", name, p.Name))
			capability := fmt.Sprintf("%d.%d", p.Major, p.Minor)
			list = append(list, object{{"device", "", name}, {"name", "", p.Name}, {"memory", "", p.Memory},
				{"multiprocessors", "", p.Multiprocessors}, {"compute_capability", "", capability}})
			gpus = append(gpus, field{"", name, fmt.Sprintf("%s, %.1f GiB, %d multiprocessors, compute capability %s",
				p.Name, float64(p.Memory)/(1<<30), p.Multiprocessors, capability)})
		}
	}
	out = append(append(out, field{"gpus", "", list}), gpus...)
	if c, err := openCompiler(); err != nil {
		missing("nvrtc", "NVRTC", err)
	} else {
		out = append(out, field{"nvrtc", "NVRTC", c.Version() + ", " + c.Name()})
	}
	if s, err := driver.OpenSparse(); err != nil {
		missing("cusparse", "cuSPARSE", err)
	} else {
		out = append(out, field{"cusparse", "cuSPARSE", s.Name()})
	}
	if b, err := driver.OpenBLAS(); err != nil {
		missing("cublas", "cuBLAS", err)
	} else {
		out = append(out, field{"cublas", "cuBLAS", b.Name()})
	}
	kernels := jit.Dir("")
	if kernels == "" {
		kernels = "no cache"
	}
	out = append(out, field{"kernels", "kernels", kernels})
	names := devices[0]
	for _, d := range devices[1:] {
		names += ", " + d
	}
	return append([]field{{"devices", "", devices}, {"", "devices", names}}, out...)
}
