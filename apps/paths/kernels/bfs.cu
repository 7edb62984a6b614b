// Breadth-first search: levels, and on request least-numbered parents.
// Source: prelude + queue.cu + this file. Host: apps/paths/bfs_gpu.go, which defines
//     HB_BFS_CHUNK  entries of an item of the queue
//
// A search is a sequence of steps on the device, one for each level or for several
// small ones. The last block of a step chooses the next one: push along the
// out-edges of the frontier, pull along the in-edges of the unvisited vertices, or
// nothing (Beamer, Asanović, Patterson: Direction-optimizing breadth-first search, SC
// 2012). While a level is small, that block does it alone, without a launch.
// The first pull scans all vertices and lists those that stay unvisited; later pulls
// read that list and shorten it. A pull tests in-neighbours in a bitmap that has at
// least the frontier and no vertex that this step finds. Two bitmaps take turns. Older
// bits do no harm: vertices visited before the frontier have no unvisited neighbours.
//
// In: A is n×n; ptr, idx are its rows (out-edges), inptr, inidx the rows of its transpose: the same
// arrays if A is symmetric, null if there is no transpose, and then no step pulls. Kept with the
// matrix, words = 8·⌈n/256⌉:
//   idle     hb_u32[words]: bits of the vertices without edges and of the padding
//   first    int4[n]: the four in-neighbours with the most out-edges, −1 where
//            there are fewer; null without a transpose
//   heads    hb_u32[32·words]: the first of them, with HB_BFS_ONLY set if it is the only
//            one; all bits set where there is none; null without a transpose
// Scratch:
//   visited  hb_u32[2·words], queue hb_u64[n + entries/HB_BFS_CHUNK + 1],
//   spare    hb_u64[n], null without a transpose; state hb_u64[3·HB_GRAPH_STATE]
// Out:
//   level    hb_i32[n] (16-byte aligned), −1 where unreached; present hb_u8[n]
//            (4-byte aligned); parent hb_i32[n], 0x7fffffff where unreached
//   result   hb_i64[4] in pinned host memory: {1, vertices reached, greatest
//            level, steps that pulled} after the last step; result[0] = 0 before
//
// Launches, grid = resident blocks, blocks of HB_GRAPH_BLOCK threads, no dynamic
// shared memory:
//   hb_bfs_idle<<<⌈32·words/block⌉>>>, hb_bfs_first<<<⌈8·32·words/block⌉>>>: once a matrix
//   hb_bfs_start<<<grid>>>;  hb_bfs_sources<<<1>>> for more than one source;
//   hb_bfs_step<<<grid>>>, turn 0 and 1 alternately, until result[0] is 1; further steps return at
//   once;
//   for parents hb_bfs_parents_pull<<<grid>>>, then hb_bfs_parents_push<<<grid>>>.
// n > 0. Deterministic. Bound by random reads of visited and of level.

#define HB_BFS_ALPHA 14 // pull when the frontier's edges × ALPHA exceed the unexplored ones
#define HB_BFS_ASIDE 2048 // vertices that a block collects in shared memory
#define HB_BFS_LATER 160 // vertices that a warp postpones: a task's, and one of each lane
#define HB_BFS_LONG 1024 // a block pulls for a row with more entries
#define HB_BFS_LONGS 32 // such rows that a block postpones
#define HB_BFS_SPLIT 8 // warps that share an item, at most
#define HB_BFS_ONLY 0x80000000u

// A block goes on alone with a level of at most so many edges of the frontier, open vertices,
// and entries read beyond the first four of a row in the level before; so many levels a launch.
#define HB_BFS_ALONE_EDGES 2048
#define HB_BFS_ALONE_OPEN 2048
#define HB_BFS_ALONE_DEEP 4096
#define HB_BFS_ALONE_LEVELS 1024

enum { // places in state
	HB_BFS_MODE, HB_BFS_DEPTH, HB_BFS_HEAD, HB_BFS_TAIL, // tail of the frontier in the queue
	HB_BFS_NEXT, HB_BFS_EDGES, HB_BFS_DONE, // of the step under way
	HB_BFS_REACHED, HB_BFS_UNEXPLORED, HB_BFS_SIDE, HB_BFS_PULLS,
	// The length of the list, of the next one; entries of rows read by the step under way.
	HB_BFS_OPEN, HB_BFS_LEFT, HB_BFS_DEEP
};
enum { HB_BFS_STOP, HB_BFS_PUSH, HB_BFS_SCAN, HB_BFS_LIST }; // modes

// hb_bfs_block is the shared memory of a step.
struct hb_bfs_block {
	hb_u64 now[HB_GRAPH_STATE]; // the state as the level finds it
	// Push: vertices found, and their degrees. Pull: vertices that stay open, with heads.
	hb_u64 aside[HB_BFS_ASIDE];
	hb_u64 later[HB_GRAPH_WARPS][HB_BFS_LATER];
	hb_u64 first[HB_GRAPH_WARPS];
	hb_u64 sum, edges;
	hb_i32 put_off[HB_BFS_LONGS];
	hb_u32 asides, longs;
	bool pull, alone;
};

// hb_bfs_idle marks the vertices without edges, a thread each.
HB_KERNEL hb_bfs_idle(hb_i32 n, const hb_i64 *ptr, const hb_i64 *inptr, hb_u32 *idle, hb_i32 words) {
	hb_i64 v = (hb_i64)blockIdx.x * blockDim.x + threadIdx.x;
	bool none = v >= n || (ptr[v] == ptr[v + 1] && (!inptr || inptr[v] == inptr[v + 1]));
	if (v < n && !inptr) none = false; // it may have in-edges
	hb_u32 bits = __ballot_sync(HB_FULL, none);
	if (HB_LANE == 0 && v / 32 < words) idle[v / 32] = bits;
}

// hb_bfs_first chooses for each vertex the four in-neighbours with the most
// out-edges, among the first 2048: they are visited first. Eight lanes a vertex.
HB_KERNEL hb_bfs_first(hb_i32 n, hb_i32 words, const hb_i64 *ptr, const hb_i64 *inptr, const hb_i32 *inidx, int4 *first, hb_u32 *heads) {
	hb_i64 v = ((hb_i64)blockIdx.x * blockDim.x + threadIdx.x) / 8;
	hb_i64 begin = v < n ? inptr[v] : 0, end = v < n ? inptr[v + 1] : 0;
	if (end > begin + 2048) end = begin + 2048;
	hb_u64 below = ~0ull, mine = 0; // keys: out-edges, then the lesser vertex
	hb_i32 chosen[4];
	bool stale = true;
	for (hb_i32 k = 0; k < 4; k++) {
		if (stale) {
			mine = 0;
			for (hb_i64 p = begin + HB_LANE % 8; p < end; p += 8) {
				hb_i32 u = inidx[p];
				hb_i64 degree = ptr[u + 1] - ptr[u];
				hb_u64 key = (hb_u64)(degree > 0x7fffffff ? 0x7fffffff : degree) << 32 | (hb_u32)~u;
				if (key < below && key > mine) mine = key;
			}
		}
		hb_u64 best = mine;
		for (hb_i32 d = 4; d > 0; d /= 2) {
			hb_u64 other = __shfl_xor_sync(HB_FULL, best, d);
			if (other > best) best = other;
		}
		chosen[k] = best ? (hb_i32)~(hb_u32)best : -1;
		stale = best == mine;
		below = best;
	}
	if (HB_LANE % 8 != 0) return;
	if (v < n) first[v] = make_int4(chosen[0], chosen[1], chosen[2], chosen[3]);
	if (v < (hb_i64)words * 32) heads[v] = (hb_u32)chosen[0] | (chosen[1] < 0 ? HB_BFS_ONLY : 0);
}

// hb_bfs_start empties the result and makes source the frontier.
HB_KERNEL hb_bfs_start(hb_i32 n, const hb_i64 *ptr, const hb_u32 *idle, hb_i32 words, hb_i32 source, hb_u32 *visited,
	hb_i32 *level, hb_u8 *present, hb_u64 *queue, hb_u64 *state) {
	hb_i64 i = (hb_i64)blockIdx.x * blockDim.x + threadIdx.x, threads = (hb_i64)gridDim.x * blockDim.x;
	hb_i64 quad = source / 4;
	for (hb_i64 q = i; q < n / 4; q += threads) { // four vertices at a time
		if (q == quad) continue;
		((int4 *)level)[q] = make_int4(-1, -1, -1, -1);
		((hb_u32 *)present)[q] = 0;
	}
	for (hb_i64 v = quad * 4 + i; v < n && v < quad * 4 + 4; v += threads) {
		level[v] = v == source ? 0 : -1;
		present[v] = v == source;
	}
	for (hb_i64 v = n / 4 * 4 + i; v < n; v += threads) {
		level[v] = v == source ? 0 : -1;
		present[v] = v == source;
	}
	for (hb_i64 w = i; w < words; w += threads) {
		visited[w] = idle[w] | (w == source / 32 ? 1u << source % 32 : 0);
	}
	hb_u32 chunks = hb_chunks(ptr, source, HB_BFS_CHUNK);
	for (hb_i64 c = i; c < chunks; c += threads) queue[c] = (hb_u64)c << 32 | (hb_u32)source;
	if (i == 0) {
		for (hb_i32 k = 0; k < HB_GRAPH_STATE; k++) state[k] = 0;
		state[HB_BFS_MODE] = HB_BFS_PUSH;
		state[HB_BFS_TAIL] = state[HB_BFS_NEXT] = chunks;
		state[HB_BFS_REACHED] = 1;
		state[HB_BFS_UNEXPLORED] = ptr[n] - (ptr[source + 1] - ptr[source]);
	}
}

// hb_bfs_sources adds sources, which may repeat, to the frontier. One block.
HB_KERNEL hb_bfs_sources(const hb_i64 *ptr, const hb_i32 *sources, hb_i32 count, hb_u32 *visited, hb_i32 *level, hb_u8 *present,
	hb_u64 *queue, hb_u64 *state) {
	hb_u64 reached = 0, edges = 0;
	for (hb_i64 i = threadIdx.x; i - HB_LANE < count; i += HB_GRAPH_BLOCK) {
		hb_i32 v = i < count ? sources[i] : -1;
		if (v >= 0 && atomicExch(&level[v], 0) == 0) v = -1;
		if (v >= 0) {
			present[v] = 1;
			atomicOr(&visited[v >> 5], 1u << (v & 31));
			reached++, edges += ptr[v + 1] - ptr[v];
		}
		hb_append(queue, &state[HB_BFS_NEXT], v, hb_chunks(ptr, v, HB_BFS_CHUNK));
	}
	reached = hb_total(reached), edges = hb_total(edges);
	if (HB_LANE == 0) {
		atomicAdd(&state[HB_BFS_REACHED], reached);
		atomicAdd(&state[HB_BFS_UNEXPLORED], 0 - edges);
	}
	__threadfence();
	__syncthreads();
	volatile hb_u64 *now = state;
	if (threadIdx.x == 0) now[HB_BFS_TAIL] = now[HB_BFS_NEXT];
}

// hb_bfs_test reports whether u is a vertex (−1 is none) with its bit set. Alone, a block
// reads past its L1 cache, which atomics do not update.
template <bool alone>
HB_DEVICE bool hb_bfs_test(const hb_u32 *bits, hb_i32 u) {
	if (u < 0) return false;
	hb_u32 word = alone ? __ldcg(bits + (u >> 5)) : bits[u >> 5];
	return word >> (u & 31) & 1;
}

// hb_bfs_share returns the number of items that a warp of so many blocks takes at a time, and
// hb_bfs_split the number of warps that share an item if there are fewer items than warps.
HB_DEVICE hb_u32 hb_bfs_share(hb_u64 items, hb_u32 blocks) {
	hb_u64 warps = (hb_u64)blocks * HB_GRAPH_WARPS, share = (items + warps - 1) / warps;
	return share < 1 ? 1 : share > HB_WARP ? HB_WARP : (hb_u32)share;
}
HB_DEVICE hb_u32 hb_bfs_split(hb_u64 items, hb_u32 blocks) {
	hb_u32 split = 1;
	while (split < HB_BFS_SPLIT && items * split * 2 <= (hb_u64)blocks * HB_GRAPH_WARPS) split *= 2;
	return split;
}

// hb_bfs_push visits the neighbours of the frontier. A block collects the found
// vertices in shared memory while they fit, and reserves room in the queue for
// them once. Returns the number that this thread found.
HB_DEVICE hb_u64 hb_bfs_push(const hb_i64 *ptr, const hb_i32 *idx, hb_u32 *visited, hb_i32 *level, hb_u8 *present,
	hb_u64 *queue, hb_u64 *state, hb_bfs_block *s, hb_u32 block, hb_u32 blocks, hb_u32 share, hb_u32 split, bool may_pull) {
	hb_u64 head = s->now[HB_BFS_HEAD], tail = s->now[HB_BFS_TAIL];
	hb_i32 depth = (hb_i32)s->now[HB_BFS_DEPTH], piece = HB_BFS_CHUNK / (hb_i32)split;
	hb_u64 found = 0, edges = 0;
	for (hb_u64 g = (hb_u64)block * HB_GRAPH_WARPS + threadIdx.x / HB_WARP; head + g / split * share < tail; g += (hb_u64)blocks * HB_GRAPH_WARPS) {
		hb_u64 at = head + g / split * share + HB_LANE;
		hb_i64 begin = 0, end = 0;
		if (HB_LANE < share && at < tail) {
			hb_u64 item = __ldcg(queue + at); // may be written in this launch
			hb_i32 v = (hb_i32)(hb_u32)item;
			begin = ptr[v] + (hb_i64)(item >> 32) * HB_BFS_CHUNK + (hb_i64)(g % split) * piece, end = ptr[v + 1];
			if (end > begin + piece) end = begin + piece;
			if (end < begin) end = begin;
		}
		hb_u32 sum = hb_sums((hb_u32)(end - begin)), total = __shfl_sync(HB_FULL, sum, HB_WARP - 1);
		begin -= sum - (hb_u32)(end - begin); // entry t of the warp is at begin + t of its lane
		for (hb_u32 t0 = 0; t0 < total; t0 += HB_WARP * HB_UNROLL) {
			hb_i32 u[HB_UNROLL];
			bool fresh[HB_UNROLL];
			for (hb_i32 k = 0; k < HB_UNROLL; k++) {
				hb_u32 t = t0 + k * HB_WARP + HB_LANE;
				hb_i64 p = __shfl_sync(HB_FULL, begin, hb_owner(sum, t)) + t;
				u[k] = t < total ? idx[p] : -1;
			}
			for (hb_i32 k = 0; k < HB_UNROLL; k++) fresh[k] = u[k] >= 0 && !hb_bfs_test<false>(visited, u[k]);
			for (hb_i32 k = 0; k < HB_UNROLL; k++) {
				hb_u32 bit = 1u << (u[k] & 31);
				if (fresh[k]) fresh[k] = !(atomicOr(&visited[u[k] >> 5], bit) & bit);
			}
			for (hb_i32 k = 0; k < HB_UNROLL; k++) {
				if (!__any_sync(HB_FULL, fresh[k])) continue;
				if (fresh[k]) level[u[k]] = depth + 1, present[u[k]] = 1, found++;
				hb_u32 place = hb_reserve(&s->asides, fresh[k]);
				if (fresh[k] && place < HB_BFS_ASIDE) s->aside[place] = (hb_u32)u[k];
				bool over = fresh[k] && place >= HB_BFS_ASIDE;
				if (!__any_sync(HB_FULL, over)) continue;
				if (over) edges += ptr[u[k] + 1] - ptr[u[k]];
				hb_i32 v = over ? u[k] : -1;
				hb_append(queue, &state[HB_BFS_NEXT], v, hb_chunks(ptr, v, HB_BFS_CHUNK));
			}
		}
	}
	__syncthreads();
	hb_u32 count = s->asides < HB_BFS_ASIDE ? s->asides : HB_BFS_ASIDE;
	for (hb_u32 i = threadIdx.x; i < count; i += HB_UNROLL * HB_GRAPH_BLOCK) {
		hb_i32 v[HB_UNROLL];
		hb_i64 degree[HB_UNROLL];
		for (hb_i32 k = 0; k < HB_UNROLL; k++) v[k] = i + k * HB_GRAPH_BLOCK < count ? (hb_i32)s->aside[i + k * HB_GRAPH_BLOCK] : -1;
		for (hb_i32 k = 0; k < HB_UNROLL; k++) degree[k] = v[k] >= 0 ? ptr[v[k] + 1] - ptr[v[k]] : 0;
		for (hb_i32 k = 0; k < HB_UNROLL; k++) {
			if (v[k] >= 0) s->aside[i + k * HB_GRAPH_BLOCK] = (hb_u64)degree[k] << 32 | (hb_u32)v[k];
			edges += degree[k];
		}
	}
	edges = hb_total(edges);
	if (HB_LANE == 0 && edges > 0) atomicAdd(&s->edges, edges);
	__syncthreads();
	if (threadIdx.x == 0 && s->edges > 0) {
		hb_u64 so_far = atomicAdd(&state[HB_BFS_EDGES], s->edges) + s->edges;
		// If the next level pulls, it does not read the queue.
		s->pull = may_pull && so_far * HB_BFS_ALPHA > s->now[HB_BFS_UNEXPLORED];
	}
	// The queue's items of the vertices, with one reservation for the block.
	hb_u32 part = (count + HB_GRAPH_WARPS - 1) / HB_GRAPH_WARPS; // of a warp
	hb_u32 warp = threadIdx.x / HB_WARP, from = warp * part, to = from + part < count ? from + part : count;
	hb_u64 mine = 0;
	for (hb_u32 i = from + HB_LANE; i < to; i += HB_WARP) mine += ((s->aside[i] >> 32) + HB_BFS_CHUNK - 1) / HB_BFS_CHUNK;
	mine = hb_total(mine);
	if (HB_LANE == 0) s->first[warp] = mine;
	__syncthreads();
	if (s->pull || count == 0) return found;
	if (threadIdx.x == 0) {
		hb_u64 sum = 0;
		for (hb_i32 w = 0; w < HB_GRAPH_WARPS; w++) sum += s->first[w];
		hb_u64 base = atomicAdd(&state[HB_BFS_NEXT], sum);
		for (hb_i32 w = 0; w < HB_GRAPH_WARPS; w++) {
			hb_u64 items = s->first[w];
			s->first[w] = base;
			base += items;
		}
	}
	__syncthreads();
	hb_u64 at = s->first[warp];
	for (hb_u32 i = from; i < to; i += HB_WARP) {
		hb_u64 x = i + HB_LANE < to ? s->aside[i + HB_LANE] : 0;
		hb_u32 chunks = (hb_u32)(((x >> 32) + HB_BFS_CHUNK - 1) / HB_BFS_CHUNK);
		hb_put(queue, at, (hb_i32)(hb_u32)x, chunks);
		at += hb_total((hb_u64)chunks);
	}
	return found;
}

// hb_bfs_pulling is what a pull works with.
struct hb_bfs_pulling {
	const hb_i64 *inptr;
	const hb_i32 *inidx;
	const int4 *first;
	const hb_u32 *bits; // read
	hb_u32 *next; // written
	hb_i32 *level;
	hb_u8 *present;
	hb_u64 *out, *state; // out is the next list
	hb_i32 depth;
	hb_bfs_block *s;
	hb_u64 found, deep; // of this thread
	hb_u32 laters; // of this warp
};

// hb_bfs_hit visits v.
HB_DEVICE void hb_bfs_hit(hb_bfs_pulling &x, hb_i32 v) {
	x.level[v] = x.depth + 1;
	x.present[v] = 1;
	x.found++;
}

// hb_bfs_keep keeps the lanes' K vertices with want for the next list: in shared memory
// while there is room. All lanes of the warp call it.
template <hb_i32 K>
HB_DEVICE void hb_bfs_keep(hb_bfs_pulling &x, const hb_u64 (&v)[K], hb_u32 want) {
	hb_u32 mine = __popc(want), sum = hb_sums(mine), total = __shfl_sync(HB_FULL, sum, HB_WARP - 1), at = 0;
	if (total == 0) return;
	if (HB_LANE == 0) at = atomicAdd(&x.s->asides, total);
	at = __shfl_sync(HB_FULL, at, 0) + sum - mine;
	hb_u32 over = 0;
	for (hb_i32 k = 0; k < K; k++) {
		if (!(want >> k & 1)) continue;
		if (at < HB_BFS_ASIDE) x.s->aside[at] = v[k];
		else over |= 1u << k;
		at++;
	}
	if (!__any_sync(HB_FULL, over)) return;
	mine = __popc(over), sum = hb_sums(mine), total = __shfl_sync(HB_FULL, sum, HB_WARP - 1);
	hb_u64 to = 0;
	if (HB_LANE == 0) to = atomicAdd(&x.state[HB_BFS_LEFT], (hb_u64)total);
	to = __shfl_sync(HB_FULL, to, 0) + sum - mine;
	for (hb_i32 k = 0; k < K; k++) if (over >> k & 1) x.out[to++] = v[k];
}

// hb_bfs_postpone adds the lanes' K vertices with want to the list of the warp.
template <hb_i32 K>
HB_DEVICE void hb_bfs_postpone(hb_bfs_pulling &x, const hb_u64 (&v)[K], hb_u32 want) {
	hb_u32 mine = __popc(want), sum = hb_sums(mine), at = x.laters + sum - mine;
	hb_u64 *later = x.s->later[threadIdx.x / HB_WARP];
	for (hb_i32 k = 0; k < K; k++) if (want >> k & 1) later[at++] = v[k];
	x.laters += __shfl_sync(HB_FULL, sum, HB_WARP - 1);
	__syncwarp();
}

// hb_bfs_later tests what is left of the in-neighbours of vertices that the warp has postponed,
// 32 at a time, until fewer than least are left: the other three that were chosen, then whole
// rows with eight lanes a vertex.
template <bool alone>
HB_DEVICE void hb_bfs_later(hb_bfs_pulling &x, hb_u32 least) {
	hb_i32 group = HB_LANE / 8;
	while (x.laters >= least) {
		hb_u32 count = x.laters < HB_WARP ? x.laters : HB_WARP;
		x.laters -= count;
		bool some = HB_LANE < count;
		hb_u64 mine[1] = {some ? x.s->later[threadIdx.x / HB_WARP][x.laters + HB_LANE] : 0};
		__syncwarp();
		hb_i32 v = (hb_i32)(hb_u32)mine[0];
		int4 u = some ? x.first[v] : make_int4(-1, -1, -1, -1);
		bool second = hb_bfs_test<alone>(x.bits, u.y), third = hb_bfs_test<alone>(x.bits, u.z), fourth = hb_bfs_test<alone>(x.bits, u.w);
		bool hit = second || third || fourth, off = false;
		hb_i64 begin = 0, end = 0;
		if (!hit && u.w >= 0) begin = x.inptr[v], end = x.inptr[v + 1];
		if (end - begin <= 4) begin = end;
		if (end - begin > HB_BFS_LONG) {
			hb_u32 place = atomicAdd(&x.s->longs, 1);
			if (place < HB_BFS_LONGS) x.s->put_off[place] = v, begin = end, off = true;
		}
		x.deep += end - begin;
		for (hb_u32 rows = __ballot_sync(HB_FULL, begin < end); rows;) {
			hb_u32 own = rows; // the lane of the group's lowest bit has the group's row
			for (hb_i32 g = 0; g < 4; g++) {
				if (g < group) own &= own - 1;
				rows &= rows - 1;
			}
			hb_i32 lane = own ? __ffs(own) - 1 : 0;
			hb_i64 p = __shfl_sync(HB_FULL, begin, lane), stop = __shfl_sync(HB_FULL, end, lane);
			if (!own) p = stop;
			bool one = false;
			while (__any_sync(HB_FULL, !one && p < stop)) {
				hb_i64 q = p + HB_LANE % 8;
				bool set = !one && q < stop && hb_bfs_test<alone>(x.bits, x.inidx[q]);
				hb_u32 lanes = __ballot_sync(HB_FULL, set);
				if (lanes >> group * 8 & 0xff) one = true;
				p += 8;
			}
			hb_u32 hits = __ballot_sync(HB_FULL, one && own);
			for (hb_i32 g = 0; g < 4; g++) {
				hb_i32 whose = __shfl_sync(HB_FULL, lane, g * 8);
				if ((hits >> g * 8 & 1) && HB_LANE == whose) hit = true;
			}
		}
		if (hit) {
			hb_bfs_hit(x, v);
			atomicOr(&x.next[v >> 5], 1u << (v & 31));
		}
		hb_bfs_keep<1>(x, mine, some && !hit && !off);
	}
}

// hb_bfs_scan pulls for all vertices that are not in visited, four a lane: it tests the heads and
// postpones those with more in-neighbours. It writes next.
HB_DEVICE void hb_bfs_scan(hb_bfs_pulling &x, hb_i32 words, const hb_u32 *heads, hb_u32 block, hb_u32 blocks) {
	hb_i64 tasks = words / 4, warps = (hb_i64)blocks * HB_GRAPH_WARPS;
	for (hb_i64 task = (hb_i64)block * HB_GRAPH_WARPS + threadIdx.x / HB_WARP; task < tasks; task += warps) {
		hb_i32 base = (hb_i32)(task * 128) + HB_LANE * 4;
		hb_u32 open = ~(x.bits[task * 4 + HB_LANE / 8] >> HB_LANE % 8 * 4) & 15, hits = 0, more = 0;
		uint4 quad = open ? ((const uint4 *)heads)[task * 32 + HB_LANE] : make_uint4(~0u, ~0u, ~0u, ~0u);
		hb_u32 h[4] = {quad.x, quad.y, quad.z, quad.w};
		hb_u64 pair[4];
		for (hb_i32 k = 0; k < 4; k++) {
			hb_i32 u = h[k] == ~0u || !(open >> k & 1) ? -1 : (hb_i32)(h[k] & ~HB_BFS_ONLY);
			if (h[k] == ~0u) open &= ~(1u << k); // no pull can reach it
			hits |= (hb_u32)hb_bfs_test<false>(x.bits, u) << k;
			more |= (h[k] >> 31 ^ 1) << k;
			pair[k] = (hb_u64)h[k] << 32 | (hb_u32)(base + k);
		}
		for (hb_i32 k = 0; k < 4; k++) if (hits >> k & 1) hb_bfs_hit(x, base + k);
		hb_u32 word = hits << HB_LANE % 8 * 4;
		for (hb_i32 d = 1; d < 8; d *= 2) word |= __shfl_xor_sync(HB_FULL, word, d);
		if (HB_LANE % 8 == 0) x.next[task * 4 + HB_LANE / 8] = word;
		open &= ~hits;
		hb_bfs_postpone<4>(x, pair, open & more);
		hb_bfs_keep<4>(x, pair, open & ~more);
		hb_bfs_later<false>(x, HB_WARP);
	}
	hb_bfs_later<false>(x, 1);
}

// hb_bfs_listed pulls for the vertices of a list.
template <bool alone>
HB_DEVICE void hb_bfs_listed(hb_bfs_pulling &x, const hb_u64 *list, hb_u64 count, hb_u32 block, hb_u32 blocks) {
	hb_u64 step = (hb_u64)blocks * HB_GRAPH_BLOCK * 2;
	for (hb_u64 at = ((hb_u64)block * HB_GRAPH_BLOCK + threadIdx.x) * 2; at - HB_LANE * 2 < count; at += step) {
		hb_u64 pair[2];
		hb_u32 open = 0, hits = 0, more = 0;
		for (hb_i32 k = 0; k < 2; k++) {
			bool some = at + k < count;
			pair[k] = some ? __ldcg(list + at + k) : 0;
			open |= (hb_u32)some << k;
		}
		for (hb_i32 k = 0; k < 2; k++) {
			hb_u32 head = (hb_u32)(pair[k] >> 32);
			hits |= (hb_u32)hb_bfs_test<alone>(x.bits, open >> k & 1 ? (hb_i32)(head & ~HB_BFS_ONLY) : -1) << k;
			more |= (head >> 31 ^ 1) << k;
		}
		for (hb_i32 k = 0; k < 2; k++) {
			if (!(hits >> k & 1)) continue;
			hb_i32 v = (hb_i32)(hb_u32)pair[k];
			hb_bfs_hit(x, v);
			atomicOr(&x.next[v >> 5], 1u << (v & 31));
		}
		open &= ~hits;
		hb_bfs_postpone<2>(x, pair, open & more);
		hb_bfs_keep<2>(x, pair, open & ~more);
		hb_bfs_later<alone>(x, HB_WARP);
	}
	hb_bfs_later<alone>(x, 1);
}

// hb_bfs_rest ends a pull: a block tests each long row that its warps put off, and then appends the
// vertices that it kept to the next list.
template <bool alone>
HB_DEVICE void hb_bfs_rest(hb_bfs_pulling &x) {
	hb_bfs_block *s = x.s;
	__syncthreads();
	hb_u32 some = s->longs < HB_BFS_LONGS ? s->longs : HB_BFS_LONGS;
	for (hb_u32 i = 0; i < some; i++) {
		hb_i32 v = s->put_off[i];
		bool hit = false;
		hb_i64 begin = x.inptr[v], end = x.inptr[v + 1];
		for (hb_i64 p = begin; p < end && !hit; p += 8 * HB_GRAPH_BLOCK) {
			hb_i32 u[8];
			bool one = false;
			for (hb_i32 k = 0; k < 8; k++) {
				hb_i64 q = p + k * HB_GRAPH_BLOCK + threadIdx.x;
				u[k] = q < end ? x.inidx[q] : -1;
			}
			for (hb_i32 k = 0; k < 8; k++) one |= hb_bfs_test<alone>(x.bits, u[k]);
			hit = __syncthreads_or(one);
		}
		if (threadIdx.x != 0) continue;
		x.deep += end - begin;
		if (hit) {
			hb_bfs_hit(x, v);
			atomicOr(&x.next[v >> 5], 1u << (v & 31));
		} else { // it has more than one in-neighbour
			x.out[atomicAdd(&x.state[HB_BFS_LEFT], (hb_u64)1)] = (hb_u64)(hb_u32)x.first[v].x << 32 | (hb_u32)v;
		}
	}
	hb_u32 count = s->asides < HB_BFS_ASIDE ? s->asides : HB_BFS_ASIDE;
	if (threadIdx.x == 0 && count > 0) s->first[0] = atomicAdd(&x.state[HB_BFS_LEFT], (hb_u64)count);
	__syncthreads();
	for (hb_u32 i = threadIdx.x; i < count; i += HB_GRAPH_BLOCK) x.out[s->first[0] + i] = s->aside[i];
	hb_u64 deep = hb_total(x.deep);
	if (HB_LANE == 0 && deep > 0) atomicAdd(&x.state[HB_BFS_DEEP], deep);
}

// hb_bfs_end ends a level in thread 0 of a block: the last of so many blocks chooses the next
// step. It reads the side of the level, and writes the state for the turn after this one. Returns
// whether the block goes on alone.
HB_DEVICE bool hb_bfs_end(hb_bfs_block *s, hb_u64 *state, hb_u64 *loop, hb_i32 turn, hb_u32 blocks, bool may_pull, hb_i64 *result) {
	hb_u64 mode = s->now[HB_BFS_MODE];
	__threadfence(); // the block's results before its arrival
	// One counter for arrived blocks and found vertices saves a round trip.
	hb_u64 mine = 1ull << 40 | s->sum, all = atomicAdd(&state[HB_BFS_DONE], mine) + mine;
	if (all >> 40 < blocks) return false;
	__threadfence();
	volatile hb_u64 *now = state, *other = hb_side(loop, 1 - turn);
	hb_u64 found = all & ((1ull << 40) - 1), edges = now[HB_BFS_EDGES], next = now[HB_BFS_NEXT], left = now[HB_BFS_LEFT], deep = now[HB_BFS_DEEP];
	for (hb_i32 k = 0; k < HB_GRAPH_STATE; k++) s->now[k] = now[k];
	s->now[HB_BFS_DONE] = s->now[HB_BFS_EDGES] = s->now[HB_BFS_LEFT] = s->now[HB_BFS_DEEP] = 0;
	hb_u64 unexplored = s->now[HB_BFS_UNEXPLORED] -= edges;
	s->now[HB_BFS_REACHED] += found;
	s->now[HB_BFS_HEAD] = s->now[HB_BFS_TAIL];
	s->now[HB_BFS_TAIL] = next;
	hb_u64 depth = s->now[HB_BFS_DEPTH]++;
	bool alone = false;
	if (mode != HB_BFS_PUSH) {
		s->now[HB_BFS_MODE] = HB_BFS_LIST;
		s->now[HB_BFS_SIDE] ^= 1;
		s->now[HB_BFS_PULLS]++;
		s->now[HB_BFS_OPEN] = left;
		alone = left <= HB_BFS_ALONE_OPEN && deep <= HB_BFS_ALONE_DEEP;
	} else if (may_pull && edges * HB_BFS_ALPHA > unexplored) {
		s->now[HB_BFS_MODE] = HB_BFS_SCAN;
	} else {
		alone = edges <= HB_BFS_ALONE_EDGES;
	}
	if (found == 0 || (mode != HB_BFS_PUSH && left == 0)) {
		if (found > 0) depth++; // no vertex is left: the level just found is the last
		s->now[HB_BFS_MODE] = HB_BFS_STOP;
		alone = false;
	}
	for (hb_i32 k = 0; k < HB_GRAPH_STATE; k++) other[k] = s->now[k];
	if (s->now[HB_BFS_MODE] == HB_BFS_STOP) {
		hb_stop(loop, turn, HB_BFS_MODE, HB_BFS_STOP);
		result[1] = s->now[HB_BFS_REACHED];
		result[2] = depth;
		result[3] = s->now[HB_BFS_PULLS];
		result[0] = 1;
	}
	return alone;
}

// hb_bfs_step goes one level deeper, or several.
HB_KERNEL hb_bfs_step(hb_i32 words, const hb_i64 *ptr, const hb_i32 *idx, const hb_i64 *inptr,
	const hb_i32 *inidx, const int4 *first, const hb_u32 *heads, hb_u32 *visited, hb_i32 *level, hb_u8 *present, hb_u64 *queue,
	hb_u64 *spare, hb_u64 *loop, hb_i32 turn, hb_i64 *result) {
	__shared__ hb_bfs_block s;
	hb_u64 *state = hb_side(loop, turn);
	if (threadIdx.x < HB_GRAPH_STATE) s.now[threadIdx.x] = state[threadIdx.x];
	__syncthreads();
	hb_u32 block = blockIdx.x, blocks = gridDim.x;
	for (hb_i32 levels = 0; levels < HB_BFS_ALONE_LEVELS; levels++) {
		hb_u64 mode = s.now[HB_BFS_MODE], items = s.now[HB_BFS_TAIL] - s.now[HB_BFS_HEAD], side = s.now[HB_BFS_SIDE];
		if (mode == HB_BFS_STOP) return;
		hb_u32 share = hb_bfs_share(items, blocks), split = hb_bfs_split(items, blocks);
		hb_u64 tasks = mode == HB_BFS_PUSH ? (items + share - 1) / share * split
			: mode == HB_BFS_SCAN ? words / 4 : (s.now[HB_BFS_OPEN] + 2 * HB_WARP - 1) / (2 * HB_WARP);
		hb_u64 busy = (tasks + HB_GRAPH_WARPS - 1) / HB_GRAPH_WARPS;
		blocks = busy < 1 ? 1 : busy < blocks ? (hb_u32)busy : blocks;
		if (block >= blocks) return;
		if (threadIdx.x == 0) s.sum = s.edges = 0, s.asides = s.longs = 0, s.pull = false;
		__syncthreads();
		hb_u64 found;
		if (mode == HB_BFS_PUSH) {
			found = hb_bfs_push(ptr, idx, visited, level, present, queue, state, &s, block, blocks, share, split, inptr != nullptr);
		} else {
			hb_u64 *lists[2] = {queue + s.now[HB_BFS_TAIL], spare};
			hb_bfs_pulling x = {inptr, inidx, first, visited + side * words, visited + (1 - side) * words, level, present,
				lists[1 - side], state, (hb_i32)s.now[HB_BFS_DEPTH], &s, 0, 0, 0};
			if (mode == HB_BFS_SCAN) {
				hb_bfs_scan(x, words, heads, block, blocks);
				hb_bfs_rest<false>(x);
			} else if (levels == 0) {
				hb_bfs_listed<false>(x, lists[side], s.now[HB_BFS_OPEN], block, blocks);
				hb_bfs_rest<false>(x);
			} else {
				hb_bfs_listed<true>(x, lists[side], s.now[HB_BFS_OPEN], block, blocks);
				hb_bfs_rest<true>(x);
			}
			found = x.found;
		}
		found = hb_total(found);
		if (HB_LANE == 0 && found > 0) atomicAdd(&s.sum, found);
		__syncthreads();
		if (threadIdx.x == 0) s.alone = hb_bfs_end(&s, state, loop, turn, blocks, inptr != nullptr, result);
		__syncthreads();
		if (!s.alone) return;
		block = 0, blocks = 1, state = hb_side(loop, 1 - turn);
	}
}

// hb_bfs_parents_pull finds the least in-neighbour one level up of each vertex
// that a pull found: a thread reads the first 16 of its row, and the warp the
// rest. It initialises the parents of the others.
HB_KERNEL hb_bfs_parents_pull(hb_i32 n, const hb_i64 *inptr, const hb_i32 *inidx, const hb_i32 *level, const hb_u64 *loop,
	hb_i32 *parent) {
	const hb_u64 *state = loop + 2 * HB_GRAPH_STATE;
	hb_i32 pushed = (hb_i32)(state[HB_BFS_DEPTH] - state[HB_BFS_PULLS]); // up to this level
	hb_i64 threads = (hb_i64)gridDim.x * blockDim.x;
	for (hb_i64 v = (hb_i64)blockIdx.x * blockDim.x + threadIdx.x; v - HB_LANE < n; v += threads) {
		hb_i32 here = v < n ? level[v] : -1, up = here - 1;
		hb_i32 best = here > pushed ? -1 : here == 0 ? (hb_i32)v : 0x7fffffff;
		hb_i64 p = best < 0 ? inptr[v] : 0, end = best < 0 ? inptr[v + 1] : 0;
		for (hb_i32 k = 0; k < 16 && p < end && best < 0; k += 4, p += 4) {
			hb_i32 u[4], l[4];
			for (hb_i32 j = 0; j < 4; j++) u[j] = p + j < end ? inidx[p + j] : -1;
			for (hb_i32 j = 0; j < 4; j++) l[j] = u[j] >= 0 ? level[u[j]] : -1;
			for (hb_i32 j = 3; j >= 0; j--) if (l[j] == up) best = u[j];
		}
		hb_u32 open = __ballot_sync(HB_FULL, best < 0 && p < end);
		for (; open; open &= open - 1) {
			hb_i32 lane = __ffs(open) - 1, above = __shfl_sync(HB_FULL, up, lane), found = -1;
			hb_i64 stop = __shfl_sync(HB_FULL, end, lane);
			for (hb_i64 q = __shfl_sync(HB_FULL, p, lane); q < stop && found < 0; q += HB_WARP) {
				hb_i32 u = q + HB_LANE < stop ? inidx[q + HB_LANE] : -1;
				hb_u32 hits = __ballot_sync(HB_FULL, u >= 0 && level[u] == above);
				if (hits) found = __shfl_sync(HB_FULL, u, __ffs(hits) - 1);
			}
			if (HB_LANE == lane) best = found;
		}
		if (v < n) parent[v] = best;
	}
}

// hb_bfs_parents_push offers each vertex that a push expanded to its neighbours one level down. The
// queue holds all such vertices. A warp an item.
HB_KERNEL hb_bfs_parents_push(const hb_i64 *ptr, const hb_i32 *idx, const hb_i32 *level, const hb_u64 *queue,
	const hb_u64 *loop, hb_i32 *parent) {
	const hb_u64 *state = loop + 2 * HB_GRAPH_STATE;
	hb_i32 pushed = (hb_i32)(state[HB_BFS_DEPTH] - state[HB_BFS_PULLS]);
	hb_u64 items = state[HB_BFS_TAIL], warps = (hb_u64)gridDim.x * HB_GRAPH_WARPS;
	for (hb_u64 i = (hb_u64)blockIdx.x * HB_GRAPH_WARPS + threadIdx.x / HB_WARP; i < items; i += warps) {
		hb_i32 v = (hb_i32)(hb_u32)queue[i], depth = level[v];
		if (depth >= pushed) continue;
		hb_i64 begin = ptr[v] + (hb_i64)(queue[i] >> 32) * HB_BFS_CHUNK, end = ptr[v + 1];
		if (end > begin + HB_BFS_CHUNK) end = begin + HB_BFS_CHUNK;
		for (hb_i64 p = begin + HB_LANE; p < end; p += HB_WARP) {
			hb_i32 u = idx[p];
			if (level[u] == depth + 1 && parent[u] > v) atomicMin(&parent[u], v);
		}
	}
}
