// The vector part of an iteration of PageRank in one pass: the new ranks, what
// each vertex sends along its edges next, how much changed, and what is held by
// vertices without out-edges.
// Source: prelude + graph.cu + element type + this file. Go generates
//     typedef … HB_T;  float or double
//
// Buffers for n vertices: rank HB_T[n], share HB_T[n], factor HB_T[n] (kept with
// the matrix and damping), partial double[2·grid], sums double[2],
// state hb_u64[2], result double[2] in pinned host memory.
// Launches, grid = multiprocessors × blocks that fit, HB_GRAPH_BLOCK threads:
//   hb_pagerank_start<<<grid>>>;  then per iteration y = Aᵀ share (an SpMV of
//   plus.second into the array y, with presence bytes if rows may be empty) and
//   hb_pagerank_step<<<grid>>>, which turns y into the next share in place: the
//   next iteration multiplies y into share, and so on in turn. Several
//   iterations may go between synchronisations, as a CUDA graph of an even
//   number: once the change is at most tolerance, steps do nothing, and
//   result = {change, iterations} stays. Sums are taken in double, in an order
//   that depends on grid alone.

// H200, 4.2M vertices: float 24 µs (29 with a cold L2), double 48; the five
// arrays are 84 and 168 MB, 20 and 40 µs at the speed of a copy.

enum { HB_PR_LOST, HB_PR_CHANGE }; // places in sums: held by dangling vertices, Σ|change|

// hb_pagerank_sum adds up both values over the grid into sums; true in thread
// 0 of the last block.
HB_DEVICE bool hb_pagerank_sum(double lost, double change, double *partial, double *sums, hb_u64 *done) {
	__shared__ double warps[2][HB_GRAPH_WARPS];
	__shared__ bool last;
	for (hb_i32 round = 0; round < 2; round++) { // of the block, then of the partial sums
		for (hb_i32 d = HB_WARP / 2; d > 0; d /= 2) {
			lost += __shfl_xor_sync(HB_FULL, lost, d);
			change += __shfl_xor_sync(HB_FULL, change, d);
		}
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

// hb_pagerank_start spreads the rank evenly. ptr are the offsets of out-edges;
// state is zero before.
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

// hb_pagerank_step makes new ranks of y = Aᵀ share, and y the next share. y is
// 0 where present, if there is one, is.
HB_KERNEL hb_pagerank_step(hb_i32 n, double damping, double tolerance, HB_T *y, const hb_u8 *present, const HB_T *factor, HB_T *rank, double *partial,
	double *sums, hb_u64 *state, double *result) {
	if (sums[HB_PR_CHANGE] <= tolerance) return;
	HB_T jump = (HB_T)((1 - damping + damping * sums[HB_PR_LOST]) / n);
	double lost = 0, change = 0;
	hb_i64 threads = (hb_i64)gridDim.x * blockDim.x;
	for (hb_i64 v0 = (hb_i64)blockIdx.x * blockDim.x + threadIdx.x; v0 < n; v0 += threads * HB_UNROLL) {
		HB_T in[HB_UNROLL], was[HB_UNROLL], f[HB_UNROLL];
		for (hb_i32 k = 0; k < HB_UNROLL; k++) {
			hb_i64 v = v0 + k * threads;
			if (v < n) in[k] = !present || present[v] ? y[v] : (HB_T)0, was[k] = rank[v], f[k] = factor[v];
		}
		for (hb_i32 k = 0; k < HB_UNROLL; k++) {
			hb_i64 v = v0 + k * threads;
			if (v >= n) break;
			HB_T r = in[k] + jump;
			rank[v] = r;
			y[v] = r * f[k];
			change += r > was[k] ? (double)(r - was[k]) : (double)(was[k] - r);
			if (f[k] == 0) lost += r;
		}
	}
	if (hb_pagerank_sum(lost, change, partial, sums, &state[0])) {
		volatile double *now = sums;
		state[1] += 1;
		result[0] = now[HB_PR_CHANGE];
		result[1] = (double)state[1];
	}
}
