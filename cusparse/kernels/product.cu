// Products over any semiring, by methods that fit every type and format.
// HB_A, HB_X, HB_C; hb_mul(a, x, i, k, j); hb_add; HB_IDENTITY.

#define HB_GET_A(s, p) (HB_A_PATTERN ? (HB_A)HB_TRUE_A : ((const HB_A *)(s).val)[p])
#define HB_GET_X(s, p) (HB_X_PATTERN ? (HB_X)HB_TRUE_X : ((const HB_X *)(s).val)[p])

#ifdef HB_PULL
// w = A·u for the stored rows of A, a warp per row: hit[k], out[k]. With
// places, the mask is that of position rowid(k) of a vector.
HB_KERNEL hb_pull(hb_store a, hb_store u, hb_store mask, hb_i32 masked, hb_i32 comp, hb_i32 flip, hb_u8 *hit, HB_C *out) {
	__shared__ HB_C spot[256];
	__shared__ hb_u8 has[256];
	int lane = threadIdx.x % 32, t = threadIdx.x;
	hb_i64 warps = (hb_i64)gridDim.x * blockDim.x / 32;
	for (hb_i64 k = ((hb_i64)blockIdx.x * blockDim.x + threadIdx.x) / 32; k < a.nvec; k += warps) {
		hb_i32 i = hb_row_id(a, (hb_i32)k);
		hb_i64 q;
		if (masked && hb_find(mask, 0, i, q) == (comp != 0)) {
			if (lane == 0) hit[k] = 0;
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
		spot[t] = sum;
		has[t] = any;
		__syncwarp();
		for (int d = 16; d > 0; d >>= 1) {
			if (lane < d && has[t + d]) {
				spot[t] = has[t] ? hb_add(spot[t], spot[t + d]) : spot[t + d];
				has[t] = 1;
			}
			__syncwarp();
		}
		if (lane == 0) {
			hit[k] = has[t];
			if (has[t]) out[k] = hb_add(HB_IDENTITY, spot[t]);
		}
		__syncwarp();
	}
}
#endif

#ifdef HB_EXPAND
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
		hb_i64 l = 0, h = n - 1;
		while (l < h) {
			hb_i64 mid = l + (h - l + 1) / 2;
			if (at[mid] <= t) l = mid;
			else h = mid - 1;
		}
		hb_i64 from, to, e = lo + l;
		hb_i32 k = a.idx[e];
		hb_span(b, k, from, to);
		from += t - at[l];
		hb_i32 i = hb_row_of(a, e), j = b.idx[from];
		keys[t] = (hb_u64)(hb_u32)i << 32 | (hb_u32)j;
		out[t] = hb_mul(HB_GET_A(a, e), HB_GET_X(b, from), flip ? j : i, k, flip ? i : j);
	}
}
#endif

#ifdef HB_DOT
// One product per entry of the mask: the row of A against the row of B (the
// columns of the second factor), the shorter looked up in the longer, a warp
// per entry.
HB_KERNEL hb_dot(hb_store a, hb_store b, hb_store mask, hb_u8 *hit, HB_C *out) {
	__shared__ HB_C spot[256];
	__shared__ hb_u8 has[256];
	int lane = threadIdx.x % 32, t = threadIdx.x;
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
		spot[t] = sum;
		has[t] = any;
		__syncwarp();
		for (int d = 16; d > 0; d >>= 1) {
			if (lane < d && has[t + d]) {
				spot[t] = has[t] ? hb_add(spot[t], spot[t + d]) : spot[t + d];
				has[t] = 1;
			}
			__syncwarp();
		}
		if (lane == 0) {
			hit[e] = has[t];
			if (has[t]) out[e] = hb_add(HB_IDENTITY, spot[t]);
		}
		__syncwarp();
	}
}
#endif

#ifdef HB_SPMM
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
#endif
