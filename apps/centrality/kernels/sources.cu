// Searches from several vertices at once, for betweenness and closeness: a bit of a mask for each
// source. Source: prelude + queue.cu + this file. Host: apps/centrality/sources_gpu.go, which
// defines
//     HB_LANES  sources of a batch: 1, 8, 32; 64 for closeness
//     HB_MASK   hb_u32, or hb_u64 for 64
//     HB_LONG   entries of a row from which a block, not a warp, reads it
//
// A level is the list of the vertices that some source reaches with so many edges, with the mask of
// these sources (Then et al.: The more the merrier: efficient multi-source graph traversal, PVLDB
// 8, 2014). hb_find makes the next level: it pushes masks along the edges of the list, or, if these
// are many, pulls masks to the vertices that some source has not reached. Three arrays of masks
// take turns, so that the masks of a level stay while the next level is made of them.
//
// Betweenness (Brandes, Journal of Mathematical Sociology 25, 2001): hb_count sums the paths of the
// vertices of the new level over the edges into them, hb_depend the dependencies of a level over
// the edges out of its vertices. A vertex has HB_LANES numbers side by side, a lane for each, and
// no atomics add floats: the order of sums depends on the graph and HB_LANES alone.
//
// In: ptr, idx, the rows of an n×n matrix in the direction of the searches; inptr, inidx the rows
//   of its transpose; wide hb_i32[room2], the vertices with a row longer than HB_LONG in either,
//   their number in state.
// Scratch: seen HB_MASK[n], masks HB_MASK[3·n], 0 before; list hb_find_item[room + room2], of short
//   rows, then of long ones; starts hb_i64[2·(n + 3)], of the levels in both; state
//   hb_u64[HB_GRAPH_STATE].
// Betweenness: table double[n·HB_LANES], paths, then (1 + dependency)/paths; total double[n], to
//   which dependencies are added. Closeness: reached, distances hb_i64[n], harmonic double[n], to
//   which the sums of the batch are added.
// Out: result hb_i64[4] in pinned host memory: {1, levels, 1 if a count of paths is too large for
//   float64} after the last level; result[0] = 0 before.
// Launches, grid = resident blocks, blocks of HB_GRAPH_BLOCK threads, no dynamic shared memory:
//   hb_find_wide<<<grid>>> once;  hb_find_start<<<1>>>;  hb_find<<<grid>>> and
//   hb_count<<<grid>>>, or hb_arrive<<<grid>>> for closeness, until result[0] is 1; further
//   launches change nothing;  hb_depend<<<grid>>> for each level from the last one down to 1, masks
//   0 before.
// n > 0. Deterministic. Bound by reads of table.

struct hb_find_item {
	HB_MASK mask;
	hb_i32 v;
};

enum { HB_FIND_DEPTH, HB_FIND_NEXT, HB_FIND_NEXT_WIDE, HB_FIND_EDGES, HB_FIND_OVER, HB_FIND_PULL, HB_FIND_DONE, HB_FIND_WIDE, HB_FIND_STOP };
#define HB_FIND_SHARE 8 // pulls if the edges of a level are more than one in so many
#define HB_MOST_PATHS 1.3407807929942597e154 // 2⁵¹²; see mostPaths in betweenness_pipeline.go

// hb_find_level is a level in the list: short rows from first to last − 1, long ones from wide to
// wider − 1. Lists of closeness are rings.
struct hb_find_level { hb_i64 first, last, wide, wider; };
HB_DEVICE hb_find_level hb_find_at(const hb_i64 *starts, hb_i64 d) {
	hb_find_level l = {starts[2 * d], starts[2 * d + 2], starts[2 * d + 1], starts[2 * d + 3]};
	return l;
}

// hb_find_graph is what all kernels read and write.
struct hb_find_graph {
	hb_i32 n;
	const hb_i64 *ptr;
	const hb_i32 *idx;
	const hb_i64 *inptr;
	const hb_i32 *inidx;
	HB_MASK *seen, *masks;
	hb_find_item *list;
	hb_i64 room, room2;
	hb_i64 *starts;
	hb_u64 *state;
};

// hb_find_short and hb_find_long return the place of an item.
HB_DEVICE hb_find_item *hb_find_short(const hb_find_graph &g, hb_i64 p) { return g.list + (HB_LANES == 64 ? p % g.room : p); }
HB_DEVICE hb_find_item *hb_find_long(const hb_find_graph &g, hb_i64 p) { return g.list + g.room + (HB_LANES == 64 ? p % g.room2 : p); }
HB_DEVICE HB_MASK *hb_find_masks(const hb_find_graph &g, hb_i64 d) { return g.masks + d % 3 * g.n; }

HB_DEVICE hb_i32 hb_find_bits(hb_u32 x) { return __popc(x); }
HB_DEVICE hb_i32 hb_find_bits(hb_u64 x) { return __popcll((hb_i64)x); }

HB_DEVICE bool hb_find_is_long(const hb_find_graph &g, hb_i32 v) {
	return g.ptr[v + 1] - g.ptr[v] > HB_LONG || g.inptr[v + 1] - g.inptr[v] > HB_LONG;
}

// hb_find_put appends the lanes' vertices with want to the next level. All lanes of a warp call it.
HB_DEVICE void hb_find_put(const hb_find_graph &g, bool want, hb_i32 v) {
	if (!__any_sync(HB_FULL, want)) return;
	bool is = want && hb_find_is_long(g, v);
	hb_u64 place = hb_reserve(&g.state[HB_FIND_NEXT], want && !is);
	if (want && !is) hb_find_short(g, (hb_i64)place)->v = v;
	place = hb_reserve(&g.state[HB_FIND_NEXT_WIDE], is);
	if (is) hb_find_long(g, (hb_i64)place)->v = v;
}

#define HB_FIND_ARGS hb_i32 n, const hb_i64 *ptr, const hb_i32 *idx, const hb_i64 *inptr, const hb_i32 *inidx, HB_MASK *seen, HB_MASK *masks, \
	hb_find_item *list, hb_i64 room, hb_i64 room2, hb_i64 *starts, hb_u64 *state
#define HB_FIND_GRAPH hb_find_graph g = {n, ptr, idx, inptr, inidx, seen, masks, list, room, room2, starts, state}; \
	hb_i64 warp = (hb_i64)blockIdx.x * HB_GRAPH_WARPS + threadIdx.x / HB_WARP, warps = (hb_i64)gridDim.x * HB_GRAPH_WARPS

// hb_find_wide lists the vertices with long rows.
HB_KERNEL hb_find_wide(HB_FIND_ARGS, hb_i32 *wide) {
	HB_FIND_GRAPH;
	for (hb_i64 v = warp * HB_WARP + HB_LANE; v - HB_LANE < n; v += warps * HB_WARP) {
		bool is = v < n && hb_find_is_long(g, (hb_i32)v);
		hb_u64 place = hb_reserve(&state[HB_FIND_WIDE], is);
		if (is) wide[place] = (hb_i32)v;
	}
}

// hb_find_start makes level 0 of count different sources, at most HB_LANES. One block.
HB_KERNEL hb_find_start(HB_FIND_ARGS, const hb_i32 *sources, hb_i32 count, double *table) {
	HB_FIND_GRAPH;
	if (threadIdx.x < HB_GRAPH_STATE && threadIdx.x != HB_FIND_WIDE) state[threadIdx.x] = 0;
	__syncthreads();
	for (hb_i32 k = threadIdx.x; k - HB_LANE < count; k += HB_GRAPH_BLOCK) {
		hb_i32 v = k < count ? sources[k] : 0;
		hb_find_put(g, k < count, v);
		if (k >= count) continue;
		seen[v] = masks[v] = (HB_MASK)1 << k;
		if (table) table[(hb_i64)v * HB_LANES + k] = 1;
	}
	__threadfence();
	__syncthreads();
	volatile hb_u64 *now = state;
	if (threadIdx.x < 2) {
		starts[threadIdx.x] = 0;
		starts[2 + threadIdx.x] = (hb_i64)now[HB_FIND_NEXT + threadIdx.x];
	}
	// The kernels of a level store its masks; the masks of level 0 are stored here.
	for (hb_i64 k = threadIdx.x; k < (hb_i64)now[HB_FIND_NEXT]; k += HB_GRAPH_BLOCK) list[k].mask = masks[list[k].v];
	for (hb_i64 k = threadIdx.x; k < (hb_i64)now[HB_FIND_NEXT_WIDE]; k += HB_GRAPH_BLOCK) list[room + k].mask = masks[list[room + k].v];
}

// hb_find_push gives the mask to the vertices in a row from p on, step entries apart, that have not
// seen all of it.
HB_DEVICE void hb_find_push(const hb_find_graph &g, HB_MASK mask, HB_MASK *next, hb_i64 p, hb_i64 end, hb_i64 step) {
	for (; p < end; p += step) {
		hb_i32 w = p + HB_LANE < end ? g.idx[p + HB_LANE] : -1;
		HB_MASK fresh = w >= 0 ? mask & ~g.seen[w] : 0;
		if (fresh && (fresh & ~*(volatile HB_MASK *)&next[w]) == 0) fresh = 0;
		hb_find_put(g, fresh && atomicOr(&next[w], fresh) == 0, w);
	}
}

// hb_find finds the masks and the vertices of the next level.
HB_KERNEL hb_find(HB_FIND_ARGS, const hb_i32 *wide, hb_i32 count) {
	__shared__ HB_MASK all;
	HB_FIND_GRAPH;
	hb_i64 depth = (hb_i64)state[HB_FIND_DEPTH];
	hb_find_level l = hb_find_at(starts, depth);
	if (state[HB_FIND_STOP]) return;
	const HB_MASK *now = hb_find_masks(g, depth);
	HB_MASK *next = hb_find_masks(g, depth + 1);
	if (!state[HB_FIND_PULL]) {
		for (hb_i64 i = l.first + warp; i < l.last; i += warps) {
			hb_i32 v = hb_find_short(g, i)->v;
			hb_find_push(g, now[v], next, ptr[v], ptr[v + 1], HB_WARP);
		}
		for (hb_i64 i = l.wide + blockIdx.x; i < l.wider; i += gridDim.x) {
			hb_i32 v = hb_find_long(g, i)->v;
			hb_find_push(g, now[v], next, ptr[v] + threadIdx.x / HB_WARP * HB_WARP, ptr[v + 1], HB_GRAPH_BLOCK);
		}
		return;
	}
	HB_MASK full = (HB_MASK)~(HB_MASK)0 >> (8 * sizeof(HB_MASK) - count);
	for (hb_i64 i = warp * 4; i < n; i += warps * 4) { // eight lanes a vertex
		hb_i64 v = i + HB_LANE / 8;
		HB_MASK need = v < n ? full & ~seen[v] : 0, found = 0;
		if (need && hb_find_is_long(g, (hb_i32)v)) need = 0;
		hb_i64 p = need ? inptr[v] + HB_LANE % 8 : 0, end = need ? inptr[v + 1] : 0;
		bool open = need != 0;
		while (__any_sync(HB_FULL, open)) {
			if (open && p < end) found |= now[inidx[p]];
			if (open && p + 8 < end) found |= now[inidx[p + 8]];
			p += 16;
			for (hb_i32 d = 1; d < 8; d *= 2) found |= __shfl_xor_sync(HB_FULL, found, d);
			open = open && p - HB_LANE % 8 < end && (found & need) != need;
		}
		found &= need;
		if (found && HB_LANE % 8 == 0) next[v] = found;
		hb_find_put(g, found && HB_LANE % 8 == 0, (hb_i32)v);
	}
	for (hb_i64 i = blockIdx.x; i < (hb_i64)state[HB_FIND_WIDE]; i += gridDim.x) {
		hb_i32 v = wide[i];
		HB_MASK need = full & ~seen[v], found = 0;
		if (!need) continue;
		if (threadIdx.x == 0) all = 0;
		__syncthreads();
		for (hb_i64 p = inptr[v] + threadIdx.x; p < inptr[v + 1]; p += HB_GRAPH_BLOCK) found |= now[inidx[p]];
		if (found & need) atomicOr(&all, found & need);
		__syncthreads();
		found = all;
		__syncthreads();
		if (threadIdx.x == 0 && found) next[v] = found;
		if (threadIdx.x < HB_WARP) hb_find_put(g, found && HB_LANE == 0, v);
	}
}

// hb_find_end makes the next level the current one. All threads of all blocks call it.
HB_DEVICE void hb_find_end(const hb_find_graph &g, hb_u64 edges, bool over, hb_i64 *result) {
	__shared__ hb_u64 sum;
	if (threadIdx.x == 0) sum = 0;
	__syncthreads();
	edges = hb_total(edges);
	if (HB_LANE == 0 && edges > 0) atomicAdd(&sum, edges);
	if (over) g.state[HB_FIND_OVER] = 1;
	__syncthreads();
	if (threadIdx.x == 0 && sum > 0) atomicAdd(&g.state[HB_FIND_EDGES], sum);
	if (!hb_last(&g.state[HB_FIND_DONE], gridDim.x)) return;
	volatile hb_u64 *now = g.state;
	hb_i64 depth = (hb_i64)now[HB_FIND_DEPTH], last = (hb_i64)now[HB_FIND_NEXT], wider = (hb_i64)now[HB_FIND_NEXT_WIDE];
	bool none = g.starts[2 * depth + 2] == last && g.starts[2 * depth + 3] == wider;
	if (none || now[HB_FIND_OVER]) {
		now[HB_FIND_STOP] = 1;
		result[1] = depth + 1;
		result[2] = (hb_i64)now[HB_FIND_OVER];
		result[0] = 1;
		return;
	}
	g.starts[2 * depth + 4] = last, g.starts[2 * depth + 5] = wider;
	now[HB_FIND_DEPTH] = depth + 1;
	now[HB_FIND_PULL] = now[HB_FIND_EDGES] * HB_FIND_SHARE > (hb_u64)g.ptr[g.n];
	now[HB_FIND_EDGES] = 0;
}

// hb_find_clear clears masks of a level.
HB_DEVICE void hb_find_clear(const hb_find_graph &g, HB_MASK *masks, hb_find_level l) {
	HB_EACH(k, l.last - l.first) masks[hb_find_short(g, l.first + k)->v] = 0;
	HB_EACH(k, l.wider - l.wide) masks[hb_find_long(g, l.wide + k)->v] = 0;
}

#if HB_LANES <= 32

// hb_gather sums table over the entries of a row from p on, step apart, of each source that is in
// mask and in the mask of the entry. Lane l has the sum of source l % HB_LANES.
HB_DEVICE double hb_gather(const hb_i32 *idx, const HB_MASK *masks, HB_MASK mask, const double *table, hb_i64 p, hb_i64 end, hb_i64 step) {
	double sum = 0;
	for (; p < end; p += step) {
		hb_i32 u = p + HB_LANE < end ? idx[p + HB_LANE] : -1;
		HB_MASK has = u >= 0 ? masks[u] & mask : 0;
#if HB_LANES == 32
		for (hb_u32 rest = __ballot_sync(HB_FULL, has != 0); rest;) {
			double x[HB_UNROLL];
			for (hb_i32 k = 0; k < HB_UNROLL; k++) {
				hb_i32 lane = rest ? __ffs((hb_i32)rest) - 1 : 0, w = __shfl_sync(HB_FULL, u, lane);
				HB_MASK m = __shfl_sync(HB_FULL, has, lane);
				x[k] = rest && m >> HB_LANE & 1 ? table[(hb_i64)w * 32 + HB_LANE] : 0;
				rest &= rest - 1;
			}
			for (hb_i32 k = 0; k < HB_UNROLL; k++) sum += x[k];
		}
#else
		if (!__any_sync(HB_FULL, has != 0)) continue;
		double x[HB_LANES];
		for (hb_i32 k = 0; k < HB_LANES; k++) {
			hb_i32 lane = k * (HB_WARP / HB_LANES) + HB_LANE / HB_LANES, w = __shfl_sync(HB_FULL, u, lane);
			HB_MASK m = __shfl_sync(HB_FULL, has, lane);
			x[k] = m >> HB_LANE % HB_LANES & 1 ? table[(hb_i64)w * HB_LANES + HB_LANE % HB_LANES] : 0;
		}
		for (hb_i32 k = 0; k < HB_LANES; k++) sum += x[k];
#endif
	}
	for (hb_i32 d = HB_LANES; d < HB_WARP; d *= 2) sum += __shfl_xor_sync(HB_FULL, sum, d);
	return sum;
}

// hb_gather_block is hb_gather of a whole row by a block; warp 0 gets the sums.
HB_DEVICE double hb_gather_block(const hb_i32 *idx, const HB_MASK *masks, HB_MASK mask, const double *table, hb_i64 p, hb_i64 end) {
	__shared__ double parts[HB_GRAPH_WARPS][HB_WARP];
	parts[threadIdx.x / HB_WARP][HB_LANE] = hb_gather(idx, masks, mask, table, p + threadIdx.x / HB_WARP * HB_WARP, end, HB_GRAPH_BLOCK);
	__syncthreads();
	double sum = 0;
	if (threadIdx.x < HB_WARP) for (hb_i32 w = 0; w < HB_GRAPH_WARPS; w++) sum += parts[w][HB_LANE];
	__syncthreads();
	return sum;
}

// hb_count_store stores the counts of paths to an item. A warp calls it.
HB_DEVICE void hb_count_store(const hb_find_graph &g, double *table, hb_find_item *item, HB_MASK mask, double paths, hb_u64 &edges, bool &over) {
	hb_i32 v = item->v;
	if (HB_LANE < HB_LANES && mask >> HB_LANE & 1) {
		table[(hb_i64)v * HB_LANES + HB_LANE] = paths;
		over |= !(paths <= HB_MOST_PATHS);
	}
	if (HB_LANE == 0) {
		g.seen[v] |= mask;
		item->mask = mask;
		edges += (hb_u64)(g.ptr[v + 1] - g.ptr[v]);
	}
}

// hb_count counts the shortest paths to the vertices of the next level.
HB_KERNEL hb_count(HB_FIND_ARGS, double *table, hb_i64 *result) {
	HB_FIND_GRAPH;
	hb_i64 depth = (hb_i64)state[HB_FIND_DEPTH];
	hb_find_level l = hb_find_at(starts, depth);
	bool none = state[HB_FIND_STOP] != 0, over = false;
	const HB_MASK *now = hb_find_masks(g, depth), *next = hb_find_masks(g, depth + 1);
	hb_u64 edges = 0;
	hb_i64 last = none ? l.last : (hb_i64)state[HB_FIND_NEXT], wider = none ? l.wider : (hb_i64)state[HB_FIND_NEXT_WIDE];
	for (hb_i64 i = l.wider + blockIdx.x; i < wider; i += gridDim.x) {
		hb_find_item *item = hb_find_long(g, i);
		hb_i32 v = item->v;
		HB_MASK mask = next[v];
		double paths = hb_gather_block(inidx, now, mask, table, inptr[v], inptr[v + 1]);
		if (threadIdx.x < HB_WARP) hb_count_store(g, table, item, mask, paths, edges, over);
	}
	for (hb_i64 i = l.last + warp; i < last; i += warps) {
		hb_find_item *item = hb_find_short(g, i);
		hb_i32 v = item->v;
		HB_MASK mask = next[v];
		double paths = hb_gather(inidx, now, mask, table, inptr[v], inptr[v + 1], HB_WARP);
		hb_count_store(g, table, item, mask, paths, edges, over);
	}
	if (depth > 0 && !none) hb_find_clear(g, hb_find_masks(g, depth + 2), hb_find_at(starts, depth - 1));
	hb_find_end(g, edges, over, result);
}

// hb_depend_store adds the dependencies of an item: after are its sums over the next level. A warp
// calls it.
HB_DEVICE void hb_depend_store(const hb_find_graph &g, double *table, double *total, HB_MASK *masks, hb_i32 v, HB_MASK mask, double after) {
	double sum = 0;
	if (HB_LANE < HB_LANES && mask >> HB_LANE & 1) {
		double *own = &table[(hb_i64)v * HB_LANES + HB_LANE], paths = *own;
		sum = after * paths;
		*own = 1 / paths + after;
	}
	for (hb_i32 d = 1; d < HB_LANES; d *= 2) sum += __shfl_xor_sync(HB_FULL, sum, d);
	if (HB_LANE == 0) {
		total[v] += sum;
		masks[v] = mask;
	}
}

// hb_depend adds the dependencies of the vertices of a level.
HB_KERNEL hb_depend(HB_FIND_ARGS, hb_i32 depth, hb_i32 levels, double *table, double *total) {
	HB_FIND_GRAPH;
	hb_find_level l = hb_find_at(starts, depth);
	HB_MASK *own = hb_find_masks(g, depth);
	const HB_MASK *next = hb_find_masks(g, depth + 1);
	for (hb_i64 i = l.wide + blockIdx.x; i < l.wider; i += gridDim.x) {
		const hb_find_item *item = hb_find_long(g, i);
		hb_i32 v = item->v;
		double after = hb_gather_block(idx, next, item->mask, table, ptr[v], ptr[v + 1]);
		if (threadIdx.x < HB_WARP) hb_depend_store(g, table, total, own, v, item->mask, after);
	}
	for (hb_i64 i = l.first + warp; i < l.last; i += warps) {
		const hb_find_item *item = hb_find_short(g, i);
		hb_i32 v = item->v;
		double after = hb_gather(idx, next, item->mask, table, ptr[v], ptr[v + 1], HB_WARP);
		hb_depend_store(g, table, total, own, v, item->mask, after);
	}
	if (depth + 2 < levels) hb_find_clear(g, hb_find_masks(g, depth + 2), hb_find_at(starts, depth + 2));
}

#else

// hb_arrive_at adds the distances from an item to the sources that reach it at the next level.
HB_DEVICE void hb_arrive_at(const hb_find_graph &g, hb_find_item *item, hb_i64 depth, hb_i64 *reached, hb_i64 *distances, double *harmonic,
	hb_u64 &edges) {
	hb_i32 v = item->v;
	HB_MASK mask = hb_find_masks(g, depth + 1)[v];
	hb_i32 count = hb_find_bits(mask);
	g.seen[v] |= mask;
	item->mask = mask;
	edges += (hb_u64)(g.ptr[v + 1] - g.ptr[v]);
	reached[v] += count;
	distances[v] += (depth + 1) * count;
	harmonic[v] += 1 / (double)(depth + 1) * count;
}

HB_KERNEL hb_arrive(HB_FIND_ARGS, hb_i64 *reached, hb_i64 *distances, double *harmonic, hb_i64 *result) {
	HB_FIND_GRAPH;
	hb_i64 depth = (hb_i64)state[HB_FIND_DEPTH];
	hb_find_level l = hb_find_at(starts, depth);
	bool none = state[HB_FIND_STOP] != 0;
	hb_u64 edges = 0;
	hb_i64 last = none ? l.last : (hb_i64)state[HB_FIND_NEXT], wider = none ? l.wider : (hb_i64)state[HB_FIND_NEXT_WIDE];
	HB_EACH(k, last - l.last) hb_arrive_at(g, hb_find_short(g, l.last + k), depth, reached, distances, harmonic, edges);
	HB_EACH(k, wider - l.wider) hb_arrive_at(g, hb_find_long(g, l.wider + k), depth, reached, distances, harmonic, edges);
	if (depth > 0 && !none) hb_find_clear(g, hb_find_masks(g, depth + 2), hb_find_at(starts, depth - 1));
	hb_find_end(g, edges, false, result);
}

#endif
