// The vector part of an iteration of PageRank in one pass: the new ranks, the
// share that each vertex sends along each of its edges next, the change, and the
// rank of the vertices without out-edges.
// Source: prelude + queue.cu + element type + this file. Host:
// apps/centrality/pagerank_gpu.go, which defines
//     HB_T  float or double, of ranks and shares; sums along edges are double
//
// In: ptr, the row offsets of the matrix. Scratch: share, factor HB_T[n],
//   partial double[2·grid], sums double[2], state hb_u64[2], 0 before.
// Out: rank HB_T[n], result double[2] in pinned host memory: the change and, as
//   hb_i64, the iterations.
// Launches, grid = resident blocks, blocks of HB_GRAPH_BLOCK threads:
//   hb_pagerank_start<<<grid>>>;  in each iteration y = Aᵀ share (an SpMV of
//   plus.second, with presence bytes if rows may be empty), then
//   hb_pagerank_step<<<grid>>>, which makes the next share of y, in place if HB_T is double.
// Once the change is at most tolerance, steps do nothing and result stays, so
// that several iterations may be queued between synchronisations. Sums are taken
// in double, in an order that depends on grid alone. Bound by memory bandwidth.

enum { HB_PR_LOST, HB_PR_CHANGE }; // places in sums: rank of dangling vertices, Σ|change|

// hb_pagerank_sum adds up both values over the grid into sums. Returns true in
// thread 0 of the last block.
HB_DEVICE bool hb_pagerank_sum(double lost, double change, double *partial, double *sums, hb_u64 *done) {
	__shared__ double warps[2][HB_GRAPH_WARPS];
	__shared__ bool last;
	for (hb_i32 round = 0; round < 2; round++) { // of the block, then of the partial sums
		lost = hb_total(lost), change = hb_total(change);
		if (HB_LANE == 0) warps[0][threadIdx.x / HB_WARP] = lost, warps[1][threadIdx.x / HB_WARP] = change;
		__syncthreads();
		lost = change = 0;
		if (threadIdx.x == 0) {
			for (hb_i32 w = 0; w < HB_GRAPH_WARPS; w++) lost += warps[0][w], change += warps[1][w];
			double *to = round == 0 ? partial + 2 * blockIdx.x : sums;
			to[HB_PR_LOST] = lost;
			to[HB_PR_CHANGE] = change;
		}
		if (round == 1) return threadIdx.x == 0;
		bool mine = hb_last(done, gridDim.x);
		if (threadIdx.x == 0) last = mine;
		__syncthreads();
		if (!last) return false;
		lost = change = 0;
		volatile double *all = partial;
		for (hb_u32 b = threadIdx.x; b < gridDim.x; b += HB_GRAPH_BLOCK) lost += all[2 * b], change += all[2 * b + 1];
	}
	return false;
}

// hb_pagerank_start spreads the rank evenly.
HB_KERNEL hb_pagerank_start(hb_i32 n, const hb_i64 *ptr, double damping, HB_T *rank, HB_T *share, HB_T *factor, double *partial,
	double *sums, hb_u64 *state) {
	double lost = 0;
	hb_i64 threads = (hb_i64)gridDim.x * blockDim.x;
	for (hb_i64 v = (hb_i64)blockIdx.x * blockDim.x + threadIdx.x; v < n; v += threads) {
		hb_i64 degree = ptr[v + 1] - ptr[v];
		HB_T r = (HB_T)(1.0 / n), f = degree > 0 ? (HB_T)(damping / (double)degree) : (HB_T)0;
		rank[v] = r;
		factor[v] = f;
		share[v] = r * f;
		if (degree == 0) lost += r;
	}
	if (hb_pagerank_sum(lost, 0, partial, sums, &state[0])) {
		sums[HB_PR_CHANGE] = INFINITY;
		state[1] = 0;
	}
}

// hb_pagerank_step computes the ranks of y = Aᵀ share, and the next share. y counts as 0 where
// present, if not null, is 0.
HB_KERNEL hb_pagerank_step(hb_i32 n, double damping, double tolerance, double *y, HB_T *share, const hb_u8 *present, const HB_T *factor, HB_T *rank, double *partial,
	double *sums, hb_u64 *state, hb_i64 *result) {
	if (sums[HB_PR_CHANGE] <= tolerance) return;
	HB_T jump = (HB_T)((1 - damping + damping * sums[HB_PR_LOST]) / n);
	double lost = 0, change = 0;
	hb_i64 threads = (hb_i64)gridDim.x * blockDim.x;
	for (hb_i64 v0 = (hb_i64)blockIdx.x * blockDim.x + threadIdx.x; v0 < n; v0 += threads * HB_UNROLL) {
		HB_T in[HB_UNROLL], was[HB_UNROLL], f[HB_UNROLL];
		for (hb_i32 k = 0; k < HB_UNROLL; k++) {
			hb_i64 v = v0 + k * threads;
			if (v < n) in[k] = !present || present[v] ? (HB_T)y[v] : (HB_T)0, was[k] = rank[v], f[k] = factor[v];
		}
		for (hb_i32 k = 0; k < HB_UNROLL; k++) {
			hb_i64 v = v0 + k * threads;
			if (v >= n) break;
			HB_T r = in[k] + jump;
			rank[v] = r;
			share[v] = r * f[k];
			change += r > was[k] ? (double)(r - was[k]) : (double)(was[k] - r);
			if (f[k] == 0) lost += r;
		}
	}
	if (hb_pagerank_sum(lost, change, partial, sums, &state[0])) {
		volatile double *now = sums;
		state[1] += 1;
		result[0] = __double_as_longlong(now[HB_PR_CHANGE]);
		result[1] = (hb_i64)state[1];
	}
}

// Launches on a group, where a device has own of the n vertices and their rows, and no sum of all
// devices is known: hb_pagerank_rows_start, and in each iteration y = Aᵀ share of the own rows,
// then hb_pagerank_rows. result in pinned host memory gets the sums of the own vertices as doubles:
// the rank of those without out-edges, and Σ|change|. fixed is double[2].

// hb_pagerank_given writes the sums of the grid to result.
HB_DEVICE void hb_pagerank_given(double lost, double change, double *partial, double *fixed, hb_u64 *state, hb_i64 *result) {
	if (!hb_pagerank_sum(lost, change, partial, fixed, &state[0])) return;
	volatile double *now = fixed;
	result[0] = __double_as_longlong(now[HB_PR_LOST]);
	result[1] = __double_as_longlong(now[HB_PR_CHANGE]);
}

HB_KERNEL hb_pagerank_rows_start(hb_i32 own, hb_i32 n, const hb_i64 *ptr, double damping, HB_T *rank, HB_T *share, HB_T *factor,
	double *partial, double *fixed, hb_u64 *state, hb_i64 *result) {
	double lost = 0;
	HB_EACH(v, own) {
		hb_i64 degree = ptr[v + 1] - ptr[v];
		HB_T r = (HB_T)(1.0 / n), f = degree > 0 ? (HB_T)(damping / (double)degree) : (HB_T)0;
		rank[v] = r;
		factor[v] = f;
		share[v] = r * f;
		if (degree == 0) lost += r;
	}
	hb_pagerank_given(lost, 0, partial, fixed, state, result);
}

// Vertices without out-edges send nothing, so that the others are gathered alone: hb_pagerank_sends
// marks them, hb_pagerank_list lists them by the numbers that a scan of the marks gives,
// hb_pagerank_pack writes their shares one after the other, and hb_pagerank_unpack puts the shares
// of all devices in place. Where there is memory for it, the columns of the edges are numbered anew
// instead: hb_pagerank_number numbers the listed vertices, hb_pagerank_columns the columns.
HB_KERNEL hb_pagerank_number(hb_i32 n, const hb_i32 *list, hb_i32 *number) { HB_EACH(k, n) number[list[k]] = (hb_i32)k; }

HB_KERNEL hb_pagerank_columns(hb_i64 entries, const hb_i32 *idx, const hb_i32 *number, hb_i32 *columns) {
	HB_EACH(p, entries) columns[p] = number[idx[p]];
}

HB_KERNEL hb_pagerank_sends(hb_i32 own, const HB_T *factor, hb_u8 *sends) { HB_EACH(v, own) sends[v] = factor[v] != 0; }

HB_KERNEL hb_pagerank_list(hb_i32 own, hb_i32 lo, const hb_u8 *sends, const hb_i64 *number, hb_i32 *list) {
	HB_EACH(v, own) if (sends[v]) list[number[v]] = lo + (hb_i32)v;
}

HB_KERNEL hb_pagerank_pack(hb_i32 n, hb_i32 lo, const hb_i32 *list, const HB_T *share, HB_T *packed) {
	HB_EACH(k, n) packed[k] = share[list[k] - lo];
}

HB_KERNEL hb_pagerank_unpack(hb_i32 n, const hb_i32 *list, const HB_T *packed, HB_T *all) { HB_EACH(k, n) all[list[k]] = packed[k]; }

// jump is what each vertex gets without edges.
HB_KERNEL hb_pagerank_rows(hb_i32 own, double jump, double *y, HB_T *share, const hb_u8 *present, const HB_T *factor, HB_T *rank, double *partial,
	double *fixed, hb_u64 *state, hb_i64 *result) {
	double lost = 0, change = 0;
	hb_i64 threads = (hb_i64)gridDim.x * blockDim.x;
	for (hb_i64 v0 = (hb_i64)blockIdx.x * blockDim.x + threadIdx.x; v0 < own; v0 += threads * HB_UNROLL) {
		HB_T in[HB_UNROLL], was[HB_UNROLL], f[HB_UNROLL];
		for (hb_i32 k = 0; k < HB_UNROLL; k++) {
			hb_i64 v = v0 + k * threads;
			if (v < own) in[k] = !present || present[v] ? (HB_T)y[v] : (HB_T)0, was[k] = rank[v], f[k] = factor[v];
		}
		for (hb_i32 k = 0; k < HB_UNROLL; k++) {
			hb_i64 v = v0 + k * threads;
			if (v >= own) break;
			HB_T r = in[k] + (HB_T)jump;
			rank[v] = r;
			share[v] = r * f[k];
			change += r > was[k] ? (double)(r - was[k]) : (double)(was[k] - r);
			if (f[k] == 0) lost += r;
		}
	}
	hb_pagerank_given(lost, change, partial, fixed, state, result);
}
