// A product over any semiring, for every type and format.
// HB_A, HB_X, HB_C; hb_mul(a, x, i, k, j); hb_add; HB_IDENTITY.

// w = A·u for the stored rows of A, a warp per row: hit[k], out[k]. With
// places, the mask is that of position rowid(k) of a vector.
HB_KERNEL hb_pull(hb_store a, hb_store u, hb_store mask, hb_i32 masked, hb_i32 comp, hb_i32 flip, hb_u8 *hit, HB_C *out) {
	int lane = threadIdx.x % 32;
	hb_i64 warps = (hb_i64)gridDim.x * blockDim.x / 32;
	for (hb_i64 k = ((hb_i64)blockIdx.x * blockDim.x + threadIdx.x) / 32; k < a.nvec; k += warps) {
		hb_i32 i = hb_row_id(a, (hb_i32)k);
		hb_i64 q;
		if (masked && hb_find(mask, 0, i, q) == (comp != 0)) {
			if (lane == 0) hit[k] = 0, out[k] = HB_C();
			continue;
		}
		HB_C sum = HB_IDENTITY;
		bool any = false;
		hb_i64 lo = a.ptr[k], hi = a.ptr[k + 1];
		for (hb_i64 p = lo; p < hi; p += 32) {
			hb_i64 e = p + lane, at;
			if (e < hi && hb_find(u, 0, a.idx[e], at)) {
				HB_C x = hb_mul(HB_GET_A(a, e), HB_GET_X(u, at), flip ? 0 : i, a.idx[e], flip ? i : 0);
				sum = any ? hb_add(sum, x) : x;
				any = true;
			}
			if (HB_ANY && __any_sync(HB_FULL, any)) break;
		}
		hb_fold_warp(sum, any, &hit[k], &out[k]);
	}
}
