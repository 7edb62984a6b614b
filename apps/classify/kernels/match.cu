// Matching a pattern graph in a data graph by belief propagation; see
// apps.Classify for the formulas.
// Source: prelude + queue.cu + this file. Host: apps/classify/gpu.go, which
// defines
//     HB_MATCH_BLOCK      threads of kernels that sum columns
//     HB_MATCH_CHUNK      edges of a task
//     HB_MATCH_LEVELS     sums over all messages of a pattern edge
//     HB_MATCH_SUM_BYTES  size of hb_sum
//
// For n vertices and E edges of the data, P vertices and Q edges of the
// pattern, row-major: cost, belief float[n·P]; vf, vr, into, mass float[n·Q];
// near float[E·width], −distance to width edges of the pattern from number
// first on; norm, peak float[P]; level hb_sum[HB_MATCH_LEVELS·Q].
// A message, max(into − level, null), is never stored: both readers,
// hb_match_send and hb_match_believe, compute it.
//
// once a graph:  hb_match_counts, a scan (at), hb_match_cut
// once:          hb_match_near of the vertices, hb_match_columns,
//                hb_match_near of the edges, hb_match_pass twice, hb_match_mass,
//                hb_match_first
// each round:    hb_match_send<<<grid>>>, hb_match_pass (a warp a task),
//                hb_match_believe<<<grid>>>
//
// The grid of kernels that sum columns has at most 2 blocks a multiprocessor: the
// last block adds up the sums of the others. hb_match_pass is bound by the reads
// of near and sent, the others by memory bandwidth.

#define HB_MATCH_FIXED 4294967296.0 // sums of shares are fixed-point: atomics add up the same in any order

// hb_sum is log Σ exp, as its largest term and the sum of the others' shares.
struct hb_sum {
	float top;
	double shares;
};
static_assert(sizeof(hb_sum) == HB_MATCH_SUM_BYTES, "the host allocates hb_sum");

enum { HB_FORWARD, HB_FORWARD_NULL, HB_BACKWARD, HB_BACKWARD_NULL }; // of RE and VF, of FE and VR
static_assert(HB_BACKWARD_NULL + 1 == HB_MATCH_LEVELS, "the host allocates the levels");

HB_DEVICE hb_sum hb_none() {
	hb_sum s;
	s.top = -INFINITY;
	s.shares = 0;
	return s;
}

HB_DEVICE void hb_take(hb_sum &s, float x) {
	if (x > s.top) {
		s.shares = s.shares * (double)expf(s.top - x) + 1;
		s.top = x;
	} else if (x > -INFINITY) {
		s.shares += (double)expf(x - s.top);
	}
}

HB_DEVICE void hb_join(hb_sum &s, hb_sum t) {
	if (t.top > s.top) {
		s.shares = s.shares * exp((double)s.top - (double)t.top) + t.shares;
		s.top = t.top;
	} else if (t.top > -INFINITY) {
		s.shares += t.shares * exp((double)t.top - (double)s.top);
	}
}

HB_DEVICE float hb_log(hb_sum s) { return s.top > -INFINITY ? (float)((double)s.top + log(s.shares)) : -INFINITY; }

// hb_message is the message that arrives at a vertex.
HB_DEVICE float hb_message(float best, hb_sum sum, hb_sum null) {
	float level = hb_log(sum);
	return level > -INFINITY ? fmaxf(best - level, null.top) : null.top;
}

// A tile is width columns of the columns of an array, a thread a column and
// every height-th row.
struct hb_tile {
	hb_i32 width, height, col, row;
	bool busy;
};

HB_DEVICE hb_tile hb_tile_of(hb_i32 columns) {
	hb_tile t;
	t.width = columns < HB_MATCH_BLOCK ? columns : HB_MATCH_BLOCK;
	t.height = HB_MATCH_BLOCK / t.width;
	t.col = blockIdx.y * t.width + threadIdx.x % t.width;
	t.row = threadIdx.x / t.width;
	t.busy = t.row < t.height && t.col < columns;
	return t;
}

// hb_columns adds up x over the threads of each column, of all blocks. Returns
// true in the threads of the first row of the last block, which then hold the
// sums. partial has HB_MATCH_LEVELS·columns places for each block, done one for
// each blockIdx.y.
template <int K>
HB_DEVICE bool hb_columns(hb_tile t, hb_sum (&x)[K], hb_i32 columns, hb_sum *partial, hb_u64 *done) {
	__shared__ hb_sum all[HB_MATCH_BLOCK];
	__shared__ bool last;
	for (hb_i32 round = 0; round < 2; round++) {
		for (hb_i32 k = 0; k < K; k++) {
			all[threadIdx.x] = x[k];
			__syncthreads();
			if (t.busy && t.row == 0)
				for (hb_i32 r = 1; r < t.height; r++) hb_join(x[k], all[r * t.width + threadIdx.x]);
			__syncthreads();
			if (round == 0 && t.busy && t.row == 0) partial[((hb_i64)blockIdx.x * K + k) * columns + t.col] = x[k];
		}
		if (round == 1) return t.busy && t.row == 0;
		bool mine = hb_last(done + blockIdx.y, gridDim.x);
		if (threadIdx.x == 0) last = mine;
		__syncthreads();
		if (!last) return false;
		__threadfence();
		for (hb_i32 k = 0; k < K; k++) {
			x[k] = hb_none();
			if (!t.busy) continue;
			for (hb_u32 b = t.row; b < gridDim.x; b += t.height) hb_join(x[k], partial[((hb_i64)b * K + k) * columns + t.col]);
		}
	}
	return false;
}

// near[i·width + c] = −|x(:, i) − y(:, first + c)|, for m columns x of f
// features each, and y of columns.
HB_KERNEL hb_match_near(const float *x, hb_i64 m, const float *y, hb_i32 columns, hb_i32 f, hb_i32 first, hb_i32 width, float *near) {
	HB_EACH(p, m * width) {
		hb_i64 i = p / width;
		hb_i32 c = first + (hb_i32)(p - i * width);
		float sum = 0;
		for (hb_i32 k = 0; k < f; k++) {
			float d = x[k * m + i] - y[(hb_i64)k * columns + c];
			sum += d * d;
		}
		near[p] = -sqrtf(sum);
	}
}

// norm = log Σ exp x, peak = max x, of each column of x, n×P.
HB_KERNEL hb_match_columns(const float *x, hb_i32 n, hb_i32 P, float *norm, float *peak, hb_sum *partial, hb_u64 *done) {
	hb_tile t = hb_tile_of(P);
	hb_sum sum[1] = {hb_none()};
	if (t.busy)
		for (hb_i64 v = (hb_i64)blockIdx.x * t.height + t.row; v < n; v += (hb_i64)gridDim.x * t.height) hb_take(sum[0], x[v * P + t.col]);
	if (hb_columns(t, sum, P, partial, done)) {
		norm[t.col] = hb_log(sum[0]);
		peak[t.col] = sum[0].top;
	}
}

HB_KERNEL hb_match_clear(float *x, hb_i64 n) {
	HB_EACH(p, n) x[p] = -INFINITY;
}

HB_DEVICE void hb_raise(float *at, float x) {
	if (__float_as_int(x) >= 0) atomicMax((int *)at, __float_as_int(x));
	else atomicMin((unsigned *)at, __float_as_uint(x));
}

// counts[i] = tasks of row i.
HB_KERNEL hb_match_counts(const hb_i64 *ptr, hb_i64 n, hb_i64 *counts) {
	HB_EACH(i, n) counts[i] = (ptr[i + 1] - ptr[i] + HB_MATCH_CHUNK - 1) / HB_MATCH_CHUNK;
}

// Task t begins with entry task_lo[t] of row task_row[t]; at is the scan of counts.
HB_KERNEL hb_match_cut(const hb_i64 *ptr, hb_i64 n, const hb_i64 *at, hb_i32 *task_row, hb_i64 *task_lo) {
	HB_EACH(i, n) {
		hb_i64 e = ptr[i];
		for (hb_i64 t = at[i]; t < at[i + 1]; t++, e += HB_MATCH_CHUNK) {
			task_row[t] = (hb_i32)i;
			task_lo[t] = e;
		}
	}
}

// A task is a piece of a row of at most HB_MATCH_CHUNK edges.
struct hb_piece {
	hb_i64 lo, hi;
	hb_i32 row;
	bool whole; // the row
};

HB_DEVICE bool hb_piece_of(hb_i64 tasks, const hb_i32 *task_row, const hb_i64 *task_lo, const hb_i64 *ptr, hb_piece &t) {
	hb_i64 k = ((hb_i64)blockIdx.x * blockDim.x + threadIdx.x) / HB_WARP;
	if (k >= tasks) return false; // whole warps
	t.row = task_row[k];
	t.lo = task_lo[k];
	hb_i64 end = ptr[t.row + 1];
	t.hi = end < t.lo + HB_MATCH_CHUNK ? end : t.lo + HB_MATCH_CHUNK;
	t.whole = end - ptr[t.row] <= HB_MATCH_CHUNK;
	return true;
}

// into[v·Q + first + c] = max near[e·width + c] + sent[other(e)·Q + first + c]
// over the edges e of row v; without sent, of near alone. into is −∞ before.
HB_KERNEL hb_match_pass(hb_i64 tasks, const hb_i32 *task_row, const hb_i64 *task_lo, const hb_i64 *ptr, const hb_i32 *edges, const hb_i32 *other,
	const float *near, hb_i32 width, const float *sent, hb_i32 Q, hb_i32 first, float *into) {
	hb_piece t;
	if (!hb_piece_of(tasks, task_row, task_lo, ptr, t)) return;
	for (hb_i32 c0 = 0; c0 < width; c0 += HB_WARP) {
		hb_i32 c = c0 + HB_LANE;
		bool mine = c < width;
		float best = -INFINITY;
		for (hb_i64 from = t.lo; from < t.hi; from += HB_WARP) {
			hb_i32 here = t.hi - from < HB_WARP ? (hb_i32)(t.hi - from) : HB_WARP;
			hb_i32 e = HB_LANE < here ? edges[from + HB_LANE] : 0;
			hb_i32 v = sent && HB_LANE < here ? other[e] : 0;
			for (hb_i32 p = 0; p < here; p += HB_UNROLL) {
				float x[HB_UNROLL];
#pragma unroll
				for (hb_i32 q = 0; q < HB_UNROLL; q++) {
					hb_i32 lane = p + q < here ? p + q : p; // the last, again
					hb_i64 edge = __shfl_sync(HB_FULL, e, lane), at = __shfl_sync(HB_FULL, v, lane);
					x[q] = mine ? near[edge * width + c] : 0;
					if (mine && sent) x[q] += sent[at * Q + first + c];
				}
#pragma unroll
				for (hb_i32 q = 0; q < HB_UNROLL; q++) best = fmaxf(best, x[q]);
			}
		}
		if (!mine) continue;
		float *to = into + (hb_i64)t.row * Q + first + c;
		if (t.whole) *to = best;
		else hb_raise(to, best);
	}
}

// shares[v·Q + first + c] += Σ exp(near − peak[v·Q + first + c]) over the edges
// of row v, in units of 1/HB_MATCH_FIXED; 0 before.
HB_KERNEL hb_match_mass(hb_i64 tasks, const hb_i32 *task_row, const hb_i64 *task_lo, const hb_i64 *ptr, const hb_i32 *edges, const float *near,
	hb_i32 width, const float *peak, hb_i32 Q, hb_i32 first, hb_u64 *shares) {
	hb_piece t;
	if (!hb_piece_of(tasks, task_row, task_lo, ptr, t)) return;
	for (hb_i32 c = HB_LANE; c < width; c += HB_WARP) {
		hb_i64 at = (hb_i64)t.row * Q + first + c;
		float top = peak[at];
		double sum = 0;
		for (hb_i64 k = t.lo; k < t.hi; k++) sum += (double)expf(near[(hb_i64)edges[k] * width + c] - top);
		atomicAdd(shares + at, (hb_u64)(sum * HB_MATCH_FIXED + .5));
	}
}

// mass = peak + log shares, −∞ without edges; and into level, unless it is null, the sums of the
// messages before the first round, of normprob(near).
HB_KERNEL hb_match_first(hb_i32 n, hb_i32 Q, const float *peak, const hb_u64 *shares, float *mass, const hb_i32 *src, const hb_i32 *dst,
	const float *norm, const float *top, hb_sum *level, hb_sum *partial, hb_u64 *done) {
	hb_tile t = hb_tile_of(Q);
	hb_sum sum[1] = {hb_none()};
	if (t.busy)
		for (hb_i64 v = (hb_i64)blockIdx.x * t.height + t.row; v < n; v += (hb_i64)gridDim.x * t.height) {
			hb_i64 at = v * Q + t.col;
			float m = shares[at] > 0 ? peak[at] + logf((float)((double)shares[at] / HB_MATCH_FIXED)) : -INFINITY;
			mass[at] = m;
			hb_take(sum[0], m);
		}
	if (hb_columns(t, sum, Q, partial, done) && level) {
		hb_sum null = hb_none();
		level[HB_FORWARD * Q + t.col] = level[HB_BACKWARD * Q + t.col] = sum[0];
		null.top = top[dst[t.col]] - norm[dst[t.col]];
		level[HB_FORWARD_NULL * Q + t.col] = null;
		null.top = top[src[t.col]] - norm[src[t.col]];
		level[HB_BACKWARD_NULL * Q + t.col] = null;
	}
}

// hb_toward is FMax, hb_back RMax, of pattern edge p at place at.
HB_DEVICE float hb_toward(hb_i64 at, hb_i32 p, hb_i32 Q, const float *into, const hb_sum *level) {
	return hb_message(into[at], level[HB_BACKWARD * Q + p], level[HB_BACKWARD_NULL * Q + p]);
}

// Corrected, backward messages were passed along edges, to out; else they are
// vf and the nearest edge out.
HB_DEVICE float hb_back(hb_i64 at, hb_i32 p, hb_i32 Q, const float *vf, const float *out, hb_i32 corrected, const hb_sum *level) {
	return hb_message(corrected ? out[at] : vf[at] + out[at], level[HB_FORWARD * Q + p], level[HB_FORWARD_NULL * Q + p]);
}

// VF = μ(:, dst) − FMax and VR = μ(:, src) − RMax, overwriting VF and VR of the last round, and
// their levels. Sets into to −∞, and if corrected also out.
HB_KERNEL __launch_bounds__(HB_MATCH_BLOCK) hb_match_send(hb_i32 n, hb_i32 P, hb_i32 Q, const hb_i32 *src, const hb_i32 *dst, const float *belief, const float *norm,
	float *vf, float *vr, float *into, float *out, hb_i32 corrected, const float *back, const float *mass, hb_sum *level, hb_sum *partial, hb_u64 *done) {
	hb_tile t = hb_tile_of(Q);
	hb_sum sum[HB_MATCH_LEVELS] = {hb_none(), hb_none(), hb_none(), hb_none()};
	if (t.busy) {
		hb_i32 p = t.col, s = src[p], d = dst[p];
		float shift_s = norm[s], shift_d = norm[d];
		hb_sum null_f = level[HB_FORWARD_NULL * Q + p], null_b = level[HB_BACKWARD_NULL * Q + p];
		float forward = hb_log(level[HB_FORWARD * Q + p]), backward = hb_log(level[HB_BACKWARD * Q + p]);
		for (hb_i64 v = (hb_i64)blockIdx.x * t.height + t.row; v < n; v += (hb_i64)gridDim.x * t.height) {
			hb_i64 at = v * Q + p;
			float o = out[at], r = corrected ? o : vf[at] + o;
			float f = backward > -INFINITY ? fmaxf(into[at] - backward, null_b.top) : null_b.top;
			r = forward > -INFINITY ? fmaxf(r - forward, null_f.top) : null_f.top;
			f = belief[v * P + d] - shift_d - f;
			r = belief[v * P + s] - shift_s - r;
			vf[at] = f;
			vr[at] = r;
			into[at] = -INFINITY;
			if (corrected) out[at] = -INFINITY;
			hb_take(sum[HB_FORWARD], f + back[at]);
			hb_take(sum[HB_BACKWARD], r + mass[at]);
			sum[HB_FORWARD_NULL].top = fmaxf(sum[HB_FORWARD_NULL].top, f);
			sum[HB_BACKWARD_NULL].top = fmaxf(sum[HB_BACKWARD_NULL].top, r);
		}
	}
	if (hb_columns(t, sum, Q, partial, done))
		for (hb_i32 k = 0; k < HB_MATCH_LEVELS; k++) level[k * Q + t.col] = sum[k];
}

// belief = cost + the messages at each pattern vertex, and norm = log Σ exp of
// its columns. Row j of inptr, inidx lists the pattern edges into j, of outptr,
// outidx those out of it.
HB_KERNEL __launch_bounds__(HB_MATCH_BLOCK) hb_match_believe(hb_i32 n, hb_i32 P, hb_i32 Q, const hb_i64 *inptr, const hb_i32 *inidx, const hb_i64 *outptr,
	const hb_i32 *outidx, const float *cost, const float *vf, const float *into, const float *out, hb_i32 corrected, const hb_sum *level, float *belief,
	float *norm, hb_sum *partial, hb_u64 *done) {
	hb_tile t = hb_tile_of(P);
	hb_sum sum[1] = {hb_none()};
	if (t.busy)
		for (hb_i64 v = (hb_i64)blockIdx.x * t.height + t.row; v < n; v += (hb_i64)gridDim.x * t.height) {
			float b = cost[v * P + t.col];
			for (hb_i64 k = inptr[t.col]; k < inptr[t.col + 1]; k++) b += hb_toward(v * Q + inidx[k], inidx[k], Q, into, level);
			for (hb_i64 k = outptr[t.col]; k < outptr[t.col + 1]; k++) b += hb_back(v * Q + outidx[k], outidx[k], Q, vf, out, corrected, level);
			belief[v * P + t.col] = b;
			hb_take(sum[0], b);
		}
	if (hb_columns(t, sum, P, partial, done)) norm[t.col] = hb_log(sum[0]);
}

// μ = belief − norm.
HB_KERNEL hb_match_end(hb_i64 cells, hb_i32 P, const float *norm, float *belief) {
	HB_EACH(p, cells) belief[p] -= norm[p % P];
}
