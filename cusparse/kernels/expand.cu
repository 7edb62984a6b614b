// A product over any semiring, for every type and format.
// HB_A, HB_X, HB_C; hb_mul(a, x, i, k, j); hb_add; HB_IDENTITY.

// lengths[e] = products of entry lo+e of A: the entries of B's row idx[lo+e].
HB_KERNEL hb_lengths(hb_store a, hb_i64 lo, hb_i64 n, hb_store b, hb_i64 *lengths) {
	HB_EACH(e, n) {
		hb_i64 from, to;
		hb_span(b, a.idx[lo + e], from, to);
		lengths[e] = to - from;
	}
}

// Product t of the batch belongs to the entry e with at[e] ≤ t < at[e+1].
// flip: A is a vector to be pushed through the rows of a transpose B.
HB_KERNEL hb_products(hb_store a, hb_i64 lo, hb_i64 n, hb_store b, const hb_i64 *at, hb_i64 total, hb_i32 flip, hb_u64 *keys, HB_C *out) {
	HB_EACH(t, total) {
		hb_i64 l = hb_run_of(at, n, t);
		hb_i64 from, to, e = lo + l;
		hb_i32 k = a.idx[e];
		hb_span(b, k, from, to);
		from += t - at[l];
		hb_i32 i = hb_row_of(a, e), j = b.idx[from];
		keys[t] = (hb_u64)(hb_u32)i << 32 | (hb_u32)j;
		out[t] = hb_mul(HB_GET_A(a, e), HB_GET_X(b, from), flip ? j : i, k, flip ? i : j);
	}
}
