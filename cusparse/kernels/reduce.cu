// Sums of rows and of everything, over a monoid of HB_C: hb_add, HB_IDENTITY.
// The order of a sum is fixed by the sizes alone.


// Lanes exchange values through shared memory, so that any type will do.
HB_DEVICE HB_C hb_fold(HB_C x, bool &any, HB_C *spot, hb_u8 *has) { // of a block, a power of two
	int t = threadIdx.x;
	spot[t] = x;
	has[t] = any;
	__syncthreads();
	for (int d = blockDim.x / 2; d > 0; d >>= 1) {
		if (t < d && has[t + d]) {
			spot[t] = has[t] ? hb_add(spot[t], spot[t + d]) : spot[t + d];
			has[t] = 1;
		}
		__syncthreads();
	}
	any = has[0];
	HB_C sum = spot[0];
	__syncthreads();
	return sum;
}

HB_DEVICE void hb_row_range(const hb_store &s, hb_i64 k, hb_i64 &lo, hb_i64 &hi) {
	if (hb_listed(s)) {
		lo = s.ptr[k];
		hi = s.ptr[k + 1];
	} else {
		lo = k * s.ncols;
		hi = lo + s.ncols;
	}
}

HB_DEVICE HB_C hb_run(const hb_store &s, hb_i64 lo, hb_i64 hi, int step, bool &any) {
	HB_C sum = HB_IDENTITY;
	for (hb_i64 p = lo; p < hi; p += step) {
		if (s.format == HB_BITMAP && !s.present[p]) continue;
		HB_C x = HB_GET_C(s, p);
		sum = any ? hb_add(sum, x) : x;
		any = true;
	}
	return sum;
}

// A thread per row, for rows that are short on average.
HB_KERNEL hb_reduce_thread(hb_store s, hb_u8 *present, HB_C *out) {
	HB_EACH(k, s.nvec) {
		hb_i64 lo, hi;
		bool any = false;
		hb_row_range(s, k, lo, hi);
		HB_C sum = hb_run(s, lo, hi, 1, any);
		present[k] = any;
		out[k] = hb_add(HB_IDENTITY, sum);
	}
}

// A block of 128 per row.
HB_KERNEL hb_reduce_block(hb_store s, hb_u8 *present, HB_C *out) {
	__shared__ HB_C spot[128];
	__shared__ hb_u8 has[128];
	for (hb_i64 k = blockIdx.x; k < s.nvec; k += gridDim.x) {
		hb_i64 lo, hi;
		bool any = false;
		hb_row_range(s, k, lo, hi);
		HB_C sum = hb_run(s, lo + threadIdx.x, hi, 128, any);
		sum = hb_fold(sum, any, spot, has);
		if (threadIdx.x == 0) {
			present[k] = any;
			out[k] = hb_add(HB_IDENTITY, sum);
		}
	}
}

// Everything: block b sums positions b·tile …, then one block the parts.
HB_KERNEL hb_reduce_parts(hb_store s, hb_i64 n, hb_i64 tile, hb_u8 *has, HB_C *parts) {
	__shared__ HB_C spot[256];
	__shared__ hb_u8 hit[256];
	hb_i64 lo = (hb_i64)blockIdx.x * tile, hi = lo + tile < n ? lo + tile : n;
	bool any = false;
	HB_C sum = hb_run(s, lo + threadIdx.x, hi, 256, any);
	sum = hb_fold(sum, any, spot, hit);
	if (threadIdx.x == 0) {
		has[blockIdx.x] = any;
		parts[blockIdx.x] = sum;
	}
}

HB_KERNEL hb_reduce_last(const hb_u8 *has, const HB_C *parts, hb_i64 n, HB_C *out) {
	__shared__ HB_C spot[256];
	__shared__ hb_u8 hit[256];
	bool any = false;
	HB_C sum = HB_IDENTITY;
	for (hb_i64 p = threadIdx.x; p < n; p += 256) {
		if (!has[p]) continue;
		sum = any ? hb_add(sum, parts[p]) : parts[p];
		any = true;
	}
	sum = hb_fold(sum, any, spot, hit);
	if (threadIdx.x == 0) *out = any ? hb_add(HB_IDENTITY, sum) : HB_IDENTITY;
}
