// The lightest spanning forest, edge by edge (Borůvka 1926): in each round every tree takes its
// lightest edge to another tree. Source: prelude + queue.cu + this file, of weights HB_T. Host:
// apps/components/spanning_gpu.go, which defines
//     HB_MSF_SAMPLE  weights of hb_msf_pivot, and its threads
//     HB_MSF_PARTS   blocks of hb_msf_weight, which fix the order of the sum
//
// Edges up to a pivot take part first; of the others only those between two trees are listed
// (Osipov, Sanders, Singler: The filter-Kruskal minimum spanning tree algorithm, ALENEX 2009).
// Edges have the order of the host: by weight as float64, then by the lesser and by the greater
// vertex. One pass finds the least weight of each tree, the next one the first edge of that weight,
// by 64-bit minima. Two trees with the same edge join once: the one with the lesser root stays.
// Edges inside a tree leave the list (Fallin, Gonzalez, Seo, Burtscher: A high-performance MST
// implementation for GPUs, SC 2023, for the list and the pivot).
//
// In: ptr, idx, the rows of an n×n matrix, val hb_t[entries], null for ones; sign, −1 for the
//   heaviest forest; symmetric: only entries above the diagonal are read.
// Scratch: label, up hb_i32[n], the root of the tree of a vertex; best, link hb_u64[n], of a root
//   the key of the least weight and the edge; items hb_msf_edge[2·room], room for all edges; state
//   hb_u64[HB_GRAPH_STATE], 0 before; pivot hb_u64[1].
// Out: forest hb_msf_edge[n]; result hb_i64[4] in pinned host memory: {1, edges, entries that are
//   no number}, after the last step; result[0] = 0 before.
// Launches, grid = resident blocks, blocks of HB_GRAPH_BLOCK threads, no dynamic shared memory:
//   hb_msf_start<<<grid>>>; hb_msf_pivot<<<1, HB_MSF_SAMPLE>>>, or pivot is all ones;
//   hb_msf_list<<<grid>>> of the light edges; steps of hb_msf_choose<<<grid>>>,
//   hb_msf_join<<<grid>>>, hb_msf_compress<<<grid>>>, hb_msf_filter<<<grid>>>, turn 0 and 1
//   alternately, until result[0] is 1; then, if there is a pivot, hb_msf_list of the others, and
//   steps again with turn 0 first.
// The matrix of the forest: of a symmetric matrix the entries that hb_msf_mark marks, with
//   hb_msf_values; else hb_msf_keys, sorted by shift·2 bits, and hb_msf_rows; then hb_msf_weight.
// n > 0. Deterministic. Bound by random reads of label and best.

struct __align__(16) hb_msf_edge {
	hb_u64 key;
	hb_i32 u, v;
};

enum { HB_MSF_COUNT, HB_MSF_OTHER, HB_MSF_DONE, HB_MSF_EDGES, HB_MSF_BAD }; // places in state
#define HB_MSF_NONE 0xffffffffffffffffull
#define HB_MSF_TASK 2048 // rows and entries of a task of a warp

// hb_msf_key ascends with x, and hb_msf_number is its inverse. −0 is 0.
HB_DEVICE hb_u64 hb_msf_key(double x) {
	hb_u64 bits = (hb_u64)__double_as_longlong(x + 0.0);
	return bits >> 63 ? ~bits : bits | 1ull << 63;
}
HB_DEVICE double hb_msf_number(hb_u64 key) { return __longlong_as_double((hb_i64)(key >> 63 ? key & ~(1ull << 63) : ~key)); }

// hb_msf_link is the number of an edge between its vertices.
HB_DEVICE hb_u64 hb_msf_link(hb_i32 u, hb_i32 v) { return u < v ? (hb_u64)u << 32 | (hb_u32)v : (hb_u64)v << 32 | (hb_u32)u; }

// hb_msf_offer lowers a minimum.
HB_DEVICE void hb_msf_offer(hb_u64 *least, hb_u64 x) {
	if (x < *(volatile hb_u64 *)least) atomicMin(least, x);
}

// hb_msf_place reserves room for the lanes' wants, a bit for each, and returns the first place of
// the lane. All lanes of the warp call it.
HB_DEVICE hb_u64 hb_msf_place(hb_u64 *count, hb_u32 wants) {
	hb_u32 mine = __popc(wants), sum = hb_sums(mine), all = __shfl_sync(HB_FULL, sum, HB_WARP - 1);
	hb_u64 first = 0;
	if (HB_LANE == 0 && all > 0) first = atomicAdd(count, (hb_u64)all);
	return __shfl_sync(HB_FULL, first, 0) + sum - mine;
}

HB_KERNEL hb_msf_start(hb_i32 n, hb_i32 *label, hb_u64 *best, hb_u64 *link) {
	HB_EACH(v, n) {
		label[v] = (hb_i32)v;
		best[v] = link[v] = HB_MSF_NONE;
	}
}

// hb_msf_pivot sets the key up to which edges are light: with the given rank in a sample.
HB_KERNEL hb_msf_pivot(hb_i64 entries, const HB_T *val, double sign, hb_i32 rank, hb_u64 *pivot) {
	__shared__ hb_u64 keys[HB_MSF_SAMPLE];
	hb_u64 mine = hb_msf_key(sign * (double)val[(hb_i64)threadIdx.x * entries / HB_MSF_SAMPLE]);
	keys[threadIdx.x] = mine;
	__syncthreads();
	hb_i32 before = 0;
	for (hb_i32 k = 0; k < HB_MSF_SAMPLE; k++) before += keys[k] < mine || (keys[k] == mine && k < (hb_i32)threadIdx.x);
	if (before == rank) *pivot = mine;
}

// hb_msf_list lists edges and offers them to their trees: the light ones, or the others between two
// trees. Rows and their entries are cut into equal tasks for the warps (merge path: Merrill,
// Garland, SC 2016).
HB_KERNEL hb_msf_list(hb_i32 n, const hb_i64 *ptr, const hb_i32 *idx, const HB_T *val, double sign, hb_i32 symmetric, hb_i32 heavy,
	const hb_u64 *pivot, const hb_i32 *label, hb_u64 *best, hb_msf_edge *items, hb_u64 *state) {
	hb_i64 all = n + ptr[n], warps = (hb_i64)gridDim.x * HB_GRAPH_WARPS;
	hb_i64 warp = (hb_i64)blockIdx.x * HB_GRAPH_WARPS + threadIdx.x / HB_WARP;
	hb_u64 limit = *pivot;
	bool bad = false;
	for (hb_i64 from = warp * HB_MSF_TASK; from < all; from += warps * HB_MSF_TASK) {
		hb_i64 to = from + HB_MSF_TASK;
		hb_i64 row = hb_row_of_task(ptr, n, from);
		for (bool more = true; more; row += HB_WARP) {
			hb_i64 r = row + HB_LANE, begin = 0, end = 0;
			hb_i32 root = 0;
			bool in = r < n;
			if (in) {
				begin = ptr[r], end = ptr[r + 1];
				in = r + end < to; // rows after this one are the task's too
				root = label[r];
				if (begin < from - r) begin = from - r;
				if (end > to - r) end = to - r;
				if (begin > end) end = begin;
			}
			more = __all_sync(HB_FULL, in);
			hb_u32 sum = hb_sums((hb_u32)(end - begin)), total = __shfl_sync(HB_FULL, sum, HB_WARP - 1);
			begin -= sum - (hb_u32)(end - begin); // entry t of the warp is at begin + t of its lane
			for (hb_u32 t0 = 0; t0 < total; t0 += HB_WARP * HB_UNROLL) {
				hb_i32 u[HB_UNROLL], v[HB_UNROLL], roots[HB_UNROLL], other[HB_UNROLL];
				hb_i64 at[HB_UNROLL];
				hb_u64 key[HB_UNROLL];
				hb_u32 wants = 0;
				for (hb_i32 k = 0; k < HB_UNROLL; k++) {
					hb_u32 t = t0 + k * HB_WARP + HB_LANE;
					hb_i32 lane = hb_owner(sum, t);
					at[k] = __shfl_sync(HB_FULL, begin, lane) + t;
					u[k] = (hb_i32)row + lane;
					roots[k] = __shfl_sync(HB_FULL, root, lane);
					v[k] = t < total ? idx[at[k]] : -1;
				}
				for (hb_i32 k = 0; k < HB_UNROLL; k++) {
					bool reads = v[k] >= 0 && (v[k] >= u[k] || !symmetric);
					other[k] = reads ? label[v[k]] : roots[k];
					double w = reads && val ? sign * (double)val[at[k]] : sign;
					bad |= w != w;
					key[k] = hb_msf_key(w);
					if (other[k] != roots[k] && (key[k] > limit) == (heavy != 0)) wants |= 1u << k;
				}
				hb_u64 place = hb_msf_place(&state[HB_MSF_COUNT], wants);
				for (hb_i32 k = 0; k < HB_UNROLL; k++) {
					if (!(wants >> k & 1)) continue;
					items[place].key = key[k], items[place].u = u[k], items[place].v = v[k];
					place++;
					hb_msf_offer(&best[roots[k]], key[k]);
					hb_msf_offer(&best[other[k]], key[k]);
				}
			}
		}
	}
	if (bad) state[HB_MSF_BAD] = 1;
}

// hb_msf_choose finds the first edge of the least weight of each tree.
HB_KERNEL hb_msf_choose(const hb_i32 *label, const hb_u64 *best, hb_u64 *link, const hb_msf_edge *items, hb_i64 room, const hb_u64 *state,
	hb_i32 turn) {
	const hb_msf_edge *list = items + turn * room;
	HB_EACH(i, (hb_i64)state[HB_MSF_COUNT + turn]) {
		hb_msf_edge e = list[i];
		hb_i32 a = label[e.u], b = label[e.v];
		if (e.key == best[a]) hb_msf_offer(&link[a], hb_msf_link(e.u, e.v));
		if (e.key == best[b]) hb_msf_offer(&link[b], hb_msf_link(e.u, e.v));
	}
}

// hb_msf_join hooks each tree with an edge to the other tree of that.
HB_KERNEL hb_msf_join(hb_i32 n, const hb_i32 *label, hb_i32 *up, const hb_u64 *best, const hb_u64 *link, hb_msf_edge *forest, hb_u64 *state,
	hb_i32 turn) {
	hb_i64 i = (hb_i64)blockIdx.x * blockDim.x + threadIdx.x, threads = (hb_i64)gridDim.x * blockDim.x;
	if (i == 0) state[HB_MSF_COUNT + 1 - turn] = 0;
	if (state[HB_MSF_COUNT + turn] == 0) return;
	for (hb_i64 v = i; v - HB_LANE < n; v += threads) {
		hb_i32 parent = v < n ? label[v] : -1;
		hb_u64 edge = parent == v ? link[v] : HB_MSF_NONE;
		hb_i32 a = (hb_i32)(edge >> 32), b = (hb_i32)(hb_u32)edge;
		bool hooks = false;
		if (edge != HB_MSF_NONE) {
			hb_i32 left = label[a], other = left == v ? label[b] : left;
			hooks = link[other] != edge || other < v;
			if (hooks) parent = other;
		}
		if (v < n) up[v] = parent;
		hb_u64 place = hb_reserve(&state[HB_MSF_EDGES], hooks);
		if (hooks) forest[place].key = best[v], forest[place].u = a, forest[place].v = b;
	}
}

// hb_msf_compress makes each vertex a child of its root. All vertices climb at once and store how
// far they are, so that each step halves a long chain.
HB_KERNEL hb_msf_compress(hb_i32 n, hb_i32 *label, hb_i32 *up, hb_u64 *best, hb_u64 *link, const hb_u64 *state, hb_i32 turn) {
	volatile hb_i32 *now = up;
	if (state[HB_MSF_COUNT + turn] == 0) return;
	HB_EACH(v, n) {
		hb_i32 parent = now[v];
		for (hb_i32 next; (next = now[parent]) != parent; parent = next) now[v] = next;
		label[v] = parent;
		if (parent == v) best[v] = link[v] = HB_MSF_NONE; // no one offers to others any more
	}
}

// hb_msf_filter lists the edges between two trees again, and offers them.
HB_KERNEL hb_msf_filter(const hb_i32 *label, hb_u64 *best, hb_msf_edge *items, hb_i64 room, hb_u64 *state, hb_i32 turn, hb_i64 *result) {
	const hb_msf_edge *from = items + turn * room;
	hb_msf_edge *to = items + (1 - turn) * room;
	hb_i64 count = (hb_i64)state[HB_MSF_COUNT + turn], step = (hb_i64)gridDim.x * HB_GRAPH_BLOCK * HB_UNROLL;
	hb_i64 first = ((hb_i64)blockIdx.x * HB_GRAPH_WARPS + threadIdx.x / HB_WARP) * HB_WARP * HB_UNROLL;
	for (hb_i64 i = first; i < count; i += step) {
		hb_msf_edge e[HB_UNROLL];
		hb_i32 a[HB_UNROLL], b[HB_UNROLL];
		hb_u32 wants = 0;
		for (hb_i32 k = 0; k < HB_UNROLL; k++) {
			hb_i64 at = i + k * HB_WARP + HB_LANE;
			if (at < count) e[k] = from[at];
			else e[k].u = e[k].v = 0;
		}
		for (hb_i32 k = 0; k < HB_UNROLL; k++) a[k] = label[e[k].u], b[k] = label[e[k].v];
		for (hb_i32 k = 0; k < HB_UNROLL; k++) if (a[k] != b[k]) wants |= 1u << k;
		hb_u64 place = hb_msf_place(&state[HB_MSF_COUNT + 1 - turn], wants);
		for (hb_i32 k = 0; k < HB_UNROLL; k++) {
			if (!(wants >> k & 1)) continue;
			to[place++] = e[k];
			hb_msf_offer(&best[a[k]], e[k].key);
			hb_msf_offer(&best[b[k]], e[k].key);
		}
	}
	if (!hb_last(&state[HB_MSF_DONE], gridDim.x)) return;
	volatile hb_u64 *now = state;
	if (now[HB_MSF_COUNT + 1 - turn] > 0) return;
	result[1] = (hb_i64)now[HB_MSF_EDGES];
	result[2] = (hb_i64)now[HB_MSF_BAD];
	result[0] = 1;
}

// hb_msf_keys writes the entries of count edges, in both directions: row·2^shift + column.
HB_KERNEL hb_msf_keys(hb_i64 count, const hb_msf_edge *forest, hb_i32 shift, hb_u64 *keys) {
	HB_EACH(i, count) {
		hb_u64 u = (hb_u64)forest[i].u, v = (hb_u64)forest[i].v;
		keys[2 * i] = u << shift | v, keys[2 * i + 1] = v << shift | u;
	}
}

// hb_msf_rows makes the rows of the forest of count sorted keys.
HB_KERNEL hb_msf_rows(hb_i32 n, hb_i64 count, const hb_u64 *keys, const hb_u32 *places, const hb_msf_edge *forest, hb_i32 shift, double sign,
	hb_i64 *ptr, hb_i32 *idx, double *val) {
	HB_EACH(i, n + 1) {
		hb_i64 lo = 0, hi = count;
		while (lo < hi) {
			hb_i64 mid = lo + (hi - lo) / 2;
			if ((hb_i64)(keys[mid] >> shift) < i) lo = mid + 1;
			else hi = mid;
		}
		ptr[i] = lo;
	}
	HB_EACH(k, count) {
		idx[k] = (hb_i32)(keys[k] & ((1ull << shift) - 1));
		val[k] = sign * hb_msf_number(forest[places[k] / 2].key) + 0.0;
	}
}

// hb_msf_mark marks the entries of count edges in the rows of a symmetric matrix. keep is 0 before.
HB_KERNEL hb_msf_mark(hb_i64 count, const hb_i64 *ptr, const hb_i32 *idx, const hb_msf_edge *forest, hb_u8 *keep) {
	HB_EACH(i, 2 * count) {
		hb_msf_edge e = forest[i / 2];
		hb_i32 u = i % 2 ? e.v : e.u, v = i % 2 ? e.u : e.v;
		hb_i64 lo = ptr[u], hi = ptr[u + 1];
		while (lo < hi) {
			hb_i64 mid = lo + (hi - lo) / 2;
			if (idx[mid] < v) lo = mid + 1;
			else hi = mid;
		}
		keep[lo] = 1;
	}
}

// hb_msf_values converts values.
HB_KERNEL hb_msf_values(hb_i64 count, const HB_T *val, double *out) {
	HB_EACH(k, count) out[k] = val ? (double)val[k] : 1;
}

// hb_msf_weight adds up the values of the matrix of a forest, in an order that count alone gives.
// sums is double[HB_MSF_PARTS]; result is {bits of half the sum}.
HB_KERNEL hb_msf_weight(hb_i64 count, const double *val, double *sums, hb_u64 *state, hb_i64 *result) {
	__shared__ double shared[HB_GRAPH_BLOCK];
	hb_i64 each = (count + HB_MSF_PARTS - 1) / HB_MSF_PARTS, lo = blockIdx.x * each, hi = lo + each < count ? lo + each : count;
	double sum = 0;
	for (hb_i64 k = lo + threadIdx.x; k < hi; k += HB_GRAPH_BLOCK) sum += val[k];
	shared[threadIdx.x] = sum;
	__syncthreads();
	for (hb_i32 d = HB_GRAPH_BLOCK / 2; d > 0; d /= 2) {
		if (threadIdx.x < d) shared[threadIdx.x] += shared[threadIdx.x + d];
		__syncthreads();
	}
	if (threadIdx.x == 0) sums[blockIdx.x] = shared[0];
	if (!hb_last(&state[HB_MSF_DONE], gridDim.x)) return;
	double all = 0;
	for (hb_i32 k = 0; k < HB_MSF_PARTS; k++) all += ((volatile double *)sums)[k];
	result[0] = __double_as_longlong(.5 * all);
}
