// Package chunked multiplies matrices whose product is larger than the memory
// of a device, or than memory at all: block by block of the rows of the first
// factor, and tile by tile of the columns of the second where that does not
// fit either.
//
//	film, err := matrix.OpenMapped[float32]("ratings.hgb")
//	report, err := chunked.MxM(ctx, chunked.File[float32]("similar.hgb"), semiring.PlusTimes[float32](),
//		film.Matrix.T(), film.Matrix, chunked.On(dev), chunked.DeviceMemory(8<<30))
//
// Three stages run at once: the device computes a block while the block before
// comes back over pinned buffers and the one before that is written. Blocks are
// cut by the entries that each row of the product will have, which the first
// pass of a product counts, so that the budgets of [DeviceMemory] and
// [HostMemory] hold for skewed rows too.
//
// A [Sink] takes the blocks: a matrix on the host, a file of the binary form
// that a run which was stopped can go on with, text, a function, or sums that
// keep nothing.
//
// The streamed product is that of Gunrock's HIVE report (2018), ch. 9, which
// had to copy and compute in turn.
package chunked
