// A product over any semiring, for every type and format.
// HB_A, HB_X, HB_C; hb_mul(a, x, i, k, j); hb_add; HB_IDENTITY.

// One product per entry of the mask: the row of A against the row of B (the
// columns of the second factor), the shorter looked up in the longer, a warp
// per entry.
HB_KERNEL hb_dot(hb_store a, hb_store b, hb_store mask, hb_u8 *hit, HB_C *out) {
	int lane = threadIdx.x % 32;
	hb_i64 warps = (hb_i64)gridDim.x * blockDim.x / 32;
	for (hb_i64 e = ((hb_i64)blockIdx.x * blockDim.x + threadIdx.x) / 32; e < mask.nvals; e += warps) {
		hb_i32 i = hb_row_of(mask, e), j = mask.idx[e];
		hb_i64 alo, ahi, blo, bhi;
		hb_span(a, i, alo, ahi);
		hb_span(b, j, blo, bhi);
		bool overA = ahi - alo <= bhi - blo;
		hb_i64 lo = overA ? alo : blo, hi = overA ? ahi : bhi;
		HB_C sum = HB_IDENTITY;
		bool any = false;
		for (hb_i64 p = lo + lane; p < hi; p += 32) {
			hb_i32 k = overA ? a.idx[p] : b.idx[p];
			hb_i64 q = overA ? hb_lower(b.idx, blo, bhi, k) : hb_lower(a.idx, alo, ahi, k);
			if (q == (overA ? bhi : ahi) || (overA ? b.idx[q] : a.idx[q]) != k) continue;
			HB_C x = hb_mul(HB_GET_A(a, overA ? p : q), HB_GET_X(b, overA ? q : p), i, k, j);
			sum = any ? hb_add(sum, x) : x;
			any = true;
		}
		hb_fold_warp(sum, any);
		if (lane == 0) {
			hit[e] = any;
			out[e] = any ? hb_add(HB_IDENTITY, sum) : HB_C(); // absent values are read as part of their array
		}
	}
}
