package collect

import (
	"context"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/internal/cpu"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// ChunkSums returns the sums of the chunks of cpu.ReduceChunk entries of the whole matrix that
// begin in the block of this rank, and the number of chunks of each rank; counts are the entries of
// each block. The entries of a chunk that begins before the block are sent to the rank where it
// does.
func ChunkSums(ctx context.Context, r comm.Comm, k *cpu.Monoid, t *sparse.Type, val sparse.Values, counts []int) (part sparse.Values, chunks []int, err error) {
	const chunk = cpu.ReduceChunk
	p := r.Size()
	at := make([]int, p+1)
	for i, n := range counts {
		at[i+1] = at[i] + n
	}
	head, to := make([]int, p), make([]int, p)
	chunks = make([]int, p)
	for i := range p {
		chunks[i] = (at[i+1]+chunk-1)/chunk - (at[i]+chunk-1)/chunk
		if over := at[i] % chunk; over != 0 {
			head[i] = min(counts[i], chunk-over)
		}
		begin := at[i] / chunk * chunk
		for to[i] = 0; to[i] < p-1 && at[to[i]+1] <= begin; to[i]++ {
		}
	}
	own := int64(head[r.Rank()])
	send, recv := make([]int, p), make([]int, p)
	send[to[r.Rank()]] = head[r.Rank()]
	for i := range p {
		if to[i] == r.Rank() {
			recv[i] = head[i]
		}
	}
	got, err := ExchangeValues(ctx, r, t, t.Slice(val, 0, own), send, recv)
	if err != nil {
		return part, nil, err
	}
	val = t.Append(t.Clone(t.Slice(val, own, int64(val.Len()))), got)
	pieces := (int64(val.Len()) + chunk - 1) / chunk
	part = t.Filled(pieces, k.Identity)
	for q := range pieces {
		k.Fold(t.At(part, q), t.Slice(val, q*chunk, min((q+1)*chunk, int64(val.Len()))))
	}
	return part, chunks, nil
}
