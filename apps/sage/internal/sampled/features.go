package sampled

import (
	"fmt"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/apps/sage/internal/neural"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
)

// CheckFeatures checks that features have a row for each of n vertices, and returns their
// number.
func CheckFeatures(app string, features matrix.Source[float32], n int) (d int, err error) {
	if err := workflow.Usable(app, "the features", features); err != nil {
		return 0, err
	}
	m, d := matrix.AsView[float32](features).Dims()
	if m != n {
		return 0, &matrix.DimensionError{Op: app, Arg: "the features", Got: fmt.Sprintf("%d×%d", m, d),
			Want: fmt.Sprintf("%d×%d, a row for each vertex", n, d), Remedy: "give a row of features for each vertex of the graph"}
	}
	return d, nil
}

// FeaturesOf returns the features of n vertices on the host.
func FeaturesOf(features matrix.Source[float32], n int) (x neural.Input[float32], err error) {
	v := matrix.AsView[float32](features)
	if err := v.Fetch(); err != nil {
		return x, err
	}
	rows := access.Stored(v)
	if v.Inside().Transposed || rows.Val == nil {
		rows = access.Rows(v)
		if rows.Val == nil {
			rows = &sparse.Typed[float32]{Structure: rows.Structure, Val: ones32(len(rows.Idx))}
		}
	}
	if cells, ok := rows.Cells(); ok && rows.NVals*4 > int64(cells) {
		if rows.Format != sparse.Full {
			rows = sparse.ToFull(rows, 0)
		}
		return neural.Input[float32]{Full: neural.Panel[float32]{Rows: n, Cols: rows.NCols, Val: rows.Val}}, nil
	}
	return neural.Input[float32]{Sparse: sparse.ToCSR(rows)}, nil
}

func ones32(n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = 1
	}
	return x
}
