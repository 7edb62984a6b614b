// Maximum flow: push–relabel in rounds, with heights set by breadth-first searches.
// Source: prelude + queue.cu + this file. Host: apps/flow/maxflow_gpu.go, which defines
//     HB_FLOW_WIDE  arcs of the longest row that a thread reads alone
//
// The network has an arc in both directions for each pair of vertices: ptr hb_i64[n+1]; tail, head,
// sister hb_i32[m] (sister: the arc back); cap double[m]; res hb_i64[m], the residual capacities.
// Arcs at the two ends of the flow have none: what the source sends to a vertex at once is its
// excess, and what it can send to the sink its room. In the second phase room is what a vertex has
// from the source, so that excess without a way to the sink goes back there. height hb_i32[n] is
// the distance to a vertex with room, or HB_FLOW_FAR.
//
// Amounts are integers, in units of 1/scale, a power of two, so that sums are exact and no rounding
// leaves arcs nearly closed. most ≤ 2^56 + 1 is above any flow: larger capacities count as most,
// and stay open.
//
//   hb_flow_ends, hb_flow_open, hb_flow_bound
//   until no vertex with excess has a height, for the sink and then for the source:
//     hb_flow_seeds, hb_flow_reach for each level, hb_flow_count, hb_flow_push for each round
//   hb_flow_sent, hb_flow_values; for the two sides of the cut hb_flow_seeds, hb_flow_reach,
//   hb_flow_side
//
// Vertices push all at the same time, to any lower neighbour, with atomics: heights may be wrong
// until the next search, which is exact and alone decides the end (Hong, He: An asynchronous
// multithreaded algorithm for the maximum network flow problem with nonblocking global relabeling
// heuristic, TPDS 2011). Flows of two runs may differ; the sides do not, and the value in its last
// bits only.

#define HB_FLOW_FAR 0x7fffffff

enum { HB_FLOW_COUNT, HB_FLOW_LEVEL, HB_FLOW_FOUND = 4, HB_FLOW_ACTIVE = 8 }; // of numbers

// HB_FLOW_WARPS is HB_EACH with all lanes of a warp in each turn; item may be n or more.
#define HB_FLOW_WARPS(item, n) for (hb_i64 item = (hb_i64)blockIdx.x * blockDim.x + threadIdx.x; item - HB_LANE < (n); item += (hb_i64)gridDim.x * blockDim.x)

// hb_flow_fresh reads what other threads may have written in this launch.
template <typename T> HB_DEVICE T hb_flow_fresh(const T *p) { return *(const volatile T *)p; }

HB_DEVICE void hb_flow_add(hb_i64 *to, hb_i64 x) { atomicAdd((hb_u64 *)to, (hb_u64)x); }

// hb_flow_units is a capacity in units, hb_flow_amount a flow in the units of the capacity c.
HB_DEVICE hb_i64 hb_flow_units(double c, double scale, hb_i64 most) { return c * scale < (double)most ? (hb_i64)(c * scale) : most; }
HB_DEVICE double hb_flow_amount(hb_i64 f, double c, double scale, hb_i64 most) {
	return c * scale < (double)most && f == (hb_i64)(c * scale) ? c : (double)f / scale;
}

// hb_flow_ends adds the capacities that leave the source to sums[0], the capacities that enter the
// sink to sums[1].
HB_KERNEL hb_flow_ends(hb_i64 m, hb_i32 s, hb_i32 t, const hb_i32 *tail, const hb_i32 *head, const double *cap, double *sums) {
	double out = 0, in = 0;
	HB_FLOW_WARPS(a, m) {
		if (a >= m) continue;
		if (tail[a] == s) out += cap[a];
		if (head[a] == t) in += cap[a];
	}
	out = hb_total(out);
	in = hb_total(in);
	if (HB_LANE == 0 && out > 0) atomicAdd(sums, out);
	if (HB_LANE == 0 && in > 0) atomicAdd(sums + 1, in);
}

// hb_flow_open closes the arcs at the source s and the sink t. give is what the source can send to
// each vertex, take what the sink can take; both are 0 before.
HB_KERNEL hb_flow_open(hb_i64 m, hb_i32 s, hb_i32 t, const hb_i32 *tail, const hb_i32 *head, const double *cap, double scale, hb_i64 most,
	hb_i64 *res, hb_i64 *give, hb_i64 *take) {
	HB_EACH(a, m) {
		const hb_i32 v = tail[a], u = head[a];
		const hb_i64 c = hb_flow_units(cap[a], scale, most);
		const bool end = v == s || v == t || u == s || u == t;
		res[a] = end ? 0 : c;
		if (v == s && u != t) give[u] = c;
		if (u == t && v != s) take[v] = c;
	}
}

// hb_flow_bound starts the excess and the room, as much as the arcs of a vertex can carry on or
// bring.
HB_KERNEL hb_flow_bound(hb_i32 n, const hb_i64 *ptr, const hb_i32 *sister, const hb_i64 *res, const hb_i64 *give, const hb_i64 *take, hb_i64 *excess,
	hb_i64 *room, hb_i64 *first, hb_i64 *back) {
	HB_EACH(v, n) {
		const hb_i64 e = give[v], r = take[v];
		hb_i64 out = r, in = e;
		for (hb_i64 a = ptr[v]; a < ptr[v + 1] && (out < e || in < r); a++) {
			if (out < e) out += res[a];
			if (in < r) in += res[sister[a]];
		}
		excess[v] = back[v] = e < out ? e : out;
		room[v] = first[v] = r < in ? r : in;
	}
}

// hb_flow_seeds starts a search from the vertices with more than less, which may be null. numbers
// are 0 before.
HB_KERNEL hb_flow_seeds(hb_i32 n, const hb_i64 *more, const hb_i64 *less, hb_i32 *height, hb_u64 *numbers) {
	HB_EACH(v, n) {
		if (v == 0) numbers[HB_FLOW_FOUND] = 1; // level 1
		height[v] = more[v] > (less ? less[v] : 0) ? 1 : HB_FLOW_FAR;
	}
}

// hb_flow_reach finds the vertices of the next level: vertices with an arc to one of this level, or
// forward with an arc from one. The levels that were found have a flag each, of three that take
// turns.
HB_KERNEL hb_flow_reach(hb_i32 n, const hb_i64 *ptr, const hb_i32 *head, const hb_i32 *sister, const hb_i64 *res, hb_i32 forward, hb_i32 level,
	hb_i32 *height, hb_u64 *numbers) {
	hb_u64 *found = numbers + HB_FLOW_FOUND;
	if (!found[(level - 1) % 3]) return;
	if (blockIdx.x == 0 && threadIdx.x == 0) {
		found[(level + 1) % 3] = 0;
		numbers[HB_FLOW_LEVEL] = level;
	}
	bool any = false;
	HB_FLOW_WARPS(v, n) {
		hb_i64 lo = 0, hi = 0;
		if (v < n && hb_flow_fresh(height + v) == level) lo = ptr[v], hi = ptr[v + 1];
		hb_u32 wide = __ballot_sync(HB_FULL, hi - lo > HB_FLOW_WIDE);
		if (hi - lo <= HB_FLOW_WIDE) {
			for (hb_i64 a = lo; a < hi; a++) {
				const hb_i32 u = head[a];
				if (hb_flow_fresh(height + u) != HB_FLOW_FAR || !(res[forward ? a : sister[a]] > 0)) continue;
				height[u] = level + 1;
				any = true;
			}
		}
		for (; wide; wide &= wide - 1) {
			const hb_i32 leader = __ffs((int)wide) - 1;
			const hb_i64 from = __shfl_sync(HB_FULL, lo, leader), to = __shfl_sync(HB_FULL, hi, leader);
			for (hb_i64 a = from + HB_LANE; a < to; a += HB_WARP) {
				const hb_i32 u = head[a];
				if (hb_flow_fresh(height + u) != HB_FLOW_FAR || !(res[forward ? a : sister[a]] > 0)) continue;
				height[u] = level + 1;
				any = true;
			}
		}
	}
	any = __syncthreads_or(any);
	if (any && threadIdx.x == 0) found[level % 3] = 1;
}

// hb_flow_count counts the vertices with excess and a height.
HB_KERNEL hb_flow_count(hb_i32 n, const hb_i64 *excess, const hb_i32 *height, hb_u64 *numbers) {
	HB_FLOW_WARPS(v, n) {
		const hb_u32 all = __ballot_sync(HB_FULL, v < n && excess[v] > 0 && height[v] < HB_FLOW_FAR);
		if (HB_LANE == 0 && all) atomicAdd(numbers + HB_FLOW_COUNT, (hb_u64)__popc(all));
	}
}

// hb_flow_push is a round: each vertex with excess fills its room, pushes to its lower neighbours,
// and rises above the lowest of the others if excess is left. A round after one without excess does
// nothing. Bound by the reads of excess and height, and in large active sets by atomics.
HB_KERNEL hb_flow_push(hb_i32 n, const hb_i64 *ptr, const hb_i32 *head, const hb_i32 *sister, hb_i64 *res, hb_i64 *excess, hb_i64 *room,
	hb_i32 *height, hb_i32 round, hb_u64 *numbers) {
	hb_u64 *active = numbers + HB_FLOW_ACTIVE;
	if (round > 0 && !active[round - 1]) return;
	bool any = false;
	HB_FLOW_WARPS(v, n) {
		hb_i64 e = 0, start = 0;
		hb_i32 h = 0;
		hb_i64 lo = 0, hi = 0;
		if (v < n && (h = height[v]) < HB_FLOW_FAR && (start = hb_flow_fresh(excess + v)) > 0) {
			any = true;
			e = start;
			const hb_i64 r = room[v];
			if (r > 0) {
				const hb_i64 x = e < r ? e : r;
				room[v] = r - x;
				e -= x;
			}
			if (e > 0) lo = ptr[v], hi = ptr[v + 1];
		}
		hb_u32 wide = __ballot_sync(HB_FULL, hi - lo > HB_FLOW_WIDE);
		if (start > 0 && hi - lo <= HB_FLOW_WIDE) {
			hb_i32 lowest = HB_FLOW_FAR - 1;
			for (hb_i64 a = lo; a < hi && e > 0; a++) {
				const hb_i64 r = hb_flow_fresh(res + a);
				if (!(r > 0)) continue;
				const hb_i32 u = head[a], below = hb_flow_fresh(height + u);
				if (below >= h) {
					lowest = below < lowest ? below : lowest;
					continue;
				}
				const hb_i64 x = e < r ? e : r;
				hb_flow_add(res + a, -x);
				hb_flow_add(res + sister[a], x);
				hb_flow_add(excess + u, x);
				e -= x;
			}
			if (e > 0) height[v] = lowest + 1;
			hb_flow_add(excess + v, e - start);
		}
		for (; wide; wide &= wide - 1) {
			const hb_i32 leader = __ffs((int)wide) - 1;
			const hb_i64 from = __shfl_sync(HB_FULL, lo, leader), to = __shfl_sync(HB_FULL, hi, leader);
			const hb_i32 high = __shfl_sync(HB_FULL, h, leader);
			hb_i64 left = __shfl_sync(HB_FULL, e, leader);
			hb_i32 lowest = HB_FLOW_FAR - 1;
			for (hb_i64 a0 = from; a0 < to && left > 0; a0 += HB_WARP) {
				const hb_i64 a = a0 + HB_LANE;
				hb_i64 r = a < to ? hb_flow_fresh(res + a) : 0;
				hb_i32 u = -1;
				if (r > 0) {
					r = r < left ? r : left;
					u = head[a];
					const hb_i32 below = hb_flow_fresh(height + u);
					if (below >= high) {
						lowest = below < lowest ? below : lowest;
						r = 0;
					}
				} else r = 0;
				if (!__any_sync(HB_FULL, r > 0)) continue;
				// A lane sends what the lanes before it leave.
				hb_i64 sum = r;
				for (hb_i32 d = 1; d < HB_WARP; d *= 2) {
					const hb_i64 other = __shfl_up_sync(HB_FULL, sum, d);
					if (HB_LANE >= d) sum += other;
				}
				hb_i64 x = __shfl_up_sync(HB_FULL, sum, 1);
				x = left - (HB_LANE == 0 ? 0 : x);
				x = x < r ? x : r;
				if (x > 0) {
					hb_flow_add(res + a, -x);
					hb_flow_add(res + sister[a], x);
					hb_flow_add(excess + u, x);
				}
				const hb_i64 all = __shfl_sync(HB_FULL, sum, HB_WARP - 1);
				left = all < left ? left - all : 0;
			}
			for (hb_i32 d = HB_WARP / 2; d > 0; d /= 2) {
				const hb_i32 other = __shfl_xor_sync(HB_FULL, lowest, d);
				lowest = other < lowest ? other : lowest;
			}
			if (HB_LANE == leader) {
				if (left > 0) height[v] = lowest + 1;
				hb_flow_add(excess + v, left - start);
			}
		}
	}
	any = __syncthreads_or(any);
	if (any && threadIdx.x == 0) active[round] = 1;
}

// hb_flow_sent makes of first, the room at the start, what vertices have sent to the sink.
HB_KERNEL hb_flow_sent(hb_i32 n, const hb_i64 *room, hb_i64 *first) {
	HB_EACH(v, n) first[v] -= room[v];
}

// hb_flow_values makes the flow of each arc and marks arcs with any. back is what vertices have
// from the source, sent what they send to the sink. value becomes the value of the flow; it is 0
// before.
HB_KERNEL hb_flow_values(hb_i64 m, hb_i32 s, hb_i32 t, const hb_i32 *tail, const hb_i32 *head, const hb_i32 *sister, const double *cap, double scale,
	hb_i64 most, const hb_i64 *res, const hb_i64 *back, const hb_i64 *sent, double *flow, hb_u8 *keep, double *value) {
	double sum = 0;
	HB_FLOW_WARPS(a, m) {
		if (a >= m) continue;
		const hb_i32 v = tail[a], u = head[a];
		const double c = cap[a];
		double f = 0;
		if (v == s && u == t) f = c;
		else if (v == s) f = hb_flow_amount(back[u], c, scale, most);
		else if (u == t) f = hb_flow_amount(sent[v], c, scale, most);
		else if (v != t && u != s) f = hb_flow_amount(hb_flow_units(c, scale, most) - res[a], c, scale, most);
		if (u == t) sum += f;
		flow[a] = f;
		keep[a] = f > 0;
	}
	sum = hb_total(sum);
	if (HB_LANE == 0 && sum > 0) atomicAdd(value, sum);
}

// hb_flow_side marks the vertices that a search has reached, and its end.
HB_KERNEL hb_flow_side(hb_i32 n, hb_i32 end, const hb_i32 *height, hb_u8 *present, hb_u8 *value, hb_u64 *numbers) {
	HB_FLOW_WARPS(v, n) {
		const bool in = v < n && (v == end || height[v] < HB_FLOW_FAR);
		if (v < n) present[v] = value[v] = in;
		const hb_u32 all = __ballot_sync(HB_FULL, in);
		if (HB_LANE == 0 && all) atomicAdd(numbers + HB_FLOW_COUNT, (hb_u64)__popc(all));
	}
}
