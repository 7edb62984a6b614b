// A maximal independent set, of vertices taken greedily by descending priority. Source: prelude +
// queue.cu + this file. Host: apps/sets/independent_gpu.go, which defines
//     HB_MIS_LONG  entries from which a warp reads a row together
//
// The priority of a vertex is its rank by degree, then a random number. The status of an undecided
// vertex has its rank, so that a neighbour's priority takes no further read.
//
// A vertex joins when no undecided neighbour has a higher priority, and then excludes its
// neighbours (Luby, SIAM Journal on Computing 15, 1986, with priorities that stay; Blelloch,
// Fineman, Shun: Greedy sequential maximal independent set and matching are parallel on average,
// SPAA 2012). A vertex that waits for a neighbour resumes its row there in the next step: the
// neighbours before it are excluded or have lower priorities, and those cannot join before it. So
// the steps read each row once, and what a step sees of the others' changes does not matter.
//
// In: ptr, idx, the rows of a symmetric n×n matrix; entries on the diagonal are ignored; by, 1 for
//   ranks by degree, as degreeRank in apps/sets/independent.go, or 0; seed, see priorityOf there.
// Scratch: list hb_i32[2·n], at hb_i64[n], state hb_u64[3·HB_GRAPH_STATE].
// Out: status hb_u8[n]: HB_MIS_IN or HB_MIS_OUT; result hb_i64[4] in pinned host memory: {1,
//   vertices in the set, steps} after the last step; result[0] = 0 before. hb_mis_result makes of
//   status presence and values, hb_u8[n] each.
// Launches, grid = resident blocks, blocks of HB_GRAPH_BLOCK threads, no dynamic shared memory:
//   hb_mis_start<<<grid>>>;  hb_mis_step<<<grid>>>, turn 0 and 1 alternately, until result[0] is 1;
//   further steps return at once;  hb_mis_result<<<grid>>>.
// n > 0. Deterministic. Bound by random reads of status.

enum { HB_MIS_LEFT, HB_MIS_SIDE, HB_MIS_NEXT, HB_MIS_SIZE, HB_MIS_DONE, HB_MIS_STEPS }; // places in state
enum { HB_MIS_IN, HB_MIS_OUT, HB_MIS_OPEN = 64 }; // status; the least one of an undecided vertex, to which its rank is added

// hb_mis_priority is the priority of an undecided vertex.
HB_DEVICE hb_u64 hb_mis_priority(hb_i32 v, hb_u8 is, hb_i64 seed) {
	hb_u32 z = (hb_u32)v + (hb_u32)seed * 0x9e3779b9u;
	z = (z ^ z >> 16) * 0x85ebca6bu;
	z = (z ^ z >> 13) * 0xc2b2ae35u;
	return (hb_u64)is << 32 | (z ^ z >> 16);
}

// hb_mis_rank is the rank by degree of a row, without the diagonal.
HB_DEVICE hb_u8 hb_mis_rank(const hb_i32 *idx, hb_i64 begin, hb_i64 end, hb_i64 v) {
	hb_i64 lo = begin, hi = end;
	while (lo < hi) {
		hb_i64 mid = lo + (hi - lo) / 2;
		if (idx[mid] < v) lo = mid + 1;
		else hi = mid;
	}
	hb_i32 d = (hb_i32)(end - begin) - (lo < end && idx[lo] == v);
	if (d >= 32) {
		hb_i32 log = 31 - __clz(d);
		d = 32 + 2 * (log - 5) + (d >> (log - 1) & 1);
	}
	return (hb_u8)(63 - (d < 63 ? d : 63));
}

HB_KERNEL hb_mis_start(hb_i32 n, const hb_i64 *ptr, const hb_i32 *idx, hb_i32 by, hb_i32 *list, hb_i64 *at, hb_u8 *status, hb_u64 *state) {
	hb_i64 i = (hb_i64)blockIdx.x * blockDim.x + threadIdx.x, threads = (hb_i64)gridDim.x * blockDim.x;
	for (hb_i64 v = i; v < n; v += threads) {
		list[v] = (hb_i32)v;
		at[v] = ptr[v];
		status[v] = HB_MIS_OPEN + (by ? hb_mis_rank(idx, ptr[v], ptr[v + 1], v) : 0);
	}
	if (i < HB_GRAPH_STATE) state[i] = i == HB_MIS_LEFT ? n : 0;
}

// hb_mis_step decides the vertices of the list as far as it can, and lists the others anew.
HB_KERNEL hb_mis_step(hb_i32 n, const hb_i64 *ptr, const hb_i32 *idx, hb_i64 seed, hb_i32 *list, hb_i64 *at, hb_u8 *status, hb_u64 *loop,
	hb_i32 turn, hb_i64 *result) {
	__shared__ hb_u64 joined;
	hb_u64 *state = hb_side(loop, turn);
	volatile hb_u8 *known = status;
	hb_u64 left = state[HB_MIS_LEFT], side = state[HB_MIS_SIDE], work = (left + HB_WARP - 1) / HB_WARP;
	hb_u32 busy = hb_busy(work);
	if (left == 0 || blockIdx.x >= busy) return;
	const hb_i32 *from = list + side * n;
	hb_i32 *to = list + (1 - side) * n;
	hb_u64 warp = (hb_u64)blockIdx.x * HB_GRAPH_WARPS + threadIdx.x / HB_WARP, warps = (hb_u64)busy * HB_GRAPH_WARPS, mine = 0;
	if (threadIdx.x == 0) joined = 0;
	__syncthreads();
	for (hb_u64 i = warp * HB_WARP + HB_LANE; i - HB_LANE < left; i += warps * HB_WARP) {
		hb_i32 v = i < left ? from[i] : -1;
		hb_i64 p = 0, end = 0;
		hb_u8 now = v >= 0 ? known[v] : HB_MIS_OUT;
		hb_u64 own = hb_mis_priority(v, now, seed);
		bool open = now >= HB_MIS_OPEN, wait = false, out = false;
		if (open) p = at[v], end = ptr[v + 1];
		bool wide = open && end - p >= HB_MIS_LONG;
		if (open && !wide) {
			for (; p < end; p++) {
				hb_i32 u = idx[p];
				hb_u8 is = known[u];
				out = is == HB_MIS_IN;
				wait = is >= HB_MIS_OPEN && hb_mis_priority(u, is, seed) > own;
				if (out || wait) break;
			}
		}
		for (hb_u32 rest = __ballot_sync(HB_FULL, wide); rest; rest &= rest - 1) {
			hb_i32 lane = __ffs((hb_i32)rest) - 1;
			hb_i64 q = __shfl_sync(HB_FULL, p, lane), stop = __shfl_sync(HB_FULL, end, lane);
			hb_u64 priority = __shfl_sync(HB_FULL, own, lane);
			hb_u32 joins = 0, waits = 0;
			for (; q < stop; q += HB_WARP) {
				hb_i32 u = q + HB_LANE < stop ? idx[q + HB_LANE] : -1;
				hb_u8 is = u >= 0 ? known[u] : HB_MIS_OUT;
				joins = __ballot_sync(HB_FULL, is == HB_MIS_IN);
				waits = __ballot_sync(HB_FULL, is >= HB_MIS_OPEN && hb_mis_priority(u, is, seed) > priority);
				if (joins | waits) break;
			}
			if (HB_LANE == lane) {
				out = joins != 0, wait = !out && waits != 0;
				p = wait ? q + __ffs((hb_i32)waits) - 1 : q;
			}
		}
		bool in = open && !out && !wait;
		if (in) status[v] = HB_MIS_IN;
		if (open && out) status[v] = HB_MIS_OUT;
		if (wait) at[v] = p;
		mine += in;
		hb_i64 begin = in ? ptr[v] : 0;
		hb_u32 length = in ? (hb_u32)(end - begin) : 0, sum = hb_sums(length), total = __shfl_sync(HB_FULL, sum, HB_WARP - 1);
		begin -= sum - length; // entry t of the warp is at begin + t of its lane
		for (hb_u32 t = HB_LANE; t - HB_LANE < total; t += HB_WARP) {
			hb_i32 lane = hb_owner(sum, t);
			hb_i64 q = __shfl_sync(HB_FULL, begin, lane) + t;
			hb_i32 w = __shfl_sync(HB_FULL, v, lane), u = t < total ? idx[q] : w;
			if (u != w) status[u] = HB_MIS_OUT;
		}
		hb_u64 place = hb_reserve(&state[HB_MIS_NEXT], wait);
		if (wait) to[place] = v;
	}
	mine = hb_total(mine);
	if (HB_LANE == 0 && mine > 0) atomicAdd(&joined, mine);
	__syncthreads();
	if (threadIdx.x == 0 && joined > 0) atomicAdd(&state[HB_MIS_SIZE], joined);

	if (!hb_last(&state[HB_MIS_DONE], busy)) return;
	volatile hb_u64 *now = hb_next(loop, turn);
	now[HB_MIS_STEPS] += 1;
	now[HB_MIS_LEFT] = now[HB_MIS_NEXT];
	now[HB_MIS_NEXT] = 0;
	now[HB_MIS_SIDE] = 1 - side;
	if (now[HB_MIS_LEFT] == 0) {
		hb_stop(loop, turn, HB_MIS_LEFT, 0);
		result[1] = now[HB_MIS_SIZE];
		result[2] = now[HB_MIS_STEPS];
		result[0] = 1;
	}
}

HB_KERNEL hb_mis_result(hb_i32 n, const hb_u8 *status, hb_u8 *present, hb_u8 *val) {
	hb_i64 threads = (hb_i64)gridDim.x * blockDim.x;
	for (hb_i64 v = (hb_i64)blockIdx.x * blockDim.x + threadIdx.x; v < n; v += threads) present[v] = val[v] = status[v] == HB_MIS_IN;
}
