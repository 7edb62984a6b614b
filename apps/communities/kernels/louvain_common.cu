// Numbers and functions of louvain.cu and louvain_open.cu.

// The numbers of the state. A sweep: the gain, in units of HB_LV_UNIT, the moves, the active
// vertices after it, the items that moved, of rows of up to 32 entries and of longer ones. DONE
// counts blocks. A partition: the weight inside parts, and the sum of squares of their degrees in
// words of 32, 32 and 64 bits. The check of the graph: entries that cannot be used, loops, the
// asymmetry, the sum of weights in words of 26 bits and the rest, entries that are no integers
// below 2⁵², and the bits of the largest weight.
enum { HB_LV_GAIN, HB_LV_MOVES, HB_LV_ACTIVE, HB_LV_MOVED, HB_LV_LARGE_MOVED, HB_LV_DONE, HB_LV_LARGEST, HB_LV_INSIDE, HB_LV_LOW, HB_LV_MID, HB_LV_HIGH,
	HB_LV_BAD, HB_LV_LOOPS, HB_LV_SKEW, HB_LV_SUM, HB_LV_SUM_HIGH, HB_LV_FRACTIONS, HB_LV_MOST, HB_LV_STATES };

// hb_mix and hb_at are splitmix.Mix and splitmix.At.
HB_DEVICE hb_u64 hb_mix(hb_u64 z) {
	z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
	z = (z ^ z >> 27) * 0x94D049BB133111EBull;
	return z ^ z >> 31;
}
HB_DEVICE hb_u64 hb_at(hb_u64 x, hb_u64 state) { return hb_mix(state + (x + 1) * 0x9E3779B97F4A7C15ull); }

// hb_block_sum adds up x over the block, into *to.
HB_DEVICE void hb_block_sum(hb_u64 x, hb_u64 *to) {
	__shared__ hb_u64 all[HB_GRAPH_WARPS];
	x = hb_total(x);
	if (HB_LANE == 0) all[threadIdx.x / HB_WARP] = x;
	__syncthreads();
	if (threadIdx.x == 0) {
		for (hb_i32 k = 1; k < HB_GRAPH_WARPS; k++) x += all[k];
		if (x) atomicAdd(to, x);
	}
	__syncthreads();
}
