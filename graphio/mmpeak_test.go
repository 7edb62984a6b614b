package graphio

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/internal/race"
)

// lineStream makes the lines of a Matrix Market file as they are read, so
// that a test of memory holds no text.
type lineStream struct {
	n, m, at int
	kind     string
	buf      bytes.Buffer
}

func (s *lineStream) Read(p []byte) (int, error) {
	for s.buf.Len() < len(p) && s.at <= s.m {
		if s.at == 0 {
			field, symmetry := "real", "general"
			if s.kind == "symmetric pattern" {
				field, symmetry = "pattern", "symmetric"
			}
			fmt.Fprintf(&s.buf, "%%%%MatrixMarket matrix coordinate %s %s\n%d %d %d\n", field, symmetry, s.n, s.n, s.m)
			s.at++
			continue
		}
		k := uint64(s.at) - 1
		b := s.buf.AvailableBuffer()
		// Every pair (i, j) once: j = i + d, a different odd-multiplied order of i per d.
		i, d := k*2654435761%uint64(s.n), k/uint64(s.n)+1
		j := (i + d) % uint64(s.n)
		if s.kind == "sorted real" {
			per := uint64(s.m / s.n)
			i = k / per
			j = k % per
		}
		b = strconv.AppendUint(b, i+1, 10)
		b = append(b, ' ')
		b = strconv.AppendUint(b, j+1, 10)
		if s.kind != "symmetric pattern" {
			b = append(b, " 0.25"...)
		}
		b = append(b, '\n')
		s.buf.Write(b)
		s.at++
	}
	if s.buf.Len() == 0 {
		return 0, io.EOF
	}
	return s.buf.Read(p)
}

// highWater returns the peak resident memory of this process in bytes.
func highWater(t *testing.T) int64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skip("no /proc/self/status: peak memory is measured on Linux only")
	}
	for line := range strings.Lines(string(status)) {
		if f := strings.Fields(line); f[0] == "VmHWM:" {
			kb, _ := strconv.ParseInt(f[1], 10, 64)
			return kb << 10
		}
	}
	t.Fatal("no VmHWM line")
	return 0
}

// TestReadPeakMemory holds the reader to 3 times the memory of the finished
// matrix, in a process of its own.
func TestReadPeakMemory(t *testing.T) {
	const env = "HIVEBLAS_TEST_READ_PEAK"
	if kind := os.Getenv(env); kind != "" {
		n, m := 1<<18, 4<<20
		if kind == "symmetric pattern" {
			m = 12 << 20
		}
		before := highWater(t)
		var bytes int64
		if kind == "symmetric pattern" {
			a, err := ReadMatrixMarket[bool](&lineStream{n: n, m: m, kind: kind})
			if err != nil {
				t.Fatal(err)
			}
			if a.NVals() != 2*int64(m) {
				t.Fatalf("%d entries, want %d", a.NVals(), 2*m)
			}
			bytes = a.NVals()*5 + int64(n)*8
			runtime.KeepAlive(a)
		} else {
			a, err := ReadMatrixMarket[float64](&lineStream{n: n, m: m, kind: kind})
			if err != nil {
				t.Fatal(err)
			}
			bytes = a.NVals()*12 + int64(n)*8
			runtime.KeepAlive(a)
		}
		peak := highWater(t)
		ratio := float64(peak-before) / float64(bytes)
		fmt.Printf("%s: peak %d MB over %d MB before, matrix %d MB, ratio %.2f\n", kind, peak>>20, before>>20, bytes>>20, ratio)
		if ratio > 3 {
			t.Errorf("peak memory is %.2f times the matrix, want at most 3", ratio)
		}
		return
	}
	if testing.Short() || race.Enabled {
		t.Skip("measures memory: not with -short, nor under the race detector")
	}
	for k, kind := range []string{"real", "sorted real", "symmetric pattern"} {
		if !longtest.Takes(k, 3) {
			continue
		}
		cmd := exec.Command(os.Args[0], "-test.run=^TestReadPeakMemory$", "-test.v")
		cmd.Env = append(os.Environ(), env+"="+kind)
		out, err := cmd.CombinedOutput()
		t.Logf("%s", out)
		if err != nil {
			t.Error(err)
		}
	}
}
