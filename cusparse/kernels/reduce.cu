// Sums of the rows of dense matrices and of everything, over a monoid of HB_C: hb_add, HB_IDENTITY.
// The order of a sum is fixed by the sizes alone.

#define HB_REDUCE_UNROLL 4 // loads of a thread under way

HB_DEVICE HB_C hb_run(const hb_store &s, hb_i64 lo, hb_i64 hi, int step, bool &any) {
	HB_C sum = HB_IDENTITY;
#pragma unroll 1
	for (hb_i64 p = lo; p < hi; p += HB_REDUCE_UNROLL * step) {
		HB_C x[HB_REDUCE_UNROLL];
		bool in[HB_REDUCE_UNROLL];
#pragma unroll
		for (int u = 0; u < HB_REDUCE_UNROLL; u++) {
			const hb_i64 q = p + u * step;
			in[u] = q < hi && (s.format != HB_BITMAP || s.present[q]);
			x[u] = HB_GET_C(s, q < hi ? q : p);
		}
#pragma unroll
		for (int u = 0; u < HB_REDUCE_UNROLL; u++) {
			if (!in[u]) continue;
			sum = any ? hb_add(sum, x[u]) : x[u];
			any = true;
		}
	}
	return sum;
}

#if HB_REDUCE_NUMBERS // elements are numbers
// The numbers of entries of rows.
HB_KERNEL hb_reduce_lengths(hb_store s, hb_u8 *present, HB_C *out) {
	HB_EACH(k, s.nvec) {
		const hb_i64 n = s.ptr[k + 1] - s.ptr[k];
		present[k] = n > 0;
		out[k] = (HB_C)n;
	}
}
#endif

// A thread per row, for rows that are short on average.
HB_KERNEL hb_reduce_thread(hb_store s, hb_u8 *present, HB_C *out) {
	HB_EACH(k, s.nvec) {
		hb_i64 lo = k * s.ncols, hi = lo + s.ncols;
		bool any = false;
		HB_C sum = hb_run(s, lo, hi, 1, any);
		present[k] = any;
		out[k] = hb_add(HB_IDENTITY, sum);
	}
}

// A block per row.
HB_KERNEL hb_reduce_block(hb_store s, hb_u8 *present, HB_C *out) {
	for (hb_i64 k = blockIdx.x; k < s.nvec; k += gridDim.x) {
		hb_i64 lo = k * s.ncols, hi = lo + s.ncols;
		bool any = false;
		HB_C sum = hb_run(s, lo + threadIdx.x, hi, blockDim.x, any);
		hb_fold_block(sum, any);
		if (threadIdx.x == 0) {
			present[k] = any;
			out[k] = hb_add(HB_IDENTITY, sum);
		}
	}
}

// A block per part of a row, for few rows that are long: parts sums for each row.
HB_KERNEL hb_reduce_pieces(hb_store s, hb_i64 parts, hb_u8 *present, HB_C *out) {
	const hb_i64 k = blockIdx.x / parts, part = blockIdx.x % parts, tile = (s.ncols + parts - 1) / parts;
	const hb_i64 lo = k * s.ncols + part * tile, end = (k + 1) * s.ncols, hi = lo + tile < end ? lo + tile : end;
	bool any = false;
	HB_C sum = hb_run(s, lo + threadIdx.x, hi, blockDim.x, any);
	hb_fold_block(sum, any);
	if (threadIdx.x == 0) {
		present[blockIdx.x] = any;
		out[blockIdx.x] = sum;
	}
}

// Everything: block b sums positions b·tile …, then one block the parts.
HB_KERNEL hb_reduce_parts(hb_store s, hb_i64 n, hb_i64 tile, hb_u8 *has, HB_C *parts) {
	hb_i64 lo = (hb_i64)blockIdx.x * tile, hi = lo + tile < n ? lo + tile : n;
	bool any = false;
	HB_C sum = hb_run(s, lo + threadIdx.x, hi, blockDim.x, any);
	hb_fold_block(sum, any);
	if (threadIdx.x == 0) {
		has[blockIdx.x] = any;
		parts[blockIdx.x] = sum;
	}
}

HB_KERNEL hb_reduce_last(const hb_u8 *has, const HB_C *parts, hb_i64 n, HB_C *out) {
	bool any = false;
	HB_C sum = HB_IDENTITY;
	for (hb_i64 p = threadIdx.x; p < n; p += 256) {
		if (!has[p]) continue;
		sum = any ? hb_add(sum, parts[p]) : parts[p];
		any = true;
	}
	hb_fold_block(sum, any);
	if (threadIdx.x == 0) *out = any ? hb_add(HB_IDENTITY, sum) : HB_IDENTITY;
}
