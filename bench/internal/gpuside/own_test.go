package gpuside

import (
	"os"
	"testing"

	"github.com/hiveblas/hiveblas/cusparse/driver"
	"github.com/hiveblas/hiveblas/internal/sure"
)

// TestOwnByNVRTC gives the kernels written by hand to NVRTC, which needs no GPU.
func TestOwnByNVRTC(t *testing.T) {
	if os.Getenv("HIVEBLAS_NVRTC") == "" {
		t.Skip("HIVEBLAS_NVRTC names no compiler; scripts/nvrtc.sh fetches one")
	}
	nvrtc := sure.Get(driver.OpenCompiler())
	for _, arch := range []string{"sm_70", "sm_90"} {
		if _, err := nvrtc.Compile(ownSource, "own.cu", arch); err != nil {
			t.Errorf("%s: %v", arch, err)
		}
	}
}
