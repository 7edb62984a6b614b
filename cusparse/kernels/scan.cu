// Exclusive sums of HB_T (hb_u8, hb_i32 or hb_i64) as hb_i64, in three
// launches: sums of tiles, their scan in one block, and the tiles again. Where
// there are HB_BLOCK tiles at most, each block adds up those before its own: two.
// A tile is HB_TILE items: grid = ceil(n / HB_TILE). out has n+1 items; the last
// is the total.

#define HB_TILE (16 * HB_BLOCK)

HB_KERNEL hb_scan_tiles(const HB_T *x, hb_i64 n, hb_i64 *sums) {
	__shared__ hb_i64 warps[HB_BLOCK_WARPS];
	hb_i64 base = (hb_i64)blockIdx.x * HB_TILE, s = 0;
	for (int r = 0; r < HB_TILE; r += HB_BLOCK) {
		hb_i64 p = base + r + threadIdx.x;
		if (p < n) s += (hb_i64)x[p];
	}
	s = hb_block_total(s, warps);
	if (threadIdx.x == 0) sums[blockIdx.x] = s;
}

// One block; in place.
HB_KERNEL hb_scan_sums(hb_i64 *sums, hb_i64 n, hb_i64 *total) {
	__shared__ hb_i64 warps[HB_BLOCK_WARPS];
	hb_i64 run = 0;
	for (hb_i64 base = 0; base < n; base += HB_BLOCK) {
		hb_i64 p = base + threadIdx.x, x = p < n ? sums[p] : 0, all;
		hb_i64 before = hb_block_sums(x, all, warps) - x;
		if (p < n) sums[p] = run + before;
		run += all;
	}
	if (threadIdx.x == 0) *total = run;
}

// few: sums are those of the tiles, else of the tiles before.
HB_KERNEL hb_scan_write(const HB_T *x, hb_i64 n, hb_i32 few, const hb_i64 *sums, hb_i64 *out) {
	__shared__ hb_i64 warps[HB_BLOCK_WARPS];
	hb_i64 base = (hb_i64)blockIdx.x * HB_TILE, run;
	if (few) run = hb_block_total(threadIdx.x < blockIdx.x ? sums[threadIdx.x] : (hb_i64)0, warps);
	else run = sums[blockIdx.x];
	for (int r = 0; r < HB_TILE; r += HB_BLOCK) {
		hb_i64 p = base + r + threadIdx.x, v = p < n ? (hb_i64)x[p] : 0, all;
		hb_i64 before = hb_block_sums(v, all, warps) - v;
		if (p < n) out[p] = run + before;
		run += all;
	}
	if (few && blockIdx.x == gridDim.x - 1 && threadIdx.x == 0) out[n] = run;
}

// The whole of a short array (n ≤ 65536) in one block.
HB_KERNEL hb_scan_small(const HB_T *x, hb_i64 n, hb_i64 *out) {
	__shared__ hb_i64 warps[HB_BLOCK_WARPS];
	hb_i64 run = 0;
	for (hb_i64 base = 0; base < n; base += HB_BLOCK) {
		hb_i64 p = base + threadIdx.x, v = p < n ? (hb_i64)x[p] : 0, all;
		hb_i64 before = hb_block_sums(v, all, warps) - v;
		if (p < n) out[p] = run + before;
		run += all;
	}
	if (threadIdx.x == 0) out[n] = run;
}
