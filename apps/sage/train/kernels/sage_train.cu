// Training of GraphSAGE; see apps.TrainGraphSAGE. Source: prelude, queue.cu, philox.cu, this file.
// Host: apps/sage/train/gpu.go. sage.cu gathers, cuBLAS multiplies.
//
// Rows of panels have two parts, the vertex's own columns and its neighbours' columns. Each part
// begins at a multiple of 4 columns, and the columns between are 0. Weights have rows and columns
// alike, so that their gradients are 0 there too.
//
// hb_sage_drop         a thread 4 items: dropout of a panel
// hb_sage_drop_list    a warp a row: dropout of entries
// hb_sage_unnorm       lanes threads a row: the gradient before norm and relu, its part of
//                      neighbours divided by their number
// hb_sage_lonely       a thread an item: vertices without neighbours are their own
// hb_sage_chosen       a warp a row of the transposed graph: how often a vertex chose its neighbour
// hb_sage_inputs       lanes threads a target of a tree: its row, and the mean of its choices' rows
// hb_sage_spread       a thread 4 items: gradients of targets and means, given to the rows of a
//                      tree
// hb_sage_mark         a thread a vertex of a batch: counts it
// hb_sage_loss         a thread a vertex: cross entropy and its gradient
// hb_sage_alike        a warp a pair: the loss of pairs of rows and its slope
// hb_sage_adam         a thread a parameter
// hb_sage_stepped      one thread: ends a step that does not end an epoch
// hb_sage_track        one block: the figures of an epoch, and whether training goes on
// hb_sage_keep         a thread a parameter: copies the parameters of the best epoch
//
// Steps that are queued beyond the end of training change nothing that is kept.
//
// A rank of a group has a range of the rows of layers. Panels of such rows begin with the first of
// them, vertex begin of the graph; offsets ptr too. Random numbers depend on the numbers of the
// vertices.

struct hb_sage_state {
	hb_i64 epochs, steps, best, done, improved, limit, patience, validates;
	double validate, best_loss; // of the best epoch
};

struct __align__(16) hb_floats { float x[4]; };

// hb_sage_parts are the columns of a row: own of them from 0 on, near of them from at on; step in
// all.
struct hb_sage_parts { hb_i32 own, near, at, step; };

// hb_sage_word is random word i of a layer and a step: drop of apps/sage/net.go.
HB_DEVICE void hb_sage_words(hb_u64 quad, hb_i64 seed, hb_i64 step, hb_i32 layer, hb_u32 *words) {
	hb_u64 a, b;
	hb_philox(quad, (hb_u64)step << 8 | (hb_u64)layer, (hb_u64)seed, a, b);
	words[0] = (hb_u32)a;
	words[1] = (hb_u32)(a >> 32);
	words[2] = (hb_u32)b;
	words[3] = (hb_u32)(b >> 32);
}

// hb_sage_factors are the factors of dropout of 4 columns of row v: 0 below limit.
HB_DEVICE void hb_sage_factors(hb_i64 v, hb_i32 column, hb_sage_parts p, hb_i64 seed, hb_i64 step, hb_i32 layer, hb_u32 limit,
	float factor, float *f) {
	const hb_i32 cols = p.own + p.near;
	hb_u64 have = ~(hb_u64)0;
	hb_u32 words[4];
#pragma unroll
	for (int i = 0; i < 4; i++) {
		const hb_i32 c = column + i, plain = c < p.at ? c : p.own + c - p.at;
		const bool there = c < p.at ? c < p.own : c - p.at < p.near;
		f[i] = 0;
		if (!there) continue;
		const hb_u64 at = (hb_u64)v * cols + plain;
		if (at >> 2 != have) {
			have = at >> 2;
			hb_sage_words(have, seed, step, layer, words);
		}
		f[i] = words[at & 3] >= limit ? factor : 0;
	}
}

HB_KERNEL hb_sage_drop(hb_i64 rows, hb_i32 own, hb_i32 near, hb_i32 at, hb_i32 step, const float *x, float *to, hb_i64 seed, hb_i32 layer,
	hb_u32 limit, float factor, const hb_sage_state *state, hb_i64 begin) {
	const hb_sage_parts p = {own, near, at, step};
	const hb_i32 quads = step / 4;
	const hb_i64 steps = state->steps;
	HB_EACH(i, rows * quads) {
		const hb_i64 v = i / quads;
		const hb_i32 column = (hb_i32)(i % quads) * 4;
		float f[4];
		hb_sage_factors(begin + v, column, p, seed, steps, layer, limit, factor, f);
		hb_floats y = *(const hb_floats *)(x + v * step + column);
#pragma unroll
		for (int k = 0; k < 4; k++) y.x[k] *= f[k];
		*(hb_floats *)(to + v * step + column) = y;
	}
}

// hb_sage_drop_list: of row r and entry idx, the item is (begin + r, idx), or (begin + idx, r) of a
// transpose.
HB_KERNEL hb_sage_drop_list(hb_i64 rows, const hb_i64 *ptr, const hb_i32 *idx, const float *val, float *to, hb_i32 cols, hb_i32 transposed,
	hb_i64 seed, hb_i32 layer, hb_u32 limit, float factor, const hb_sage_state *state, hb_i64 begin) {
	const hb_i64 steps = state->steps;
	for (hb_i64 r = ((hb_i64)blockIdx.x * HB_GRAPH_BLOCK + threadIdx.x) / HB_WARP; r < rows; r += (hb_i64)gridDim.x * HB_GRAPH_WARPS) {
		for (hb_i64 p = ptr[r] + HB_LANE; p < ptr[r + 1]; p += HB_WARP) {
			const hb_u64 at = transposed ? (hb_u64)(begin + idx[p]) * cols + r : (hb_u64)(begin + r) * cols + idx[p];
			hb_u32 words[4];
			hb_sage_words(at >> 2, seed, steps, layer, words);
			to[p] = words[at & 3] >= limit ? (val ? val[p] : 1) * factor : 0;
		}
	}
}

// hb_sage_unnorm takes the gradient g of the rows y = norm(relu(x)), or of y after dropout with a
// limit above 0, and writes the gradient of x: the own part to mine, the other to others; with GCN
// others gets all. The other part is divided by the number of a vertex's neighbours, from the
// offsets ptr: all, or with samples above 0 so many at most, or with samples below 0 −samples with
// replacement. A null ptr divides by 1.
HB_KERNEL hb_sage_unnorm(hb_i64 rows, hb_i32 own, hb_i32 near, hb_i32 at, hb_i32 step, hb_i32 lanes, const float *g, const float *y,
	const float *length, const hb_i64 *ptr, hb_i32 gcn, float *mine, hb_i64 mine_step, float *others, hb_i64 seed, hb_i32 layer,
	hb_u32 limit, float factor, const hb_sage_state *state, hb_i64 begin, hb_i32 samples) {
	const hb_sage_parts p = {own, near, at, step};
	const hb_i32 lane = threadIdx.x % lanes;
	const hb_i64 groups = (hb_i64)gridDim.x * (HB_GRAPH_BLOCK / lanes), steps = state->steps;
	const hb_i32 together = HB_WARP / lanes;
	for (hb_i64 v = ((hb_i64)blockIdx.x * HB_GRAPH_BLOCK + threadIdx.x) / lanes; v - v % together < rows; v += groups) {
		float along = 0;
		for (hb_i32 turn = 0; turn < 2; turn++) {
			hb_i64 degree = turn && ptr && v < rows ? ptr[v + 1] - ptr[v] : 0;
			if (samples > 0 && degree > samples) degree = samples;
			if (samples < 0 && degree > 0) degree = -samples;
			const float share = ptr ? 1 / (float)(gcn ? degree + 1 : degree > 0 ? degree : 1) : 1;
			const float inverse = turn && v < rows && length[v] > 0 ? 1 / length[v] : 0;
			for (hb_i32 c = lane * 4; v < rows && c < step; c += lanes * 4) {
				hb_floats d = *(const hb_floats *)(g + v * step + c);
				const hb_floats z = *(const hb_floats *)(y + v * step + c);
				if (limit) {
					float f[4];
					hb_sage_factors(begin + v, c, p, seed, steps, layer, limit, factor, f);
#pragma unroll
					for (int k = 0; k < 4; k++) d.x[k] *= f[k];
				}
				if (!turn) {
#pragma unroll
					for (int k = 0; k < 4; k++) along += z.x[k] * d.x[k];
					continue;
				}
				const bool other = gcn || c >= at;
#pragma unroll
				for (int k = 0; k < 4; k++) d.x[k] = z.x[k] > 0 ? (d.x[k] - z.x[k] * along) * inverse * (other ? share : 1) : 0;
				if (!other) *(hb_floats *)(mine + v * mine_step + c) = d;
				else *(hb_floats *)(others + v * (step - (gcn ? 0 : at)) + c - (gcn ? 0 : at)) = d;
			}
			if (!turn)
				for (hb_i32 d = lanes / 2; d > 0; d /= 2) along += __shfl_xor_sync(HB_FULL, along, d);
		}
	}
}

// hb_sage_lonely adds the rows of vertices without neighbours to themselves.
HB_KERNEL hb_sage_lonely(hb_i64 rows, const hb_i64 *ptr, hb_i32 columns, const float *x, float *to, hb_i64 to_step) {
	HB_EACH(i, rows * columns) {
		const hb_i64 v = i / columns;
		if (ptr[v] == ptr[v + 1]) to[v * to_step + i % columns] += x[i];
	}
}

// hb_sage_chosen writes for each entry of rows begin to begin + rows of the transposed graph, row u
// and column v, how often u is among the samples choices of v in list.
HB_KERNEL hb_sage_chosen(hb_i64 begin, hb_i64 rows, const hb_i64 *ptr, const hb_i32 *idx, const hb_i32 *list, hb_i32 samples, float *times) {
	for (hb_i64 r = ((hb_i64)blockIdx.x * HB_GRAPH_BLOCK + threadIdx.x) / HB_WARP; r < rows; r += (hb_i64)gridDim.x * HB_GRAPH_WARPS) {
		const hb_i64 u = begin + r;
		for (hb_i64 p = ptr[u] + HB_LANE; p < ptr[u + 1]; p += HB_WARP) {
			const hb_i32 *of = list + (hb_i64)idx[p] * samples;
			hb_i32 count = 0;
			for (hb_i32 k = 0; k < samples; k++) count += of[k] == (hb_i32)u;
			times[p] = (float)count;
		}
	}
}

// hb_sage_inputs computes the inputs of a layer of trees: of target i, of rows targets, row i of
// own, and in mean the mean over row rows + i·samples + j, j < samples, with gcn and the target
// itself; both after dropout. node has the vertex of each row, −1 for none. If indexed, a vertex
// numbers its row of x; else row r reads row r of x. mine may be null. inverse has 1 over the
// number of rows of a mean.
HB_KERNEL hb_sage_inputs(hb_i64 rows, hb_i32 samples, const hb_i32 *node, hb_i32 indexed, hb_i32 gcn, hb_i32 lanes, const float *x,
	hb_i32 own, hb_i32 near, hb_i32 at, hb_i32 step, float *mine, float *mean, float *inverse, hb_i64 seed, hb_i32 layer, hb_u32 limit,
	float factor, const hb_sage_state *state) {
	const hb_sage_parts parts = {own, near, at, step};
	const hb_i32 lane = threadIdx.x % lanes;
	const hb_i64 groups = (hb_i64)gridDim.x * (HB_GRAPH_BLOCK / lanes), steps = state->steps;
	for (hb_i64 i = ((hb_i64)blockIdx.x * HB_GRAPH_BLOCK + threadIdx.x) / lanes; i < rows; i += groups) {
		const hb_i32 *choice = node + rows + i * samples;
		hb_i32 count = gcn && node[i] >= 0;
		for (hb_i32 j = 0; j < samples; j++) count += choice[j] >= 0;
		const float share = count > 0 ? 1 / (float)count : 0;
		if (lane == 0) inverse[i] = share;
		for (hb_i32 c = lane * 4; c < step; c += lanes * 4) {
			float sum[4] = {0, 0, 0, 0};
			for (hb_i32 j = -1; j < samples; j++) {
				const hb_i32 v = j < 0 ? node[i] : choice[j];
				float y[4] = {0, 0, 0, 0};
				if (v >= 0) {
					const hb_i64 r = indexed ? (hb_i64)v : j < 0 ? i : rows + i * samples + j;
					const hb_floats w = *(const hb_floats *)(x + r * step + c);
					float f[4] = {1, 1, 1, 1};
					if (limit) hb_sage_factors(v, c, parts, seed, steps, layer, limit, factor, f);
#pragma unroll
					for (int k = 0; k < 4; k++) y[k] = w.x[k] * f[k];
				}
				if (j < 0 && mine) {
					const hb_floats w = {{y[0], y[1], y[2], y[3]}};
					*(hb_floats *)(mine + i * step + c) = w;
				}
				if (j < 0 && !gcn) continue;
#pragma unroll
				for (int k = 0; k < 4; k++) sum[k] += y[k];
			}
			const hb_floats w = {{sum[0] * share, sum[1] * share, sum[2] * share, sum[3] * share}};
			*(hb_floats *)(mean + i * step + c) = w;
		}
	}
}

// hb_sage_spread is the transposed hb_sage_inputs: it writes the gradient g of all rows of a layer
// of trees from the gradients of mine, null with gcn, and of mean.
HB_KERNEL hb_sage_spread(hb_i64 rows, hb_i32 samples, const hb_i32 *node, const float *mine, const float *mean, const float *inverse,
	hb_i32 own, hb_i32 near, hb_i32 at, hb_i32 step, float *g, hb_i64 seed, hb_i32 layer, hb_u32 limit, float factor,
	const hb_sage_state *state) {
	const hb_sage_parts parts = {own, near, at, step};
	const hb_i32 quads = step / 4;
	const hb_i64 steps = state->steps;
	HB_EACH(item, rows * (1 + samples) * quads) {
		const hb_i64 r = item / quads, i = r < rows ? r : (r - rows) / samples;
		const hb_i32 c = (hb_i32)(item % quads) * 4, v = node[r];
		hb_floats y = {{0, 0, 0, 0}};
		if (v >= 0) {
			const bool plain = r < rows && mine;
			y = *(const hb_floats *)((plain ? mine : mean) + i * step + c);
			const float share = plain ? 1 : inverse[i];
			float f[4] = {1, 1, 1, 1};
			if (limit) hb_sage_factors(v, c, parts, seed, steps, layer, limit, factor, f);
#pragma unroll
			for (int k = 0; k < 4; k++) y.x[k] *= share * f[k];
		}
		*(hb_floats *)(g + r * step + c) = y;
	}
}

// hb_sage_mark counts how often vertices stand in a list.
HB_KERNEL hb_sage_mark(hb_i64 count, const hb_i32 *list, hb_u32 *times) {
	HB_EACH(k, count) atomicAdd(times + list[k], 1u);
}

// hb_sage_sums adds up the numbers of a block's threads, as parts of the epoch's sums: it adds to
// them if more, and else replaces them.
HB_DEVICE void hb_sage_sums(double loss, double right, hb_i32 more, double *sums) {
	__shared__ double parts[2 * HB_GRAPH_WARPS];
	for (hb_i32 d = HB_WARP / 2; d > 0; d /= 2) {
		loss += __shfl_xor_sync(HB_FULL, loss, d);
		right += __shfl_xor_sync(HB_FULL, right, d);
	}
	if (HB_LANE == 0) {
		parts[threadIdx.x / HB_WARP * 2] = loss;
		parts[threadIdx.x / HB_WARP * 2 + 1] = right;
	}
	__syncthreads();
	if (threadIdx.x < 2) {
		double sum = more ? sums[2 * blockIdx.x + threadIdx.x] : 0;
		for (hb_i32 w = 0; w < HB_GRAPH_WARPS; w++) sum += parts[2 * w + threadIdx.x];
		sums[2 * blockIdx.x + threadIdx.x] = sum;
	}
}

// hb_sage_alike computes −log σ(±z(a)·z(b)) of pairs: near[k] is 1 if the rows are to be alike,
// else −1; total is the number of pairs to be alike. The slope of pair k goes to places place[2k]
// and place[2k+1] of slopes; the rows of slopes sum up the gradients of a and of b. The sums are
// scale times the loss over total.
HB_KERNEL hb_sage_alike(hb_i64 pairs, const hb_i32 *ends, const hb_i32 *near, const hb_i32 *place, hb_i32 columns, const float *z,
	double total, double scale, float *slopes, hb_i32 more, double *sums) {
	double loss = 0;
	for (hb_i64 k = ((hb_i64)blockIdx.x * HB_GRAPH_BLOCK + threadIdx.x) / HB_WARP; k < pairs; k += (hb_i64)gridDim.x * HB_GRAPH_WARPS) {
		const float *a = z + (hb_i64)ends[2 * k] * columns, *b = z + (hb_i64)ends[2 * k + 1] * columns;
		double dot = 0;
		for (hb_i32 c = HB_LANE; c < columns; c += HB_WARP) dot += (double)a[c] * b[c];
		for (hb_i32 d = HB_WARP / 2; d > 0; d /= 2) dot += __shfl_xor_sync(HB_FULL, dot, d);
		dot *= near[k];
		if (HB_LANE > 0) continue;
		loss += log1p(exp(-dot));
		slopes[place[2 * k]] = slopes[place[2 * k + 1]] = (float)(-near[k] / (1 + exp(dot)) / total);
	}
	hb_sage_sums(loss / total * scale, 0, more, sums);
}

// hb_sage_loss computes the loss of the vertices that count, times[v] times of total, once with
// null times, from logits without bias. Row v is of vertex who[v], with a null who of v. grad may
// be null. A block writes its loss and its number of right vertices to sums, or adds them if more.
HB_KERNEL hb_sage_loss(hb_i64 rows, hb_i32 classes, const float *logits, const float *bias, const hb_i32 *class_of, const hb_i32 *who,
	const hb_u32 *times, double total, float *grad, hb_i32 more, double *sums) {
	double loss = 0, right = 0;
	HB_EACH(v, rows) {
		const hb_u32 count = times ? times[v] : 1;
		if (!count) {
			for (hb_i32 j = 0; grad && j < classes; j++) grad[v * classes + j] = 0;
			continue;
		}
		const float *x = logits + v * classes;
		hb_i32 most = 0;
		float top = x[0] + bias[0];
		for (hb_i32 j = 1; j < classes; j++) {
			const float y = x[j] + bias[j];
			if (y > top) {
				top = y;
				most = j;
			}
		}
		float sum = 0;
		for (hb_i32 j = 0; j < classes; j++) sum += expf(x[j] + bias[j] - top);
		const hb_i32 c = class_of[who ? who[v] : v];
		loss += count * ((double)logf(sum) + top - (x[c] + bias[c]));
		if (most == c) right += count;
		for (hb_i32 j = 0; grad && j < classes; j++)
			grad[v * classes + j] = (float)((expf(x[j] + bias[j] - top) / sum - (j == c)) * (count / total));
	}
	hb_sage_sums(loss, right, more, sums);
}

// hb_sage_adam moves the parameters by their gradients; sageNet.adam. Each of the ranks has a part
// of the gradients, stride items apart. They are added up in the order of ranks.
HB_KERNEL hb_sage_adam(hb_i64 count, hb_i32 ranks, hb_i64 stride, float *value, const float *grad, float *first, float *next, double rate, double decay,
	const hb_sage_state *state) {
	__shared__ double scale[2];
	if (state->done) return;
	if (threadIdx.x == 0) {
		scale[0] = 1 - pow(0.9, (double)(state->steps + 1));
		scale[1] = 1 - pow(0.999, (double)(state->steps + 1));
	}
	__syncthreads();
	HB_EACH(i, count) {
		float sum = grad[i];
		for (hb_i32 r = 1; r < ranks; r++) sum += grad[r * stride + i];
		const double d = (double)sum + decay * value[i];
		const float m = (float)(0.9 * first[i] + 0.1 * d), v = (float)(0.999 * next[i] + 0.001 * d * d);
		first[i] = m;
		next[i] = v;
		value[i] = (float)(value[i] - rate * (m / scale[0]) / (sqrt(v / scale[1]) + 1e-8));
	}
}

// hb_sage_total sums up the parts of the blocks of each rank, in order. The parts of a rank are
// stride apart. One thread calls it.
HB_DEVICE double hb_sage_total(const double *sums, hb_i32 blocks, hb_i32 ranks, hb_i64 stride, hb_i32 which) {
	double sum = 0;
	for (hb_i32 r = 0; r < ranks; r++)
		for (hb_i32 b = 0; b < blocks; b++) sum += sums[r * stride + 2 * b + which];
	return sum;
}

// hb_sage_stepped ends a step.
HB_KERNEL hb_sage_stepped(hb_sage_state *state) {
	if (!state->done) state->steps++;
}

// hb_sage_track ends an epoch, and with once its only step. Of history[4·epoch]: loss, right,
// accuracy and loss of validation.
HB_KERNEL hb_sage_track(hb_sage_state *state, const double *train, double trained, const double *valid, double validated, hb_i32 blocks,
	hb_i32 ranks, hb_i64 stride, hb_i32 once, double *history, hb_i64 *finished) {
	__shared__ double sums[4];
	if (state->done) return;
	if (threadIdx.x < 4) sums[threadIdx.x] = threadIdx.x < 2 || validated > 0
		? hb_sage_total(threadIdx.x < 2 ? train : valid, blocks, ranks, stride, threadIdx.x & 1) : 0;
	__syncthreads();
	if (threadIdx.x > 0) return;
	double *row = history + 4 * state->epochs;
	row[0] = sums[0] / trained;
	row[1] = sums[1];
	state->epochs++;
	if (once) state->steps++;
	if (validated > 0) {
		const double accuracy = row[2] = sums[3] / validated, loss = row[3] = sums[2] / validated;
		state->improved = !(accuracy < state->validate) && (accuracy != state->validate || loss < state->best_loss);
		if (state->improved) {
			state->best = state->epochs;
			state->validate = accuracy;
			state->best_loss = loss;
		}
	} else {
		state->best = state->epochs;
	}
	if (state->epochs >= state->limit || state->epochs - state->best >= state->patience) state->done = *finished = 1;
}

// hb_sage_keep copies the parameters of an epoch that is the best so far.
HB_KERNEL hb_sage_keep(hb_i64 count, const float *value, float *best, const hb_sage_state *state) {
	if (!state->improved || state->best != state->epochs) return;
	HB_EACH(i, count) best[i] = value[i];
}
