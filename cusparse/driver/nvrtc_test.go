//go:build linux && (amd64 || arm64)

package driver

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A real NVRTC, from HIVEBLAS_NVRTC, from scripts/nvrtc.sh, or installed.
func TestNVRTC(t *testing.T) {
	if os.Getenv("HIVEBLAS_NVRTC") == "" {
		if found, _ := filepath.Glob("../../.deps/nvrtc/usr/lib/*/libnvrtc.so.*"); len(found) > 0 {
			t.Setenv("HIVEBLAS_NVRTC", found[0])
		}
	}
	k, err := OpenCompiler()
	if errors.Is(err, ErrNoCompiler) {
		t.Skip("make nvrtc fetches one: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s, version %s", k.Name(), k.Version())
	prelude, err := os.ReadFile("../kernels/prelude.cu")
	if err != nil {
		t.Skip("the kernels are not here: ", err) // a test binary that was carried elsewhere
	}
	source := string(prelude) + `
HB_KERNEL hb_try(hb_i64 *o, float x) {
	HB_DYNAMIC_SHARED(hb_i64, s);
	s[threadIdx.x] = __shfl_xor_sync(HB_FULL, (hb_i64)threadIdx.x, 1);
	__syncthreads();
	if (x < INFINITY) o[threadIdx.x] = s[threadIdx.x ^ 2] + (isnan(NAN) ? 1 : 0);
}`
	n := k.(*nvrtc)
	for _, arch := range []string{"sm_70", "sm_80", "sm_90"} {
		if _, _, err := n.target(arch); err != nil {
			t.Logf("%s: %v", arch, err) // NVRTC 13 has dropped sm_70
			continue
		}
		image, err := k.Compile(source, "try.cu", arch)
		if err != nil {
			t.Errorf("%s: %v", arch, err)
		} else if !bytes.HasPrefix(image, []byte("\x7fELF")) || !bytes.Contains(image, []byte("hb_try")) {
			t.Errorf("%s: no machine code: %.20q…", arch, image)
		}
	}
	image, err := k.Compile(source, "try.cu", "sm_999")
	if err != nil || !bytes.Contains(image, []byte(".entry hb_try")) || image[len(image)-1] != 0 {
		t.Errorf("an architecture of the future: %v, %.20q…", err, image)
	}
	var ce *CompileError
	if _, err := k.Compile(source+"\nzebra", "try.cu", "sm_80"); !errors.As(err, &ce) || !strings.Contains(ce.Log, "try.cu(") {
		t.Errorf("a mistake: %v", err)
	}
}
