// Core numbers: the largest k such that a vertex is in the k-core, of an undirected graph.
// Source: prelude + queue.cu + this file. Host: apps/cores/kcore_gpu.go, which defines
//     HB_CORE_CHUNK  entries of an item of the queue
//     HB_CORE_KEPT  entries of rows that a warp removes without the queue, at a time
//     HB_CORE_CHAIN  times that a warp removes what it has found, before it queues the rest
//
// Peeling level by level (Kabir, Madduri: Parallel k-core decomposition on multicore platforms,
// IPDPSW 2017). A scan queues the vertices of degree k. A vertex that is removed lowers the degrees
// of its neighbours that are above k, and whoever lowers one to k removes it: at once if a warp
// finds few, since their chains are long in grids and on roads, else by the queue, so that all
// warps share them. Core numbers do not depend on the order. Removed vertices keep their degree, so
// that the degrees become the core numbers. The last block of a step decides what the next step
// does, without the host.
//
// If no vertex has more than b neighbours after it in the order of the numbers, or none has more
// before it, no core number is above b, for in each set of vertices the first, or the last, has at
// most b neighbours of the set. At level b the vertices that are left are therefore not peeled:
// the grid in the order of its rows has b = 2.
//
// In: ptr, idx, the rows of a symmetric n×n matrix; entries on the diagonal are ignored.
// Scratch: queue hb_u64[n + entries/HB_CORE_CHUNK], state hb_u64[3·HB_GRAPH_STATE], 0 before.
// Out: degree hb_i32[n], the core numbers; result hb_i64[4] in pinned host memory: {1, the
//   largest core number, vertices that have it, steps} after the last step; result[0] = 0 before.
// Launches, grid = resident blocks, blocks of HB_GRAPH_BLOCK threads, no dynamic shared memory:
//   hb_core_start<<<grid>>>;  hb_core_step<<<grid>>>, turn 0 and 1 alternately, until result[0] is
//   1; further steps return at once.
// n > 0. Deterministic. Bound by atomics on degree, and by the number of steps.

enum { // places in state
	HB_CORE_K, HB_CORE_SCAN, HB_CORE_HEAD, HB_CORE_TAIL, // of the step: the level, 1 for a scan, and the queue's part
	HB_CORE_NEXT, HB_CORE_LEAST, HB_CORE_REMOVED, HB_CORE_DONE, // the queue's end, the least degree above k, vertices of level k
	HB_CORE_MAX, HB_CORE_INNER, HB_CORE_STEPS,
	HB_CORE_BEFORE, HB_CORE_AFTER // most neighbours of a vertex with smaller and with larger numbers
};
#define HB_CORE_STOP 0xffffffffull // as level; above all degrees

// hb_core_start sets the degrees, without the diagonal, and the state.
HB_KERNEL hb_core_start(hb_i32 n, const hb_i64 *ptr, const hb_i32 *idx, hb_i32 *degree, hb_u64 *state) {
	__shared__ hb_i32 before, after;
	if (threadIdx.x == 0) before = after = 0;
	__syncthreads();
	hb_i64 i = (hb_i64)blockIdx.x * blockDim.x + threadIdx.x, threads = (hb_i64)gridDim.x * blockDim.x;
	hb_i32 below = 0, above = 0;
	for (hb_i64 v = i; v < n; v += threads) {
		hb_i64 begin = ptr[v], lo = begin, end = ptr[v + 1], hi = end;
		while (lo < hi) {
			hb_i64 mid = lo + (hi - lo) / 2;
			if (idx[mid] < v) lo = mid + 1;
			else hi = mid;
		}
		hb_i32 less = (hb_i32)(lo - begin), more = (hb_i32)(end - lo) - (lo < end && idx[lo] == v);
		degree[v] = less + more;
		if (less > below) below = less;
		if (more > above) above = more;
	}
	if (below > 0) atomicMax(&before, below);
	if (above > 0) atomicMax(&after, above);
	__syncthreads();
	if (threadIdx.x == 0) {
		atomicMax(&state[HB_CORE_BEFORE], (hb_u64)before);
		atomicMax(&state[HB_CORE_AFTER], (hb_u64)after);
	}
	if (i < HB_CORE_BEFORE) state[i] = i == HB_CORE_K || i == HB_CORE_SCAN ? 1 : i == HB_CORE_LEAST ? HB_CORE_STOP : i == HB_CORE_INNER ? n : 0;
}

// hb_core_remove removes the vertices whose rows, or chunks of them, the lanes have, and a few that
// fall to k. It appends others to the queue, and returns how many vertices the lane has found.
// begins and lengths are shared, of the warp, whose lanes all call it.
HB_DEVICE hb_u64 hb_core_remove(hb_i32 k, const hb_i64 *ptr, const hb_i32 *idx, hb_i32 *degree, hb_i64 begin, hb_u32 length,
	hb_i64 *begins, hb_u32 *lengths, hb_u64 *queue, hb_u64 *end) {
	hb_u64 mine = 0;
	for (hb_i32 round = 0;; round++) {
		hb_u32 sum = hb_sums(length), total = __shfl_sync(HB_FULL, sum, HB_WARP - 1), kept = 0, room = HB_CORE_KEPT;
		begin -= sum - length; // entry t of the warp is at begin + t of its lane
		for (hb_u32 t0 = 0; t0 < total; t0 += HB_WARP * HB_UNROLL) {
			hb_i32 u[HB_UNROLL];
			hb_i64 lo[HB_UNROLL], hi[HB_UNROLL];
			for (hb_i32 j = 0; j < HB_UNROLL; j++) {
				hb_u32 t = t0 + j * HB_WARP + HB_LANE;
				hb_i64 p = __shfl_sync(HB_FULL, begin, hb_owner(sum, t)) + t;
				u[j] = t < total ? idx[p] : -1;
			}
			for (hb_i32 j = 0; j < HB_UNROLL; j++) {
				hb_i32 d = u[j] < 0 ? 0 : degree[u[j]];
				if (d <= k) u[j] = -1;
				lo[j] = -1, hi[j] = 0;
				if (d == k + 1) lo[j] = ptr[u[j]], hi[j] = ptr[u[j] + 1]; // beside the atomics
			}
			for (hb_i32 j = 0; j < HB_UNROLL; j++) {
				if (u[j] < 0) continue;
				hb_i32 before = atomicSub(&degree[u[j]], 1);
				if (before <= k) atomicAdd(&degree[u[j]], 1); // another thread removed it
				if (before != k + 1) u[j] = -1;
			}
			for (hb_i32 j = 0; j < HB_UNROLL; j++) {
				if (!__any_sync(HB_FULL, u[j] >= 0)) continue;
				bool is = u[j] >= 0;
				mine += is;
				if (is && lo[j] < 0) lo[j] = ptr[u[j]], hi[j] = ptr[u[j] + 1];
				hb_u32 entries = is ? (hb_u32)(hi[j] - lo[j]) : 0;
				hb_u32 upto = hb_sums(entries <= HB_CORE_KEPT ? entries : 0);
				bool keep = is && upto <= room && entries <= HB_CORE_KEPT && round + 1 < HB_CORE_CHAIN;
				hb_u32 lanes = __ballot_sync(HB_FULL, keep), place = kept + __popc(lanes & ((1u << HB_LANE) - 1));
				if (place >= HB_WARP) keep = false;
				if (keep) begins[place] = lo[j], lengths[place] = entries;
				kept += __popc(lanes);
				upto = __shfl_sync(HB_FULL, upto, HB_WARP - 1);
				room -= upto < room ? upto : room;
				if (__any_sync(HB_FULL, is && !keep)) hb_append(queue, end, is && !keep ? u[j] : -1, is && !keep ? (entries + HB_CORE_CHUNK - 1) / HB_CORE_CHUNK : 0);
			}
		}
		if (kept == 0) return mine;
		__syncwarp();
		length = HB_LANE < kept ? lengths[HB_LANE] : 0;
		begin = HB_LANE < kept ? begins[HB_LANE] : 0;
		__syncwarp();
	}
}

// hb_core_step scans the degrees, or removes the vertices of the queue.
HB_KERNEL hb_core_step(hb_i32 n, const hb_i64 *ptr, const hb_i32 *idx, hb_i32 *degree, hb_u64 *queue, hb_u64 *loop, hb_i32 turn, hb_i64 *result) {
	__shared__ hb_u64 removed;
	__shared__ hb_i64 begins[HB_GRAPH_WARPS][HB_WARP];
	__shared__ hb_u32 lengths[HB_GRAPH_WARPS][HB_WARP];
	hb_u64 *state = hb_side(loop, turn);
	volatile hb_u64 *now = state;
	hb_u64 level = now[HB_CORE_K], scan = now[HB_CORE_SCAN], head = now[HB_CORE_HEAD], tail = now[HB_CORE_TAIL];
	hb_u64 bound = now[HB_CORE_BEFORE] < now[HB_CORE_AFTER] ? now[HB_CORE_BEFORE] : now[HB_CORE_AFTER];
	hb_u64 work = scan ? ((hb_u64)n + HB_WARP - 1) / HB_WARP : tail - head;
	hb_u32 busy = hb_busy(work);
	if (level == HB_CORE_STOP || blockIdx.x >= busy) return;
	hb_i32 k = (hb_i32)level;
	hb_u64 warp = (hb_u64)blockIdx.x * HB_GRAPH_WARPS + threadIdx.x / HB_WARP, warps = (hb_u64)busy * HB_GRAPH_WARPS;
	hb_u64 *end = &state[HB_CORE_NEXT], mine = 0;
	if (threadIdx.x == 0) removed = 0;
	__syncthreads();
	if (scan && level >= bound) {
		for (hb_i64 v = warp * HB_WARP + HB_LANE; v < n; v += warps * HB_WARP) {
			hb_i32 d = degree[v];
			mine += d >= k;
			if (d > k) degree[v] = k;
		}
	} else if (scan) {
		hb_u64 least = HB_CORE_STOP;
		for (hb_i64 v = warp * HB_WARP + HB_LANE; v - HB_LANE < n; v += warps * HB_WARP) {
			hb_i32 d = v < n ? degree[v] : 0, low = d == k ? (hb_i32)v : -1;
			if (d > k && d < least) least = d;
			mine += low >= 0;
			hb_append(queue, end, low, hb_chunks(ptr, low, HB_CORE_CHUNK));
		}
		for (hb_i32 d = HB_WARP / 2; d > 0; d /= 2) {
			hb_u64 other = __shfl_xor_sync(HB_FULL, least, d);
			if (other < least) least = other;
		}
		if (HB_LANE == 0 && least < HB_CORE_STOP) atomicMin(&state[HB_CORE_LEAST], least);
	} else {
		hb_u32 share = hb_share(tail - head), own = threadIdx.x / HB_WARP;
		for (hb_u64 g = warp; head + g * share < tail; g += warps) {
			hb_u64 at = head + g * share + HB_LANE;
			hb_i64 begin = 0, stop = 0;
			if (HB_LANE < share && at < tail) {
				hb_u64 item = queue[at];
				hb_i32 v = (hb_i32)(hb_u32)item;
				begin = ptr[v] + (hb_i64)(item >> 32) * HB_CORE_CHUNK, stop = ptr[v + 1];
				if (stop > begin + HB_CORE_CHUNK) stop = begin + HB_CORE_CHUNK;
			}
			mine += hb_core_remove(k, ptr, idx, degree, begin, (hb_u32)(stop - begin), begins[own], lengths[own], queue, end);
		}
	}
	mine = hb_total(mine);
	if (HB_LANE == 0 && mine > 0) atomicAdd(&removed, mine);
	__syncthreads();
	if (threadIdx.x == 0 && removed > 0) atomicAdd(&state[HB_CORE_REMOVED], removed);

	if (!hb_last(&state[HB_CORE_DONE], busy)) return;
	now = hb_next(loop, turn);
	now[HB_CORE_STEPS] += 1;
	hb_u64 to = now[HB_CORE_NEXT];
	now[HB_CORE_HEAD] = tail, now[HB_CORE_TAIL] = to;
	if (to > tail) {
		now[HB_CORE_SCAN] = 0;
		return;
	}
	if (now[HB_CORE_REMOVED] > 0) {
		now[HB_CORE_MAX] = level;
		now[HB_CORE_INNER] = now[HB_CORE_REMOVED];
		now[HB_CORE_REMOVED] = 0;
	}
	// A scan that found none knows the next level.
	level = scan && level >= bound ? HB_CORE_STOP : scan ? now[HB_CORE_LEAST] : level + 1;
	now[HB_CORE_K] = level;
	now[HB_CORE_SCAN] = 1;
	now[HB_CORE_LEAST] = HB_CORE_STOP;
	if (level == HB_CORE_STOP) {
		hb_stop(loop, turn, HB_CORE_K, HB_CORE_STOP);
		result[1] = now[HB_CORE_MAX];
		result[2] = now[HB_CORE_INNER];
		result[3] = now[HB_CORE_STEPS];
		result[0] = 1;
	}
}
