// A stable sort of HB_KEY (hb_u32, hb_u64) with the number of each item as
// payload HB_NUM (hb_u32, hb_u64): least significant digit first, 8 bits a
// pass, as in Satish, Harris, Garland (IPDPS 2009). A tile is 2048 items of a
// block of 256; counts[digit·tiles + tile] is scanned between the two launches
// of a pass.

#define HB_ITEMS 2048

HB_KERNEL hb_sort_count(const HB_KEY *keys, hb_i64 n, hb_i32 shift, hb_i32 *counts, hb_i64 tiles) {
	__shared__ hb_i32 bins[256];
	bins[threadIdx.x] = 0;
	__syncthreads();
	hb_i64 base = (hb_i64)blockIdx.x * HB_ITEMS;
	for (int r = 0; r < HB_ITEMS / 256; r++) {
		hb_i64 p = base + r * 256 + threadIdx.x;
		if (p < n) atomicAdd(&bins[(int)(keys[p] >> shift) & 255], 1);
	}
	__syncthreads();
	counts[threadIdx.x * tiles + blockIdx.x] = bins[threadIdx.x];
}

// first: the payload of an item is its place.
HB_KERNEL hb_sort_move(const HB_KEY *keys, const HB_NUM *nums, hb_i64 n, hb_i32 shift, const hb_i64 *starts, hb_i64 tiles,
		hb_i32 first, HB_KEY *out, HB_NUM *numsOut) {
	__shared__ hb_i32 ranks[8][256]; // items of a digit that earlier rounds of the warp had, then all before the warp
	int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
	for (int d = lane; d < 256; d += 32) ranks[warp][d] = 0;
	__syncwarp();
	// A warp owns 256 items in a row, so that equal digits keep their order.
	hb_i64 base = (hb_i64)blockIdx.x * HB_ITEMS + warp * 256;
	hb_i32 rank[8];
	HB_KEY key[8];
	for (int r = 0; r < 8; r++) {
		hb_i64 p = base + r * 32 + lane;
		bool in = p < n;
		key[r] = in ? keys[p] : 0;
		int digit = in ? (int)(key[r] >> shift) & 255 : 256 + lane;
		unsigned same = __match_any_sync(HB_FULL, digit);
		int leader = __ffs(same) - 1;
		rank[r] = 0;
		if (in) {
			rank[r] = ranks[warp][digit] + __popc(same & ((1u << lane) - 1));
		}
		__syncwarp();
		if (in && lane == leader) ranks[warp][digit] += __popc(same);
		__syncwarp();
	}
	__syncthreads();
	hb_i32 before = 0;
	for (int w = 0; w < 8; w++) {
		hb_i32 c = ranks[w][threadIdx.x];
		ranks[w][threadIdx.x] = before;
		before += c;
	}
	__syncthreads();
	for (int r = 0; r < 8; r++) {
		hb_i64 p = base + r * 32 + lane;
		if (p >= n) continue;
		int digit = (int)(key[r] >> shift) & 255;
		hb_i64 to = starts[digit * tiles + blockIdx.x] + ranks[warp][digit] + rank[r];
		out[to] = key[r];
		numsOut[to] = first ? (HB_NUM)p : nums[p];
	}
}
