package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/job"
	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/comm/commtable"
	"github.com/hiveblas/hiveblas/comm/model"
	"github.com/hiveblas/hiveblas/cusparse"
	"github.com/hiveblas/hiveblas/generate"
	"github.com/hiveblas/hiveblas/internal/cli"
	"github.com/hiveblas/hiveblas/internal/emu"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
)

// severalGPUs makes the commands see GPUs of these kinds, emulated. It returns the numbers of those
// that are opened.
func severalGPUs(t *testing.T, kinds ...string) *[]int {
	t.Helper()
	emulated(t, emu.Devices(len(kinds)))
	var opened []int
	open, see, group := testMachine.OpenDevice, testMachine.GpuKinds, testMachine.GroupGPUs
	t.Cleanup(func() { testMachine.GpuKinds, testMachine.GroupGPUs = see, group })
	testMachine.OpenDevice = func(i int) (*cusparse.Device, error) {
		opened = append(opened, i)
		return open(i)
	}
	testMachine.GpuKinds = func() ([]string, error) { return kinds, nil }
	testMachine.GroupGPUs = func(devices []*cusparse.Device, opts ...comm.Option) (*comm.Group, error) {
		ranks, err := comm.Local(len(devices), opts...)
		if err != nil {
			return nil, err
		}
		var places []comm.Place
		for _, d := range devices {
			places = append(places, d)
		}
		return comm.NewGroup(ranks, comm.At(places...))
	}
	t.Setenv("HIVEBLAS_CACHE", t.TempDir())
	return &opened
}

// Large independent work takes all GPUs, a small search by rows one.
func TestAutoGPUs(t *testing.T) {
	big := func(*job.Job) model.Work { return independent(1e13, 1<<20, 1<<20) }
	for _, c := range []struct {
		reason string
		kinds  []string
		work   func(j *job.Job) model.Work // nil: no estimate
		method string
		opened []int
		why    string
	}{
		{"a projection on a big graph", []string{"a", "a", "a", "a"}, func(*job.Job) model.Work { return independent(1e13, 1e13, 0) }, "", []int{0, 1, 2, 3}, "4 of 4 GPUs: "},
		{"walks on a big graph", []string{"a", "a"}, big, "auto", []int{0, 1}, "2 of 2 GPUs: "},
		{"a small search", []string{"a", "a", "a"}, func(j *job.Job) model.Work { return estimateBFS(j, 0) }, "", []int{0}, "1 of 3 GPUs: "},
		{"small paths", []string{"a", "a"}, func(j *job.Job) model.Work { return estimatePaths(j, 0) }, "", []int{0}, "1 of 2 GPUs: "},
		{"an iteration by rows", []string{"a", "a"}, func(j *job.Job) model.Work { return estimateIterations(j, .85, 1e-9, 1000) }, "", []int{0}, "1 of 2 GPUs: "},
		{"unequal GPUs", []string{"a", "b", "a"}, big, "", []int{0, 2}, "2 of 2 GPUs: "},
		{"one of a kind", []string{"a", "b"}, big, "", []int{0}, ""},
		{"one GPU", []string{"a"}, big, "", []int{0}, ""},
		{"no estimate", []string{"a", "a"}, nil, "", []int{0}, ""},
		{"a form that is asked for", []string{"a", "a"}, big, "pipeline", []int{0}, ""},
	} {
		t.Run(c.reason, func(t *testing.T) {
			opened := severalGPUs(t, c.kinds...)
			j, g := jobOf(t, "auto", 156)
			j.Run.Method = c.method
			if c.work != nil {
				j.Estimate = func(*job.Job, int64) model.Work { return c.work(j) }
			}
			if err := j.PlaceGraphs(g.NVals, "entries", g); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(*opened, c.opened) || !strings.Contains(j.Why, c.why) || c.why == "" && j.Choice != "" {
				t.Errorf("opened %v, because %q; want %v, %q", *opened, j.Why, c.opened, c.why)
			}
			if len(c.opened) == 1 && (j.Group != nil || g.Place() != matrix.Place(j.Device)) ||
				len(c.opened) > 1 && (j.Device != nil || j.Group.Size() != len(c.opened) || g.Place() != matrix.Place(j.Group)) {
				t.Errorf("group %v, device %v, the graph on %v", j.Group, j.Device, g.Place())
			}
		})
	}
	t.Run("a list that repeats", func(t *testing.T) {
		severalGPUs(t, "a", "a")
		var out, bad strings.Builder
		if code := run([]string{"pagerank", karate, "--device", "gpu:1,0,1"}, &out, &bad); code != cli.ExitFailure || !strings.Contains(bad.String(), "the GPU 1 is listed twice") {
			t.Errorf("exit %d, %s", code, bad.String())
		}
	})
	t.Run("the summary", func(t *testing.T) {
		severalGPUs(t, "a", "a")
		j, g := jobOf(t, "auto", 156)
		j.Estimate = func(*job.Job, int64) model.Work { return big(j) }
		if err := j.PlaceGraphs(g.NVals, "entries", g); err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		j.Stdout, j.Began = &out, time.Now()
		if err := j.Report(nil, nil); err != nil || !strings.Contains(out.String(), "device   2 of 2 GPUs: ") {
			t.Errorf("%s (%v)", out.String(), err)
		}
		out.Reset()
		if j.Run.Json = true; j.Report(nil, nil) != nil || !strings.Contains(out.String(), `"device_reason":"156 entries; 2 of 2 GPUs: `) {
			t.Error(out.String())
		}
	})
	t.Run("GPUs that cannot be a group", func(t *testing.T) {
		severalGPUs(t, "a", "a")
		testMachine.GroupGPUs = func([]*cusparse.Device, ...comm.Option) (*comm.Group, error) {
			return nil, errors.New("no peer access")
		}
		j, g := jobOf(t, "auto", 156)
		j.Estimate = func(*job.Job, int64) model.Work { return big(j) }
		if err := j.PlaceGraphs(g.NVals, "entries", g); err != nil || j.Group != nil || j.Device == nil || !strings.HasSuffix(j.Why, "one only: no peer access") {
			t.Errorf("device %v, because %q (%v)", j.Device, j.Why, err)
		}
	})
}

// The time to open further devices counts.
func TestChooseGPUs(t *testing.T) {
	w := independent(1e11, 1<<20, 0)
	for _, c := range []struct {
		start time.Duration
		want  int
	}{{0, 8}, {300 * time.Millisecond, 1}} {
		count, why, err := job.ChooseGPUs(model.H200(), w, 8, c.start)
		if err != nil || count != c.want || !strings.Contains(why, "H200") {
			t.Errorf("%v to open one: %d GPUs, %q (%v), want %d", c.start, count, why, err, c.want)
		}
	}
}

// A number of GPUs that auto takes is not slower than one by the exact volumes of the workflow. The
// figures are the figures of H200s with a thousandth of the rates: graphs of 2¹⁴ to 2¹⁶ vertices
// then cost what graphs of 2²⁴ to 2²⁶ do.
func TestAutoIsNotSlower(t *testing.T) {
	m := model.H200()
	m.Memory /= 1000
	lines := map[comm.Kind]map[int]model.Line{}
	for kind, of := range m.Lines {
		lines[kind] = map[int]model.Line{}
		for p, l := range of {
			lines[kind][p] = model.Line{Alpha: l.Alpha, N: l.N / 1000}
		}
	}
	m.Lines = lines
	several := map[string]bool{}
	for name, edges := range map[string]*generate.Graph{
		"R-MAT": sure.Get(generate.RMAT(14, 16<<14, generate.RMATOptions{Seed: 1})), "grid": sure.Get(generate.Grid(256, 256)),
		"uniform": sure.Get(generate.Uniform(1<<14, 20<<14, 1)),
	} {
		j, _ := jobOf(t, "auto", 156)
		j.Graph.Matrix = sure.Get(generate.Matrix[float64](edges, generate.Undirected(), generate.Simple()))
		if !j.Graph.IsSymmetric() { // else groups exchange the transpose, which one GPU makes without a prediction
			t.Fatal(name, " is directed")
		}
		for app, estimate := range map[string]func(*job.Job, int64) model.Work{
			"bfs": estimateBFS, "sssp": estimatePaths, "vn": estimatePaths, "cc": estimateCC, "scan": estimateScan,
			"pagerank": func(j *job.Job, _ int64) model.Work { return estimateIterations(j, .85, 1e-9, 20) },
		} {
			for _, available := range []int{2, 4} {
				count, _, err := job.ChooseGPUs(m, estimate(j, 0), available, 0)
				if err != nil || count == 1 {
					sure.Do(err)
					continue
				}
				several[app] = true
				one, more := sure.Get(virtual(j, app, 1, 0, comm.LikeDevices())), sure.Get(virtual(j, app, count, 0, comm.LikeDevices()))
				if list, _, err := m.Choose([]model.Volume{one, more}); err != nil || list[1].Total > list[0].Total {
					t.Errorf("%s of %s: auto takes %d GPUs, for which %v are predicted (%v)", app, name, count, list, err)
				}
			}
		}
	}
	if len(several) < 3 {
		t.Errorf("auto takes several GPUs for %v only", several)
	}
}

// Figures come from --machine, from the cache if it is of this kind of GPU, or are the published
// ones.
func TestMachineFigures(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("HIVEBLAS_CACHE", dir)
	own := filepath.Join(dir, commtable.KeptFile)
	name := func(file, kind string) string {
		t.Helper()
		m, err := job.MachineFigures(file, kind)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := m.Devices(model.Work{Bytes: 1, Gathers: 1, Gather: 1, Sum: 1}, 4, 0); err != nil {
			t.Errorf("%s: %v", m.Name, err)
		}
		return m.Name
	}
	published := model.H200().Name
	if got := name("", "NVIDIA X, 3 multiprocessors"); got != published {
		t.Errorf("without a file: %s", got)
	}
	for _, c := range []struct{ text, want string }{
		{`{"machine": ["GPU 0: NVIDIA X"]}`, own}, {`{"machine": ["GPU 0: NVIDIA Y"]}`, published}, {`{"mach`, published},
	} {
		sure.Do(os.WriteFile(own, []byte(c.text), 0o644))
		if got := name("", "NVIDIA X, 3 multiprocessors"); got != c.want {
			t.Errorf("%s: figures of %s, want %s", c.text, got, c.want)
		}
	}
	if _, err := job.MachineFigures(own, "NVIDIA X"); err == nil {
		t.Error("a cut file of --machine is no error")
	}
	if _, err := job.MachineFigures(filepath.Join(dir, "missing.json"), ""); err == nil {
		t.Error("a missing file of --machine is no error")
	}
}
