// Exclusive sums of HB_T (hb_u8, hb_i32 or hb_i64) as hb_i64, in three launches: sums of tiles,
// their scan in one block, and the tiles again. Where there are HB_BLOCK tiles at most, each block
// adds up the tiles before its own: two. A tile is HB_TILE items: grid = ceil(n / HB_TILE). out has
// n+1 items; the last is the total.

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

// hb_scan_tile writes the sums of a tile. run is the sum before the tile; it returns the sum after
// it. A warp takes HB_TILE / HB_BLOCK_WARPS items in a row, and loads them all first.
HB_DEVICE hb_i64 hb_scan_tile(const HB_T *__restrict__ x, hb_i64 n, hb_i64 base, hb_i64 run, hb_i64 *__restrict__ out, hb_i64 *warps) {
	const int items = HB_TILE / HB_BLOCK;
	const hb_i64 first = base + threadIdx.x / HB_WARP * (items * HB_WARP) + HB_LANE;
	HB_T v[items];
	hb_i64 sum = 0, all;
#pragma unroll
	for (int r = 0; r < items; r++) {
		v[r] = first + r * HB_WARP < n ? x[first + r * HB_WARP] : 0;
		sum += (hb_i64)v[r];
	}
	hb_i64 at = run + hb_from(hb_block_sums(sum, all, warps) - sum, 0);
#pragma unroll
	for (int r = 0; r < items; r++) {
		const hb_i64 upto = hb_sums((hb_i64)v[r]);
		if (first + r * HB_WARP < n) out[first + r * HB_WARP] = at + upto - (hb_i64)v[r];
		at += hb_from(upto, HB_WARP - 1);
	}
	return run + all;
}

// few: sums are the sums of the tiles, else of the tiles before.
HB_KERNEL hb_scan_write(const HB_T *x, hb_i64 n, hb_i32 few, const hb_i64 *sums, hb_i64 *out) {
	__shared__ hb_i64 warps[HB_BLOCK_WARPS];
	hb_i64 run;
	if (few) run = hb_block_total(threadIdx.x < blockIdx.x ? sums[threadIdx.x] : (hb_i64)0, warps);
	else run = sums[blockIdx.x];
	run = hb_scan_tile(x, n, (hb_i64)blockIdx.x * HB_TILE, run, out, warps);
	if (few && blockIdx.x == gridDim.x - 1 && threadIdx.x == 0) out[n] = run;
}

// The whole of a short array in one block.
HB_KERNEL hb_scan_small(const HB_T *x, hb_i64 n, hb_i64 *out) {
	__shared__ hb_i64 warps[HB_BLOCK_WARPS];
	hb_i64 run = 0;
	if (n > 8 * HB_BLOCK) // 8192 items: 10.8 µs on an H200, else 16.1; 1000: 6.8, else 5.1
		for (hb_i64 base = 0; base < n; base += HB_TILE) run = hb_scan_tile(x, n, base, run, out, warps);
	else
		for (hb_i64 base = 0; base < n; base += HB_BLOCK) {
			hb_i64 p = base + threadIdx.x, v = p < n ? (hb_i64)x[p] : 0, all;
			hb_i64 before = hb_block_sums(v, all, warps) - v;
			if (p < n) out[p] = run + before;
			run += all;
		}
	if (threadIdx.x == 0) out[n] = run;
}
