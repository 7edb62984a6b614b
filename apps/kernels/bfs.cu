// Breadth-first search: levels, and on request least-numbered parents.
// Source: prelude + queue.cu + this file. Host: apps/bfs_gpu.go, which defines
//     HB_BFS_CHUNK  entries of an item of the queue
//
// A search is a sequence of steps on the device, one for each level. The last
// block of a step decides what the next step does: push along the out-edges of
// the frontier, pull along the in-edges of the unvisited vertices, or nothing
// (Beamer, Asanović, Patterson: Direction-optimizing breadth-first search, SC
// 2012). A pull tests in-neighbours in a snapshot of the visited set: vertices
// visited before the frontier have no unvisited neighbours.
//
// In: A is n×n; ptr, idx are its rows (out-edges), inptr, inidx those of its
// transpose: the same arrays if A is symmetric, null if there is no transpose,
// and then no step pulls.
// Kept with the matrix:
//   idle     hb_u32[words], words = 8·⌈n/256⌉: bits of the vertices without
//            edges and of the padding
//   first    int4[n]: the four in-neighbours with the most out-edges, −1 where
//            there are fewer; null without a transpose
// Scratch:
//   visited  hb_u32[2·words], queue hb_u64[n + entries/HB_BFS_CHUNK + 1],
//   state    hb_u64[HB_GRAPH_STATE]
// Out:
//   level    hb_i32[n] (16-byte aligned), −1 where unreached; present hb_u8[n]
//            (4-byte aligned); parent hb_i32[n], 0x7fffffff where unreached
//   result   hb_i64[4] in pinned host memory: {1, vertices reached, greatest
//            level, steps that pulled} after the last step; result[0] = 0 before
//
// Launches, grid = resident blocks, blocks of HB_GRAPH_BLOCK threads, no dynamic
// shared memory:
//   hb_bfs_idle<<<⌈32·words/block⌉>>>, hb_bfs_first<<<⌈8·n/block⌉>>>: once a matrix
//   hb_bfs_start<<<grid>>>;  hb_bfs_sources<<<1>>> for more than one source;
//   hb_bfs_step<<<grid>>> until result[0] is 1; further steps return at once;
//   for parents hb_bfs_parents_pull<<<grid>>>, then hb_bfs_parents_push<<<grid>>>.
// n > 0. Deterministic. Bound by random reads of visited and of level.

// H200, R-MAT 22, 16 sources, call to return: median 0.171 ms with chunks of
// 256, 0.234 with 64 (both with a last push that wrote its queue); 0.152 with
// permuted labels; push alone 1.7; parents +0.24; grid of 1000×1000 (2000
// levels) 16 ms; idle and first, once per matrix, 0.04 and 1.8.
#define HB_BFS_ALPHA 14 // pull when the frontier's edges × ALPHA exceed the unexplored ones
#define HB_BFS_ASIDE 2048 // vertices found that a block collects in shared memory
#define HB_BFS_TASK 256 // vertices that a warp pulls for at a time
#define HB_BFS_LONG 1024 // a block pulls for a row with more entries
#define HB_BFS_LONGS 32 // such rows that a block postpones

enum { // places in state
	HB_BFS_MODE, HB_BFS_DEPTH, HB_BFS_HEAD, HB_BFS_TAIL, // tail of the frontier in the queue
	HB_BFS_NEXT, HB_BFS_EDGES, HB_BFS_DONE, // of the step under way
	HB_BFS_REACHED, HB_BFS_UNEXPLORED, HB_BFS_SIDE, HB_BFS_PULLS
};
enum { HB_BFS_STOP, HB_BFS_PUSH, HB_BFS_PULL }; // modes

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
HB_KERNEL hb_bfs_first(hb_i32 n, const hb_i64 *ptr, const hb_i64 *inptr, const hb_i32 *inidx, int4 *first) {
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
	if (v < n && HB_LANE % 8 == 0) first[v] = make_int4(chosen[0], chosen[1], chosen[2], chosen[3]);
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

// hb_bfs_test reports whether u is a vertex (−1 is none) and visited.
HB_DEVICE bool hb_bfs_test(const hb_u32 *visited, hb_i32 u) {
	return u >= 0 && (visited[u >> 5] >> (u & 31) & 1);
}

// hb_bfs_push visits the neighbours of the frontier. A block collects the found
// vertices in shared memory while they fit, and reserves room in the queue for
// them once. Returns the number that this thread found.
HB_DEVICE hb_u64 hb_bfs_push(const hb_i64 *ptr, const hb_i32 *idx, hb_u32 *visited, hb_i32 *level, hb_u8 *present,
	hb_u64 *queue, hb_u64 *state, hb_u64 head, hb_u64 tail, hb_i32 depth, bool may_pull) {
	__shared__ hb_i32 aside[HB_BFS_ASIDE];
	__shared__ hb_u32 asides;
	__shared__ hb_u64 sum_edges;
	__shared__ bool pull; // the next step pulls, so that it will not read the queue
	if (threadIdx.x == 0) asides = 0, sum_edges = 0, pull = false;
	__syncthreads();
	hb_u64 found = 0, edges = 0, warps = (hb_u64)gridDim.x * HB_GRAPH_WARPS;
	hb_u32 share = hb_share(tail - head);
	for (hb_u64 g = (hb_u64)blockIdx.x * HB_GRAPH_WARPS + threadIdx.x / HB_WARP; head + g * share < tail; g += warps) {
		hb_u64 at = head + g * share + HB_LANE;
		hb_i64 begin = 0, end = 0;
		if (HB_LANE < share && at < tail) {
			hb_u64 item = queue[at];
			hb_i32 v = (hb_i32)(hb_u32)item;
			begin = ptr[v] + (hb_i64)(item >> 32) * HB_BFS_CHUNK, end = ptr[v + 1];
			if (end > begin + HB_BFS_CHUNK) end = begin + HB_BFS_CHUNK;
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
			for (hb_i32 k = 0; k < HB_UNROLL; k++) fresh[k] = u[k] >= 0 && !hb_bfs_test(visited, u[k]);
			for (hb_i32 k = 0; k < HB_UNROLL; k++) {
				hb_u32 bit = 1u << (u[k] & 31);
				if (fresh[k]) fresh[k] = !(atomicOr(&visited[u[k] >> 5], bit) & bit);
			}
			for (hb_i32 k = 0; k < HB_UNROLL; k++) {
				if (!__any_sync(HB_FULL, fresh[k])) continue;
				if (fresh[k]) level[u[k]] = depth + 1, present[u[k]] = 1, found++;
				hb_u32 place = hb_reserve(&asides, fresh[k]);
				if (fresh[k] && place < HB_BFS_ASIDE) aside[place] = u[k];
				bool over = fresh[k] && place >= HB_BFS_ASIDE;
				if (!__any_sync(HB_FULL, over)) continue;
				if (over) edges += ptr[u[k] + 1] - ptr[u[k]];
				hb_i32 v = over ? u[k] : -1;
				hb_append(queue, &state[HB_BFS_NEXT], v, hb_chunks(ptr, v, HB_BFS_CHUNK));
			}
		}
	}
	__syncthreads();
	hb_u32 count = asides < HB_BFS_ASIDE ? asides : HB_BFS_ASIDE;
	for (hb_u32 i = threadIdx.x; i < count; i += HB_GRAPH_BLOCK) edges += ptr[aside[i] + 1] - ptr[aside[i]];
	edges = hb_total(edges);
	if (HB_LANE == 0 && edges > 0) atomicAdd(&sum_edges, edges);
	__syncthreads();
	if (threadIdx.x == 0 && sum_edges > 0) {
		hb_u64 so_far = atomicAdd(&state[HB_BFS_EDGES], sum_edges) + sum_edges;
		pull = may_pull && so_far * HB_BFS_ALPHA > state[HB_BFS_UNEXPLORED];
	}
	__syncthreads();
	if (!pull) hb_flush(ptr, aside, count, queue, &state[HB_BFS_NEXT], HB_BFS_CHUNK);
	return found;
}

// hb_bfs_pull tests the in-neighbours of each unvisited vertex until one is
// visited. A warp lists the unvisited vertices among HB_BFS_TASK, tests the first
// four in-neighbours of each, then the others with eight lanes a vertex.
HB_DEVICE hb_u64 hb_bfs_pull(hb_i32 words, const hb_i64 *inptr, const hb_i32 *inidx, const int4 *first,
	const hb_u32 *visited, hb_u32 *next, hb_i32 *level, hb_u8 *present, hb_i32 depth, hb_u32 busy) {
	__shared__ hb_u8 list[HB_GRAPH_WARPS][HB_BFS_TASK];
	__shared__ hb_u32 found[HB_GRAPH_WARPS][HB_BFS_TASK / 32];
	__shared__ hb_i32 put_off[HB_BFS_LONGS];
	__shared__ hb_u32 longs;
	if (threadIdx.x == 0) longs = 0;
	__syncthreads();
	hb_i32 warp = threadIdx.x / HB_WARP, group = HB_LANE / 8;
	hb_u64 count = 0;
	hb_i64 tasks = words / 8, warps = (hb_i64)busy * HB_GRAPH_WARPS;
	for (hb_i64 task = (hb_i64)blockIdx.x * HB_GRAPH_WARPS + warp; task < tasks; task += warps) {
		hb_i32 base = (hb_i32)(task * HB_BFS_TASK);
		hb_u32 byte = ((const hb_u8 *)visited)[task * 32 + HB_LANE], open = ~byte & 0xff;
		if (!__any_sync(HB_FULL, open)) {
			((hb_u8 *)next)[task * 32 + HB_LANE] = 0xff;
			continue;
		}
		hb_u32 sum = hb_sums((hb_u32)__popc(open)), total = __shfl_sync(HB_FULL, sum, HB_WARP - 1);
		for (hb_u32 at = sum - __popc(open), left = open; left; left &= left - 1) {
			list[warp][at++] = (hb_u8)(HB_LANE * 8 + __ffs(left) - 1);
		}
		if (HB_LANE < HB_BFS_TASK / 32) found[warp][HB_LANE] = 0;
		__syncwarp();
		hb_u32 rest = 0; // the unsettled vertices overwrite the beginning of the list
		for (hb_u32 i = HB_LANE; i - HB_LANE < total; i += 2 * HB_WARP) {
			hb_u32 at[2];
			int4 u[2];
			bool hit[2];
			for (hb_i32 k = 0; k < 2; k++) {
				bool some = i + k * HB_WARP < total;
				at[k] = some ? list[warp][i + k * HB_WARP] : 0;
				u[k] = some ? first[base + at[k]] : make_int4(-1, -1, -1, -1);
			}
			for (hb_i32 k = 0; k < 2; k++) hit[k] = hb_bfs_test(visited, u[k].x);
			for (hb_i32 k = 0; k < 2; k++) {
				if (hit[k]) continue;
				bool y = hb_bfs_test(visited, u[k].y), z = hb_bfs_test(visited, u[k].z), w = hb_bfs_test(visited, u[k].w);
				hit[k] = y || z || w;
			}
			__syncwarp();
			for (hb_i32 k = 0; k < 2; k++) {
				if (hit[k]) {
					atomicOr(&found[warp][at[k] / 32], 1u << at[k] % 32);
					level[base + at[k]] = depth + 1;
					present[base + at[k]] = 1;
				}
				bool on = !hit[k] && u[k].w >= 0;
				hb_u32 lanes = __ballot_sync(HB_FULL, on);
				if (on) list[warp][rest + __popc(lanes & ((1u << HB_LANE) - 1))] = (hb_u8)at[k];
				rest += __popc(lanes);
			}
			__syncwarp();
		}
		for (hb_u32 i = group; i - group < rest; i += 4) {
			hb_u32 at = i < rest ? list[warp][i] : 0;
			hb_i64 p = i < rest ? inptr[base + at] : 0, end = i < rest ? inptr[base + at + 1] : 0;
			if (__any_sync(HB_FULL, end - p > HB_BFS_LONG)) {
				bool off = end - p > HB_BFS_LONG;
				hb_u32 place = __shfl_sync(HB_FULL, hb_reserve(&longs, off && HB_LANE % 8 == 0), group * 8);
				if (off && place < HB_BFS_LONGS) put_off[place] = base + at, p = end;
			}
			bool hit = false;
			while (__any_sync(HB_FULL, !hit && p < end)) {
				hb_i64 q = p + HB_LANE % 8;
				bool one = !hit && q < end && hb_bfs_test(visited, inidx[q]);
				hb_u32 lanes = __ballot_sync(HB_FULL, one);
				if (lanes >> group * 8 & 0xff) hit = true;
				p += 8;
			}
			if (hit && HB_LANE % 8 == 0) {
				atomicOr(&found[warp][at / 32], 1u << at % 32);
				level[base + at] = depth + 1;
				present[base + at] = 1;
			}
		}
		__syncwarp();
		byte |= found[warp][HB_LANE / 4] >> HB_LANE % 4 * 8 & 0xff;
		((hb_u8 *)next)[task * 32 + HB_LANE] = (hb_u8)byte;
		if (HB_LANE < HB_BFS_TASK / 32) count += __popc(found[warp][HB_LANE]);
		__syncwarp();
	}
	__syncthreads();
	hb_u32 some = longs < HB_BFS_LONGS ? longs : HB_BFS_LONGS;
	for (hb_u32 i = 0; i < some; i++) {
		hb_i32 v = put_off[i];
		bool hit = false;
		for (hb_i64 p = inptr[v], end = inptr[v + 1]; p < end && !hit; p += 8 * HB_GRAPH_BLOCK) {
			hb_i32 u[8];
			bool one = false;
			for (hb_i32 k = 0; k < 8; k++) {
				hb_i64 q = p + k * HB_GRAPH_BLOCK + threadIdx.x;
				u[k] = q < end ? inidx[q] : -1;
			}
			for (hb_i32 k = 0; k < 8; k++) one |= hb_bfs_test(visited, u[k]);
			hit = __syncthreads_or(one);
		}
		if (hit && threadIdx.x == 0) {
			atomicOr(&next[v / 32], 1u << v % 32);
			level[v] = depth + 1;
			present[v] = 1;
			count++;
		}
	}
	return count;
}

// hb_bfs_step goes one level deeper.
HB_KERNEL hb_bfs_step(hb_i32 words, const hb_i64 *ptr, const hb_i32 *idx, const hb_i64 *inptr,
	const hb_i32 *inidx, const int4 *first, hb_u32 *visited, hb_i32 *level, hb_u8 *present, hb_u64 *queue, hb_u64 *state,
	hb_i64 *result) {
	__shared__ hb_u64 sum;
	hb_u64 mode = state[HB_BFS_MODE], head = state[HB_BFS_HEAD], tail = state[HB_BFS_TAIL], side = state[HB_BFS_SIDE];
	hb_i32 depth = (hb_i32)state[HB_BFS_DEPTH];
	hb_u32 busy = hb_busy(mode == HB_BFS_PUSH ? tail - head : (hb_u64)words / 8);
	if (mode == HB_BFS_STOP || blockIdx.x >= busy) return;
	if (threadIdx.x == 0) sum = 0;
	hb_u64 found;
	if (mode == HB_BFS_PUSH) {
		found = hb_bfs_push(ptr, idx, visited, level, present, queue, state, head, tail, depth, inptr != nullptr);
	} else {
		found = hb_bfs_pull(words, inptr, inidx, first, visited + side * words, visited + (1 - side) * words, level,
			present, depth, busy);
	}
	found = hb_total(found);
	if (HB_LANE == 0) atomicAdd(&sum, found);
	__syncthreads();
	if (threadIdx.x != 0) return;
	if (mode == HB_BFS_PUSH) __threadfence(); // the block's sums before its arrival
	// One counter for arrived blocks and found vertices saves a round trip.
	hb_u64 mine = 1ull << 40 | sum, all = atomicAdd(&state[HB_BFS_DONE], mine) + mine;
	if (all >> 40 < busy) return;
	__threadfence();
	volatile hb_u64 *now = state;
	found = all & ((1ull << 40) - 1);
	hb_u64 edges = now[HB_BFS_EDGES];
	hb_u64 reached = now[HB_BFS_REACHED] + found, unexplored = now[HB_BFS_UNEXPLORED] - edges;
	now[HB_BFS_REACHED] = reached;
	now[HB_BFS_UNEXPLORED] = unexplored;
	now[HB_BFS_DONE] = now[HB_BFS_EDGES] = 0;
	if (mode == HB_BFS_PULL) {
		now[HB_BFS_SIDE] = 1 - side;
		now[HB_BFS_PULLS] += 1;
	} else if (inptr && edges * HB_BFS_ALPHA > unexplored) {
		now[HB_BFS_MODE] = HB_BFS_PULL;
	}
	now[HB_BFS_HEAD] = tail;
	now[HB_BFS_TAIL] = now[HB_BFS_NEXT];
	now[HB_BFS_DEPTH] = depth + 1;
	if (found > 0) return;
	now[HB_BFS_MODE] = HB_BFS_STOP;
	result[1] = reached;
	result[2] = depth;
	result[3] = now[HB_BFS_PULLS];
	result[0] = 1;
}

// hb_bfs_parents_pull finds the least in-neighbour one level up of each vertex
// that a pull found: a thread reads the first 16 of its row, and the warp the
// rest. It initialises the parents of the others.
HB_KERNEL hb_bfs_parents_pull(hb_i32 n, const hb_i64 *inptr, const hb_i32 *inidx, const hb_i32 *level, const hb_u64 *state,
	hb_i32 *parent) {
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

// hb_bfs_parents_push offers each vertex that a push expanded, all of which are
// in the queue, to its neighbours one level down. A warp an item.
HB_KERNEL hb_bfs_parents_push(const hb_i64 *ptr, const hb_i32 *idx, const hb_i32 *level, const hb_u64 *queue,
	const hb_u64 *state, hb_i32 *parent) {
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
