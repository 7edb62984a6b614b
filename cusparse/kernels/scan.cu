// Exclusive sums of HB_T (hb_u8, hb_i32 or hb_i64) as hb_i64, in three
// launches: sums of tiles, their scan in one block, and the tiles again. Where
// there are 256 tiles at most, each block adds up those before its own: two.
// Block 256 threads, a tile is 4096 items: grid = ceil(n / 4096).
// out has n+1 items; the last is the total.

#define HB_TILE 4096
#define HB_PER 16

HB_DEVICE hb_i64 hb_block_sum(hb_i64 x, hb_i64 *warps) { // of 256 threads; every thread gets it
	for (int d = 16; d > 0; d >>= 1) x += __shfl_down_sync(HB_FULL, x, d);
	if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = x;
	__syncthreads();
	hb_i64 sum = 0;
	for (int w = 0; w < (int)blockDim.x / 32; w++) sum += warps[w];
	__syncthreads();
	return sum;
}

// hb_block_scan returns the sum over the threads before this one.
HB_DEVICE hb_i64 hb_block_scan(hb_i64 x, hb_i64 *warps, hb_i64 &total) {
	hb_i64 incl = x;
	int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
	for (int d = 1; d < 32; d <<= 1) {
		hb_i64 y = __shfl_up_sync(HB_FULL, incl, d);
		if (lane >= d) incl += y;
	}
	if (lane == 31) warps[warp] = incl;
	__syncthreads();
	hb_i64 before = 0;
	total = 0;
	for (int w = 0; w < (int)blockDim.x / 32; w++) {
		if (w < warp) before += warps[w];
		total += warps[w];
	}
	__syncthreads();
	return before + incl - x;
}

HB_KERNEL hb_scan_tiles(const HB_T *x, hb_i64 n, hb_i64 *sums) {
	__shared__ hb_i64 warps[8];
	hb_i64 base = (hb_i64)blockIdx.x * HB_TILE, s = 0;
	for (int r = 0; r < HB_PER; r++) {
		hb_i64 p = base + r * 256 + threadIdx.x;
		if (p < n) s += (hb_i64)x[p];
	}
	s = hb_block_sum(s, warps);
	if (threadIdx.x == 0) sums[blockIdx.x] = s;
}

// One block; in place.
HB_KERNEL hb_scan_sums(hb_i64 *sums, hb_i64 n, hb_i64 *total) {
	__shared__ hb_i64 warps[8];
	hb_i64 run = 0;
	for (hb_i64 base = 0; base < n; base += 256) {
		hb_i64 p = base + threadIdx.x, x = p < n ? sums[p] : 0, all;
		hb_i64 before = hb_block_scan(x, warps, all);
		if (p < n) sums[p] = run + before;
		run += all;
	}
	if (threadIdx.x == 0) *total = run;
}

// few: sums are those of the tiles, else of the tiles before.
HB_KERNEL hb_scan_write(const HB_T *x, hb_i64 n, hb_i32 few, const hb_i64 *sums, hb_i64 *out) {
	__shared__ hb_i64 warps[8];
	hb_i64 base = (hb_i64)blockIdx.x * HB_TILE, run;
	if (few) run = hb_block_sum(threadIdx.x < blockIdx.x ? sums[threadIdx.x] : 0, warps);
	else run = sums[blockIdx.x];
	for (int r = 0; r < HB_PER; r++) {
		hb_i64 p = base + r * 256 + threadIdx.x, v = p < n ? (hb_i64)x[p] : 0, all;
		hb_i64 before = hb_block_scan(v, warps, all);
		if (p < n) out[p] = run + before;
		run += all;
	}
	if (few && blockIdx.x == gridDim.x - 1 && threadIdx.x == 0) out[n] = run;
}

// The whole of a short array (n ≤ 65536) in one block of 256.
HB_KERNEL hb_scan_small(const HB_T *x, hb_i64 n, hb_i64 *out) {
	__shared__ hb_i64 warps[8];
	hb_i64 run = 0;
	for (hb_i64 base = 0; base < n; base += 256) {
		hb_i64 p = base + threadIdx.x, v = p < n ? (hb_i64)x[p] : 0, all;
		hb_i64 before = hb_block_scan(v, warps, all);
		if (p < n) out[p] = run + before;
		run += all;
	}
	if (threadIdx.x == 0) out[n] = run;
}
