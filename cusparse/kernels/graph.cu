// What the graph traversals (bfs.cu, sssp.cu, cc.cu) share; Go puts this file
// between the prelude and each of them.
//
// A frontier is a queue of items, each a vertex and a chunk of at most so many
// entries of its row, so that a hub is the work of many warps. A warp
// takes up to 32 items and deals their entries out evenly to its lanes (the
// scan-and-search expansion of Merrill, Garland, Grimshaw: Scalable GPU graph
// traversal, PPoPP 2012). A queue's items number at most n + entries/chunk.

#define HB_GRAPH_BLOCK 256 // threads of a block
#define HB_GRAPH_WARPS (HB_GRAPH_BLOCK / HB_WARP)
#define HB_UNROLL 4 // entries a lane has in flight

#define HB_LANE ((hb_i32)(threadIdx.x % HB_WARP))

// hb_sums returns the sum of x over this lane and those before it.
HB_DEVICE hb_u32 hb_sums(hb_u32 x) {
	for (hb_i32 d = 1; d < HB_WARP; d *= 2) {
		hb_u32 y = __shfl_up_sync(HB_FULL, x, d);
		if (HB_LANE >= d) x += y;
	}
	return x;
}

// hb_owner returns the first lane whose sum is above t: where the t-th entry
// is found. Every lane asks for a t of its own.
HB_DEVICE hb_i32 hb_owner(hb_u32 sum, hb_u32 t) {
	hb_i32 lane = 0;
	for (hb_i32 step = HB_WARP / 2; step > 0; step /= 2) {
		if (__shfl_sync(HB_FULL, sum, lane + step - 1) <= t) lane += step;
	}
	return lane;
}

// hb_total returns the sum over the warp, in all lanes.
HB_DEVICE hb_u64 hb_total(hb_u64 x) {
	for (hb_i32 d = HB_WARP / 2; d > 0; d /= 2) x += __shfl_xor_sync(HB_FULL, x, d);
	return x;
}

// hb_chunks returns the number of items of vertex v; of −1, none.
HB_DEVICE hb_u32 hb_chunks(const hb_i64 *ptr, hb_i32 v, hb_i32 chunk) {
	return v < 0 ? 0 : (hb_u32)((ptr[v + 1] - ptr[v] + chunk - 1) / chunk);
}

// hb_put writes the items of the lanes' vertices to queue, from first on, for
// a warp whose lanes have all arrived.
HB_DEVICE void hb_put(hb_u64 *queue, hb_u64 first, hb_i32 v, hb_u32 chunks) {
	hb_u32 sum = hb_sums(chunks), before = sum - chunks;
	hb_u32 total = __shfl_sync(HB_FULL, sum, HB_WARP - 1);
	for (hb_u32 t = HB_LANE; t - HB_LANE < total; t += HB_WARP) {
		hb_i32 lane = hb_owner(sum, t);
		hb_u32 vertex = (hb_u32)__shfl_sync(HB_FULL, v, lane);
		hb_u32 chunk = t - __shfl_sync(HB_FULL, before, lane);
		if (t < total) queue[first + t] = (hb_u64)chunk << 32 | vertex;
	}
}

// hb_append reserves room at *tail for the items of the lanes' vertices and
// writes them.
HB_DEVICE void hb_append(hb_u64 *queue, hb_u64 *tail, hb_i32 v, hb_u32 chunks) {
	hb_u64 total = hb_total(chunks), first = 0;
	if (HB_LANE == 0 && total > 0) first = atomicAdd(tail, total);
	hb_put(queue, __shfl_sync(HB_FULL, first, 0), v, chunks);
}

// hb_reserve gives each lane with want a place of its own after *count, and
// adds their number to it. *count may be in shared memory.
template <typename T>
HB_DEVICE T hb_reserve(T *count, bool want) {
	hb_u32 lanes = __ballot_sync(HB_FULL, want);
	T first = 0;
	if (lanes && HB_LANE == 0) first = atomicAdd(count, (T)__popc(lanes));
	return __shfl_sync(HB_FULL, first, 0) + __popc(lanes & ((1u << HB_LANE) - 1));
}

// hb_flush appends the items of the count vertices that a block has put aside,
// with one reservation for the block. All threads of the block call it.
HB_DEVICE void hb_flush(const hb_i64 *ptr, const hb_i32 *aside, hb_u32 count, hb_u64 *queue, hb_u64 *tail, hb_i32 chunk) {
	__shared__ hb_u64 first[HB_GRAPH_WARPS];
	hb_u32 share = (count + HB_GRAPH_WARPS - 1) / HB_GRAPH_WARPS; // of a warp
	hb_u32 warp = threadIdx.x / HB_WARP, from = warp * share, to = from + share < count ? from + share : count;
	hb_u64 mine = 0;
	for (hb_u32 i = from + HB_LANE; i < to; i += HB_WARP) mine += hb_chunks(ptr, aside[i], chunk);
	mine = hb_total(mine);
	if (HB_LANE == 0) first[warp] = mine;
	__syncthreads();
	if (threadIdx.x == 0) {
		hb_u64 sum = 0;
		for (hb_i32 w = 0; w < HB_GRAPH_WARPS; w++) {
			hb_u64 x = first[w];
			first[w] = sum;
			sum += x;
		}
		hb_u64 base = sum > 0 ? atomicAdd(tail, sum) : 0;
		for (hb_i32 w = 0; w < HB_GRAPH_WARPS; w++) first[w] += base;
	}
	__syncthreads();
	hb_u64 at = first[warp];
	for (hb_u32 i = from; i < to; i += HB_WARP) {
		hb_i32 v = i + HB_LANE < to ? aside[i + HB_LANE] : -1;
		hb_u32 chunks = hb_chunks(ptr, v, chunk);
		hb_put(queue, at, v, chunks);
		at += hb_total(chunks);
	}
	__syncthreads();
}

// hb_share returns how many items a warp takes at a time, such that all warps
// of the grid have work if there is enough.
HB_DEVICE hb_u32 hb_share(hb_u64 items) {
	hb_u64 warps = (hb_u64)gridDim.x * HB_GRAPH_WARPS, share = (items + warps - 1) / warps;
	return share < 1 ? 1 : share > HB_WARP ? HB_WARP : (hb_u32)share;
}

// hb_busy returns how many blocks have work at hb_share items a warp: at least
// one. The others leave at once.
HB_DEVICE hb_u32 hb_busy(hb_u64 items) {
	hb_u64 each = (hb_u64)hb_share(items) * HB_GRAPH_WARPS, blocks = (items + each - 1) / each;
	return blocks < 1 ? 1 : blocks > gridDim.x ? gridDim.x : (hb_u32)blocks;
}

// hb_last is called by all threads of a block at its end, and reports to
// thread 0 of the last of the busy blocks that all others are done. It resets
// *done.
HB_DEVICE bool hb_last(hb_u64 *done, hb_u32 busy) {
	__threadfence();
	__syncthreads();
	if (threadIdx.x != 0 || atomicAdd(done, (hb_u64)1) + 1 < busy) return false;
	__threadfence();
	*done = 0;
	return true;
}
