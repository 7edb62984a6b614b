package cusparse

import (
	"fmt"
	"hash/fnv"
	"path/filepath"

	"github.com/hiveblas/hiveblas/cusparse/internal/tuned"
	"github.com/hiveblas/hiveblas/cusparse/space"
)

// fingerprint tells graphs apart, as far as the choice of a plan depends on them.
func (x *matrixFacts) fingerprint(rows, cols int, entries int64) string {
	h := fnv.New64a()
	fmt.Fprintln(h, rows, cols, entries, x.most, x.variation, x.diagonals, x.onDiagonals)
	return fmt.Sprintf("%016x", h.Sum64())
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

// plans returns the tuned plans, reading their file at first.
func (d *Device) plans() *tuned.Plans {
	if d.tunings == nil {
		d.tunings = tuned.Read(d.tunedFile())
	}
	return d.tunings
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
		if p, ok := t.Find(tuned.Key(pull != nil, push != nil, *x, print)); ok {
			return p, true
		}
	}
	return p, false
}
