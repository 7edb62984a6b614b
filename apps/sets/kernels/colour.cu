// Colours of vertices, greedily by descending key. Source: prelude + queue.cu + this file. Host:
// apps/sets/colouring_gpu.go, which defines
//     HB_COLOUR_SHORT  entries of a row that one thread colours, at most 31
//     HB_COLOUR_RESIDENT  blocks of hb_colour_first on a multiprocessor
//     HB_COLOUR_UNROLL  entries that a lane of hb_colour_lists loads at a time
//     HB_COLOUR_TRIES, HB_COLOUR_FEW_TRIES  tries in vain after which a warp leaves its vertices to
//         the next step: if each vertex that waits has a warp or a thread, or none waits for a long
//         row, and else
//     HB_COLOUR_WINDOW  words of the colours that a warp collects in shared memory, at most 32
//
// A predecessor is a neighbour with a higher key. A vertex gets the least colour that no
// predecessor has. It does not wait for all of them: it takes its least free colour as soon as each
// predecessor without a colour has a neighbour of that colour (Alabandi, Powers, Burtscher:
// Increasing the parallelism of graph coloring via shortcutting, PPoPP 2020). Rounds are then about
// as many as colours, not as many as vertices on the longest path of predecessors. A vertex that
// waits knows the first predecessor that may take its colour, and looks at that alone.
//
// What a thread reads of another vertex is its colour or a set of colours that it cannot get. The
// set grows and the colour stays, so that an old value is a true one: no fences are needed.
//
// In: ptr, idx, the rows of a symmetric n×n matrix; entries on the diagonal are ignored. order 0:
//   key is in, from 0; 1: keys of largest first; 2: of random order; with seed, which orders equal
//   keys too, see apps/sets/colouring.go.
// Scratch: key hb_u32[n]; known hb_u64[n], the colour of a vertex, −1 without, and the set of the
//   colours to 31 that it cannot get; more hb_u32[entries/32 + 2], 0 before, the colours from 32
//   on; most hb_i32[n], of rows with more than HB_COLOUR_SHORT entries at least the predecessors:
//   of a long row the predecessors, once they are listed, else the entries; left hb_i32[n] and list
//   hb_i32[entries], of a long row the predecessors without a colour, and other neighbours before
//   they are looked at; wide hb_i32[n], the long rows, and rank
//   hb_u32[n], which ascends in their order; items int4[2·n]; state hb_u64[3·HB_GRAPH_STATE], 0
//   before.
// Out: colour hb_i32[n]; result hb_i64[4] in pinned host memory: {1, colours, steps} after the
//   last step; result[0] = 0 before.
// Launches, grid = resident blocks, blocks of HB_GRAPH_BLOCK threads, no dynamic shared memory:
//   hb_colour_start<<<grid>>>, which writes the number of long rows to result[3];
//   hb_colour_first<<<grid>>> with always 0, which returns at once if there are long rows; if there
//   are hb_colour_lists<<<grid>>>, by places in the order of rank unless there is a warp for each
//   hb_colour_wide<<<grid>>>, and hb_colour_first<<<grid>>> with always 1;
//   hb_colour_step<<<grid>>>, turn 0 and 1 alternately, until result[0] is 1; further steps return
//   at once.
// n > 0. Deterministic. Bound by random reads of known.

enum { // places in state
	HB_COLOUR_FEW, HB_COLOUR_WIDE, HB_COLOUR_SIDE, // of the step: items of short and of long rows
	HB_COLOUR_NEXT_FEW, HB_COLOUR_NEXT_WIDE, HB_COLOUR_DONE, HB_COLOUR_STEPS, HB_COLOUR_COUNT,
	HB_COLOUR_TICKET
};
#define HB_COLOUR_NONE 0xffffffffull // in place of a colour

// hb_colour_graph is what all kernels read and write.
struct hb_colour_graph {
	hb_i32 n;
	const hb_i64 *ptr;
	const hb_i32 *idx;
	volatile hb_u64 *known;
	volatile hb_u32 *more;
	volatile hb_i32 *most;
	hb_i32 *left, *list, *colour;
	hb_i32 *top; // shared, of the block: the number of colours that it has seen
};

// hb_colour_give gives v the colour c.
HB_DEVICE void hb_colour_give(const hb_colour_graph &g, hb_i32 v, hb_i32 c) {
	g.known[v] = (hb_u64)c << 32;
	g.colour[v] = c;
	if (c >= *g.top) atomicMax(g.top, c + 1);
}

// hb_colour_hash is the random part of the order.
HB_DEVICE hb_u32 hb_colour_hash(hb_i32 v, hb_i64 seed) {
	hb_u32 z = (hb_u32)v + (hb_u32)seed * 0x9e3779b9u;
	z = (z ^ z >> 16) * 0x85ebca6bu;
	z = (z ^ z >> 13) * 0xc2b2ae35u;
	return z ^ z >> 16;
}

// hb_colour_precedes reports whether u precedes v, which has the key own.
HB_DEVICE bool hb_colour_precedes(const hb_u32 *key, hb_i32 u, hb_i32 v, hb_u32 own, hb_i64 seed) {
	hb_u32 other = key[u];
	return other > own || (other == own && hb_colour_hash(u, seed) > hb_colour_hash(v, seed));
}

HB_DEVICE hb_i32 hb_colour_of(hb_u64 known) { return (hb_i32)(hb_u32)(known >> 32); } // −1: none

// hb_colour_free reports whether u, known as so, may get colour c.
HB_DEVICE bool hb_colour_free(const hb_colour_graph &g, hb_i32 u, hb_u64 known, hb_i32 c) {
	if (c < 32) return !(known >> c & 1);
	if (g.ptr[u + 1] - g.ptr[u] <= HB_COLOUR_SHORT) return false;
	return c <= g.most[u] && !(g.more[g.ptr[u] / 32 + c / 32] >> c % 32 & 1);
}

// hb_colour_is_long reports whether a warp, not a thread, colours a vertex. In the order by degree
// all predecessors of such a vertex are such vertices.
HB_DEVICE bool hb_colour_is_long(hb_i32 order, hb_u32 key, hb_i64 entries) {
	return order == 1 ? key > HB_COLOUR_SHORT : entries > HB_COLOUR_SHORT;
}

// hb_colour_over is the set of colours to 31 that are above most.
HB_DEVICE hb_u32 hb_colour_over(hb_i32 most) { return most >= 31 ? 0 : ~0u << (most + 1); }

// hb_colour_start makes keys and lists the long rows.
HB_KERNEL hb_colour_start(hb_i32 n, const hb_i64 *ptr, const hb_i32 *idx, hb_i32 order, hb_i64 seed, hb_u32 *key, hb_u64 *known, hb_i32 *most,
	hb_i32 *wide, hb_u32 *rank, hb_u64 *loop, hb_i64 *result) {
	hb_i64 i = (hb_i64)blockIdx.x * blockDim.x + threadIdx.x, threads = (hb_i64)gridDim.x * blockDim.x;
	for (hb_i64 v = i; v - HB_LANE < n; v += threads) {
		hb_i64 begin = 0, end = 0;
		if (v < n) {
			begin = ptr[v], end = ptr[v + 1];
			known[v] = HB_COLOUR_NONE << 32;
			if (end - begin > HB_COLOUR_SHORT) most[v] = (hb_i32)(end - begin);
		}
		hb_u32 hash = hb_colour_hash((hb_i32)v, seed), own = v < n && order == 0 ? key[v] : hash;
		if (v < n && order == 1) {
			hb_i64 lo = begin, hi = end;
			while (lo < hi) { // the place of the diagonal
				hb_i64 mid = lo + (hi - lo) / 2;
				if (idx[mid] < v) lo = mid + 1;
				else hi = mid;
			}
			own = (hb_u32)(end - begin - (lo < end && idx[lo] == v));
		}
		if (v < n && order > 0) key[v] = own;
		bool is = v < n && hb_colour_is_long(order, own, end - begin);
		hb_u64 place = hb_reserve(&hb_side(loop, 1)[HB_COLOUR_WIDE], is);
		if (!is) continue;
		wide[place] = (hb_i32)v;
		rank[place] = ~(order == 1 ? (own > 0xffff ? 0xffff : own) << 16 | hash >> 16 : own);
	}
	hb_u64 *state = hb_side(loop, 1);
	if (hb_last(&state[HB_COLOUR_DONE], gridDim.x)) result[3] = (hb_i64)((volatile hb_u64 *)state)[HB_COLOUR_WIDE];
}

// hb_colour_settle looks whether the vertex v of a long row can get a colour, from the place at of
// its list on; u is the predecessor for which it waits. Without a candidate c (−1), or if a
// predecessor has got that, all predecessors are looked at. It returns true if v got its colour.
// All lanes of the warp call it with the same arguments.
HB_DEVICE bool hb_colour_settle(const hb_colour_graph &g, hb_u32 *window, hb_i32 v, hb_i32 &c, hb_i32 &at, hb_i32 &u) {
	hb_i64 begin = g.ptr[v];
	hb_i32 most = g.most[v], count = g.left[v];
	bool all = __any_sync(HB_FULL, c < 0 || hb_colour_of(g.known[u]) == c);
	while (true) {
		if (all) {
			window[HB_LANE] = 0;
			__syncwarp();
			hb_i32 kept = 0;
			for (hb_i32 i = HB_LANE; i - HB_LANE < count; i += HB_WARP) {
				hb_i32 w = i < count ? g.list[begin + i] : -1, has = w >= 0 ? hb_colour_of(g.known[w]) : 0;
				bool open = w >= 0 && has < 0;
				if (w >= 0 && has >= 0 && has <= most) {
					if (has < 32 * HB_COLOUR_WINDOW) atomicOr(&window[has / 32], 1u << has % 32);
					else atomicOr((hb_u32 *)&g.more[begin / 32 + has / 32], 1u << has % 32);
				}
				hb_u32 lanes = __ballot_sync(HB_FULL, open);
				if (open) g.list[begin + kept + __popc(lanes & ((1u << HB_LANE) - 1))] = w;
				kept += __popc(lanes);
			}
			count = kept;
			__syncwarp();
			hb_u32 set = window[HB_LANE];
			if (HB_LANE == 0) {
				g.left[v] = count;
				set |= (hb_u32)g.known[v];
				g.known[v] = HB_COLOUR_NONE << 32 | set;
				window[0] = set;
			} else if (set != 0) {
				g.more[begin / 32 + HB_LANE] = g.more[begin / 32 + HB_LANE] | set;
			}
			__syncwarp();
			for (hb_i32 first = 0;; first += HB_WARP) { // most + 1 colours, one of them free
				hb_i32 word = first + HB_LANE;
				hb_u32 used = word > most / 32 ? ~0u : word == 0 ? window[0] : g.more[begin / 32 + word];
				hb_u32 open = __ballot_sync(HB_FULL, used != ~0u);
				if (!open) continue;
				hb_i32 lane = __ffs((hb_i32)open) - 1;
				used = __shfl_sync(HB_FULL, used, lane);
				c = (first + lane) * 32 + __ffs((hb_i32)~used) - 1;
				break;
			}
			__syncwarp();
			at = 0, all = false;
		}
		for (; at < count && !all; at += HB_WARP) {
			hb_i32 w = at + HB_LANE < count ? g.list[begin + at + HB_LANE] : -1;
			hb_u64 known = w >= 0 ? g.known[w] : 0;
			hb_i32 has = w >= 0 ? hb_colour_of(known) : -2;
			if (__any_sync(HB_FULL, has == c)) all = true;
			hb_u32 waits = __ballot_sync(HB_FULL, has == -1 && hb_colour_free(g, w, known, c));
			if (waits && !all) {
				u = __shfl_sync(HB_FULL, w, __ffs((hb_i32)waits) - 1);
				return false;
			}
		}
		if (!all) break;
	}
	if (HB_LANE == 0) hb_colour_give(g, v, c);
	return true;
}

// hb_colour_short looks whether the vertex v of a short row can get a colour. wait has the bits of
// the entries that are predecessors without a colour, used the colours of others, u the predecessor
// for which it waits. It returns true if v got its colour.
HB_DEVICE bool hb_colour_short(const hb_colour_graph &g, hb_i32 v, hb_u32 &wait, hb_u32 &used, hb_i32 &u) {
	const hb_i32 *row = g.idx + g.ptr[v];
	hb_u32 before = used;
	hb_i32 c = __ffs((hb_i32)~used) - 1;
	for (hb_u32 rest = wait; rest;) {
		// All lanes load, if they have no entry left the colour of v: loads under a condition are
		// not under way together.
		hb_i32 w[HB_UNROLL];
		hb_u64 known[HB_UNROLL];
		hb_u32 bit[HB_UNROLL];
		for (hb_i32 k = 0; k < HB_UNROLL; k++) {
			bit[k] = rest & (0u - rest);
			rest ^= bit[k];
			w[k] = bit[k] ? row[__ffs((hb_i32)bit[k]) - 1] : v;
		}
		for (hb_i32 k = 0; k < HB_UNROLL; k++) known[k] = g.known[w[k]];
		for (hb_i32 k = 0; k < HB_UNROLL; k++) {
			hb_i32 has = hb_colour_of(known[k]);
			if (!bit[k] || has < 0) continue;
			wait ^= bit[k];
			if (has < 32) used |= 1u << has;
		}
		hb_i32 now = __ffs((hb_i32)~used) - 1;
		if (now != c) {
			c = now, rest = wait;
			continue;
		}
		for (hb_i32 k = 0; k < HB_UNROLL; k++) {
			if (!bit[k] || hb_colour_of(known[k]) >= 0 || known[k] >> c & 1) continue;
			u = w[k];
			if (used != before) g.known[v] = HB_COLOUR_NONE << 32 | used;
			return false;
		}
	}
	hb_colour_give(g, v, c);
	return true;
}

// hb_colour_ready reports whether a vertex need not wait for u any more to get colour c.
HB_DEVICE bool hb_colour_ready(const hb_colour_graph &g, hb_i32 u, hb_i32 c) {
	hb_u64 known = g.known[u];
	return hb_colour_of(known) >= 0 || !hb_colour_free(g, u, known, c);
}

// hb_colour_spin tries the lanes' vertices of short rows that wait, until so many tries are in
// vain.
HB_DEVICE void hb_colour_spin(const hb_colour_graph &g, hb_i32 tries, bool &waits, hb_i32 v, hb_u32 &wait, hb_u32 &used, hb_i32 &u) {
	for (hb_i32 k = 0; k < tries && __any_sync(HB_FULL, waits); k++) {
		bool ready = waits && hb_colour_ready(g, u, __ffs((hb_i32)~used) - 1);
		if (ready) waits = !hb_colour_short(g, v, wait, used, u);
		if (__any_sync(HB_FULL, ready)) k = -1;
	}
}

// hb_colour_line is the list of a warp. Item i is where item i of the warp's vertices would be.
// Each thread has one vertex in a round, so that there is room for all.
struct hb_colour_line {
	int4 *at;       // of the warp
	hb_i64 threads; // of the grid

	// get returns item i + HB_LANE to the lanes with want.
	__device__ __forceinline__ int4 get(hb_i32 i, bool want) const {
		__syncwarp();
		int4 x = want ? at[i / HB_WARP * threads + HB_LANE] : make_int4(0, 0, 0, 0);
		__syncwarp();
		return x;
	}

	// put appends x of the lanes with want to a list of count items, and returns their number.
	__device__ __forceinline__ hb_i32 put(hb_i32 count, bool want, int4 x) const {
		hb_u32 lanes = __ballot_sync(HB_FULL, want);
		hb_i32 place = count + __popc(lanes & ((1u << HB_LANE) - 1));
		if (want) at[place / HB_WARP * threads + place % HB_WARP] = x;
		return count + __popc(lanes);
	}
};

// hb_colour_place is hb_reserve for all threads of a block, with one addition for all of them.
HB_DEVICE hb_u64 hb_colour_place(hb_u64 *count, bool want) {
	__shared__ hb_u32 wants[HB_GRAPH_WARPS];
	__shared__ hb_u64 first;
	hb_u32 lanes = __ballot_sync(HB_FULL, want), own = threadIdx.x / HB_WARP, before = 0, all = 0;
	if (HB_LANE == 0) wants[own] = __popc(lanes);
	__syncthreads();
	for (hb_u32 w = 0; w < HB_GRAPH_WARPS; w++) {
		if (w < own) before += wants[w];
		all += wants[w];
	}
	if (threadIdx.x == 0 && all > 0) first = atomicAdd(count, (hb_u64)all);
	__syncthreads();
	return first + before + __popc(lanes & ((1u << HB_LANE) - 1));
}

// hb_colour_count adds the colours that the block has seen to the state.
HB_DEVICE void hb_colour_count(const hb_i32 *top, hb_u64 *state) {
	__syncthreads();
	if (threadIdx.x == 0 && *top > 0) atomicMax(&state[HB_COLOUR_COUNT], (hb_u64)*top);
}

// hb_colour_end ends a step: the last of the busy blocks makes the state of the next one.
HB_DEVICE void hb_colour_end(const hb_i32 *top, hb_u64 *loop, hb_i32 turn, hb_u32 busy, hb_i64 *result) {
	hb_colour_count(top, hb_side(loop, turn));
	if (!hb_last(&hb_side(loop, turn)[HB_COLOUR_DONE], busy)) return;
	volatile hb_u64 *now = hb_next(loop, turn);
	now[HB_COLOUR_STEPS] += 1;
	now[HB_COLOUR_FEW] = now[HB_COLOUR_NEXT_FEW];
	now[HB_COLOUR_WIDE] = now[HB_COLOUR_NEXT_WIDE];
	now[HB_COLOUR_NEXT_FEW] = now[HB_COLOUR_NEXT_WIDE] = 0;
	now[HB_COLOUR_SIDE] = 1 - now[HB_COLOUR_SIDE];
	if (now[HB_COLOUR_FEW] + now[HB_COLOUR_WIDE] > 0) return;
	volatile hb_u64 *own = hb_side(loop, turn);
	own[HB_COLOUR_FEW] = own[HB_COLOUR_WIDE] = 0;
	hb_stop(loop, turn, HB_COLOUR_WIDE, 0);
	result[1] = now[HB_COLOUR_COUNT];
	result[2] = now[HB_COLOUR_STEPS];
	result[0] = 1;
}

// hb_colour_lists lists the predecessors of the vertices of long rows.
HB_KERNEL hb_colour_lists(const hb_i64 *ptr, const hb_i32 *idx, hb_i64 seed, const hb_u32 *key, hb_u64 *known, hb_i32 *most, hb_i32 *left,
	hb_i32 *list, const hb_i32 *wide, const hb_u64 *loop) {
	hb_i64 warp = (hb_i64)blockIdx.x * HB_GRAPH_WARPS + threadIdx.x / HB_WARP, warps = (hb_i64)gridDim.x * HB_GRAPH_WARPS;
	hb_i64 wides = (hb_i64)loop[HB_GRAPH_STATE + HB_COLOUR_WIDE];
	for (hb_i64 i = warp; i < wides; i += warps) {
		hb_i32 v = wide[i], count = 0;
		hb_i64 begin = ptr[v], end = ptr[v + 1];
		hb_u32 own = key[v];
		for (hb_i64 p = begin; p < end; p += HB_WARP * HB_COLOUR_UNROLL) {
			hb_i32 w[HB_COLOUR_UNROLL];
			bool is[HB_COLOUR_UNROLL];
			for (hb_i32 k = 0; k < HB_COLOUR_UNROLL; k++) {
				hb_i64 q = p + k * HB_WARP + HB_LANE;
				w[k] = q < end ? idx[q] : -1;
			}
			for (hb_i32 k = 0; k < HB_COLOUR_UNROLL; k++) is[k] = w[k] >= 0 && hb_colour_precedes(key, w[k], v, own, seed);
			for (hb_i32 k = 0; k < HB_COLOUR_UNROLL; k++) {
				hb_u32 lanes = __ballot_sync(HB_FULL, is[k]);
				if (is[k]) list[begin + count + __popc(lanes & ((1u << HB_LANE) - 1))] = w[k];
				count += __popc(lanes);
			}
		}
		if (HB_LANE == 0) {
			left[v] = count;
			most[v] = count;
			known[v] = HB_COLOUR_NONE << 32 | hb_colour_over(count);
		}
	}
}

// hb_colour_wide gives colours to the vertices of long rows in the order of places, or in any order
// if each has a warp. A warp stays with a vertex until so many tries are in vain: with the order of
// the keys a vertex waits for others that warps have already.
HB_KERNEL hb_colour_wide(hb_i32 n, const hb_i64 *ptr, const hb_i32 *idx, hb_u64 *known, hb_u32 *more, hb_i32 *most, hb_i32 *left, hb_i32 *list,
	const hb_i32 *wide, const hb_u32 *places, hb_i32 patience, int4 *items, hb_i32 *colour, hb_u64 *loop) {
	__shared__ hb_u32 windows[HB_GRAPH_WARPS][HB_WARP];
	__shared__ hb_i32 top;
	if (threadIdx.x == 0) top = 0;
	__syncthreads();
	hb_u32 *window = windows[threadIdx.x / HB_WARP];
	hb_colour_graph g = {n, ptr, idx, known, more, most, left, list, colour, &top};
	hb_u64 *state = hb_side(loop, 1);
	while (true) {
		hb_u64 i = HB_LANE == 0 ? atomicAdd(&state[HB_COLOUR_TICKET], (hb_u64)1) : 0;
		i = __shfl_sync(HB_FULL, i, 0);
		if (i >= state[HB_COLOUR_WIDE]) break;
		hb_i32 v = wide[places ? places[i] : i], c = -1, at = 0, u = v;
		bool done = hb_colour_settle(g, window, v, c, at, u);
		for (hb_i32 k = 0; k < patience && !done; k++) {
			if (!__any_sync(HB_FULL, hb_colour_ready(g, u, c))) continue;
			done = hb_colour_settle(g, window, v, c, at, u);
			k = -1;
		}
		if (!done && HB_LANE == 0) items[2 * (hb_i64)n - 1 - atomicAdd(&state[HB_COLOUR_NEXT_WIDE], (hb_u64)1)] = make_int4(v, c, at, u);
	}
	hb_colour_count(&top, state);
}

// hb_colour_first finds the predecessors of the vertices of short rows, and gives colours where it
// can. A warp lists its vertices that wait, and goes over the list again and again: other warps
// give the colours that these vertices wait for at the same time. It is the first step.
HB_KERNEL __launch_bounds__(HB_GRAPH_BLOCK, HB_COLOUR_RESIDENT) hb_colour_first(hb_i32 n, const hb_i64 *ptr, const hb_i32 *idx, hb_i32 order, hb_i64 seed, const hb_u32 *key, hb_u64 *known,
	hb_u32 *more, hb_i32 *most, int4 *items, hb_i32 *colour, hb_i32 always, hb_u64 *loop, hb_i64 *result) {
	__shared__ hb_i32 top;
	hb_u64 *state = hb_side(loop, 1);
	if (!always && state[HB_COLOUR_WIDE] > 0) return;
	if (threadIdx.x == 0) top = 0;
	__syncthreads();
	hb_colour_graph g = {n, ptr, idx, known, more, most, nullptr, nullptr, colour, &top};
	hb_i64 threads = (hb_i64)gridDim.x * blockDim.x, own = (hb_i64)blockIdx.x * blockDim.x + threadIdx.x;
	hb_colour_line line = {items + own - HB_LANE, threads};
	hb_i32 count = 0; // of the warp's list
	for (hb_i64 v = own; v - HB_LANE < n; v += threads) {
		bool waits = false;
		hb_u32 wait = 0, used = 0, key0 = v < n ? key[v] : 0;
		hb_i32 u = 0;
		hb_i64 begin = v < n ? ptr[v] : 0, end = v < n ? ptr[v + 1] : 0;
		if (v < n && !hb_colour_is_long(order, key0, end - begin)) {
			for (hb_i64 p = begin; p < end; p += HB_UNROLL) {
				hb_i32 w[HB_UNROLL];
				for (hb_i32 k = 0; k < HB_UNROLL; k++) w[k] = p + k < end ? idx[p + k] : (hb_i32)v; // it does not precede itself
				for (hb_i32 k = 0; k < HB_UNROLL; k++) {
					if (hb_colour_precedes(key, w[k], (hb_i32)v, key0, seed)) wait |= 1u << (p - begin + k);
				}
			}
			used = hb_colour_over(__popc(wait));
			waits = !hb_colour_short(g, (hb_i32)v, wait, used, u);
			if (waits) g.known[v] = HB_COLOUR_NONE << 32 | used;
		}
		hb_colour_spin(g, 1, waits, (hb_i32)v, wait, used, u);
		count = line.put(count, waits, make_int4((hb_i32)v, (hb_i32)wait, (hb_i32)used, u));
	}
	hb_i32 tries = state[HB_COLOUR_NEXT_WIDE] > 0 ? HB_COLOUR_FEW_TRIES : HB_COLOUR_TRIES;
	for (hb_i32 k = 0; k < tries && count > 0; k++) {
		hb_i32 kept = 0;
		for (hb_i32 i = 0; i < count; i += HB_WARP) {
			bool waits = i + HB_LANE < count;
			int4 x = line.get(i, waits);
			hb_u32 wait = (hb_u32)x.y, used = (hb_u32)x.z;
			hb_colour_spin(g, 1, waits, x.x, wait, used, x.w);
			kept = line.put(kept, waits, make_int4(x.x, (hb_i32)wait, (hb_i32)used, x.w));
		}
		if (kept < count) k = -1;
		count = kept;
	}
	for (hb_i32 i = 0; i < count; i += HB_WARP) {
		bool waits = i + HB_LANE < count;
		int4 x = line.get(i, waits);
		hb_u64 place = hb_reserve(&state[HB_COLOUR_NEXT_FEW], waits);
		if (waits) items[n + place] = x;
	}
	hb_colour_end(&top, loop, 1, gridDim.x, result);
}

// hb_colour_step gives colours to the vertices that waited.
HB_KERNEL hb_colour_step(hb_i32 n, const hb_i64 *ptr, const hb_i32 *idx, hb_u64 *known, hb_u32 *more, hb_i32 *most, hb_i32 *left,
	hb_i32 *list, int4 *items, hb_i32 *colour, hb_u64 *loop, hb_i32 turn, hb_i64 *result) {
	__shared__ hb_u32 windows[HB_GRAPH_WARPS][HB_WARP];
	__shared__ hb_i32 top;
	hb_u32 *window = windows[threadIdx.x / HB_WARP];
	hb_u64 *state = hb_side(loop, turn);
	hb_u64 few = state[HB_COLOUR_FEW], wides = state[HB_COLOUR_WIDE], side = state[HB_COLOUR_SIDE];
	hb_u64 tasks = (wides + HB_GRAPH_WARPS - 1) / HB_GRAPH_WARPS + (few + HB_GRAPH_BLOCK - 1) / HB_GRAPH_BLOCK; // of blocks
	hb_u32 busy = tasks < gridDim.x ? (hb_u32)tasks : gridDim.x;
	if (blockIdx.x >= busy) return;
	if (threadIdx.x == 0) top = 0;
	__syncthreads();
	hb_colour_graph g = {n, ptr, idx, known, more, most, left, list, colour, &top};
	const int4 *from = items + side * n;
	int4 *to = items + (1 - side) * n;
	hb_u64 warp = (hb_u64)blockIdx.x * HB_GRAPH_WARPS + threadIdx.x / HB_WARP, warps = (hb_u64)busy * HB_GRAPH_WARPS;
	hb_i32 tries = tasks <= gridDim.x ? HB_COLOUR_TRIES : HB_COLOUR_FEW_TRIES;
	for (hb_u64 base = 0; base < wides; base += warps * HB_WARP) {
		hb_u64 i = base + HB_LANE * warps + warp;
		bool waits = i < wides;
		int4 x = waits ? from[n - 1 - i] : make_int4(0, 0, 0, 0);
		for (hb_i32 k = 0; k < tries && __any_sync(HB_FULL, waits); k++) {
			hb_u32 ready = __ballot_sync(HB_FULL, waits && hb_colour_ready(g, x.w, x.y));
			for (; ready; ready &= ready - 1) {
				hb_i32 lane = __ffs((hb_i32)ready) - 1, v = __shfl_sync(HB_FULL, x.x, lane);
				hb_i32 c = __shfl_sync(HB_FULL, x.y, lane), at = __shfl_sync(HB_FULL, x.z, lane), u = __shfl_sync(HB_FULL, x.w, lane);
				bool done = hb_colour_settle(g, window, v, c, at, u);
				if (HB_LANE == lane) waits = !done, x = make_int4(v, c, at, u);
			}
		}
		hb_u64 place = hb_reserve(&state[HB_COLOUR_NEXT_WIDE], waits);
		if (waits) to[n - 1 - place] = x;
	}
	// Blocks without a long row take short ones first.
	for (hb_u64 base = (hb_u64)(busy - 1 - blockIdx.x) * HB_GRAPH_BLOCK; base < few; base += (hb_u64)busy * HB_GRAPH_BLOCK) {
		hb_u64 i = base + threadIdx.x;
		bool waits = i < few;
		int4 x = waits ? from[i] : make_int4(0, 0, 0, 0);
		hb_u32 wait = (hb_u32)x.y, used = (hb_u32)x.z;
		hb_colour_spin(g, tries, waits, x.x, wait, used, x.w);
		hb_u64 place = hb_colour_place(&state[HB_COLOUR_NEXT_FEW], waits);
		if (waits) to[place] = make_int4(x.x, (hb_i32)wait, (hb_i32)used, x.w);
	}
	hb_colour_end(&top, loop, turn, busy, result);
}
