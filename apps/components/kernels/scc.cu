// Strongly connected components: the label of a vertex is the least vertex of its component.
// Source: prelude + queue.cu + this file. Host: apps/components/scc_gpu.go, which defines
//     HB_SCC_CHUNK  entries of an item of the queue
//     HB_SCC_ALONE  items up to which one block continues without a launch
//
// The steps of Slota, Rajamanickam, Madduri (BFS and coloring-based parallel algorithms for
// strongly connected components and related problems, IPDPS 2014):
//   trim    vertices without an edge from, or without an edge to, the others are components;
//   reach   the component of a pivot of high degree is what it reaches and what reaches it;
//   colour  each vertex left takes the least vertex that reaches it;
//   back    the vertices of a colour that reach its vertex are a component (Orzan, 2004);
// trim, colour and back again until no vertex is left. The last block of a step decides what the
// next step does, without the host. Scans take all vertices, the others a queue.
//
// In: ptr, idx, the rows of an n×n matrix, cptr, cidx, the rows of its transpose. Scratch: queue
// hb_u64[2·room] with room = 2·n + 2·entries/HB_SCC_CHUNK + 2, colour, mark and size
//   hb_i32[n], state hb_u64[3·HB_GRAPH_STATE].
// Out: label hb_i32[n]; result hb_i64[4] in pinned host memory: {1, components, vertices of the
//   largest, steps} at the end; result[0] = 0 before.
// Launches, grid = resident blocks, blocks of HB_GRAPH_BLOCK threads, no dynamic shared memory:
//   hb_scc_start<<<grid>>>;  hb_scc_step<<<grid>>>, turn 0 and 1 alternately, until result[0] is 1;
//   further steps return at once;  hb_scc_count<<<grid>>>.
// n > 0. Labels are deterministic. Bound by random reads of label, and by the number of steps.

enum { // places in state
	HB_SCC_MODE, HB_SCC_ITEMS, HB_SCC_SIDE, HB_SCC_NEXT, HB_SCC_DONE, // of the step, and the size of the next queue
	HB_SCC_ALONE_STEPS, HB_SCC_TRIMMED, HB_SCC_LEFT, HB_SCC_PIVOT, HB_SCC_LEAST, HB_SCC_GIANT, // the vertices of the pivot's component
	HB_SCC_COUNT, HB_SCC_LARGEST, HB_SCC_STEPS
};
enum { HB_SCC_STOP, HB_SCC_TRIM, HB_SCC_PICK, HB_SCC_SEED, HB_SCC_REACH, HB_SCC_MEET, HB_SCC_BEGIN, HB_SCC_COLOUR, HB_SCC_ROOTS, HB_SCC_BACK }; // modes
enum { HB_SCC_OPEN = -1, HB_SCC_IN_GIANT = -2 }; // labels before the end
#define HB_SCC_INWARD 0x80000000u // of an item: expand the column of the vertex

// hb_scc_start opens all vertices.
HB_KERNEL hb_scc_start(hb_i32 n, hb_i32 *label, hb_i32 *mark, hb_i32 *size, hb_u64 *state) {
	hb_i64 i = (hb_i64)blockIdx.x * blockDim.x + threadIdx.x, threads = (hb_i64)gridDim.x * blockDim.x;
	for (hb_i64 v = i; v < n; v += threads) {
		label[v] = HB_SCC_OPEN;
		mark[v] = size[v] = 0;
	}
	if (i < HB_GRAPH_STATE) state[i] = i == HB_SCC_MODE ? HB_SCC_TRIM : i == HB_SCC_LEAST ? n : 0;
}

// hb_scc_linked reports whether row v has an entry of another open vertex.
HB_DEVICE bool hb_scc_linked(const hb_i64 *ptr, const hb_i32 *idx, volatile hb_i32 *label, hb_i32 v) {
	for (hb_i64 p = ptr[v], end = ptr[v + 1]; p < end; p++) {
		hb_i32 u = idx[p];
		if (u != v && label[u] == HB_SCC_OPEN) return true;
	}
	return false;
}

// hb_scc_scan does what a mode does for each vertex v, −1 for none. It returns the direction in
// which v joins the queue: 1 out, 2 in, 3 both, 0 not at all.
HB_DEVICE hb_i32 hb_scc_scan(hb_u64 mode, hb_i32 v, const hb_i64 *ptr, const hb_i32 *idx, const hb_i64 *cptr, const hb_i32 *cidx, hb_i32 *label,
	hb_i32 *colour, hb_i32 *mark, hb_u64 pivot, hb_u64 &count, hb_u64 &best) {
	if (v < 0 || ((volatile hb_i32 *)label)[v] != HB_SCC_OPEN) return 0;
	switch (mode) {
	case HB_SCC_TRIM:
	case HB_SCC_BEGIN:
		if (!hb_scc_linked(ptr, idx, label, v) || !hb_scc_linked(cptr, cidx, label, v)) {
			label[v] = v;
			count++;
			return 0;
		}
		colour[v] = v;
		mark[v] = 0;
		return mode == HB_SCC_BEGIN;
	case HB_SCC_PICK: {
		hb_u64 product = (hb_u64)(ptr[v + 1] - ptr[v]) * (hb_u64)(cptr[v + 1] - cptr[v]);
		if (product > 0x7fffffffu) product = 0x7fffffffu;
		hb_u64 key = (product + 1) << 32 | (0xffffffffu - (hb_u32)v);
		if (key > best) best = key;
		return 0;
	}
	case HB_SCC_SEED:
		if ((hb_u64)v != pivot) return 0;
		mark[v] = 3;
		return 3;
	case HB_SCC_MEET:
		if (mark[v] != 3) return 0;
		label[v] = HB_SCC_IN_GIANT;
		count++;
		if (0xffffffffu - (hb_u32)v > best) best = 0xffffffffu - (hb_u32)v;
		return 0;
	case HB_SCC_ROOTS:
		if (colour[v] != v) return 0;
		label[v] = v;
		return 2;
	}
	return 0;
}

// hb_scc_visit does what a mode does for the entry that leads from v in the direction of bit, 1
// out, 2 in, to u. It reports whether u joins the next queue. state is v's colour or label.
HB_DEVICE bool hb_scc_visit(hb_u64 mode, hb_i32 bit, hb_i32 x, hb_i32 u, hb_i32 *label, hb_i32 *colour, hb_i32 *mark, hb_i32 stamp) {
	volatile hb_i32 *l = label, *c = colour, *m = mark;
	if (l[u] != HB_SCC_OPEN) return false;
	switch (mode) {
	case HB_SCC_REACH:
		return !(m[u] & bit) && !(atomicOr(&mark[u], bit) & bit);
	case HB_SCC_COLOUR:
		return x < c[u] && atomicMin(&colour[u], x) > x && atomicExch(&mark[u], stamp) != stamp;
	case HB_SCC_BACK:
		return c[u] == x && atomicCAS(&label[u], HB_SCC_OPEN, x) == HB_SCC_OPEN;
	}
	return false;
}

// hb_scc_join adds the lanes' vertices to the queue, in the directions of bits.
HB_DEVICE void hb_scc_join(hb_i32 v, hb_i32 bits, const hb_i64 *ptr, const hb_i64 *cptr, hb_u64 *queue, hb_u64 *tail) {
	if (__any_sync(HB_FULL, bits & 1)) hb_append(queue, tail, v, hb_chunks(ptr, bits & 1 ? v : -1, HB_SCC_CHUNK));
	if (__any_sync(HB_FULL, bits & 2)) hb_append(queue, tail, (hb_i32)((hb_u32)v | HB_SCC_INWARD), hb_chunks(cptr, bits & 2 ? v : -1, HB_SCC_CHUNK));
}

// hb_scc_step scans the vertices, or follows the edges of the vertices in the queue.
HB_KERNEL hb_scc_step(hb_i32 n, const hb_i64 *ptr, const hb_i32 *idx, const hb_i64 *cptr, const hb_i32 *cidx, hb_i64 room, hb_i32 *label,
	hb_i32 *colour, hb_i32 *mark, hb_u64 *queue, hb_u64 *loop, hb_i32 turn, hb_i64 *result) {
	__shared__ hb_u64 more;
	hb_u64 *state = hb_side(loop, turn);
	volatile hb_u64 *now = state;
	hb_u64 mode = now[HB_SCC_MODE], items = now[HB_SCC_ITEMS], side = now[HB_SCC_SIDE], steps = now[HB_SCC_STEPS];
	bool scan = mode != HB_SCC_REACH && mode != HB_SCC_COLOUR && mode != HB_SCC_BACK, alone = !scan && items <= HB_SCC_ALONE;
	hb_u64 work = scan ? ((hb_u64)n + HB_WARP - 1) / HB_WARP : items;
	hb_u32 busy = alone ? 1 : hb_busy(work);
	if (mode == HB_SCC_STOP || blockIdx.x >= busy) return;
	hb_u64 warp = (hb_u64)blockIdx.x * HB_GRAPH_WARPS + threadIdx.x / HB_WARP, warps = (hb_u64)busy * HB_GRAPH_WARPS;
	hb_u64 count = 0, best = 0, *tail = &state[HB_SCC_NEXT];
	if (scan) {
		hb_u64 pivot = now[HB_SCC_PIVOT];
		hb_u64 *to = queue + (1 - side) * room;
		for (hb_i64 i = warp * HB_WARP + HB_LANE; i - HB_LANE < n; i += warps * HB_WARP) {
			hb_i32 v = i < n ? (hb_i32)i : -1;
			hb_i32 bits = hb_scc_scan(mode, v, ptr, idx, cptr, cidx, label, colour, mark, pivot, count, best);
			hb_scc_join(v, bits, ptr, cptr, to, tail);
		}
		count = hb_total(count);
		for (hb_i32 d = HB_WARP / 2; d > 0; d /= 2) {
			hb_u64 other = __shfl_xor_sync(HB_FULL, best, d);
			if (other > best) best = other;
		}
		if (HB_LANE == 0 && count > 0) atomicAdd(&state[mode == HB_SCC_MEET ? HB_SCC_GIANT : HB_SCC_TRIMMED], count);
		if (HB_LANE == 0 && best > 0) atomicMax(&state[HB_SCC_LEFT], best);
	}
	while (!scan && items > 0) {
		const volatile hb_u64 *from = queue + side * room;
		hb_u64 *to = queue + (1 - side) * room;
		hb_u32 share = alone ? 1 : hb_share(items);
		hb_i32 stamp = 4 + (hb_i32)(steps % 1000000000); // no marks of REACH
		for (hb_u64 g = warp; g * share < items; g += warps) {
			hb_u64 at = g * share + HB_LANE;
			hb_i64 begin = 0, end = 0;
			hb_i32 x = 0, inward = 0;
			if (HB_LANE < share && at < items) {
				hb_u64 item = from[at];
				hb_i32 v = (hb_i32)((hb_u32)item & ~HB_SCC_INWARD);
				inward = ((hb_u32)item & HB_SCC_INWARD) != 0;
				const hb_i64 *row = inward ? cptr : ptr;
				begin = row[v] + (hb_i64)(item >> 32) * HB_SCC_CHUNK, end = row[v + 1];
				if (end > begin + HB_SCC_CHUNK) end = begin + HB_SCC_CHUNK;
				x = mode == HB_SCC_COLOUR ? ((volatile hb_i32 *)colour)[v] : ((volatile hb_i32 *)label)[v];
			}
			hb_u32 sum = hb_sums((hb_u32)(end - begin)), total = __shfl_sync(HB_FULL, sum, HB_WARP - 1);
			begin -= sum - (hb_u32)(end - begin); // entry t of the warp is at begin + t of its lane
			for (hb_u32 t0 = 0; t0 < total; t0 += HB_WARP * HB_UNROLL) {
				hb_i32 u[HB_UNROLL], of[HB_UNROLL], bit[HB_UNROLL];
				for (hb_i32 k = 0; k < HB_UNROLL; k++) {
					hb_u32 t = t0 + k * HB_WARP + HB_LANE;
					hb_i32 lane = hb_owner(sum, t);
					hb_i64 p = __shfl_sync(HB_FULL, begin, lane) + t;
					of[k] = __shfl_sync(HB_FULL, x, lane);
					bit[k] = 1 + __shfl_sync(HB_FULL, inward, lane);
					u[k] = t >= total ? -1 : bit[k] == 2 ? cidx[p] : idx[p];
				}
				for (hb_i32 k = 0; k < HB_UNROLL; k++) {
					bool joins = u[k] >= 0 && hb_scc_visit(mode, bit[k], of[k], u[k], label, colour, mark, stamp);
					if (__any_sync(HB_FULL, joins)) hb_scc_join(u[k], joins ? bit[k] : 0, ptr, cptr, to, tail);
				}
			}
		}
		if (!alone) break;
		__threadfence();
		__syncthreads();
		if (threadIdx.x == 0) {
			more = now[HB_SCC_NEXT];
			if (more > 0 && more <= HB_SCC_ALONE) now[HB_SCC_NEXT] = 0;
		}
		__syncthreads();
		if (more == 0 || more > HB_SCC_ALONE) break;
		items = more, side = 1 - side, steps++;
		__syncthreads();
	}

	if (!hb_last(&state[HB_SCC_DONE], busy)) return;
	now = hb_next(loop, turn);
	steps++;
	hb_u64 next = now[HB_SCC_NEXT], trimmed = now[HB_SCC_TRIMMED], found = now[HB_SCC_LEFT];
	now[HB_SCC_STEPS] = steps;
	now[HB_SCC_ITEMS] = next;
	now[HB_SCC_NEXT] = now[HB_SCC_TRIMMED] = now[HB_SCC_LEFT] = 0;
	now[HB_SCC_SIDE] = 1 - side;
	switch (mode) {
	case HB_SCC_TRIM: // again while it pays
		if (trimmed * 32 < (hb_u64)n) mode = HB_SCC_PICK;
		break;
	case HB_SCC_PICK:
		now[HB_SCC_PIVOT] = 0xffffffffu - (hb_u32)found;
		mode = found ? HB_SCC_SEED : HB_SCC_STOP;
		break;
	case HB_SCC_SEED:
		mode = next ? HB_SCC_REACH : HB_SCC_MEET;
		break;
	case HB_SCC_REACH:
		if (next == 0) mode = HB_SCC_MEET;
		break;
	case HB_SCC_MEET:
		now[HB_SCC_LEAST] = 0xffffffffu - (hb_u32)found;
		mode = HB_SCC_BEGIN;
		break;
	case HB_SCC_BEGIN:
		mode = next ? HB_SCC_COLOUR : HB_SCC_STOP;
		break;
	case HB_SCC_COLOUR:
		if (next == 0) mode = HB_SCC_ROOTS;
		break;
	case HB_SCC_ROOTS:
		mode = next ? HB_SCC_BACK : HB_SCC_BEGIN;
		break;
	case HB_SCC_BACK:
		if (next == 0) mode = HB_SCC_BEGIN;
		break;
	}
	now[HB_SCC_MODE] = mode;
	if (mode == HB_SCC_STOP) {
		hb_stop(loop, turn, HB_SCC_MODE, HB_SCC_STOP);
		result[3] = steps;
		result[0] = 1;
	}
}

// hb_scc_count labels the pivot's component, and counts the components and the vertices of the
// largest.
HB_KERNEL hb_scc_count(hb_i32 n, hb_i32 *label, hb_i32 *size, hb_u64 *loop, hb_i64 *result) {
	hb_u64 *state = hb_side(loop, 2);
	hb_u64 giant = state[HB_SCC_GIANT], roots = 0, most = giant;
	hb_i32 least = (hb_i32)state[HB_SCC_LEAST];
	hb_i64 threads = (hb_i64)gridDim.x * blockDim.x;
	for (hb_i64 v = (hb_i64)blockIdx.x * blockDim.x + threadIdx.x; v < n; v += threads) {
		hb_i32 l = label[v];
		if (l == HB_SCC_IN_GIANT) {
			label[v] = l = least;
			roots += l == v;
			continue;
		}
		roots += l == v;
		hb_u64 now = (hb_u64)atomicAdd(&size[l], 1) + 1;
		if (now > most) most = now;
	}
	roots = hb_total(roots);
	for (hb_i32 d = HB_WARP / 2; d > 0; d /= 2) {
		hb_u64 other = __shfl_xor_sync(HB_FULL, most, d);
		if (other > most) most = other;
	}
	if (HB_LANE == 0) atomicAdd(&state[HB_SCC_COUNT], roots), atomicMax(&state[HB_SCC_LARGEST], most);
	if (!hb_last(&state[HB_SCC_DONE], gridDim.x)) return;
	volatile hb_u64 *now = state;
	result[1] = now[HB_SCC_COUNT];
	result[2] = now[HB_SCC_LARGEST];
}
