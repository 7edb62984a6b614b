package semiring

// Go inlines the kernels below together with the function literals given as their operators.
// Built-in semirings owe their speed to such kernels, and users' semirings can use them too: see
// [Semiring.WithKernels].

// DotFn returns s ⊕ Σ av[p] ⊗ x[ci[p]].
func DotFn[A, B, C any](s C, ci []int32, av []A, x []B, mul func(A, B) C, add func(C, C) C) C {
	av = av[:len(ci)]
	for p, j := range ci {
		s = add(s, mul(av[p], x[j]))
	}
	return s
}

// DotPresentFn is DotFn over the entries with present[ci[p]] ≠ 0. hit reports whether there is one.
func DotPresentFn[A, B, C any](s C, ci []int32, av []A, x []B, present []uint8, mul func(A, B) C, add func(C, C) C) (_ C, hit bool) {
	av = av[:len(ci)]
	for p, j := range ci {
		if present[j] != 0 {
			s, hit = add(s, mul(av[p], x[j])), true
		}
	}
	return s, hit
}

// AxpyFn computes y[p] ⊕= a ⊗ b[p].
func AxpyFn[A, B, C any](y []C, a A, b []B, mul func(A, B) C, add func(C, C) C) {
	y = y[:len(b)]
	for p, v := range b {
		y[p] = add(y[p], mul(a, v))
	}
}

// ScatterFn computes acc[ci[p]] ⊕= a ⊗ bv[p] and sets bit ci[p] of marks. It writes every mark
// without a test: a test of generations and its branch take twice the time.
func ScatterFn[A, B, C any](acc []C, marks []uint64, a A, ci []int32, bv []B, mul func(A, B) C, add func(C, C) C) {
	bv = bv[:len(ci)]
	for p, j := range ci {
		acc[j] = add(acc[j], mul(a, bv[p]))
		marks[j>>6] |= 1 << (j & 63)
	}
}

// ScatterMaskedFn computes acc[ci[p]] ⊕= a ⊗ bv[p] where state[ci[p]] ≠ 0, and sets state to 2
// there.
func ScatterMaskedFn[A, B, C any](acc []C, state []uint8, a A, ci []int32, bv []B, mul func(A, B) C, add func(C, C) C) {
	bv = bv[:len(ci)]
	for p, j := range ci {
		if state[j] != 0 {
			acc[j] = add(acc[j], mul(a, bv[p]))
			state[j] = 2
		}
	}
}

// ScatterAllFn computes acc[ci[p]] ⊕= a ⊗ bv[p].
func ScatterAllFn[A, B, C any](acc []C, a A, ci []int32, bv []B, mul func(A, B) C, add func(C, C) C) {
	bv = bv[:len(ci)]
	for p, j := range ci {
		acc[j] = add(acc[j], mul(a, bv[p]))
	}
}

// ProductsFn sets out[p] = a ⊗ bv[p].
func ProductsFn[A, B, C any](out []C, a A, bv []B, mul func(A, B) C) {
	out = out[:len(bv)]
	for p, v := range bv {
		out[p] = mul(a, v)
	}
}

// ZipFn sets c[p] = f(a[p], b[p]).
func ZipFn[A, B, C any](c []C, a []A, b []B, f func(A, B) C) {
	a, b = a[:len(c)], b[:len(c)]
	for p := range c {
		c[p] = f(a[p], b[p])
	}
}

// ZipAtFn sets c[pc[p]] = f(a[pa[p]], b[pb[p]]).
func ZipAtFn[A, B, C any](c []C, pc []int32, a []A, pa []int32, b []B, pb []int32, f func(A, B) C) {
	pa, pb = pa[:len(pc)], pb[:len(pc)]
	for p, q := range pc {
		c[q] = f(a[pa[p]], b[pb[p]])
	}
}

// MapFn sets c[p] = f(a[p]).
func MapFn[A, C any](c []C, a []A, f func(A) C) {
	c = c[:len(a)]
	for p, v := range a {
		c[p] = f(v)
	}
}

// FoldFn returns s ⊕ Σ xs[p].
func FoldFn[T any](s T, xs []T, add func(T, T) T) T {
	for _, x := range xs {
		s = add(s, x)
	}
	return s
}

// CollectFn computes acc[ci[p]] ⊕= v[p].
func CollectFn[T any](acc []T, ci []int32, v []T, add func(T, T) T) {
	v = v[:len(ci)]
	for p, j := range ci {
		acc[j] = add(acc[j], v[p])
	}
}
