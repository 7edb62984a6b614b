package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/job"
	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/progress"
	"github.com/hiveblas/hiveblas/cusparse"
	"github.com/hiveblas/hiveblas/cusparse/driver"
	"github.com/hiveblas/hiveblas/graphio"
	"github.com/hiveblas/hiveblas/internal/emu"
	"github.com/hiveblas/hiveblas/internal/emulate"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
)

// noCUDA skips a test of messages without CUDA on machines that have it.
func noCUDA(t *testing.T) {
	t.Helper()
	if _, err := driver.Open(); err == nil {
		t.Skip("there is a CUDA driver")
	}
	if _, err := driver.OpenCompiler(); err == nil {
		t.Skip("there is NVRTC")
	}
}

// runInProcess runs a command line in this process.
func runInProcess(t *testing.T, args ...string) (stdout string) {
	t.Helper()
	r := inside(args...)
	if r.code != 0 || r.stderr != "" {
		t.Fatalf("hiveblas %v: exit %d, stderr %q", args, r.code, r.stderr)
	}
	return r.stdout
}

// emulated gives the commands a GPU that the CPU emulates.
func emulated(t *testing.T, opts ...emu.Option) *emu.Emulator {
	t.Helper()
	e, with, err := emulate.Driver(opts...)
	emulate.Needed(t, err)
	before := testMachine.OpenDevice
	testMachine.OpenDevice = func(i int) (*cusparse.Device, error) { return cusparse.Open(i, with...) }
	t.Cleanup(func() { testMachine.OpenDevice = before })
	return e
}

// Programs on a group of GPUs write what they write on the host, whatever the hops and the order.
func TestProgramsOnGPUs(t *testing.T) {
	emulated(t, emu.Devices(2))
	road := write(t, "roads.mtx", roads)
	for _, args := range []string{"bfs --source 3", "sssp --source 3", "sssp --source 3 --width 2", "hcc --undirected", "matching --undirected"} {
		args = "run " + args + " " + road
		want := runInProcess(t, append(strings.Fields(args), "-o", "-", "--device", "cpu")...)
		for _, how := range []string{"", "--hops 3", "--hops auto", "--order rcm --hops 2"} {
			if strings.Contains(args, "matching") && strings.Contains(how, "rcm") {
				continue // numbers of vertices decide between equal edges
			}
			got := runInProcess(t, append(strings.Fields(args+" "+how), "-o", "-", "--device", "gpu:0,1")...)
			if got != want {
				t.Errorf("%s %s: got\n%s, want\n%s", args, how, got, want)
			}
		}
	}
	prog := write(t, "least.prog", "state int32\nmessage int32\ninit id\nsend state\nsum min\napply state = sum\n")
	if r := inside("run", prog, road, "--device", "gpu:0,1"); r.code != 1 || !strings.Contains(r.stderr, "least.prog: a group of GPUs runs no program files; use --device gpu, cpu or ranks:P") {
		t.Errorf("%+v", r)
	}
}

// Predictions of bytes for GPUs hold, whatever divides a workflow: rows, operations, or ranges,
// which ranks that take turns on the first GPU predict.
func TestScaleRunOnGPUs(t *testing.T) {
	emulated(t, emu.Devices(2))
	apps := []string{"bfs", "spmv", "scan"}
	if longtest.Enabled() {
		apps = append(apps, "search", "sage")
	}
	for k, app := range apps {
		if !longtest.Takes(k, 3) {
			continue
		}
		var got struct {
			Runs []struct {
				Ranks             int
				Predicted_bytes   int64
				Measured_bytes    int64
				Predicted_seconds float64
				Measured_seconds  float64
			}
		}
		text := runInProcess(t, "scale", "run", app, karate, "--gpus", "--counts", "1,2", "--rounds", "2", "--json")
		if err := json.Unmarshal([]byte(text), &got); err != nil {
			t.Fatal(err)
		}
		if len(got.Runs) != 2 || got.Runs[1].Ranks != 2 {
			t.Fatalf("%s: %s", app, text)
		}
		for _, r := range got.Runs {
			if r.Predicted_bytes != r.Measured_bytes || r.Predicted_seconds <= 0 || r.Measured_seconds <= 0 {
				t.Errorf("%s: %+v", app, r)
			}
		}
		if got.Runs[1].Measured_bytes == 0 {
			t.Errorf("%s: two GPUs exchanged nothing", app)
		}
	}
	text := runInProcess(t, "scale", "predict", "scan", karate, "--measure", "gpu", "--counts", "1,2,5")
	if !strings.Contains(text, "\n5  ") || !strings.Contains(text, "best: ") {
		t.Error(text)
	}
}

// Commands write the same on both devices and report which one they used.
func TestCommandsOnDevice(t *testing.T) {
	emulated(t)
	roads := write(t, "roads.mtx", roads)
	for _, args := range []string{
		"project --unweighted " + chesapeake, "project --onto rows --diagonal " + roads, "project --weight ratio " + chesapeake,
		"vn --seeds 0,3 " + roads, "vn --seeds 0,33 --unit " + karate,
		"bfs --source 0 " + karate, "bfs --source 0 --parents " + roads,
		"sssp --source 1 " + roads, "cc " + roads, "ktruss -k 4 " + karate, "louvain " + karate, "louvain --leiden " + chesapeake,
		"run matching " + karate, "sgm --seeds 4 " + roads + " " + roads,
	} {
		t.Run(args, func(t *testing.T) {
			dir := t.TempDir()
			outs := map[string]string{}
			for _, device := range []string{"cpu", "gpu"} {
				out := filepath.Join(dir, device+".tsv")
				var got map[string]any
				text := runInProcess(t, append(strings.Fields(args), "--device", device, "--json", "-o", out)...)
				if err := json.Unmarshal([]byte(text), &got); err != nil {
					t.Fatal(err)
				}
				if name := fmt.Sprint(got["device"]); !strings.HasPrefix(name, device) || got["device_reason"] != "asked for" || got["method"] == "" {
					t.Errorf("--device %s ran on %s, because %v, by %q", device, name, got["device_reason"], got["method"])
				}
				outs[device] = contents(t, out)
			}
			if outs["cpu"] != outs["gpu"] || outs["cpu"] == "" {
				t.Errorf("cpu wrote\n%s\ngpu\n%s", outs["cpu"], outs["gpu"])
			}
		})
	}
	for _, device := range []string{"gpu", "cpu"} {
		programFiles(t, roads, device)
	}
	for _, method := range []string{"pipeline", "fused"} {
		if got := runInProcess(t, "tc", karate, "--device", "gpu", "--method", method); !strings.Contains(got, "triangles  45") {
			t.Errorf("--method %s: %s", method, got)
		}
		if got := runInProcess(t, "bfs", karate, "--source", "0", "--device", "gpu", "--method", method); !strings.Contains(got, "max level  3") {
			t.Errorf("--method %s: %s", method, got)
		}
	}
	if a, b := runInProcess(t, "tc", karate, "--device", "gpu:0"), "triangles  45"; !strings.Contains(a, b) || !strings.Contains(a, "(gpu:0 (emulated device))") {
		t.Errorf("%q is not in %s", b, a)
	}
	if got := runInProcess(t, "pagerank", karate, "--device", "gpu"); !strings.Contains(got, "iterations   52") {
		t.Error(got)
	}
	if got := runInProcess(t, "lsap", chesapeake, "--maximize", "--default", "0", "--device", "gpu"); !strings.Contains(got, "value     39") || !strings.Contains(got, "auction (gpu:0 (emulated device)") {
		t.Error(got)
	}
	if got := runInProcess(t, "demo", "--device", "gpu", "--dir", t.TempDir()); !strings.Contains(got, "45 triangles") || !strings.Contains(got, "686 pairs") {
		t.Error(got)
	}
}

// programFiles runs program files on a device, and compares with the components of a graph.
func programFiles(t *testing.T, roads, device string) {
	t.Helper()
	want := runInProcess(t, "cc", roads, "--quiet", "-o", "-")
	prog := write(t, "least.prog", "state int32\nmessage int32\ninit id\nsend state\nsum min\napply active = sum < state; if (active) state = sum\n")
	if got := runInProcess(t, "run", prog, roads, "--quiet", "--undirected", "--device", device, "-o", "-"); got != want || got == "" {
		t.Errorf("%s: a program of text writes %q, want %q", device, got, want)
	}
	fields := write(t, "fields.prog", "state { int32 least; float part; bool found }\nmessage int32\ninit {id, 0.5f, false}\nsend state.least\nsum min\n"+
		"apply active = sum < state.least; state.found = true; if (active) state.least = sum\n")
	var lines strings.Builder // the same components, with two more columns
	for _, line := range strings.Split(strings.TrimSpace(want), "\n") {
		lines.WriteString(line + "\t0.5\t1\n")
	}
	if got := runInProcess(t, "run", fields, roads, "--quiet", "--undirected", "--device", device, "-o", "-"); got != lines.String() || got == "" {
		t.Errorf("%s: states with fields are written as %q, want %q", device, got, lines.String())
	}
}

// A program file without a GPU runs on the host and on ranks of the host, unless a GPU is asked
// for.
func TestProgramWithoutGPU(t *testing.T) {
	before := testMachine.OpenDevice
	testMachine.OpenDevice = func(int) (*cusparse.Device, error) { return nil, errors.New("no driver") }
	t.Cleanup(func() { testMachine.OpenDevice = before })
	prog := write(t, "least.prog", "state { int32 least; int32 id }\nmessage int32\ninit {id, id}\nsend state.least\nsum min\napply active = sum < state.least; if (active) state.least = sum\n")
	want := runInProcess(t, "run", prog, karate, "--quiet", "-o", "-")
	if !strings.HasPrefix(want, "0\t0\t0\n1\t0\t1\n") {
		t.Errorf("%q", want)
	}
	const phases = "../../program/examples/independent.prog"
	members := runInProcess(t, "run", phases, karate, "--quiet", "-o", "-")
	if !strings.HasPrefix(members, "0\t2\n1\t2\n") || strings.Count(members, "\t1\n") != 20 || strings.Count(members, "\t2\n") != 14 {
		t.Errorf("%q", members)
	}
	for _, args := range [][]string{{"--device", "cpu"}, {"--device", "ranks:3"}, {"--device", "ranks:2", "--hops", "2", "--order", "rcm"}} {
		for prog, want := range map[string]string{prog: want, phases: members} {
			if got := runInProcess(t, append([]string{"run", prog, karate, "--quiet", "-o", "-"}, args...)...); got != want {
				t.Errorf("%s %v: %q, want %q", prog, args, got, want)
			}
		}
	}
	if r := inside("run", prog, karate, "--device", "gpu"); r.code != 1 || !strings.Contains(r.stderr, "no driver; --device cpu computes without one") {
		t.Errorf("%+v", r)
	}
}

// Errors on a GPU equal those on the host.
func TestFailuresOnDevice(t *testing.T) {
	emulated(t)
	negative := write(t, "negative.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 2\n2 3 1\n1 2 -1\n")
	for args, want := range map[string]string{
		"sssp --source 1 " + negative:             "negative.mtx: edge from 0 to 1 (vertices from 0): its weight is -1",
		"pagerank --max-iterations 2 " + karate:   "karate.mtx: the ranks still change",
		"tc --timeout 1ns " + karate:              "--timeout: tc not finished after 1ns",
		"bfs --device gpu:7 --source 0 " + karate: "--device gpu:7: cusparse.Open: ",
		"cc --device gpu:7 --json -o x " + karate: "-o x: the extension",
	} {
		var out, bad strings.Builder
		line := strings.Fields(args)
		if !strings.Contains(args, "--device") {
			line = append(line, "--device", "gpu")
		}
		if code := run(line, &out, &bad); code == 0 || !strings.Contains(bad.String(), want) || strings.Count(bad.String(), "\n") != 1 {
			t.Errorf("%s: exit %d, %q, want %q", args, code, bad.String(), want)
		}
	}
}

func jobOf(t *testing.T, device string, worth int64) (*job.Job, *matrix.Matrix[float64]) {
	t.Helper()
	g := sure.Get(graphio.ReadMatrixMarketFile[float64](karate))
	s := &job.Session{Machine: testMachine}
	s.Ctx = t.Context()
	j := job.New(s, &cobra.Command{Use: "tc"})
	j.Run.Device, j.Threshold = device, worth
	j.Graph, j.Progress = &job.Graph{File: karate, Matrix: g}, progress.New(os.Stderr, false)
	return j, g
}

// --device auto uses a GPU if there is one and the graph is large enough.
func TestAuto(t *testing.T) {
	entries := func(g *matrix.Matrix[float64]) func() int64 { return g.NVals }
	t.Run("too small", func(t *testing.T) {
		before := testMachine.OpenDevice
		defer func() { testMachine.OpenDevice = before }()
		testMachine.OpenDevice = func(int) (*cusparse.Device, error) { t.Error("a GPU is opened"); return nil, driver.ErrNoDevice }
		j, g := jobOf(t, "auto", 157)
		if err := j.PlaceGraphs(entries(g), "entries", g); err != nil || j.Device != nil || j.Why != "156 entries, too few to gain from a GPU" {
			t.Errorf("device %v, because %q (error %v)", j.Device, j.Why, err)
		}
	})
	t.Run("no GPU", func(t *testing.T) {
		before := testMachine.OpenDevice
		defer func() { testMachine.OpenDevice = before }()
		testMachine.OpenDevice = func(int) (*cusparse.Device, error) { return nil, driver.ErrNoDevice }
		j, g := jobOf(t, "auto", 156)
		if err := j.PlaceGraphs(entries(g), "entries", g); err != nil || j.Device != nil || j.Why != driver.ErrNoDevice.Error() {
			t.Errorf("device %v, because %q (error %v)", j.Device, j.Why, err)
		}
	})
	t.Run("large enough", func(t *testing.T) {
		emulated(t)
		j, g := jobOf(t, "auto", 156)
		if err := j.PlaceGraphs(entries(g), "entries", g); err != nil || j.Device == nil || g.Place() != matrix.Place(j.Device) || j.Why != "156 entries" {
			t.Errorf("device %v, because %q (error %v)", j.Device, j.Why, err)
		}
	})
	t.Run("no room", func(t *testing.T) {
		emulated(t, emu.Memory(2048))
		j, g := jobOf(t, "auto", 156)
		if err := j.PlaceGraphs(entries(g), "entries", g); err != nil || j.Device != nil || g.Place() != nil || !strings.Contains(j.Why, "out of device memory") {
			t.Errorf("device %v, because %q (error %v)", j.Device, j.Why, err)
		}
		j, g = jobOf(t, "gpu", 0)
		if err := j.OpenDemanded(); err != nil {
			t.Fatal(err)
		}
		if err := j.PlaceGraphs(entries(g), "entries", g); err != nil || j.Device.Memory().Host == 0 {
			t.Errorf("asked for, %d bytes of the graph stay in host memory (%v)", j.Device.Memory().Host, err)
		}
		j.Device.Limit(64)
		sure.Do(g.Move(nil))
		if err := g.Move(j.Device); !errors.Is(err, cusparse.ErrMemory) {
			t.Errorf("without room for the offsets of rows it fails with %v", err)
		}
	})
}

// A graph that is larger than --device-memory stays in host memory, if the GPU was asked for, and
// results do not change.
func TestRowsInHostMemory(t *testing.T) {
	emulated(t)
	graph := filepath.Join(t.TempDir(), "rmat.mtx")
	runInProcess(t, "generate", "rmat", "--scale", "9", "--undirected", "--quiet", "-o", graph)
	for _, args := range []string{"bfs --source 1", "sssp --source 1", "cc", "pagerank --tolerance 1e-3"} {
		args += " --duplicates sum " + graph + " -o - --device gpu"
		want := runInProcess(t, strings.Fields(args)...)
		if got := runInProcess(t, strings.Fields(args+" --device-memory 96KiB")...); got != want {
			t.Errorf("%s: got\n%.200s, want\n%.200s", args, got, want)
		}
	}
	got := runInProcess(t, "bfs", graph, "--duplicates", "sum", "--source", "1", "--device", "gpu", "--device-memory", "96KiB")
	if !strings.Contains(got, "GB of rows in host memory") {
		t.Errorf("the summary does not say where the rows are:\n%s", got)
	}
}

func TestProducts(t *testing.T) {
	a := sure.Get(graphio.ReadMatrixMarket[float64](strings.NewReader(visits)))
	if cols, rows := products(a, apps.OntoColumns), products(a, apps.OntoRows); cols != 8 || rows != 6 {
		t.Errorf("%d and %d products, want 8 and 6", cols, rows)
	}
}

// fakeCompiler compiles nothing.
type fakeCompiler struct{ fails error }

func (fakeCompiler) Name() string { return "stand-in" }

func (fakeCompiler) Version() string { return "1.2" }

func (s fakeCompiler) Compile(source, name, arch string) ([]byte, error) {
	return []byte("kernel for " + arch), s.fails
}

func TestJIT(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "kernels")
	t.Setenv("HIVEBLAS_CACHE", dir)
	before := testMachine.OpenCompiler
	defer func() { testMachine.OpenCompiler = before }()
	testMachine.OpenCompiler = func() (driver.Compiler, error) { return fakeCompiler{}, nil }
	if got := runInProcess(t, "jit", "list"); !strings.Contains(got, "0 kernels") {
		t.Error(got)
	}
	first := object1(t, runInProcess(t, "jit", "warm", "--arch", "sm_80", "--json"))
	n, _ := first["kernels"].(float64)
	if n < 20 || first["compiled"] != n || first["arch"] != "sm_80" {
		t.Errorf("warm: %v", first)
	}
	if longtest.Enabled() {
		again := object1(t, runInProcess(t, "jit", "warm", "--arch", "sm_80", "--json"))
		if again["compiled"] != 0.0 || again["kernels"] != n {
			t.Errorf("warm again: %v", again)
		}
	}
	if list := object1(t, runInProcess(t, "jit", "list", "--json")); len(list["kernels"].([]any)) != int(n) {
		t.Errorf("list: %v kernels, want %v", len(list["kernels"].([]any)), n)
	}
	if got := runInProcess(t, "jit", "list"); !strings.Contains(got, "bfs of breadth-first search") || !strings.Contains(got, fmt.Sprintf("%v kernels", n)) {
		t.Error(got)
	}
	if got := object1(t, runInProcess(t, "jit", "clear", "--json")); got["removed"] != n || len(files(t, dir)) != 0 {
		t.Errorf("clear: %v, left %v", got, files(t, dir))
	}
	t.Setenv("HIVEBLAS_CACHE", "off")
	var out, bad strings.Builder
	if code := run([]string{"jit", "warm", "--arch", "sm_80"}, &out, &bad); code != 1 || !strings.Contains(bad.String(), "kernels are not kept on the disk") {
		t.Errorf("exit %d, %q", code, bad.String())
	}
}

// info lists the available devices.
func TestInfoOfGPUs(t *testing.T) {
	e, err := emu.New(emu.Devices(2))
	if err != nil {
		t.Skip(err)
	}
	before, compiler := testMachine.OpenDriver, testMachine.OpenCompiler
	defer func() { testMachine.OpenDriver, testMachine.OpenCompiler = before, compiler }()
	testMachine.OpenDriver = func() (driver.Driver, error) { return e, nil }
	testMachine.OpenCompiler = func() (driver.Compiler, error) { return fakeCompiler{}, nil }
	kinds, err := testMachine.GpuKinds()
	if err != nil || len(kinds) != 2 || !strings.HasPrefix(kinds[1], "emulated device, ") || !strings.HasSuffix(kinds[1], " multiprocessors") {
		t.Errorf("kinds %q (%v)", kinds, err)
	}
	got := runInProcess(t, "info")
	for _, want := range []string{"CUDA 13.0, by emulator", "gpu:1     emulated device, 4.0 GiB, ", "compute capability 9.0", "NVRTC     1.2, stand-in",
		"cpu, gpu:0 (emulated device), gpu:1 (emulated device)"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	o := object1(t, runInProcess(t, "info", "--json"))
	if gpus, ok := o["gpus"].([]any); !ok || len(gpus) != 2 || gpus[0].(map[string]any)["compute_capability"] != "9.0" || o["cuda"] != "13.0" {
		t.Error(o)
	}
}
