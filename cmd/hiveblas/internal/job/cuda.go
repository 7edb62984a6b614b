package job

import (
	"fmt"

	"github.com/hiveblas/hiveblas/cusparse/driver"
	"github.com/hiveblas/hiveblas/cusparse/jit"
)

// CudaFields are the figures of info about CUDA: each library with its version, or the
// reason why it is missing.
func (m *Machine) CudaFields() []Field {
	devices := []string{"cpu"}
	var out, gpus []Field
	missing := func(key, label string, err error) {
		out = append(out, Field{key + "_error", label, err.Error()})
	}
	list := []Object{}
	d, err := m.OpenDriver()
	version := 0
	if err == nil {
		version, err = d.Version()
	}
	if err != nil {
		missing("cuda", "driver", err)
	} else {
		cuda := fmt.Sprintf("%d.%d", version/1000, version%1000/10)
		out = append(out, Field{"cuda", "", cuda}, Field{"", "driver", "CUDA " + cuda + ", by " + d.Name()})
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
			list = append(list, Object{{"device", "", name}, {"name", "", p.Name}, {"memory", "", p.Memory},
				{"multiprocessors", "", p.Multiprocessors}, {"compute_capability", "", capability}})
			gpus = append(gpus, Field{"", name, fmt.Sprintf("%s, %.1f GiB, %d multiprocessors, compute capability %s",
				p.Name, float64(p.Memory)/(1<<30), p.Multiprocessors, capability)})
		}
	}
	out = append(append(out, Field{"gpus", "", list}), gpus...)
	if c, err := m.OpenCompiler(); err != nil {
		missing("nvrtc", "NVRTC", err)
	} else {
		out = append(out, Field{"nvrtc", "NVRTC", c.Version() + ", " + c.Name()})
	}
	if s, err := driver.OpenSparse(); err != nil {
		missing("cusparse", "cuSPARSE", err)
	} else {
		out = append(out, Field{"cusparse", "cuSPARSE", s.Name()})
	}
	if b, err := driver.OpenBLAS(); err != nil {
		missing("cublas", "cuBLAS", err)
	} else {
		out = append(out, Field{"cublas", "cuBLAS", b.Name()})
	}
	kernels := jit.Dir("")
	if kernels == "" {
		kernels = "no cache"
	}
	out = append(out, Field{"kernels", "kernels", kernels})
	names := devices[0]
	for _, d := range devices[1:] {
		names += ", " + d
	}
	return append([]Field{{"devices", "", devices}, {"", "devices", names}}, out...)
}
