// What the threads of a block of HB_BLOCK do together. All threads of the block call; warps has
// HB_BLOCK_WARPS places in shared memory.

#define HB_BLOCK_WARPS (HB_BLOCK / HB_WARP)

// hb_block_sums returns the sum of x over this thread and the threads before it, and in total the
// sum of the block.
template <class T> HB_DEVICE T hb_block_sums(T x, T &total, T *warps) {
	T sum = hb_sums(x);
	__syncthreads();
	if (HB_LANE == HB_WARP - 1) warps[threadIdx.x / HB_WARP] = sum;
	__syncthreads();
	T before = 0;
	total = 0;
#pragma unroll
	for (int w = 0; w < HB_BLOCK_WARPS; w++) {
		if (w < (int)(threadIdx.x / HB_WARP)) before += warps[w];
		total += warps[w];
	}
	return before + sum;
}

// hb_block_total returns the sum of x over the block, in all threads.
template <class T> HB_DEVICE T hb_block_total(T x, T *warps) {
	x = hb_total(x);
	__syncthreads();
	if (HB_LANE == 0) warps[threadIdx.x / HB_WARP] = x;
	__syncthreads();
	x = 0;
#pragma unroll
	for (int w = 0; w < HB_BLOCK_WARPS; w++) x += warps[w];
	return x;
}
