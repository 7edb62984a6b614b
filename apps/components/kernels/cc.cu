// Connected components: the label of a vertex is the least vertex of its
// component. Edges count in both directions, whichever is stored.
// Source: prelude + queue.cu + this file. Host: apps/components/cc_gpu.go, which defines
//     HB_CC_SAMPLE  threads of hb_cc_guess, and labels that it reads
//
// A label is a vertex's parent in a forest; parents are never above their children. Roots are
// hooked to lesser roots until no edge leads out of a tree (Shiloach, Vishkin, 1982). A sample of
// the edges joins most vertices. If the matrix is symmetric, the rows of the most frequent
// component can be skipped after that (Sutton, Ben-Nun, Barak: Optimizing parallel graph
// connectivity computation via subgraph sampling, IPDPS 2018).
//
// In: ptr, idx, the rows of an n×n matrix. Scratch: size hb_i32[n], state
//   hb_u64[HB_GRAPH_STATE]. Out: label hb_i32[n], result hb_i64[2] in pinned host
//   memory = {components, vertices of the largest}.
// Launches, grid = resident blocks, blocks of HB_GRAPH_BLOCK threads except for
// hb_cc_guess, no dynamic shared memory:
//   hb_cc_start<<<grid>>>, hb_cc_compress<<<grid>>>,
//   hb_cc_sample<<<grid>>>, hb_cc_compress<<<grid>>>,
//   hb_cc_guess<<<1, HB_CC_SAMPLE>>>,
//   hb_cc_link<<<grid>>> with symmetric = 1 if A is known to be symmetric, else 0
//     (if the transpose exists, twice with symmetric = 1: A, then Aᵀ),
//   hb_cc_compress<<<grid>>>, hb_cc_count<<<grid>>>.
// On a group a device has own rows, the rows lo … lo+own−1 of n; else lo is 0 and own is n. It gets
// the labels of the others and hooks each vertex to its label there:
//   hb_cc_join<<<grid>>>, hb_cc_compress<<<grid>>>.
// Rows can be skipped only if the label guessed is the same on all devices: they join their labels
// before the guess, too. After the links each gets the roots that have become children on others:
//   hb_cc_changes<<<grid>>>; hb_cc_join_changes<<<grid>>>, hb_cc_compress<<<grid>>>.
// Host: apps/components/cc_rows.go.
// n > 0. Labels are deterministic. Bound by random reads of label.

#define HB_CC_TASK 2048 // rows and entries of a task of a warp

enum { HB_CC_GUESS, HB_CC_COUNT, HB_CC_LARGEST, HB_CC_DONE }; // places in state

// hb_cc_start hooks each vertex to its first neighbour if that is lesser.
HB_KERNEL hb_cc_start(hb_i32 n, hb_i32 lo, hb_i32 own, const hb_i64 *ptr, const hb_i32 *idx, hb_i32 *label, hb_i32 *size, hb_u64 *state) {
	hb_i64 threads = (hb_i64)gridDim.x * blockDim.x, i = (hb_i64)blockIdx.x * blockDim.x + threadIdx.x;
	for (hb_i64 v = i; v < n; v += threads) {
		hb_i64 row = v - lo;
		bool mine = row >= 0 && row < own;
		hb_i64 p = mine ? ptr[row] : 0;
		hb_i32 u = mine && p < ptr[row + 1] ? idx[p] : (hb_i32)v;
		label[v] = u < v ? u : (hb_i32)v;
		size[v] = 0;
	}
	if (i < HB_GRAPH_STATE) state[i] = 0;
}

// hb_cc_compress makes each vertex a child of its root. All vertices climb at
// once and store how far they are, so that each step halves a long chain.
HB_KERNEL hb_cc_compress(hb_i32 n, hb_i32 *label) {
	volatile hb_i32 *now = label;
	hb_i64 threads = (hb_i64)gridDim.x * blockDim.x;
	for (hb_i64 v = (hb_i64)blockIdx.x * blockDim.x + threadIdx.x; v < n; v += threads) {
		for (hb_i32 parent = now[v], next; (next = now[parent]) != parent; parent = next) now[v] = next;
	}
}

// hb_cc_hook joins the trees of a and b. A read may return an older label from a cache, which is a
// vertex of the same tree; atomicCAS compares with the current one.
HB_DEVICE void hb_cc_hook(hb_i32 *label, hb_i32 a, hb_i32 b) {
	while (a != b) {
		hb_i32 high = a > b ? a : b, low = a > b ? b : a, parent = label[high];
		if (parent == high) {
			parent = atomicCAS(&label[high], high, low);
			if (parent == high) return;
		}
		a = parent;
		b = label[low];
	}
}

// hb_cc_sample hooks each vertex to its second neighbour.
HB_KERNEL hb_cc_sample(hb_i32 lo, hb_i32 own, const hb_i64 *ptr, const hb_i32 *idx, hb_i32 *label) {
	HB_EACH(row, own) {
		hb_i64 p = ptr[row] + 1;
		if (p < ptr[row + 1]) hb_cc_hook(label, label[lo + row], label[idx[p]]);
	}
}

// hb_cc_join hooks each vertex to its label in another forest.
HB_KERNEL hb_cc_join(hb_i32 n, const hb_i32 *other, hb_i32 *label) {
	HB_EACH(v, n) if (other[v] != v) hb_cc_hook(label, label[v], label[other[v]]);
}

struct hb_cc_change { hb_i32 root, label; };

// hb_cc_changes lists the vertices that were roots before and are children now, if they are at most
// most, and writes their number to result, in pinned host memory. count is hb_u64[2], 0 before.
HB_KERNEL hb_cc_changes(hb_i32 n, const hb_i32 *before, const hb_i32 *label, hb_u64 most, hb_cc_change *list, hb_u64 *count, hb_i64 *result) {
	hb_i64 threads = (hb_i64)gridDim.x * blockDim.x;
	for (hb_i64 v = (hb_i64)blockIdx.x * blockDim.x + threadIdx.x; v - HB_LANE < n; v += threads) {
		bool is = v < n && before[v] == v && label[v] != v;
		if (!__any_sync(HB_FULL, is)) continue;
		hb_u64 place = hb_reserve(count, is);
		if (is && place < most) list[place].root = (hb_i32)v, list[place].label = label[v];
	}
	if (hb_last(count + 1, gridDim.x)) result[0] = (hb_i64)*(volatile hb_u64 *)count;
}

// hb_cc_join_changes hooks the roots of m changes to their labels.
HB_KERNEL hb_cc_join_changes(hb_i64 m, const hb_cc_change *list, hb_i32 *label) {
	HB_EACH(i, m) hb_cc_hook(label, list[i].root, list[i].label);
}

// hb_cc_guess finds the most frequent label among HB_CC_SAMPLE vertices.
HB_KERNEL hb_cc_guess(hb_i32 n, const hb_i32 *label, hb_u64 *state) {
	__shared__ hb_i32 seen[HB_CC_SAMPLE];
	__shared__ hb_u64 best;
	hb_i32 mine = label[threadIdx.x * 2654435761ull % (hb_u64)n];
	if (threadIdx.x == 0) best = 0;
	seen[threadIdx.x] = mine;
	__syncthreads();
	hb_u64 count = 0;
	for (hb_i32 k = 0; k < HB_CC_SAMPLE; k++) count += seen[k] == mine;
	atomicMax(&best, count << 32 | (hb_u32)mine);
	__syncthreads();
	if (threadIdx.x == 0) state[HB_CC_GUESS] = (hb_u32)best;
}

// hb_cc_link hooks along all edges of n rows. If the matrix is symmetric, it skips rows with the
// guessed label in seen: label itself, or a copy from before. Rows and their entries are cut into
// equal tasks for the warps (merge path: Merrill, Garland, SC 2016).
HB_KERNEL hb_cc_link(hb_i32 lo, hb_i32 n, const hb_i64 *ptr, const hb_i32 *idx, hb_i32 *label, const hb_i32 *seen, const hb_u64 *state,
	hb_i32 symmetric) {
	hb_i32 skip = symmetric ? (hb_i32)state[HB_CC_GUESS] : -1;
	hb_i64 all = n + ptr[n], warps = (hb_i64)gridDim.x * HB_GRAPH_WARPS;
	hb_i64 warp = (hb_i64)blockIdx.x * HB_GRAPH_WARPS + threadIdx.x / HB_WARP;
	for (hb_i64 from = warp * HB_CC_TASK; from < all; from += warps * HB_CC_TASK) {
		hb_i64 to = from + HB_CC_TASK;
		hb_i64 row = hb_row_of_task(ptr, n, from);
		for (bool more = true; more; row += HB_WARP) {
			hb_i64 r = row + HB_LANE, begin = 0, end = 0;
			hb_i32 root = 0;
			bool in = r < n;
			if (in) {
				begin = ptr[r], end = ptr[r + 1];
				in = r + end < to; // rows after this one are the task's too
				root = label[lo + r];
				if (begin < from - r) begin = from - r;
				if (end > to - r) end = to - r;
				if (begin > end || (seen == label ? root : seen[lo + r]) == skip) end = begin;
			}
			more = __all_sync(HB_FULL, in);
			hb_u32 sum = hb_sums((hb_u32)(end - begin)), total = __shfl_sync(HB_FULL, sum, HB_WARP - 1);
			begin -= sum - (hb_u32)(end - begin); // entry t of the warp is at begin + t of its lane
			for (hb_u32 t0 = 0; t0 < total; t0 += HB_WARP * HB_UNROLL) {
				hb_i32 u[HB_UNROLL], other[HB_UNROLL], roots[HB_UNROLL];
				for (hb_i32 k = 0; k < HB_UNROLL; k++) {
					hb_u32 t = t0 + k * HB_WARP + HB_LANE;
					hb_i32 lane = hb_owner(sum, t);
					hb_i64 p = __shfl_sync(HB_FULL, begin, lane) + t;
					roots[k] = __shfl_sync(HB_FULL, root, lane);
					u[k] = t < total ? idx[p] : -1;
				}
				for (hb_i32 k = 0; k < HB_UNROLL; k++) other[k] = u[k] >= 0 ? label[u[k]] : roots[k];
				for (hb_i32 k = 0; k < HB_UNROLL; k++) hb_cc_hook(label, roots[k], other[k]);
			}
		}
	}
}

// hb_cc_count counts the components and the vertices of the largest. It counts
// the guessed label block by block, to avoid contention for one counter.
HB_KERNEL hb_cc_count(hb_i32 n, const hb_i32 *label, hb_i32 *size, hb_u64 *state, hb_i64 *result) {
	__shared__ hb_u64 sums[2], largest;
	hb_i32 guess = label[(hb_i32)state[HB_CC_GUESS]];
	if (threadIdx.x < 2) sums[threadIdx.x] = 0;
	if (threadIdx.x == 0) largest = 0;
	__syncthreads();
	hb_u64 roots = 0, guessed = 0, most = 0;
	hb_i64 threads = (hb_i64)gridDim.x * blockDim.x;
	for (hb_i64 v = (hb_i64)blockIdx.x * blockDim.x + threadIdx.x; v < n; v += threads) {
		hb_i32 l = label[v];
		roots += l == v;
		guessed += l == guess;
		if (l == guess) continue;
		hb_u64 now = (hb_u64)atomicAdd(&size[l], 1) + 1;
		if (now > most) most = now;
	}
	roots = hb_total(roots), guessed = hb_total(guessed);
	if (HB_LANE == 0) atomicAdd(&sums[0], roots), atomicAdd(&sums[1], guessed);
	atomicMax(&largest, most);
	__syncthreads();
	if (threadIdx.x == 0) {
		if (sums[1] > 0) {
			hb_u64 now = (hb_u64)(hb_u32)atomicAdd(&size[guess], (hb_i32)sums[1]) + sums[1];
			if (now > largest) largest = now;
		}
		atomicAdd(&state[HB_CC_COUNT], sums[0]);
		atomicMax(&state[HB_CC_LARGEST], largest);
	}
	if (!hb_last(&state[HB_CC_DONE], gridDim.x)) return;
	volatile hb_u64 *now = state;
	result[0] = now[HB_CC_COUNT];
	result[1] = now[HB_CC_LARGEST];
}
