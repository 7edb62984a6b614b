// Shortest distances from a set of sources along edges of weight ≥ 0.
// Source: prelude + queue.cu + element type + relax.cu + this file. Host: apps/paths/sssp_gpu.go,
// which defines
//     HB_T           int, hb_u32, hb_i64, hb_u64, float or double
//     HB_MAX         its largest value, +Inf for floats: unreached
//     HB_SSSP_CHUNK  entries of an item of the queue
//
// Near and far (Davidson, Baxter, Garland, Owens: Work-efficient parallel GPU methods for
// single-source shortest paths, IPDPS 2014): the next step relaxes the vertices with a distance
// that fell to at most bound. The others wait in a pile. When no near vertices are left, a step
// splits the pile, with the bound set delta above the least distance in it. The last block of a
// step decides what the next step does, without the host. Distances are the least over all paths,
// each added up from the source on: exact for integers, and equal in all runs for floats.
//
// In: n vertices; ptr, idx, val, the rows of the matrix. Weights are not
// negative, no NaN, and for integers n × the largest fits HB_T.
// Scratch: queue hb_u64[2·room] with room = n + entries/HB_SSSP_CHUNK + 1,
//   far hb_i32[2·n], flags hb_u32[3·words] with words = ⌈n/32⌉, bounds HB_T[8],
//   state hb_u64[3·HB_GRAPH_STATE].
// Out: dist HB_T[n] (HB_MAX where unreached), present hb_u8[n], result hb_i64[4]
//   in pinned host memory: {1, vertices reached, steps, splits} after the last
//   step; result[0] = 0 before.
// Launches, grid = resident blocks, blocks of HB_GRAPH_BLOCK threads, no dynamic
// shared memory:
//   hb_sssp_start<<<grid>>>;  hb_sssp_sources<<<1>>>;
//   hb_sssp_step<<<grid>>>, turn 0 and 1 alternately, until result[0] is 1; further steps return at
//   once.
// n > 0. Bound by random reads and atomics on dist.

#define HB_SSSP_ASIDE 1024 // vertices of each kind that a block collects in shared memory

enum { // places in state
	HB_SSSP_MODE, HB_SSSP_ITEMS, HB_SSSP_FAR, HB_SSSP_SIDE, HB_SSSP_PILE, // sizes of queue and pile, and which halves
	HB_SSSP_NEXT, HB_SSSP_NEXT_FAR, HB_SSSP_DONE, HB_SSSP_REACHED, // of the step under way
	HB_SSSP_STEPS, HB_SSSP_SPLITS
};
enum { HB_SSSP_STOP, HB_SSSP_RELAX, HB_SSSP_SPLIT, HB_SSSP_FINISH }; // modes
enum { HB_SSSP_BOUND, HB_SSSP_SETTLED, HB_SSSP_LEAST, HB_SSSP_DELTA }; // places in a side of bounds; SETTLED is the bound before

// hb_sssp_start initialises distances and state.
HB_KERNEL hb_sssp_start(hb_i32 n, HB_T delta, HB_T *dist, hb_u32 *flags, HB_T *bounds, hb_u64 *state) {
	hb_i64 i = (hb_i64)blockIdx.x * blockDim.x + threadIdx.x, threads = (hb_i64)gridDim.x * blockDim.x;
	for (hb_i64 v = i; v < n; v += threads) dist[v] = HB_MAX;
	for (hb_i64 w = i; w < 3 * (((hb_i64)n + 31) / 32); w += threads) flags[w] = 0;
	if (i == 0) {
		for (hb_i32 k = 0; k < HB_GRAPH_STATE; k++) state[k] = 0;
		state[HB_SSSP_MODE] = HB_SSSP_RELAX;
		bounds[HB_SSSP_BOUND] = delta;
		bounds[HB_SSSP_SETTLED] = 0;
		bounds[HB_SSSP_LEAST] = HB_MAX;
		bounds[HB_SSSP_DELTA] = delta;
	}
}

// hb_sssp_sources makes the sources, which may repeat, the first queue. One block.
HB_KERNEL hb_sssp_sources(const hb_i64 *ptr, const hb_i32 *sources, hb_i32 count, HB_T *dist, hb_u32 *flags, hb_u64 *queue,
	hb_u64 *state) {
	for (hb_i64 i = threadIdx.x; i - HB_LANE < count; i += HB_GRAPH_BLOCK) {
		hb_i32 v = i < count ? sources[i] : -1;
		if (v >= 0) {
			hb_u32 bit = 1u << (v & 31);
			if (atomicOr(&flags[v >> 5], bit) & bit) v = -1;
			else dist[v] = 0;
		}
		hb_append(queue, &state[HB_SSSP_ITEMS], v, hb_chunks(ptr, v, HB_SSSP_CHUNK));
	}
}

// hb_sssp_near adds the lanes' vertices to the queue, by way of aside if it has room.
HB_DEVICE void hb_sssp_near(bool some, hb_i32 v, hb_i32 *aside, hb_u32 *asides, const hb_i64 *ptr, hb_u64 *queue, hb_u64 *size) {
	if (!__any_sync(HB_FULL, some)) return;
	hb_u32 place = hb_reserve(asides, some);
	if (some && place < HB_SSSP_ASIDE) aside[place] = v;
	bool over = some && place >= HB_SSSP_ASIDE;
	if (!__any_sync(HB_FULL, over)) return;
	hb_i32 u = over ? v : -1;
	hb_append(queue, size, u, hb_chunks(ptr, u, HB_SSSP_CHUNK));
}

// hb_sssp_step relaxes the edges of the near vertices, or splits the pile, or
// writes presence and result.
HB_KERNEL hb_sssp_step(hb_i32 n, const hb_i64 *ptr, const hb_i32 *idx, const HB_T *val, hb_i64 room, HB_T *dist, hb_u8 *present,
	hb_u64 *queue, hb_i32 *far, hb_u32 *flags, HB_T *limits, hb_u64 *loop, hb_i32 turn, hb_i64 *result) {
	__shared__ hb_i32 near_aside[HB_SSSP_ASIDE], far_aside[HB_SSSP_ASIDE];
	__shared__ hb_u32 nears, fars;
	__shared__ hb_u64 reached;
	hb_u64 *state = hb_side(loop, turn);
	HB_T *bounds = limits + 4 * turn;
	hb_u64 mode = state[HB_SSSP_MODE], items = state[HB_SSSP_ITEMS], pile = state[HB_SSSP_FAR];
	hb_u64 side = state[HB_SSSP_SIDE], heap = state[HB_SSSP_PILE];
	HB_T bound = bounds[HB_SSSP_BOUND], settled = bounds[HB_SSSP_SETTLED], least = HB_MAX;
	hb_u64 work = mode == HB_SSSP_RELAX ? items : ((mode == HB_SSSP_SPLIT ? pile : (hb_u64)n) + HB_WARP - 1) / HB_WARP;
	hb_u32 busy = hb_busy(work), share = hb_share(work);
	if (mode == HB_SSSP_STOP || blockIdx.x >= busy) return;
	hb_i64 words = ((hb_i64)n + 31) / 32;
	hb_u32 *queued = flags + side * words, *queued_next = flags + (1 - side) * words, *piled = flags + 2 * words;
	const hb_u64 *from = queue + side * room;
	hb_u64 *to = queue + (1 - side) * room, warps = (hb_u64)busy * HB_GRAPH_WARPS;
	hb_u64 warp = (hb_u64)blockIdx.x * HB_GRAPH_WARPS + threadIdx.x / HB_WARP;
	// A relaxation appends to the pile, a split copies what stays to the other half.
	hb_i32 *far_from = far + heap * n, *far_to = mode == HB_SSSP_SPLIT ? far + (1 - heap) * n : far_from;
	hb_u64 *near_size = &state[HB_SSSP_NEXT], *far_size = &state[HB_SSSP_NEXT_FAR];
	if (threadIdx.x == 0) nears = fars = 0, reached = 0;
	__syncthreads();
	if (mode == HB_SSSP_RELAX) {
		for (hb_u64 g = warp; g * share < items; g += warps) {
			hb_u64 at = g * share + HB_LANE;
			hb_i64 begin = 0, end = 0;
			HB_T d = 0;
			if (HB_LANE < share && at < items) {
				hb_u64 item = from[at];
				hb_i32 v = (hb_i32)(hb_u32)item;
				begin = ptr[v] + (hb_i64)(item >> 32) * HB_SSSP_CHUNK, end = ptr[v + 1];
				if (end > begin + HB_SSSP_CHUNK) end = begin + HB_SSSP_CHUNK;
				if (item >> 32 == 0) atomicAnd(&queued[v >> 5], ~(1u << (v & 31)));
				d = dist[v];
			}
			hb_u32 sum = hb_sums((hb_u32)(end - begin)), total = __shfl_sync(HB_FULL, sum, HB_WARP - 1);
			begin -= sum - (hb_u32)(end - begin); // entry t of the warp is at begin + t of its lane
			for (hb_u32 t0 = 0; t0 < total; t0 += HB_WARP * HB_UNROLL) {
				hb_i32 u[HB_UNROLL];
				HB_T to_u[HB_UNROLL];
				bool less[HB_UNROLL];
				hb_relax<false>(t0, total, sum, begin, d, idx, val, dist, u, to_u, less);
				for (hb_i32 k = 0; k < HB_UNROLL; k++) {
					if (!__any_sync(HB_FULL, less[k])) continue;
					bool near = less[k] && to_u[k] <= bound, later = less[k] && !near;
					if (later && to_u[k] < least) least = to_u[k];
					if (less[k]) { // at most once in the queue and once in the pile
						hb_u32 bit = 1u << (u[k] & 31);
						if (atomicOr((near ? queued_next : piled) + (u[k] >> 5), bit) & bit) near = later = false;
					}
					hb_sssp_near(near, u[k], near_aside, &nears, ptr, to, near_size);
					hb_aside(later, u[k], far_aside, &fars, HB_SSSP_ASIDE, far_to, far_size);
				}
			}
		}
	} else if (mode == HB_SSSP_SPLIT) {
		for (hb_u64 i = warp * HB_WARP + HB_LANE; i - HB_LANE < pile; i += warps * HB_WARP) {
			hb_i32 v = i < pile ? far_from[i] : -1;
			HB_T d = v >= 0 ? dist[v] : 0;
			bool later = v >= 0 && d > bound, near = v >= 0 && !later && d > settled;
			if (v >= 0 && !later) atomicAnd(&piled[v >> 5], ~(1u << (v & 31)));
			if (later && d < least) least = d;
			hb_sssp_near(near, v, near_aside, &nears, ptr, to, near_size);
			hb_aside(later, v, far_aside, &fars, HB_SSSP_ASIDE, far_to, far_size);
		}
	} else {
		hb_u64 some = 0;
		for (hb_i64 v = warp * HB_WARP + HB_LANE; v < n; v += warps * HB_WARP) {
			bool is = dist[v] < HB_MAX;
			present[v] = is;
			some += is;
		}
		some = hb_total(some);
		if (HB_LANE == 0) atomicAdd(&reached, some);
	}
	for (hb_i32 d = HB_WARP / 2; d > 0; d /= 2) {
		HB_T other = __shfl_xor_sync(HB_FULL, least, d);
		if (other < least) least = other;
	}
	if (HB_LANE == 0 && least < HB_MAX) hb_lower(&bounds[HB_SSSP_LEAST], least);
	__syncthreads();
	hb_flush(ptr, near_aside, nears < HB_SSSP_ASIDE ? nears : HB_SSSP_ASIDE, to, near_size, HB_SSSP_CHUNK);
	if (threadIdx.x == 0 && reached > 0) atomicAdd(&state[HB_SSSP_REACHED], reached);
	hb_flush_aside(far_aside, fars, HB_SSSP_ASIDE, far_to, far_size);

	if (!hb_last(&state[HB_SSSP_DONE], busy)) return;
	volatile hb_u64 *now = hb_next(loop, turn);
	volatile HB_T *own = bounds, *at = limits + 4 * (1 - turn);
	for (hb_i32 k = 0; k < 4; k++) at[k] = own[k];
	now[HB_SSSP_STEPS] += 1;
	if (mode == HB_SSSP_FINISH) {
		now[HB_SSSP_MODE] = HB_SSSP_STOP;
		hb_stop(loop, turn, HB_SSSP_MODE, HB_SSSP_STOP);
		result[1] = now[HB_SSSP_REACHED];
		result[2] = now[HB_SSSP_STEPS];
		result[3] = now[HB_SSSP_SPLITS];
		result[0] = 1;
		return;
	}
	items = now[HB_SSSP_NEXT], pile = now[HB_SSSP_NEXT_FAR];
	now[HB_SSSP_ITEMS] = items;
	now[HB_SSSP_FAR] = pile;
	now[HB_SSSP_NEXT] = 0;
	now[HB_SSSP_SIDE] = 1 - side;
	if (mode == HB_SSSP_SPLIT) now[HB_SSSP_PILE] = 1 - heap;
	if (items > 0) {
		now[HB_SSSP_MODE] = HB_SSSP_RELAX;
	} else if (pile > 0) { // the split drops vertices that have become near since
		HB_T delta = at[HB_SSSP_DELTA];
		least = at[HB_SSSP_LEAST];
		at[HB_SSSP_SETTLED] = bound;
		at[HB_SSSP_BOUND] = least > HB_MAX - delta ? HB_MAX : least + delta;
		at[HB_SSSP_LEAST] = HB_MAX;
		now[HB_SSSP_MODE] = HB_SSSP_SPLIT;
		now[HB_SSSP_NEXT_FAR] = 0;
		now[HB_SSSP_SPLITS] += 1;
	} else {
		now[HB_SSSP_MODE] = HB_SSSP_FINISH;
	}
}
