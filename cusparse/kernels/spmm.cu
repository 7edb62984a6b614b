// A product over any semiring, for every type and format.
// HB_A, HB_X, HB_C; hb_mul(a, x, i, k, j); hb_add; HB_IDENTITY.

// Row i of A times a full B of n columns: a thread per column, rows by block.y
// tiles; rows without entries are left out (present = 0).
HB_KERNEL hb_spmm(hb_store a, hb_store b, hb_u8 *present, HB_C *out) {
	hb_i64 n = b.ncols;
	for (hb_i64 k = (hb_i64)blockIdx.x * blockDim.y + threadIdx.y; k < a.nvec; k += (hb_i64)gridDim.x * blockDim.y) {
		hb_i64 lo = a.ptr[k], hi = a.ptr[k + 1];
		hb_i32 i = hb_row_id(a, (hb_i32)k);
		for (hb_i64 j = (hb_i64)blockIdx.y * blockDim.x + threadIdx.x; j < n; j += (hb_i64)gridDim.y * blockDim.x) {
			HB_C sum = HB_IDENTITY;
			for (hb_i64 e = lo; e < hi; e++) {
				HB_C x = hb_mul(HB_GET_A(a, e), HB_GET_X(b, a.idx[e] * n + j), i, a.idx[e], (hb_i32)j);
				sum = e == lo ? x : hb_add(sum, x);
			}
			if (present) present[i * n + j] = hi > lo;
			if (hi > lo) out[i * n + j] = hb_add(HB_IDENTITY, sum);
		}
	}
}
