// Four algorithms written by hand, beside which bench/gpu measures the same ones written in
// operations: see examples/own/algorithms. A matrix is CSR with offsets of 32 bits. Kernels of a
// loop that has ended return at once, so that the host looks only every few passes.

typedef unsigned long long u64;

#define FULL 0xffffffffu
#define LANES 8  // that take a part of a row
#define PART 64  // entries of a part
#define NONE 0x7fffffff

// place returns where the lanes of a warp write count entries each, of a list with so many.
static __device__ unsigned place(unsigned count, unsigned *total) {
	const unsigned lane = threadIdx.x & 31;
	unsigned sum = count;
	for (int d = 1; d < 32; d *= 2) {
		const unsigned other = __shfl_up_sync(FULL, sum, d);
		if (lane >= d) sum += other;
	}
	unsigned first = 0;
	if (lane == 31 && sum > 0) first = atomicAdd(total, sum);
	return __shfl_sync(FULL, first, 31) + sum - count;
}

// queue_row appends the parts of row v, if want is set: its number and its first entry.
static __device__ void queue_row(bool want, const int *ptr, int v, int2 *queue, unsigned *items) {
	const int begin = want ? ptr[v] : 0, end = want ? ptr[v + 1] : 0, parts = (end - begin + PART - 1) / PART;
	const unsigned at = place(parts, items);
	for (int k = 0; k < parts; k++) queue[at + k] = make_int2(v, begin + k * PART);
}

// visit calls f(vertex, entry, in) for the entries of the parts, by whole warps: in is false for
// lanes without an entry.
template <class F> static __device__ void visit(const int *ptr, const int2 *queue, unsigned items, F f) {
	const unsigned lane = threadIdx.x & 31, warps = gridDim.x * blockDim.x / 32, each = 32 / LANES;
	for (unsigned base = (blockIdx.x * blockDim.x + threadIdx.x) / 32 * each; base < items; base += warps * each) {
		int v = 0, e = 0, end = 0;
		if (base + lane / LANES < items) {
			const int2 part = queue[base + lane / LANES];
			v = part.x;
			e = part.y + lane % LANES;
			end = min(part.y + PART, ptr[v + 1]);
		}
		for (; __any_sync(FULL, e < end); e += LANES) f(v, e, e < end);
	}
}

// ---- Reach: least costs within a budget, a hop in each pass ----

// start is the first pass of a search from one vertex.
extern "C" __global__ void reach_start(const int *ptr, int source, int *cost, int2 *queue, unsigned *items) {
	if (threadIdx.x == 0) cost[source] = 0;
	queue_row(threadIdx.x == 0, ptr, source, queue, items);
}

// reach_relax offers costs to neighbours: to next, since cost is of the hop before.
extern "C" __global__ void reach_relax(const int *ptr, const int *idx, const int *weight, const int2 *queue, const unsigned *items,
		const int *cost, int *next, int budget, int *touched, unsigned *found) {
	visit(ptr, queue, *items, [&](int v, int e, bool in) {
		bool first = false;
		int to = 0;
		if (in) {
			to = idx[e];
			const int c = cost[v] + weight[e];
			if (c <= budget && c < cost[to] && c < next[to]) first = atomicMin(&next[to], c) == NONE;
		}
		const unsigned at = place(first, found);
		if (first) touched[at] = to;
	});
}

// reach_commit makes the offers the costs, and queues the rows.
extern "C" __global__ void reach_commit(const int *ptr, const int *touched, const unsigned *found, int *cost, int *next, int2 *queue, unsigned *items) {
	const unsigned n = *found, threads = gridDim.x * blockDim.x;
	for (unsigned base = (blockIdx.x * blockDim.x + threadIdx.x) & ~31u; base < n; base += threads) {
		const unsigned k = base + (threadIdx.x & 31);
		const int v = k < n ? touched[k] : 0;
		if (k < n) {
			cost[v] = next[v];
			next[v] = NONE;
		}
		queue_row(k < n, ptr, v, queue, items);
	}
}

// ---- Spread: the strongest label, in place ----

extern "C" __global__ void spread_start(const int *ptr, const int *seeds, const u64 *with, int n, u64 *best, int2 *queue, unsigned *items) {
	for (int base = threadIdx.x & ~31; base < n; base += blockDim.x) {
		const int k = base + (threadIdx.x & 31);
		if (k < n) best[seeds[k]] = with[k];
		queue_row(k < n, ptr, k < n ? seeds[k] : 0, queue, items);
	}
}

// spread_relax hands labels on. A vertex is queued once a pass: stamp has its last one.
extern "C" __global__ void spread_relax(const int *ptr, const int *idx, const int *weight, const int2 *queue, const unsigned *items,
		u64 *best, unsigned *stamp, unsigned pass, u64 least, int2 *after, unsigned *more) {
	visit(ptr, queue, *items, [&](int v, int e, bool in) {
		bool first = false;
		int to = 0;
		if (in) {
			to = idx[e];
			const u64 from = *(volatile u64 *)&best[v];
			const u64 x = ((from >> 32) * weight[e] >> 8 << 32) | (from & 0xffffffff);
			if (x >= least && x > best[to] && atomicMax(&best[to], x) < x) first = atomicExch(&stamp[to], pass) != pass;
		}
		if (__any_sync(FULL, first)) queue_row(first, ptr, to, after, more);
	});
}

// ---- Jacobi ----

extern "C" __global__ void jacobi_inverse(int n, const int *ptr, const int *idx, const float *val, float *inverse) {
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
		int lo = ptr[i], hi = ptr[i + 1];
		while (lo < hi) {
			const int mid = (lo + hi) / 2;
			if (idx[mid] < i) lo = mid + 1;
			else hi = mid;
		}
		inverse[i] = 1 / val[lo];
	}
}

// jacobi_sweep makes y of x. The first blocks take a long row each, the others lanes for a row.
extern "C" __global__ void jacobi_sweep(int n, const int *ptr, const int *idx, const float *val, const float *b, const float *inverse,
		const float *x, float *y, const int *longs, int nlongs, int length, int lanes, float tolerance, const float *before, float *largest) {
	if (*before <= tolerance) return;
	__shared__ float sums[32];
	const int lane = threadIdx.x & 31, warp = threadIdx.x / 32, warps = blockDim.x / 32;
	float most = 0;
	if (blockIdx.x < nlongs) {
		const int i = longs[blockIdx.x], end = ptr[i + 1];
		float sum = 0;
#pragma unroll 4
		for (int e = ptr[i] + threadIdx.x; e < end; e += blockDim.x) sum += val[e] * x[idx[e]];
		for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(FULL, sum, d);
		if (lane == 0) sums[warp] = sum;
		__syncthreads();
		if (threadIdx.x == 0) {
			for (int w = 1; w < warps; w++) sum += sums[w];
			const float r = b[i] - sum;
			y[i] = x[i] + r * inverse[i];
			most = fabsf(r);
		}
		__syncthreads();
	} else {
		const int rows = blockDim.x / lanes;
		for (int base = (blockIdx.x - nlongs) * rows; base < n; base += (gridDim.x - nlongs) * rows) {
			const int i = base + threadIdx.x / lanes;
			int e = 0, end = 0;
			bool mine = i < n;
			if (mine) {
				e = ptr[i];
				end = ptr[i + 1];
				mine = end - e <= length;
			}
			float sum = 0;
			if (mine)
#pragma unroll 4
				for (e += threadIdx.x % lanes; e < end; e += lanes) sum += val[e] * x[idx[e]];
			for (int d = lanes / 2; d > 0; d /= 2) sum += __shfl_down_sync(FULL, sum, d, lanes);
			if (mine && threadIdx.x % lanes == 0) {
				const float r = b[i] - sum;
				y[i] = x[i] + r * inverse[i];
				most = fmaxf(most, fabsf(r));
			}
		}
	}
	for (int d = 16; d > 0; d /= 2) most = fmaxf(most, __shfl_down_sync(FULL, most, d));
	if (lane == 0) sums[warp] = most;
	__syncthreads();
	if (threadIdx.x > 0) return;
	for (int w = 1; w < warps; w++) most = fmaxf(most, sums[w]);
	if (most > *(volatile float *)largest) atomicMax((int *)largest, __float_as_int(most)); // none is below 0
}

// ---- k-means with eight centres, which are columns: lane c of eight has centre c ----

#define K 8

// kmeans_first makes row first[c] centre c, by block c.
extern "C" __global__ void kmeans_first(const int *ptr, const int *idx, const float *val, const int *first, float *centre, float *half) {
	const int c = blockIdx.x, i = first[c];
	float sum = 0;
	for (int e = ptr[i] + threadIdx.x; e < ptr[i + 1]; e += blockDim.x) {
		centre[(size_t)idx[e] * K + c] = val[e];
		sum += val[e] * val[e];
	}
	if (sum != 0) atomicAdd(&half[c], sum / 2);
}

// nearest returns the centre of the largest score of the eight lanes, the smallest of equal ones.
static __device__ int nearest(float score) {
	int best = threadIdx.x % K;
	for (int d = 1; d < K; d *= 2) {
		const float other = __shfl_xor_sync(FULL, score, d);
		const int of = __shfl_xor_sync(FULL, best, d);
		if (other > score || other == score && of < best) {
			score = other;
			best = of;
		}
	}
	return best;
}

// kmeans_assign finds the centre of each row, and adds the row to the sum of that centre. The first
// blocks take a long row each.
extern "C" __global__ void kmeans_assign(int n, const int *ptr, const int *idx, const float *val, const float *centre, const float *half,
		const int *longs, int nlongs, int length, int *label, unsigned *count, float *sums, const unsigned *before, unsigned *changed) {
	if (*before == 0) return;
	__shared__ float parts[32 * K];
	__shared__ unsigned counts[K + 1];
	__shared__ int chosen;
	const int c = threadIdx.x % K, group = threadIdx.x / K, groups = blockDim.x / K;
	if (threadIdx.x <= K) counts[threadIdx.x] = 0;
	__syncthreads();
	if (blockIdx.x < nlongs) {
		const int i = longs[blockIdx.x], begin = ptr[i], end = ptr[i + 1];
		float sum = 0;
#pragma unroll 4
		for (int e = begin + group; e < end; e += groups) sum += val[e] * centre[(size_t)idx[e] * K + c];
		parts[threadIdx.x] = sum;
		__syncthreads();
		if (threadIdx.x < 32) {
			sum = 0;
			for (int g = 0; g < groups; g++) sum += parts[g * K + c];
			const int best = nearest(sum - half[c]);
			if (threadIdx.x == 0) {
				chosen = best;
				counts[best]++;
				counts[K] += label[i] != best;
				label[i] = best;
			}
		}
		__syncthreads();
		for (int e = begin + threadIdx.x; e < end; e += blockDim.x) atomicAdd(&sums[(size_t)idx[e] * K + chosen], val[e]);
	} else {
		for (int base = (blockIdx.x - nlongs) * groups; base < n; base += (gridDim.x - nlongs) * groups) {
			const int i = base + group;
			int begin = 0, end = 0;
			bool mine = i < n;
			if (mine) {
				begin = ptr[i];
				end = ptr[i + 1];
				mine = end - begin <= length;
			}
			float sum = 0;
			if (mine)
#pragma unroll 4
				for (int e = begin; e < end; e++) sum += val[e] * centre[(size_t)idx[e] * K + c];
			const int best = nearest(sum - half[c]);
			if (!mine) continue;
			if (c == 0) {
				atomicAdd(&counts[best], 1u);
				if (label[i] != best) {
					counts[K] = 1;
					label[i] = best;
				}
			}
			for (int e = begin + c; e < end; e += K) atomicAdd(&sums[(size_t)idx[e] * K + best], val[e]);
		}
	}
	__syncthreads();
	if (threadIdx.x < K && counts[threadIdx.x]) atomicAdd(&count[threadIdx.x], counts[threadIdx.x]);
	if (threadIdx.x == K && counts[K]) *changed = 1;
}

// kmeans_centre divides the sums, which it clears, and adds up the halves of the squares.
extern "C" __global__ void kmeans_centre(size_t entries, const unsigned *count, float *sums, float *centre, float *half, const unsigned *before) {
	if (*before == 0) return;
	__shared__ float parts[32 * K];
	const int c = threadIdx.x % K;
	const float by = count[c] ? 1.0f / count[c] : 0;
	float sum = 0;
	for (size_t p = blockIdx.x * blockDim.x + threadIdx.x; p < entries; p += gridDim.x * blockDim.x) {
		const float x = sums[p] * by;
		sums[p] = 0;
		centre[p] = x;
		sum += x * x;
	}
	parts[threadIdx.x] = sum;
	__syncthreads();
	if (threadIdx.x >= K) return;
	for (int t = threadIdx.x + K; t < blockDim.x; t += K) sum += parts[t];
	if (sum != 0) atomicAdd(&half[c], sum / 2);
}
