package apps

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hiveblas/hiveblas/apps/internal/samples"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/cusparse/driver"
	"github.com/hiveblas/hiveblas/internal/emu"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/internal/race"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/program"
	"github.com/hiveblas/hiveblas/semiring"
)

// A faultRow is a computation on a group.
type faultRow struct {
	name     string
	directed bool // its graph
	gpus     bool // kernels of devices run it, divided among the ranks
	further  bool // a further setting of a workflow
	run      func(g samples.GroupGraph, run workflow.Run) (any, error)
}

// faultRows are all workflows, training and graph programs: in the quick form one setting of each
// workflow, another one each turn.
func faultRows(t *testing.T) (list []faultRow) {
	byApp := map[string][]*kitCase[float32]{}
	for _, c := range cases[float32]() {
		if c.name != "GraphSearch from nowhere" { // computes nothing
			byApp[c.app] = append(byApp[c.app], c)
		}
	}
	for app, settings := range byApp {
		slices.SortFunc(settings, func(a, b *kitCase[float32]) int { return strings.Compare(a.name, b.name) })
		if !longtest.Enabled() {
			at := longtest.Turn() % len(settings)
			settings = settings[at : at+1]
		}
		for k, c := range settings {
			gpus := formsOf(app).Group != "" && c.whole == "" && c.plain == ""
			list = append(list, faultRow{c.name, !c.undirected && k%2 == 0, gpus, k > 0, func(g samples.GroupGraph, run workflow.Run) (any, error) {
				return c.run(g, workflow.Tuned(run, workflow.DividedEntries(1)))
			}})
		}
	}
	for name, o := range map[string]SAGETrainOptions{"layers": {}, "trees": {Batch: 1, Samples: []int{1, 2}}} {
		list = append(list, faultRow{"TrainGraphSAGE, " + name, false, true, false, func(g samples.GroupGraph, run workflow.Run) (any, error) {
			n, _ := g.Dims()
			classes := make([]int32, n)
			for v := range classes {
				classes[v] = int32(v % 3)
			}
			o := o
			o.Run, o.Hidden, o.Epochs, o.Seed = run, []int{3, 3}, 3, 4
			m, err := TrainGraphSAGE(g, samples.DrawFeatures(t, n, 4, 1, matrix.Full), classes, SAGESplit{Train: []int{0, 1, 2, 3}}, o)
			if err != nil {
				return nil, err
			}
			return []any{m.Loss, m.Model.Layers[0].Self}, nil
		}})
	}
	labels := program.Program[int32, float32, int32]{
		Init:  program.Init(func(v program.Vertex) int32 { return v.ID }, "id"),
		Send:  program.Send(func(_ program.Vertex, x int32) int32 { return x }, "state"),
		Sum:   semiring.Min[int32](),
		Apply: program.Apply(func(_ program.Vertex, x, sum int32) (int32, bool) { return min(x, sum), sum < x }, "active = sum < state; if (sum < state) state = sum;"),
	}
	list = append(list, faultRow{"a program", false, true, false, func(g samples.GroupGraph, run workflow.Run) (any, error) {
		ctx := run.Context
		if ctx == nil {
			ctx = context.Background()
		}
		res, err := program.Run(ctx, g, labels)
		if err != nil {
			return nil, err
		}
		return []any{res.State, res.Supersteps}, nil
	}})
	slices.SortFunc(list, func(a, b faultRow) int { return strings.Compare(a.name, b.name) })
	return list
}

// A faultOutcome is what a process has: the bits of the result, or an error.
type faultOutcome struct {
	words []string
	err   error
}

// outcomes runs a row in all processes at the same time; none may hang.
func (r faultRow) outcomes(t *testing.T, what string, groups []*comm.Group, run func(process int) workflow.Run) []faultOutcome {
	t.Helper()
	out, done := make([]faultOutcome, len(groups)), make(chan struct{})
	go func() {
		var wait sync.WaitGroup
		for k, at := range groups {
			wait.Go(func() {
				var res any
				g := groupGraph(t, 5, r.directed, nil)
				err := g.Move(at)
				if err == nil {
					res, err = r.run(g, run(k))
				}
				words := samples.ResultWords(res)
				out[k] = faultOutcome{words, errors.Join(err, resultError(res))}
				if out[k].err != nil && len(groups) > 1 { // as the end of a command does
					at.Ranks()[0].Abort(out[k].err)
				}
			})
		}
		wait.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(2 * time.Minute):
		t.Fatalf("%s: a process hangs", what)
	}
	return out
}

// resultError returns the error of a vector or matrix of a result.
func resultError(v any) error {
	r := reflect.ValueOf(v)
	if e, ok := v.(interface{ Err() error }); ok && (r.Kind() != reflect.Pointer || !r.IsNil()) {
		return e.Err()
	}
	var errs []error
	switch r = reflect.Indirect(r); r.Kind() {
	case reflect.Slice:
		for i := range r.Len() {
			errs = append(errs, resultError(r.Index(i).Interface()))
		}
	case reflect.Struct:
		for i := range r.NumField() {
			if r.Type().Field(i).IsExported() {
				errs = append(errs, resultError(r.Field(i).Interface()))
			}
		}
	}
	return errors.Join(errs...)
}

// A faultPlace makes the groups of one run, a group a process. Rank 1 has the fault.
type faultPlace struct {
	name    string
	threads int // of the host, for each process
	groups  func(f comm.Fault, timeout time.Duration) []*comm.Group
	machine *emu.Emulator // of devices
}

// faultPlaces are three ranks of the host in one process, or as many processes; and two devices.
func faultPlaces(t *testing.T) []faultPlace {
	ranks := func(f comm.Fault, timeout time.Duration) []comm.Comm {
		list := sure.Get(comm.Local(3, comm.Timeout(timeout)))
		list[1] = comm.WithFault(list[1], f)
		return list
	}
	places := []faultPlace{
		{"ranks", 3, func(f comm.Fault, timeout time.Duration) []*comm.Group {
			return []*comm.Group{sure.Get(comm.NewGroup(ranks(f, timeout)))}
		}, nil},
		{"processes", 1, func(f comm.Fault, timeout time.Duration) (list []*comm.Group) {
			for _, c := range ranks(f, timeout) {
				list = append(list, sure.Get(comm.NewGroup([]comm.Comm{c})))
			}
			return list
		}, nil},
	}
	if !testing.Short() && !race.Enabled {
		at, e := samples.PeersOn(t, 2)
		places = append(places, faultPlace{"devices", 0, func(f comm.Fault, timeout time.Duration) []*comm.Group {
			return []*comm.Group{samples.Regrouped(t, at, f, comm.Timeout(timeout))}
		}, e})
	}
	return places
}

// A fault is what goes wrong on rank 1, or in its process.
type fault struct {
	name  string
	does  comm.Misdeed
	ends  bool   // the context of the process, by cause; does is not used
	call  string // of a device that fails; does is not used
	cause error  // of the error of all ranks; nil if there is none
}

var errBroken = errors.New("broken")

var faults = []fault{
	{name: "a collective fails", does: comm.FaultFails, cause: errBroken},
	{name: "another collective", does: comm.FaultOtherOp, cause: comm.ErrMismatch},
	{name: "a message is cut short", does: comm.FaultOtherSize, cause: comm.ErrMismatch},
	{name: "a collective never comes", does: comm.FaultHangs, cause: comm.ErrTimeout},
	{name: "a collective comes late", does: comm.FaultLate},
	{name: "the context ends", ends: true, cause: context.Canceled},
	{name: "the deadline passes", ends: true, cause: context.DeadlineExceeded},
	{name: "a launch fails", call: "Launch", cause: driver.ErrFailed},
	{name: "memory cannot be had", call: "Alloc", cause: driver.ErrFailed},
	{name: "a copy fails", call: "ToDevice", cause: driver.ErrFailed},
}

// TestFaults is the table of faults: what goes wrong on one rank, at a moment drawn at random, in
// each computation on groups. All processes have one typed error, or the result of a run without
// faults, and a group that has not failed stays usable. The tests of cmd/hiveblas kill and stop
// processes. The quick form draws one place and six faults of a row; the long form takes
// all, of further settings of a workflow in one place.
func TestFaults(t *testing.T) {
	t.Parallel()
	places := faultPlaces(t)
	for k, row := range faultRows(t) {
		rng, places := rand.New(rand.NewPCG(uint64(longtest.Turn()), uint64(k))), places
		if !row.gpus {
			places = places[:2]
		}
		if !longtest.Enabled() || row.further {
			p := (k + longtest.Turn()) % len(places)
			places = places[p : p+1]
		}
		for _, place := range places {
			t.Run(row.name+" on "+place.name, func(t *testing.T) { row.faults(t, place, rng) })
		}
	}
}

// faults runs a row with faults.
func (r faultRow) faults(t *testing.T, at faultPlace, rng *rand.Rand) {
	groups := at.groups(comm.Fault{}, time.Minute)
	begun := time.Now()
	all := r.outcomes(t, "without faults", groups, func(int) workflow.Run { return workflow.Run{Threads: at.threads} })
	sound := soundRun{words: all[0].words, took: time.Since(begun)}
	for k, o := range all {
		if o.err != nil || !slices.Equal(o.words, sound.words) {
			t.Fatalf("without faults: process %d has error %v, or another result", k, o.err)
		}
	}
	for _, g := range groups {
		sound.calls = max(sound.calls, g.Ranks()[len(g.Ranks())-1].Ledger().Total().Calls)
	}
	failed, left := false, 6
	if longtest.Enabled() {
		left = len(faults)
	}
	for _, k := range rng.Perm(len(faults)) {
		f := faults[k]
		if left == 0 || f.call != "" && at.machine == nil || f.call == "" && !f.ends && sound.calls == 0 {
			continue
		}
		left--
		failed = r.goesWrong(t, f, at, sound, rng) || failed
	}
	if longtest.Enabled() && sound.calls > 0 && !failed {
		t.Error("no fault was an error")
	}
}

// A soundRun is a run without faults.
type soundRun struct {
	words []string // of the result
	took  time.Duration
	calls int64 // collectives of a rank
}

// goesWrong runs a row with a fault at a moment of rng, and reports whether the fault was an error.
func (r faultRow) goesWrong(t *testing.T, f fault, at faultPlace, sound soundRun, rng *rand.Rand) (failed bool) {
	t.Helper()
	timeout, moment := time.Minute, time.Duration(rng.Int64N(int64(sound.took)))
	injected := comm.Fault{Does: f.does, Cause: errBroken, Delay: time.Millisecond}
	if f.call == "" && !f.ends {
		injected.Call = 1 + rng.Uint64N(uint64(sound.calls))
	}
	if f.does == comm.FaultHangs {
		timeout = 300 * time.Millisecond
	}
	what := fmt.Sprintf("%s, in collective %d or after %v", f.name, injected.Call, moment)
	groups := at.groups(injected, timeout)
	run := workflow.Run{Threads: at.threads}
	wrong := run // in the process of rank 1
	if f.ends {
		ctx, cancel := context.WithCancel(context.Background())
		if f.cause == context.DeadlineExceeded {
			ctx, cancel = context.WithTimeout(ctx, moment)
		} else {
			time.AfterFunc(moment, cancel)
		}
		defer cancel()
		wrong.Context = ctx
	}
	cancel := func() {}
	got := r.outcomes(t, what, groups, func(process int) workflow.Run {
		if f.call != "" {
			device := at.machine.FailAfter(f.call, 1<<rng.IntN(7), emu.LaunchFailed)
			cancel = device.Cancel
		}
		if process == len(groups)/2 {
			return wrong
		}
		return run
	})
	cancel()
	for k, o := range got {
		failed = failed || o.err != nil
		named := errors.As(o.err, new(*comm.RankError)) || f.call != "" && o.err != nil && strings.Contains(o.err.Error(), "gpu:")
		switch {
		case o.err == nil && !slices.Equal(o.words, sound.words):
			t.Errorf("%s: process %d has another result, and no error", what, k)
		case o.err != nil && (f.cause == nil || !named && !f.ends || !errors.Is(o.err, f.cause)):
			t.Errorf("%s: process %d has error %v", what, k, o.err)
		}
	}
	if len(groups) == 1 && groups[0].Ranks()[0].Err() == nil {
		again := r.outcomes(t, what+", afterwards", groups, func(int) workflow.Run { return run })[0]
		if again.err != nil || !slices.Equal(again.words, sound.words) {
			t.Errorf("%s: afterwards error %v, or another result", what, again.err)
		}
	}
	return failed
}
