package semiring

import "github.com/hiveblas/hiveblas/internal/cpu"

// The kernels of monoids.

func foldTag[T Number, P addTag](s T, xs []T) T {
	var o P
	if len(o) <= 1 { // four sums shorten the chain of dependent results of plus and times
		s1, s2, s3 := start[T, P](), start[T, P](), start[T, P]()
		for len(xs) >= 4 {
			s = add[T, P](s, xs[0])
			s1 = add[T, P](s1, xs[1])
			s2 = add[T, P](s2, xs[2])
			s3 = add[T, P](s3, xs[3])
			xs = xs[4:]
		}
		switch len(xs) {
		case 3:
			s2 = add[T, P](s2, xs[2])
			fallthrough
		case 2:
			s1 = add[T, P](s1, xs[1])
			fallthrough
		case 1:
			s = add[T, P](s, xs[0])
		}
		return add[T, P](add[T, P](s, s1), add[T, P](s2, s3))
	}
	for _, x := range xs {
		s = add[T, P](s, x)
		if settled[T, P](s) {
			break
		}
	}
	return s
}

// folds returns the loops of the monoid of tag P, which has the given identity. The loops are
// literals, as the loops of a semiring are; see kernels.
//
//go:noinline
func folds[T Number, P addTag](identity T) *cpu.Monoid {
	k := &cpu.MonoidOf[T]{
		Identity: []T{identity},
		Fold:     func(s *T, xs []T) { *s = foldTag[T, P](*s, xs) },
		FoldRows: func(y []T, identity *T, ptr []int64, v []T) {
			ptr = ptr[:len(y)+1]
			id := *identity
			for i := range y {
				y[i] = foldTag[T, P](id, v[ptr[i]:ptr[i+1]])
			}
		},
		Collect: func(acc []T, ci []int32, v []T) {
			v = v[:len(ci)]
			for p, j := range ci {
				acc[j] = add[T, P](acc[j], v[p])
			}
		},
		CollectMarked: func(acc []T, marks []uint64, ci []int32, v []T) {
			v = v[:len(ci)]
			for p, j := range ci {
				acc[j] = add[T, P](acc[j], v[p])
				marks[j>>6] |= 1 << (j & 63)
			}
		},
	}
	return k.Untyped()
}

// tails are the masks of the last entries of a row, up to four.
var tails = [8][4]int64{1: {-1}, 2: {-1, -1}, 3: {-1, -1, -1}, 4: {-1, -1, -1, -1}}

// sumRows is FoldRows for sums of floats, bit for bit. It reads the last entries of a row, up to
// four, as four, and masks the entries of the next row to zero: the branch predictor misses the end
// of a row, at a higher cost.
func sumRows[T Float](y []T, identity *T, ptr []int64, v []T) {
	id := *identity
	ptr = ptr[:len(y)+1]
	var zero T
	for i := range y {
		lo, hi := ptr[i], ptr[i+1]
		if hi+4 > int64(len(v)) {
			y[i] = foldTag[T, addPlus](id, v[lo:hi])
			continue
		}
		s, s1, s2, s3 := id, zero, zero, zero
		xs := v[lo : hi+4]
		for len(xs) > 8 {
			s += xs[0]
			s1 += xs[1]
			s2 += xs[2]
			s3 += xs[3]
			xs = xs[4:]
		}
		m := &tails[(len(xs)-4)&7]
		s += ofBits[T](bitsOf(xs[0]) & m[0])
		s1 += ofBits[T](bitsOf(xs[1]) & m[1])
		s2 += ofBits[T](bitsOf(xs[2]) & m[2])
		s3 += ofBits[T](bitsOf(xs[3]) & m[3])
		y[i] = s + s1 + (s2 + s3)
	}
}
