package chunk

import (
	"io"

	"github.com/klauspost/pgzip"

	"github.com/hiveblas/hiveblas/internal/parallel"
)

// gzipBlock is the number of bytes that a goroutine compresses at a time.
const gzipBlock = 1 << 20

// Gzip calls write with a writer; its bytes go to w as a gzip file of one member, the same at every
// number of threads (0: all). That many goroutines compress blocks at once; with one, write fills
// the next block meanwhile. Nothing still runs when it returns. It returns the first error.
func Gzip(w io.Writer, threads int, write func(w io.Writer) error) error {
	z := pgzip.NewWriter(w)
	if err := z.SetConcurrency(gzipBlock, parallel.Threads(threads)); err != nil {
		return err
	}
	err := write(z)
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		z.Reset(io.Discard) // ends and awaits its goroutines
	}
	return err
}
