// Package chunked multiplies matrices with a product that exceeds the memory of a device, or of the
// machine. It computes the product in blocks of rows of the first factor, and in tiles of columns
// of the second factor where that does not fit either.
//
//	film, err := graphio.OpenMapped[float32]("ratings.hgb")
//	report, err := chunked.MxM(ctx, chunked.File[float32]("similar.hgb"),
//		semiring.PlusTimes[float32](), film.Matrix.T(), film.Matrix,
//		chunked.On(dev), chunked.DeviceMemory(8<<30))
//
// Three stages overlap: the device computes a block while the previous block returns through pinned
// buffers and the one before it is written. The first pass of a product counts the entries of each
// row of the result. The block boundaries follow these counts, so that the budgets [DeviceMemory]
// and [HostMemory] hold for skewed rows too.
//
// A [Sink] receives the blocks: a matrix on the host, a file of the binary form that a later run
// can resume, text, a function, or sums that keep no entries.
//
// Source: the streamed product of Gunrock's HIVE report (2018), ch. 9, which copies and computes in
// turn.
//
// docs/chunked.md has budgets, methods and measurements.
package chunked
