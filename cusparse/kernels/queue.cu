// Queues of vertices, for kernels that search a graph step by step. Go puts this file between the
// prelude and such a kernel, and defines
//     HB_GRAPH_BLOCK  threads of a block
//     HB_GRAPH_STATE  numbers of a side of the state that steps of a loop share
//
// A frontier is a queue of items. An item is a vertex and a chunk of its row of
// bounded length, so that many warps share the row of a hub. A warp takes up to
// 32 items and assigns their entries evenly to its lanes (the scan-and-search
// expansion of Merrill, Garland, Grimshaw: Scalable GPU graph traversal, PPoPP
// 2012). A queue has at most n + entries/chunk items.

#define HB_GRAPH_WARPS (HB_GRAPH_BLOCK / HB_WARP)
#define HB_UNROLL 4 // entries that a lane loads at a time

#ifndef HB_LEAST_ITEMS
#define HB_LEAST_ITEMS 0 // 1: a vertex without entries has an item too
#endif

// hb_chunks returns the number of items of vertex v; of −1, none.
HB_DEVICE hb_u32 hb_chunks(const hb_i64 *ptr, hb_i32 v, hb_i32 chunk) {
	if (v < 0) return 0;
	const hb_u32 items = (hb_u32)((ptr[v + 1] - ptr[v] + chunk - 1) / chunk);
	return items + (HB_LEAST_ITEMS && items == 0);
}

// hb_put writes the items of the lanes' vertices to queue, from first on. All
// lanes of the warp call it.
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
	hb_u64 total = hb_total((hb_u64)chunks), first = 0;
	if (HB_LANE == 0 && total > 0) first = atomicAdd(tail, total);
	hb_put(queue, __shfl_sync(HB_FULL, first, 0), v, chunks);
}

// hb_reserve returns a place of its own, from *count on, to each lane with want,
// and adds their number to *count, which may be in shared memory.
template <typename T>
HB_DEVICE T hb_reserve(T *count, bool want) {
	hb_u32 lanes = __ballot_sync(HB_FULL, want);
	T first = 0;
	if (lanes && HB_LANE == 0) first = atomicAdd(count, (T)__popc(lanes));
	return __shfl_sync(HB_FULL, first, 0) + __popc(lanes & ((1u << HB_LANE) - 1));
}

// hb_flush appends the items of the count vertices that a block has collected
// in aside. The threads of the block share the items of a hub. All call it.
HB_DEVICE void hb_flush(const hb_i64 *ptr, const hb_i32 *aside, hb_u32 count, hb_u64 *queue, hb_u64 *tail, hb_i32 chunk) {
	__shared__ hb_u32 sums[HB_GRAPH_BLOCK], warps[HB_GRAPH_WARPS]; // of items: those up to a vertex of its warp, and before a warp
	__shared__ hb_u64 first;
	for (hb_u32 base = 0; base < count; base += HB_GRAPH_BLOCK) {
		const hb_u32 i = base + threadIdx.x;
		const hb_u32 sum = hb_sums(hb_chunks(ptr, i < count ? aside[i] : -1, chunk));
		sums[threadIdx.x] = sum;
		if (HB_LANE == HB_WARP - 1) warps[threadIdx.x / HB_WARP] = sum;
		__syncthreads();
		hb_u32 before = 0, total = 0;
		for (hb_i32 w = 0; w < HB_GRAPH_WARPS; w++) {
			if (w < (hb_i32)(threadIdx.x / HB_WARP)) before += warps[w];
			total += warps[w];
		}
		sums[threadIdx.x] += before;
		if (threadIdx.x == 0 && total > 0) first = atomicAdd(tail, (hb_u64)total);
		__syncthreads();
		for (hb_u32 t = threadIdx.x; t < total; t += HB_GRAPH_BLOCK) {
			hb_u32 low = 0, high = HB_GRAPH_BLOCK - 1; // the first vertex with a sum above t
			while (low < high) {
				const hb_u32 middle = (low + high) / 2;
				if (sums[middle] > t) high = middle;
				else low = middle + 1;
			}
			const hb_u32 item = t - (low ? sums[low - 1] : 0);
			queue[first + t] = (hb_u64)item << 32 | (hb_u32)aside[base + low];
		}
		__syncthreads();
	}
}

// hb_row_of_task returns the last row of n with row + ptr[row] ≤ from, which is a task over rows
// and their entries. A warp makes 32 probes at a time. All its lanes call it with the same
// arguments.
HB_DEVICE hb_i64 hb_row_of_task(const hb_i64 *ptr, hb_i64 n, hb_i64 from) {
	hb_i64 row = 0;
	for (hb_i64 stop = n, step = n; step > 1;) {
		step = (stop - row + HB_WARP - 1) / HB_WARP;
		const hb_i64 r = row + HB_LANE * step;
		const hb_u32 ok = __ballot_sync(HB_FULL, r < stop && r + ptr[r < stop ? r : 0] <= from);
		row += (__popc(ok) - 1) * step;
		if (stop > row + step) stop = row + step;
	}
	return row;
}

// hb_share returns the number of items that a warp takes at a time. It is small
// enough to give all warps of the grid work.
HB_DEVICE hb_u32 hb_share(hb_u64 items) {
	hb_u64 warps = (hb_u64)gridDim.x * HB_GRAPH_WARPS, share = (items + warps - 1) / warps;
	return share < 1 ? 1 : share > HB_WARP ? HB_WARP : (hb_u32)share;
}

// hb_busy returns the number of blocks with work at hb_share items a warp, at
// least one. The others return at once.
HB_DEVICE hb_u32 hb_busy(hb_u64 items) {
	hb_u64 each = (hb_u64)hb_share(items) * HB_GRAPH_WARPS, blocks = (items + each - 1) / each;
	return blocks < 1 ? 1 : blocks > gridDim.x ? gridDim.x : (hb_u32)blocks;
}

// hb_last returns true in thread 0 of the last busy block to arrive, and resets
// *done. All threads of a busy block call it at their end.
HB_DEVICE bool hb_last(hb_u64 *done, hb_u32 busy) {
	__threadfence();
	__syncthreads();
	if (threadIdx.x != 0 || atomicAdd(done, (hb_u64)1) + 1 < busy) return false;
	__threadfence();
	*done = 0;
	return true;
}

// The state of a loop of steps has three sides of HB_GRAPH_STATE numbers. Steps take turns on the
// first two. A step reads its own side and counts in it, and its last busy block writes the other
// side for the next step. A block without work may begin after that, and still finds the side with
// which the step began. The third side is the state after the last step.

// hb_side returns the side of a turn, 0 or 1.
HB_DEVICE hb_u64 *hb_side(hb_u64 *state, hb_i32 turn) { return state + turn * HB_GRAPH_STATE; }

// hb_next copies the side of a turn to the other one, and returns that. One thread calls it.
HB_DEVICE volatile hb_u64 *hb_next(hb_u64 *state, hb_i32 turn) {
	volatile hb_u64 *own = hb_side(state, turn), *other = hb_side(state, 1 - turn);
	hb_u64 copy[HB_GRAPH_STATE];
	for (hb_i32 k = 0; k < HB_GRAPH_STATE; k++) copy[k] = own[k];
	for (hb_i32 k = 0; k < HB_GRAPH_STATE; k++) other[k] = copy[k];
	return other;
}

// hb_stop ends a loop if its next state says so: it stores stop at place mode of the step's own
// side, too, which the step after the next one reads, and copies the next state to the third side.
HB_DEVICE void hb_stop(hb_u64 *state, hb_i32 turn, hb_i32 mode, hb_u64 stop) {
	volatile hb_u64 *own = hb_side(state, turn), *next = hb_side(state, 1 - turn), *end = hb_side(state, 2);
	own[mode] = stop;
	for (hb_i32 k = 0; k < HB_GRAPH_STATE; k++) end[k] = next[k];
}
