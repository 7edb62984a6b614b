package spread

import (
	"context"

	"github.com/hiveblas/hiveblas/internal/sparse"
)

// Gather returns the whole matrix for each rank of this process. The first call is a collective.
// The only rank of a group has the whole.
func (s *Blocks) Gather(ctx context.Context) ([]Matrix, error) {
	return s.gathered(ctx, s.kind, &s.whole)
}

// gatherShape returns the structure of the whole matrix for each rank; all values are true. The
// only rank of a group gets the whole, with its values.
func (s *Blocks) gatherShape(ctx context.Context) ([]Matrix, error) {
	return s.gathered(ctx, sparse.TypeOf[bool](), &s.shape)
}

// gathered returns the whole matrix, or its structure as a matrix of bool, and keeps it.
func (s *Blocks) gathered(ctx context.Context, kind *sparse.Type, kept *[]Matrix) ([]Matrix, error) {
	if s.g.Size() == 1 {
		return s.part, nil
	}
	counts, err := s.counted(ctx)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if *kept != nil {
		return *kept, nil
	}
	out := make([]Matrix, len(s.part))
	err = s.each(ctx, kind, s.gathersOnDevices(), func(k int, r *rank) (err error) {
		r.shape = kept == &s.shape
		out[k], err = r.gather(counts)
		return err
	})
	if err == nil {
		*kept = out
	}
	return out, err
}

// Whole returns the storage of the whole matrix, which the caller owns. It is Gather for the host.
func (s *Blocks) Whole() (*sparse.Store, error) {
	whole, err := s.Gather(nil)
	if err != nil {
		return nil, err
	}
	return whole[0].Stored().Own(), whole[0].Err()
}
