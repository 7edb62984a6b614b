// Sums of HB_C by ⊕ over the lanes that have a term (any), in a fixed order. hb_add; HB_C may be a
// struct.

// hb_fold_warp leaves the sum of the warp in its first lane.
HB_DEVICE void hb_fold_warp(HB_C &sum, bool &any) {
#pragma unroll
	for (int d = HB_WARP / 2; d > 0; d /= 2) {
		HB_C other = hb_from(sum, HB_LANE + d);
		bool is = __shfl_down_sync(HB_FULL, (int)any, d) && HB_LANE < d;
		if (is) sum = any ? hb_add(sum, other) : other;
		any = any || is;
	}
}

// hb_fold_block leaves the sum of a block of at most 1024 threads in its first thread.
HB_DEVICE void hb_fold_block(HB_C &sum, bool &any) {
	__shared__ HB_C spot[HB_WARP];
	__shared__ hb_u8 has[HB_WARP];
	hb_fold_warp(sum, any);
	__syncthreads();
	if (HB_LANE == 0) {
		spot[threadIdx.x / HB_WARP] = sum;
		has[threadIdx.x / HB_WARP] = any;
	}
	__syncthreads();
	if (threadIdx.x >= HB_WARP) return;
	any = HB_LANE < (int)blockDim.x / HB_WARP && has[HB_LANE];
	if (any) sum = spot[HB_LANE];
	hb_fold_warp(sum, any);
}
