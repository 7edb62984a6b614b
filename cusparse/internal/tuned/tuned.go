// Package tuned keeps the plans that searches have found for products of graphs, in a file that the
// processes of a user share.
package tuned

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/bits"
	"os"

	"github.com/hiveblas/hiveblas/cusparse/space"
	"github.com/hiveblas/hiveblas/internal/atomicfile"
)

// Plans are plans, or methods of products with full matrices, by the fingerprint of a graph and the
// kind of product, on one device and driver.
type Plans struct {
	path  string
	Plans map[string]string `json:"plans"`
}

// Key names a kind of product of a graph: the directions with their rows at hand, whether x
// is full, the frontier's decade, and the size of results. facts are the facts of one of the
// directions.
func Key(pull, push bool, f space.Facts, fingerprint string) string {
	decade := 0
	for share := f.Frontier; share < 0.3 && decade < 3; share *= 10 {
		decade++
	}
	return fmt.Sprintf("%s pull=%t push=%t full=%t any=%t size=%d,%d share=%d",
		fingerprint, pull, push, f.FullX, f.Any, f.Result, f.Elements, decade)
}

// Read returns the plans of a file, none without a path. A file that cannot be read counts as none:
// the plans are tuned anew.
func Read(path string) *Plans {
	t := &Plans{path: path, Plans: map[string]string{}}
	if path == "" {
		return t
	}
	if b, err := os.ReadFile(path); err == nil && (json.Unmarshal(b, t) != nil || t.Plans == nil) {
		t.Plans = map[string]string{}
	}
	return t
}

// ColumnsKey names a product of a graph with a full matrix, whose columns count by powers of two.
func ColumnsKey(fingerprint string, columns, size int) string {
	return fmt.Sprintf("%s mxm columns=%d size=%d", fingerprint, bits.Len(uint(columns)), size)
}

// Find returns the plan of a key.
func (t *Plans) Find(key string) (p space.Plan, ok bool) {
	text, ok := t.Plans[key]
	if !ok {
		return p, false
	}
	p, err := space.Parse(text)
	return p, err == nil
}

// Keep stores plans by their keys, in the file too.
func (t *Plans) Keep(plans map[string]string) error {
	if t.path != "" {
		if b, err := os.ReadFile(t.path); err == nil { // what other processes have found
			var theirs Plans
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
	maps.Copy(t.Plans, plans)
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
