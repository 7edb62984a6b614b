package chunk

import (
	"context"
	"errors"
	"io"

	"github.com/hiveblas/hiveblas/internal/parallel"
)

// ErrUnread is returned by a function that does not accept a block of items.
var ErrUnread = errors.New("the block is not accepted")

// Read divides the rest of s into blocks, runs parse on them in up to threads goroutines (0: all)
// and passes the results to collect in file order. The first error in file order ends the loop; an
// error of the stream comes last. A result may refer to its block until collect returns. Read tests
// the context between blocks. If collect returns [ErrUnread], Read puts its block and the blocks
// after it back into a source of items.
func Read[R any](ctx context.Context, s *Source, threads int, parse func(Block) R, collect func(R) error) error {
	return read(ctx, s, threads, func(b Block) any {
		r := parse(b)
		return &r
	}, func(r any) error { return collect(*r.(*R)) })
}

// read is Read; a result is the address of one.
func read(ctx context.Context, s *Source, threads int, parse func(Block) any, collect func(any) error) error {
	type job struct {
		block  Block
		result any
		failed any
		done   chan struct{}
	}
	threads = parallel.Threads(threads)
	var (
		work   chan *job
		flight []*job
		free   [][]byte
	)
	defer func() {
		if work != nil {
			close(work)
		}
		for _, j := range flight { // wait for the workers
			<-j.done
		}
	}()
	oldest := func() error {
		j := flight[0]
		<-j.done
		flight = flight[1:]
		if j.failed != nil {
			panic(j.failed)
		}
		free = append(free, j.block.Data)
		err := collect(j.result)
		if err == ErrUnread {
			blocks := []Block{j.block}
			for _, j := range flight {
				blocks = append(blocks, j.block)
			}
			s.unread(blocks)
		}
		return err
	}
	var streamErr error
	for first := true; ; first = false {
		if ctx != nil && ctx.Err() != nil {
			return ctx.Err()
		}
		var into []byte
		if n := len(free); n > 0 {
			into, free = free[n-1], free[:n-1]
		}
		b, ok, err := s.next(into)
		if !ok {
			streamErr = err
			break
		}
		if threads == 1 || (first && s.err == io.EOF) {
			if err := collect(parse(b)); err != nil {
				if err == ErrUnread {
					s.unread([]Block{b})
				}
				return err
			}
			free = append(free, b.Data)
			continue
		}
		if work == nil {
			work = make(chan *job, 2*threads)
			for range threads {
				go func() {
					for j := range work {
						func() {
							defer close(j.done)
							defer func() { j.failed = recover() }()
							j.result = parse(j.block)
						}()
					}
				}()
			}
		}
		j := &job{block: b, done: make(chan struct{})}
		flight = append(flight, j)
		work <- j
		if len(flight) == 2*threads {
			if err := oldest(); err != nil {
				return err
			}
		}
	}
	for len(flight) > 0 {
		if ctx != nil && ctx.Err() != nil {
			return ctx.Err()
		}
		if err := oldest(); err != nil {
			return err
		}
	}
	return streamErr
}

// Write runs format(piece, buf) for every piece in [0, pieces) in up to threads goroutines, each
// appending to an empty buffer, and writes the buffers to w in order. wrote, which may be nil,
// receives how many pieces are written, on the calling goroutine.
func Write(ctx context.Context, w io.Writer, threads, pieces int, format func(piece int, buf []byte) []byte, wrote func(pieces int)) error {
	threads = min(parallel.Threads(threads), pieces)
	bufs := make([][]byte, max(threads, 1))
	for lo := 0; lo < pieces; lo += threads {
		n := min(threads, pieces-lo)
		err := parallel.Pieces(ctx, n, n, func(_, p int) { bufs[p] = format(lo+p, bufs[p][:0]) })
		if err != nil {
			return err
		}
		for _, b := range bufs[:n] {
			if len(b) == 0 {
				continue
			}
			if _, err := w.Write(b); err != nil {
				return err
			}
		}
		if wrote != nil {
			wrote(lo + n)
		}
	}
	if ctx != nil {
		return ctx.Err()
	}
	return nil
}
