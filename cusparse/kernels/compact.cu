// The entries of a list that are kept, in order. HB_FLAG is the type of the flags that tell them,
// not 0; HB_IN and HB_V are the types of a value before and after.
//
// A mark is the bit of an entry. A block of 256 threads takes a tile of HB_TILE = 1024 entries.
//   marks u32[32·tiles], kept i32[tiles], at i64[tiles + 1]
//   hb_marks    <<<tiles, 256>>>(n, flag, marks, kept, at)       a single tile: at is written, too
//   prefix sums of kept: at
//   hb_kept     <<<tiles, 256>>>(n, most, marks, at, idx, idxOut, val, valOut)
//       most: a large part is kept
//   hb_kept_rows<<<…>>>(rows + 1, old offsets, marks, at, new offsets)
// Bound by memory: marks are a bit an entry, where the place of each would be 8 bytes.

HB_KERNEL __launch_bounds__(256)
hb_marks(hb_i64 n, const HB_FLAG *__restrict__ flag, hb_u32 *__restrict__ marks, hb_i32 *__restrict__ kept, hb_i64 *__restrict__ at) {
	__shared__ hb_i32 parts[8];
	const int warp = threadIdx.x / HB_WARP;
	const hb_i64 first = (hb_i64)blockIdx.x * HB_TILE + warp * (HB_TILE / 8);
	hb_u32 mine = 0;
	hb_i32 count = 0;
#pragma unroll
	for (int q = 0; q < HB_TILE / 256; q++) {
		const hb_i64 e = first + q * HB_WARP + HB_LANE;
		const hb_u32 bits = __ballot_sync(HB_FULL, e < n && flag[e] != 0);
		if (HB_LANE == q) mine = bits;
		count += __popc(bits);
	}
	if (HB_LANE < HB_TILE / 256) marks[first / HB_WARP + HB_LANE] = mine;
	if (HB_LANE == 0) parts[warp] = count;
	__syncthreads();
	if (threadIdx.x != 0) return;
	count = 0;
	for (int w = 0; w < 8; w++) count += parts[w];
	kept[blockIdx.x] = count;
	if (gridDim.x == 1) {
		at[0] = 0;
		at[1] = count;
	}
}

HB_KERNEL __launch_bounds__(256)
hb_kept(hb_i64 n, hb_i32 most, const hb_u32 *__restrict__ marks, const hb_i64 *__restrict__ at, const hb_i32 *__restrict__ idx,
	hb_i32 *__restrict__ idxOut, const HB_IN *__restrict__ val, HB_V *__restrict__ valOut) {
	const int rounds = HB_TILE / 256;
	const hb_i64 e0 = (hb_i64)blockIdx.x * HB_TILE + threadIdx.x / HB_WARP * (rounds * HB_WARP) + HB_LANE;
	const hb_u32 word = marks[(hb_i64)blockIdx.x * (HB_TILE / HB_WARP) + HB_LANE];
	const hb_i64 first = at[blockIdx.x];
	hb_i32 col[rounds];
	HB_IN v[rounds];
	if (most) { // nearly every sector has an entry that is kept: no load waits for the marks
#pragma unroll
		for (int q = 0; q < rounds; q++)
			if (e0 + q * HB_WARP < n) {
				if (idx) col[q] = idx[e0 + q * HB_WARP];
				if (valOut) v[q] = val[e0 + q * HB_WARP];
			}
	}
	const hb_i32 before = hb_sums((hb_i32)__popc(word)) - __popc(word);
#pragma unroll
	for (int q = 0; q < rounds; q++) {
		const int w = threadIdx.x / HB_WARP * rounds + q;
		const hb_u32 bits = __shfl_sync(HB_FULL, word, w);
		const hb_i64 e = e0 + q * HB_WARP, to = first + __shfl_sync(HB_FULL, before, w) + __popc(bits & ((1u << HB_LANE) - 1));
		if (bits >> HB_LANE & 1) {
			if (!most && idx) col[q] = idx[e];
			if (!most && valOut) v[q] = val[e];
			if (idxOut) idxOut[to] = idx ? col[q] : (hb_i32)e;
			if (valOut) valOut[to] = (HB_V)v[q];
		}
	}
}

struct __align__(16) hb_words4 { hb_u32 w[4]; };

// ptr[k] = the kept entries before old[k].
HB_KERNEL hb_kept_rows(hb_i64 n, const hb_i64 *__restrict__ old, const hb_u32 *__restrict__ marks, const hb_i64 *__restrict__ at, hb_i64 *__restrict__ ptr) {
	HB_EACH(k, n) {
		const hb_i64 e = old[k], tile = e / HB_TILE, four = e / (4 * HB_WARP);
		hb_i64 before = at[tile];
		for (hb_i64 g = tile * (HB_TILE / HB_WARP / 4); g < four; g++) {
			const hb_words4 x = ((const hb_words4 *)marks)[g];
			before += __popc(x.w[0]) + __popc(x.w[1]) + __popc(x.w[2]) + __popc(x.w[3]);
		}
		for (hb_i64 w = 4 * four; w < e / HB_WARP; w++) before += __popc(marks[w]);
		if (e % HB_WARP) before += __popc(marks[e / HB_WARP] & ((1u << (e % HB_WARP)) - 1));
		ptr[k] = before;
	}
}
