// What the threads of a block do together. All threads of the block call.

#define HB_BLOCK_WARPS (HB_BLOCK / HB_WARP)

// hb_block_sums returns the sum of x over this thread and those before it, and in total that of the
// block.
HB_DEVICE hb_u32 hb_block_sums(hb_u32 x, hb_u32 &total) {
	__shared__ hb_u32 warps[HB_BLOCK_WARPS];
	hb_u32 sum = hb_sums(x);
	__syncthreads();
	if (HB_LANE == HB_WARP - 1) warps[threadIdx.x / HB_WARP] = sum;
	__syncthreads();
	hb_u32 before = 0;
	total = 0;
#pragma unroll
	for (int w = 0; w < HB_BLOCK_WARPS; w++) {
		if (w < (int)(threadIdx.x / HB_WARP)) before += warps[w];
		total += warps[w];
	}
	return before + sum;
}
