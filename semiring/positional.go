package semiring

// positionalOf returns the semiring of m whose ⊗ is an index plus offset.
func positionalOf[C Number](m Monoid[C], which Position, name, cuda string, offset C,
	first Semiring[C, bool, C], second Semiring[bool, C, C]) Semiring[bool, bool, C] {
	if offset != 0 {
		name += "1"
		cuda += " + 1"
	}
	op := BinaryOp[bool, bool, C]{name: name, cuda: cuda}
	op.k = NewBinary(name, func(bool, bool) C { return 0 }, cuda).k
	op.k.UsesX, op.k.UsesY = false, false
	return Semiring[bool, bool, C]{
		name: m.Name() + "_" + name, add: m, mul: op,
		pos: &Positional[bool, bool, C]{
			Which: which, Offset: offset,
			First: first.k, FirstFlip: first.flip, Second: second.k, SecondFlip: second.flip,
			FromIndex: func(i int) C { return C(i) + offset },
			FillIndices: func(c []C, ci []int32) {
				c = c[:len(ci)]
				for p, j := range ci {
					c[p] = C(j) + offset
				}
			},
		},
	}
}

// The positional semirings return where a product came from instead of a
// value: firsti the row i of A(i, k), firstj = secondi the index k summed
// over, secondj the column j of B(k, j). offset 0 counts from 0 (firsti), 1
// from 1 (firsti1). They read no values, so they take patterns. Indices must
// fit C: 2³¹−1 is not a float32.

// AnyFirsti gives the row of the product.
func AnyFirsti[C Number](offset C) Semiring[bool, bool, C] {
	return positionalOf(Any[C](), PositionI, "firsti", "i", offset, AnyFirst[C](), AnySecond[C]())
}

// AnyFirstj gives the index of any one term; the same as AnySecondi.
func AnyFirstj[C Number](offset C) Semiring[bool, bool, C] {
	return positionalOf(Any[C](), PositionK, "firstj", "k", offset, AnyFirst[C](), AnySecond[C]())
}

// AnySecondi gives the index of any one term: the parent in a breadth-first
// search.
func AnySecondi[C Number](offset C) Semiring[bool, bool, C] {
	return positionalOf(Any[C](), PositionK, "secondi", "k", offset, AnyFirst[C](), AnySecond[C]())
}

// AnySecondj gives the column of the product.
func AnySecondj[C Number](offset C) Semiring[bool, bool, C] {
	return positionalOf(Any[C](), PositionJ, "secondj", "j", offset, AnyFirst[C](), AnySecond[C]())
}

// MinFirsti gives the row of the product.
func MinFirsti[C Number](offset C) Semiring[bool, bool, C] {
	return positionalOf(Min[C](), PositionI, "firsti", "i", offset, MinFirst[C](), MinSecond[C]())
}

// MinFirstj gives the least index among the terms; the same as MinSecondi.
func MinFirstj[C Number](offset C) Semiring[bool, bool, C] {
	return positionalOf(Min[C](), PositionK, "firstj", "k", offset, MinFirst[C](), MinSecond[C]())
}

// MinSecondi gives the least index among the terms: a deterministic parent.
func MinSecondi[C Number](offset C) Semiring[bool, bool, C] {
	return positionalOf(Min[C](), PositionK, "secondi", "k", offset, MinFirst[C](), MinSecond[C]())
}

// MinSecondj gives the column of the product.
func MinSecondj[C Number](offset C) Semiring[bool, bool, C] {
	return positionalOf(Min[C](), PositionJ, "secondj", "j", offset, MinFirst[C](), MinSecond[C]())
}

// MaxSecondi gives the greatest index among the terms.
func MaxSecondi[C Number](offset C) Semiring[bool, bool, C] {
	return positionalOf(Max[C](), PositionK, "secondi", "k", offset, MaxFirst[C](), MaxSecond[C]())
}

// MaxFirstj is the same as [MaxSecondi].
func MaxFirstj[C Number](offset C) Semiring[bool, bool, C] {
	return positionalOf(Max[C](), PositionK, "firstj", "k", offset, MaxFirst[C](), MaxSecond[C]())
}
