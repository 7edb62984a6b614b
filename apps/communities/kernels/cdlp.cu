// Label propagation: each vertex takes the most frequent label around it, the least of several.
// Source: prelude + queue.cu + this file. Host: apps/communities/cdlp_gpu.go, which defines
//     HB_CDLP_CHUNK  entries of an item
//
// A hash table for each vertex, of two places for each of its entries, counts the labels. Whoever
// adds one to a count offers the pair (count, label) to the best of the vertex. Counts grow, so the
// last offer of a label is the greatest, whatever the order.
//
// In: ptr, idx, the rows of an n×n matrix; cptr, cidx, the rows of its transpose, cptr = 0 to leave
//   them out.
// Scratch: items hb_u64[n + entries/HB_CDLP_CHUNK] for each of the two, keys hb_i32[2·entries]
//   filled with −1 and counts hb_u32[2·entries] filled with 0 before hb_cdlp_count (entries of both
//   matrices), best hb_u64[n], size hb_u32[n] of 0, state hb_u64[HB_GRAPH_STATE].
// Out: label hb_i32[n]; result hb_i64[4] in pinned host memory: {labels, iterations, 1 if the last
//   iteration changed no label, vertices of the most frequent label}.
// Launches, grid = resident blocks, blocks of HB_GRAPH_BLOCK threads, no dynamic shared memory:
//   hb_cdlp_start<<<grid>>>, hb_cdlp_items<<<grid>>> for each matrix; then for an iteration
//   hb_cdlp_count<<<grid>>> for each matrix, hb_cdlp_update<<<grid>>>, which return at once when no
//   label has changed; hb_cdlp_sizes<<<grid>>> at the end.
// n > 0. Deterministic. Bound by atomics on the tables.

enum { HB_CDLP_OUT, HB_CDLP_IN, HB_CDLP_MOVED, HB_CDLP_DONE, HB_CDLP_STABLE, HB_CDLP_ITERATIONS, HB_CDLP_LABELS, HB_CDLP_LARGEST }; // places in state; items of the rows, of the columns

HB_KERNEL hb_cdlp_start(hb_i32 n, hb_i32 *label, hb_u64 *best, hb_u64 *state) {
	hb_i64 i = (hb_i64)blockIdx.x * blockDim.x + threadIdx.x, threads = (hb_i64)gridDim.x * blockDim.x;
	for (hb_i64 v = i; v < n; v += threads) {
		label[v] = (hb_i32)v;
		best[v] = 0;
	}
	if (i < HB_GRAPH_STATE) state[i] = 0;
}

// hb_cdlp_items cuts all rows into items, and counts them in state[side].
HB_KERNEL hb_cdlp_items(hb_i32 n, const hb_i64 *ptr, hb_u64 *items, hb_i32 side, hb_u64 *state) {
	hb_i64 threads = (hb_i64)gridDim.x * blockDim.x;
	for (hb_i64 v = (hb_i64)blockIdx.x * blockDim.x + threadIdx.x; v - HB_LANE < n; v += threads) {
		hb_i32 u = v < n ? (hb_i32)v : -1;
		hb_append(items, &state[side], u, hb_chunks(ptr, u, HB_CDLP_CHUNK));
	}
}

// hb_cdlp_count counts the labels at the ends of a matrix's entries. The table of vertex v begins
// at 2·(ptr[v] + optr[v]); optr, of the other matrix, may be 0.
HB_KERNEL hb_cdlp_count(const hb_i64 *ptr, const hb_i32 *idx, const hb_i64 *optr, const hb_u64 *items, hb_i32 side, const hb_i32 *label,
	hb_i32 *keys, hb_u32 *counts, hb_u64 *best, const hb_u64 *state) {
	if (state[HB_CDLP_STABLE]) return;
	volatile hb_i32 *key = keys;
	volatile hb_u64 *seen = best;
	hb_u64 size = state[side], warps = (hb_u64)gridDim.x * HB_GRAPH_WARPS;
	hb_u32 share = hb_share(size);
	for (hb_u64 g = (hb_u64)blockIdx.x * HB_GRAPH_WARPS + threadIdx.x / HB_WARP; g * share < size; g += warps) {
		hb_u64 at = g * share + HB_LANE;
		hb_i64 begin = 0, end = 0;
		hb_i32 v = 0;
		if (HB_LANE < share && at < size) {
			v = (hb_i32)(hb_u32)items[at];
			begin = ptr[v] + (hb_i64)(items[at] >> 32) * HB_CDLP_CHUNK, end = ptr[v + 1];
			if (end > begin + HB_CDLP_CHUNK) end = begin + HB_CDLP_CHUNK;
		}
		hb_u32 sum = hb_sums((hb_u32)(end - begin)), total = __shfl_sync(HB_FULL, sum, HB_WARP - 1);
		begin -= sum - (hb_u32)(end - begin); // entry t of the warp is at begin + t of its lane
		for (hb_u32 t = HB_LANE; t - HB_LANE < total; t += HB_WARP) {
			hb_i32 lane = hb_owner(sum, t);
			hb_i64 p = __shfl_sync(HB_FULL, begin, lane) + t;
			hb_i32 w = __shfl_sync(HB_FULL, v, lane);
			if (t >= total) continue;
			hb_i64 first = ptr[w], places = ptr[w + 1] - first;
			if (optr) first += optr[w], places += optr[w + 1] - optr[w];
			first *= 2, places *= 2;
			hb_i32 l = label[idx[p]];
			hb_i64 place = (hb_i64)((hb_u64)((hb_u32)l * 2654435769u) * (hb_u64)places >> 32);
			for (;; place = place + 1 < places ? place + 1 : 0) {
				hb_i32 now = key[first + place];
				if (now == -1) now = atomicCAS(&keys[first + place], -1, l);
				if (now == -1 || now == l) break;
			}
			hb_u64 offer = (hb_u64)(atomicAdd(&counts[first + place], 1u) + 1) << 32 | (0xffffffffu - (hb_u32)l);
			if (offer > seen[w]) atomicMax(&best[w], offer);
		}
	}
}

// hb_cdlp_update gives each vertex with neighbours its best label.
HB_KERNEL hb_cdlp_update(hb_i32 n, hb_i32 *label, hb_u64 *best, hb_u64 *state, hb_i64 *result) {
	if (state[HB_CDLP_STABLE]) return;
	hb_i64 threads = (hb_i64)gridDim.x * blockDim.x;
	bool moved = false;
	for (hb_i64 v = (hb_i64)blockIdx.x * blockDim.x + threadIdx.x; v < n; v += threads) {
		hb_u64 b = best[v];
		if (b == 0) continue;
		hb_i32 l = (hb_i32)(0xffffffffu - (hb_u32)b);
		moved = moved || l != label[v];
		label[v] = l;
		best[v] = 0;
	}
	if (__syncthreads_or(moved) && threadIdx.x == 0) atomicOr(&state[HB_CDLP_MOVED], 1ull);
	if (!hb_last(&state[HB_CDLP_DONE], gridDim.x)) return;
	volatile hb_u64 *now = state;
	now[HB_CDLP_ITERATIONS] += 1;
	now[HB_CDLP_STABLE] = !now[HB_CDLP_MOVED];
	now[HB_CDLP_MOVED] = 0;
	result[1] = now[HB_CDLP_ITERATIONS];
	result[2] = now[HB_CDLP_STABLE];
}

// hb_cdlp_sizes counts the vertices of each label. The lanes with the label of lane 0 count
// together.
HB_KERNEL hb_cdlp_sizes(hb_i32 n, const hb_i32 *label, hb_u32 *size, hb_u64 *state, hb_i64 *result) {
	hb_i64 threads = (hb_i64)gridDim.x * blockDim.x;
	hb_u64 labels = 0, most = 0;
	for (hb_i64 v = (hb_i64)blockIdx.x * blockDim.x + threadIdx.x; v - HB_LANE < n; v += threads) {
		hb_i32 l = v < n ? label[v] : -1, first = __shfl_sync(HB_FULL, l, 0);
		hb_u32 same = __popc(__ballot_sync(HB_FULL, l == first)), add = HB_LANE == 0 ? same : l >= 0 && l != first;
		if (add == 0) continue;
		hb_u64 before = atomicAdd(&size[l], add);
		labels += before == 0;
		if (before + add > most) most = before + add;
	}
	labels = hb_total(labels);
	for (hb_i32 d = HB_WARP / 2; d > 0; d /= 2) {
		hb_u64 other = __shfl_xor_sync(HB_FULL, most, d);
		if (other > most) most = other;
	}
	if (HB_LANE == 0) atomicAdd(&state[HB_CDLP_LABELS], labels), atomicMax(&state[HB_CDLP_LARGEST], most);
	if (!hb_last(&state[HB_CDLP_DONE], gridDim.x)) return;
	volatile hb_u64 *now = state;
	result[0] = now[HB_CDLP_LABELS];
	result[3] = now[HB_CDLP_LARGEST];
}
