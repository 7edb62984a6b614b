// Package collect moves lists of plain values among the ranks of a group, in host memory. The
// functions that take a communicator are collectives.
package collect

import (
	"context"
	"unsafe"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// Buffer returns the memory of a slice of plain values.
func Buffer[E any](s []E) comm.Buffer {
	return comm.HostAt(unsafe.Pointer(unsafe.SliceData(s)), comm.Uint8, len(s)*int(unsafe.Sizeof(*new(E))))
}

// buffer returns the memory of values without pointers.
func buffer(t *sparse.Type, v sparse.Values) comm.Buffer {
	return comm.HostAt(v.Pointer(), comm.Uint8, v.Len()*int(t.Size))
}

// Gather gives every rank the blocks of all; counts are in items.
func Gather[E any](ctx context.Context, c comm.Comm, own []E, counts []int) ([]E, error) {
	size := int(unsafe.Sizeof(*new(E)))
	bytes, n := scaled(counts, size)
	all := make([]E, n)
	if n == 0 || size == 0 { // known to all ranks
		return all, nil
	}
	return all, c.AllGatherV(ctx, Buffer(all), bytes, Buffer(own))
}

// GatherValues is Gather for values of a type.
func GatherValues(ctx context.Context, c comm.Comm, t *sparse.Type, own sparse.Values, counts []int) (sparse.Values, error) {
	bytes, n := scaled(counts, int(t.Size))
	all := t.Zeroed(int64(n))
	if n == 0 || t.Size == 0 { // known to all ranks
		return all, nil
	}
	return all, c.AllGatherV(ctx, buffer(t, all), bytes, buffer(t, own))
}

// Exchange sends send[r] items to rank r and receives recv[r]; counts are in items.
func Exchange[E any](ctx context.Context, c comm.Comm, own []E, send, recv []int) ([]E, error) {
	size := int(unsafe.Sizeof(*new(E)))
	in, n := scaled(recv, size)
	out, _ := scaled(send, size)
	all := make([]E, n)
	return all, c.AllToAllV(ctx, Buffer(all), in, Buffer(own), out)
}

// ExchangeValues is Exchange for values of a type.
func ExchangeValues(ctx context.Context, c comm.Comm, t *sparse.Type, own sparse.Values, send, recv []int) (sparse.Values, error) {
	in, n := scaled(recv, int(t.Size))
	out, _ := scaled(send, int(t.Size))
	all := t.Zeroed(int64(n))
	return all, c.AllToAllV(ctx, buffer(t, all), in, buffer(t, own), out)
}

// scaled returns counts in bytes of items of a size, and the number of items.
func scaled(counts []int, size int) (bytes []int, n int) {
	bytes = make([]int, len(counts))
	for r, k := range counts {
		bytes[r] = k * size
		n += k
	}
	return bytes, n
}

// Ones gives all ranks a number of each.
func Ones(ctx context.Context, c comm.Comm, own int64) ([]int64, error) {
	all := make([]int64, c.Size())
	ones := make([]int, c.Size())
	for r := range ones {
		ones[r] = 1
	}
	return all, c.AllGatherV(ctx, comm.Host(all), ones, comm.Host([]int64{own}))
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
func Sum(list []int64) (n int64) {
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
		if len(own) == 0 {
			return nil
		}
		if err := c.Reduce(ctx, comm.Host(own), comm.Host(own), comm.Sum, false); err != nil {
			return err
		}
		if k == 0 {
			copy(all, own)
		}
		return nil
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
