// Package collect moves values that a sparse.Type describes among the ranks of a group, in host
// memory, and sums them up in an order that does not depend on the ranks; comm/spmd moves lists of
// other types. The functions that take a communicator are collectives.
package collect

import (
	"context"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/comm/spmd"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// Memory returns the memory of values without pointers.
func Memory(t *sparse.Type, v sparse.Values) comm.Buffer {
	return comm.HostAt(v.Pointer(), comm.Uint8, v.Len()*int(t.Size))
}

// GatherValues is spmd.AllGatherV for values of a type.
func GatherValues(ctx context.Context, c comm.Comm, t *sparse.Type, own sparse.Values, counts []int) (sparse.Values, error) {
	bytes, n := spmd.Bytes(counts, int(t.Size))
	all := t.Zeroed(int64(n))
	if n == 0 || t.Size == 0 { // known to all ranks
		return all, nil
	}
	return all, c.AllGatherV(ctx, Memory(t, all), bytes, Memory(t, own))
}

// ExchangeValues is spmd.AllToAll for values of a type.
func ExchangeValues(ctx context.Context, c comm.Comm, t *sparse.Type, own sparse.Values, send, recv []int) (sparse.Values, error) {
	in, n := spmd.Bytes(recv, int(t.Size))
	out, _ := spmd.Bytes(send, int(t.Size))
	all := t.Zeroed(int64(n))
	return all, c.AllToAllV(ctx, Memory(t, all), in, Memory(t, own), out)
}

// Ints returns a list as one of int.
func Ints(list []int64) []int {
	out := make([]int, len(list))
	for i, x := range list {
		out[i] = int(x)
	}
	return out
}

// Sum returns the sum of a list.
func Sum[N int | int64](list []N) (n N) {
	for _, x := range list {
		n += x
	}
	return n
}

// buckets is the number of ranges in which Buckets counts.
const buckets = 4096

// Buckets counts rows of a dimension of n in ranges, over all ranks. each adds the rows of the k-th
// rank of this process.
func Buckets(ctx context.Context, g *comm.Group, n int, each func(k int, add func(i int32))) ([]int64, error) {
	width := bucketWidth(n)
	all := make([]int64, (n+width-1)/width)
	err := g.Each(func(k int, c comm.Comm) error {
		own := make([]int64, len(all))
		each(k, func(i int32) { own[int(i)/width]++ })
		err := spmd.Reduce(ctx, c, own, comm.Sum)
		if k == 0 {
			copy(all, own)
		}
		return err
	})
	return all, err
}

func bucketWidth(n int) int { return max(1, (n+buckets-1)/buckets) }

// BucketAt returns the row of a dimension of n before which about w of the work lies: entries by
// buckets, and rows.
func BucketAt(list []int64, n int, w int64) int {
	width := bucketWidth(n)
	for b, k := range list {
		step := k + parallel.RowWork*int64(min(width, n-b*width))
		if w < step || step == 0 {
			return min(n, b*width+int(w*int64(width)/max(step, 1)))
		}
		w -= step
	}
	return n
}
