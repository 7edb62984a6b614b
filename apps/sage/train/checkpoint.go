package train

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/apps/sage/internal/neural"
	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/comm/spmd"
	"github.com/hiveblas/hiveblas/graphio"
	"github.com/hiveblas/hiveblas/internal/atomicfile"
	"github.com/hiveblas/hiveblas/internal/npy"
)

// settings are what a checkpoint must agree on.
func (t *sageTrainer) settings() []float64 {
	o := t.o
	list := []float64{float64(o.Aggregator), float64(o.Sampling), float64(o.Batch), o.Rate, o.Decay, o.Dropout,
		float64(o.Seed >> 32), float64(uint32(o.Seed)), float64(o.Pairs), float64(o.Negatives), 0, float64(o.Patience),
		float64(len(t.split.Train)), float64(len(t.split.Validate)), float64(t.graph.N), float64(t.entries)}
	if o.Replace {
		list[10] = 1
	}
	for _, s := range o.Samples {
		list = append(list, float64(s))
	}
	if o.Links != nil {
		list = append(list, -1)
	}
	if t.net.Attends() {
		list = append(list, -2, float64(t.net.Heads))
	}
	return list
}

// save writes the checkpoint. On a group the process of rank 0 does.
func (t *sageTrainer) save() error {
	if t.division != nil {
		return t.saveOnce(t.division)
	}
	if t.idle {
		return nil
	}
	return t.write()
}

// write writes the checkpoint.
func (t *sageTrainer) write() error {
	all := map[string]*npy.Array{}
	list := func(name string, val ...float64) { all[name] = &npy.Array{Rows: 1, Cols: len(val), Dims: 1, Val: val} }
	for _, p := range t.net.All {
		for prefix, m := range map[string]neural.Panel[float32]{"": p.Value, "first_": p.First, "next_": p.Next, "best_": p.Value} {
			if prefix == "best_" {
				if t.best == nil {
					continue
				}
				m.Val = t.best[p.Name]
			}
			all[prefix+p.Name] = neural.ArrayOf(m, p.Dims)
		}
	}
	s := t.state
	list("settings", t.settings()...)
	list("state", float64(s.Epochs), float64(s.Best), s.Loss, s.Validate, float64(s.steps), s.bestLoss)
	return atomicfile.WriteFile(t.o.Context, t.o.Checkpoint, func(w io.Writer) error {
		return (&npy.Zip{Arrays: all}).Write(w, func(name string) bool { return name == "settings" || name == "state" })
	})
}

// checkpoint returns the bytes of the checkpoint, nil if there is none. On a group the process of
// rank 0 reads it for all.
func (t *sageTrainer) checkpoint() ([]byte, error) {
	if t.division != nil {
		return sharedCheckpoint(t.division, t.o.Checkpoint)
	}
	return readCheckpoint(t.o.Checkpoint)
}

func readCheckpoint(file string) ([]byte, error) {
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if data == nil {
		data = []byte{} // an empty file is no checkpoint
	}
	return data, err
}

// resume reads the checkpoint if there is one.
func (t *sageTrainer) resume() error {
	if t.o.Checkpoint == "" {
		return nil
	}
	data, err := t.checkpoint()
	if data == nil || err != nil {
		return err
	}
	bad := func(format string, args ...any) error {
		return &graphio.ParseError{File: t.o.Checkpoint, Msg: fmt.Sprintf(format, args...), Remedy: "remove the file to train from the start, or give the settings of its run"}
	}
	z, err := npy.ReadZip(data)
	if err != nil {
		return bad("no checkpoint: %v", err)
	}
	all := z.Arrays
	if a := all["settings"]; a == nil || !slices.Equal(a.Val, t.settings()) {
		return bad("the checkpoint is of a run with other settings")
	}
	state := all["state"]
	if state == nil || len(state.Val) != 6 {
		return bad("the checkpoint has no state")
	}
	_, kept := all["best_"+t.net.All[0].Name]
	for _, p := range t.net.All {
		for prefix, to := range map[string][]float32{"": p.Value.Val, "first_": p.First.Val, "next_": p.Next.Val, "best_": t.best[p.Name]} {
			a := all[prefix+p.Name]
			if prefix == "best_" && !kept {
				continue
			}
			if a == nil || a.Rows != p.Value.Rows || a.Cols != p.Value.Cols {
				return bad("%s%s is missing or of another shape", prefix, p.Name)
			}
			list, err := neural.FiniteList(a, prefix+p.Name)
			if err != nil {
				return bad("%v", err)
			}
			copy(to, list)
		}
	}
	if !kept {
		t.best = nil
	}
	s := state.Val
	t.state = sageState{SAGETraining{Epochs: int(s[0]), Best: int(s[1]), Loss: s[2], Validate: s[3]}, int64(s[4]), s[5]}
	return nil
}

// saveOnce writes the checkpoint in the process of rank 0. It returns when the file is there.
func (t *sageTrainer) saveOnce(d *workflow.Division) error {
	err := d.Once(func() error {
		if !d.Group.First() {
			return nil
		}
		return t.write()
	})
	if err != nil {
		return err
	}
	return d.Each(func(_ int, c comm.Comm) error { return c.Fence(d.Wait) })
}

// sharedCheckpoint returns the bytes of the file that the process of rank 0 reads, nil without one.
func sharedCheckpoint(d *workflow.Division, file string) (data []byte, err error) {
	err = d.Once(func() (err error) {
		if d.Group.First() {
			data, err = readCheckpoint(file)
		}
		return err
	})
	own := len(d.Group.Ranks())
	if err != nil || own == d.Group.Size() {
		return data, err
	}
	size := make([]int64, own) // bytes and one, 0 without a file
	if data != nil {
		size[0] = int64(len(data)) + 1
	}
	err = d.Each(func(k int, c comm.Comm) error { return spmd.Broadcast(d.Wait, c, size[k:k+1], 0) })
	if err != nil || size[0] == 0 {
		return nil, err
	}
	if data == nil {
		data = make([]byte, size[0]-1)
	}
	if len(data) == 0 {
		return data, nil
	}
	return data, d.Each(func(k int, c comm.Comm) error {
		own := data
		if k > 0 {
			own = make([]byte, len(data))
		}
		return spmd.Broadcast(d.Wait, c, own, 0)
	})
}
