package cusparse

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/hiveblas/hiveblas/cusparse/space"
	"github.com/hiveblas/hiveblas/internal/atomicfile"
)

// tunedPlans are the plans that searches have found for graphs, by fingerprint and kind of product,
// on one device and driver. They stand in a file beside the compiled kernels.
type tunedPlans struct {
	path  string
	Plans map[string]string `json:"plans"`
}

// fingerprint tells graphs apart, as far as the choice of a plan depends on them.
func (x *matrixFacts) fingerprint(rows, cols int, entries int64) string {
	h := fnv.New64a()
	fmt.Fprintln(h, rows, cols, entries, x.most, x.variation, x.diagonals, x.onDiagonals)
	return fmt.Sprintf("%016x", h.Sum64())
}

// tuningKey names a kind of product of a graph: the directions with their rows at hand, whether x
// is full, the frontier's decade, and the size of results. facts are the facts of one of the
// directions.
func tuningKey(pull, push bool, f space.Facts, fingerprint string) string {
	decade := 0
	for share := f.Frontier; share < 0.3 && decade < 3; share *= 10 {
		decade++
	}
	return fmt.Sprintf("%s pull=%t push=%t full=%t any=%t size=%d,%d share=%d",
		fingerprint, pull, push, f.FullX, f.Any, f.Result, f.Elements, decade)
}

// tunedFile is the file of this device's tuned plans, "" without a cache directory.
func (d *Device) tunedFile() string {
	if d.cacheDir == "" {
		return ""
	}
	h := fnv.New64a()
	fmt.Fprintln(h, d.props.Name, d.props.Major, d.props.Minor, d.props.Multiprocessors, d.compiler)
	return filepath.Join(d.cacheDir, fmt.Sprintf("plans-%016x.json", h.Sum64()))
}

// plans returns the tuned plans, reading their file at first. A file that cannot be read counts as
// none: the plans are tuned anew.
func (d *Device) plans() *tunedPlans {
	if d.tunings != nil {
		return d.tunings
	}
	t := &tunedPlans{path: d.tunedFile(), Plans: map[string]string{}}
	if t.path != "" {
		if b, err := os.ReadFile(t.path); err == nil {
			if json.Unmarshal(b, t) != nil || t.Plans == nil {
				t.Plans = map[string]string{}
			}
		}
	}
	d.tunings = t
	return t
}

// tuned returns the plan that was tuned for a product.
func (w *walk) tuned() (p space.Plan, ok bool) {
	t := w.d.plans()
	if len(t.Plans) == 0 || w.err != nil {
		return p, false
	}
	pull, push := w.facts[space.Pull], w.facts[space.Push]
	for d, x := range w.facts {
		if x == nil || !x.Seen {
			continue
		}
		a := w.rows[d]
		print := w.factsOf(a).fingerprint(a.m, a.n, a.known())
		text, found := t.Plans[tuningKey(pull != nil, push != nil, *x, print)]
		if !found {
			continue
		}
		if p, err := space.Parse(text); err == nil {
			return p, true
		}
	}
	return p, false
}

// keep stores plans by their keys, in the file too.
func (t *tunedPlans) keep(plans map[string]space.Plan) error {
	if t.path != "" {
		if b, err := os.ReadFile(t.path); err == nil { // what other processes have found
			var theirs tunedPlans
			if json.Unmarshal(b, &theirs) == nil {
				for k, v := range theirs.Plans {
					if _, mine := t.Plans[k]; !mine {
						t.Plans[k] = v
					}
				}
			}
		} else if !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("tuned plans: %w", err)
		}
	}
	for key, p := range plans {
		t.Plans[key] = p.String()
	}
	if t.path == "" {
		return nil
	}
	b, err := json.MarshalIndent(t, "", "\t")
	if err != nil {
		return err
	}
	return atomicfile.WriteFile(context.Background(), t.path, func(w io.Writer) error {
		_, err := w.Write(append(b, '\n'))
		return err
	})
}
