// Fused lasso: the accelerated dual gradient, and the certificate of its regions.
// Source: prelude + graph.cu + this file. Host: apps/lasso/gpu.go, which defines
//     HB_LASSO_TILE  arcs of a tile of hb_lasso_step, 4·HB_GRAPH_BLOCK
//     HB_LASSO_HOLD  threads of a block of hb_lasso_plan and hb_lasso_hold
//     HB_LASSO_ROWS  rows of a thread of hb_lasso_hold
//     HB_LASSO_MOST  arcs of the longest row that hb_lasso_hold takes, at most 255
//     HB_LASSO_EQUAL relative difference of values that count as equal
//
// A part is the problem of the vertices that are not frozen: minimise ½ Σ ν x² over the flows u
// with |u| ≤ cap, where ν x = load − B u. An edge has an arc in both directions. Their flows are
// opposite to the last bit, since the same odd operations compute both. Arrays of a part:
//     ptr hb_i32[n+1]; tail, head, name hb_i32[m] (name: an edge of the graph, or ~edge of the arc
//     back) cap double[m], or 0 if all are most; step float[m]; u, w double[m], the last two
//     iterates vertex hb_i32[n] of the graph; load, x, ahead double[n] (x extrapolated); nu, inv
//     double[n],
//     or 0 for weights of 1; degree float[n], arcs/ν
// Each vertex of a part has an arc.
//
// iteration: hb_lasso_step, a launch each; or hb_lasso_plan once for a part and hb_lasso_hold for
// many.
// certificate: hb_lasso_alone, hb_lasso_join twice, hb_lasso_regions, hb_lasso_means, a scan of the
//   forest's degrees, hb_lasso_links, hb_lasso_tour, hb_lasso_jump log₂(2n) times, hb_lasso_route,
//   hb_lasso_bounds, hb_lasso_spread until nothing changes, hb_lasso_frozen
// compaction: hb_lasso_cut, a scan of the arcs, hb_lasso_add, hb_lasso_load, hb_lasso_stay, a scan
//   of the vertices, hb_lasso_vertices, hb_lasso_arcs
//
// hb_lasso_gather and hb_lasso_gather_arcs make one part of the parts of several jobs; vertices and
// edges are numbered one job after the other.
//
// Sums by atomics are in any order: results of two runs may differ in the last bits.

enum { HB_LASSO_BETA, HB_LASSO_NEXT, HB_LASSO_T, HB_LASSO_LAST, HB_LASSO_OLD }; // of state
enum { HB_LASSO_FROZEN, HB_LASSO_NEED, HB_LASSO_DONE, HB_LASSO_COUNT, HB_LASSO_ZEROS, HB_LASSO_ARRIVED, HB_LASSO_CHANGED = 8, HB_LASSO_ACTIVE = 24 };

// HB_LASSO_STEP is τ for the sum of the degrees of an edge's ends, less what keeps it below its
// bound.
#ifdef HB_EMULATED
#define HB_LASSO_STEP(degrees) ((1 - 1e-6f) / (degrees))
#else
#define HB_LASSO_STEP(degrees) __fdividef(1 - 1e-6f, degrees)
#endif

// hb_lasso_ordered maps doubles to integers of the same order, hb_lasso_number back.
HB_DEVICE hb_u64 hb_lasso_ordered(double x) {
	const hb_i64 bits = __double_as_longlong(x + 0.0);
	return (hb_u64)bits ^ ((hb_u64)(bits >> 63) | 0x8000000000000000ull);
}

HB_DEVICE double hb_lasso_number(hb_u64 key) {
	return __longlong_as_double((hb_i64)(key ^ (key >> 63 ? 0x8000000000000000ull : ~0ull)));
}

// hb_lasso_fresh reads what other blocks may have written in this launch. It does not use __ldcg:
// the compiler may merge its loads of one address, which then return old values across grid
// barriers (CUDA 13).
template <typename T> HB_DEVICE T hb_lasso_fresh(const T *p) { return *(const volatile T *)p; }

// hb_lasso_add_to adds x to *to; all lanes of the warp call it. Lanes with the same address add
// once. to is 0 in lanes without an address.
HB_DEVICE void hb_lasso_add_to(double *to, double x) {
	hb_u32 left = __ballot_sync(HB_FULL, to != 0);
	while (left) {
		const hb_i32 leader = __ffs((int)left) - 1;
		const hb_u64 at = __shfl_sync(HB_FULL, (hb_u64)to, leader);
		const bool mine = (hb_u64)to == at;
		const double sum = hb_total(mine ? x : 0.0);
		if (HB_LANE == leader) atomicAdd(to, sum);
		left &= ~__ballot_sync(HB_FULL, mine);
	}
}

// HB_LASSO_WARPS is HB_EACH with all lanes of a warp in each turn; item may be n or more.
#define HB_LASSO_WARPS(item, n) for (hb_i64 item = (hb_i64)blockIdx.x * blockDim.x + threadIdx.x; item - HB_LANE < (n); item += (hb_i64)gridDim.x * blockDim.x)

// hb_lasso_block returns the sum of x over the block in thread 0. sums has a place for each warp.
HB_DEVICE double hb_lasso_block(double x, double *sums) {
	x = hb_total(x);
	if (HB_LANE == 0) sums[threadIdx.x / HB_WARP] = x;
	__syncthreads();
	double all = 0;
	if (threadIdx.x < HB_WARP) {
		for (hb_i32 k = threadIdx.x; k < (hb_i32)blockDim.x / HB_WARP; k += HB_WARP) all += sums[k];
		all = hb_total(all);
	}
	return all;
}

// ---- Iterations ----

// hb_lasso_momentum takes the dual value of an iteration: β of the next two iterations (O'Donoghue,
// Candès: Adaptive restart for accelerated gradient schemes, Found. Comput. Math. 2015).
HB_DEVICE void hb_lasso_momentum(double *s, double value) {
	s[HB_LASSO_OLD] = s[HB_LASSO_LAST];
	s[HB_LASSO_LAST] = value;
	s[HB_LASSO_BETA] = s[HB_LASSO_NEXT];
	if (value > s[HB_LASSO_OLD]) {
		s[HB_LASSO_T] = 1;
		s[HB_LASSO_LAST] = s[HB_LASSO_OLD] = INFINITY;
	}
	const double t = s[HB_LASSO_T], more = .5 * (1 + sqrt(1 + 4 * t * t));
	s[HB_LASSO_NEXT] = (t - 1) / more;
	s[HB_LASSO_T] = more;
}

HB_DEVICE double hb_lasso_clip(double u, double most) { return u > most ? most : u < -most ? -most : u; }

// hb_lasso_flow is the next flow of an arc; d is the difference of the extrapolated primal points.
HB_DEVICE double hb_lasso_flow(double u, double w, double beta, float step, double d, double most) {
	return hb_lasso_clip(u + (beta * (u - w) + (double)step * d), most);
}

// hb_lasso_row ends vertex r with outflow s over the arcs from lo to hi, and returns ν x². Of a row
// that several tiles share, the last tile to arrive does, with the pieces in their order.
HB_DEVICE double hb_lasso_row(hb_i32 r, double s, hb_i64 lo, hb_i64 hi, double next, const hb_i32 *ptr, const double *load, const double *inv,
	const double *nu, double *x, double *out, double *carry, hb_u32 *pieces) {
	const hb_i64 p = ptr[r], q = ptr[r + 1];
	if (p < lo || q > hi) {
		const hb_i64 first = p / HB_LASSO_TILE, last = (q - 1) / HB_LASSO_TILE, tile = lo / HB_LASSO_TILE;
		__stcg(carry + 2 * tile + (tile == first), s);
		__threadfence();
		if (atomicAdd(pieces + first, 1u) < (hb_u32)(last - first)) return 0;
		__threadfence();
		pieces[first] = 0;
		s = hb_lasso_fresh(carry + 2 * first + 1);
		for (hb_i64 t = first + 1; t <= last; t++) s += hb_lasso_fresh(carry + 2 * t);
	}
	const double now = inv ? (load[r] - s) * inv[r] : load[r] - s;
	out[r] = now + next * (now - x[r]);
	x[r] = now;
	return nu ? nu[r] * now * now : now * now;
}

// hb_lasso_step is an iteration: <<<resident blocks, HB_GRAPH_BLOCK>>>. w becomes the next flow,
// and out the next extrapolated point. A tile of arcs is read in order, four arcs a thread, and
// rows are summed from shared memory. carry double[2·tiles] and pieces hb_u32[tiles] (0 between
// launches) connect rows that tiles share. partial has a number for each block. Bound by memory: 52
// bytes an arc, and a gather.
HB_KERNEL __launch_bounds__(HB_GRAPH_BLOCK) hb_lasso_step(hb_i32 m, const hb_i32 *__restrict__ ptr, const hb_i32 *__restrict__ tail,
	const hb_i32 *__restrict__ head, const float *__restrict__ step, const double *__restrict__ cap, double most, const double *__restrict__ load,
	const double *__restrict__ inv, const double *__restrict__ nu, const double *__restrict__ u, double *__restrict__ w, double *__restrict__ x,
	const double *__restrict__ ahead, double *__restrict__ out, double *carry, hb_u32 *pieces, double *partial, double *state, hb_u64 *numbers) {
	__shared__ double flow[HB_LASSO_TILE];
	__shared__ double sums[HB_GRAPH_WARPS];
	const double beta = state[HB_LASSO_BETA], next = state[HB_LASSO_NEXT];
	double value = 0;
	for (hb_i64 lo = (hb_i64)blockIdx.x * HB_LASSO_TILE; lo < m; lo += (hb_i64)gridDim.x * HB_LASSO_TILE) {
		const hb_i64 hi = lo + HB_LASSO_TILE < m ? lo + HB_LASSO_TILE : m, a = lo + 4 * threadIdx.x;
		if (a + 4 <= hi) {
			const int4 i = *(const int4 *)(tail + a), j = *(const int4 *)(head + a);
			const float4 t = *(const float4 *)(step + a);
			const double2 u0 = *(const double2 *)(u + a), u1 = *(const double2 *)(u + a + 2);
			double2 w0 = *(double2 *)(w + a), w1 = *(double2 *)(w + a + 2);
			const double x0 = ahead[j.x], x1 = ahead[j.y], x2 = ahead[j.z], x3 = ahead[j.w];
			const double y0 = ahead[i.x], y1 = ahead[i.y], y2 = ahead[i.z], y3 = ahead[i.w];
			double2 c0, c1;
			c0.x = c0.y = c1.x = c1.y = most;
			if (cap) {
				c0 = *(const double2 *)(cap + a);
				c1 = *(const double2 *)(cap + a + 2);
			}
			w0.x = hb_lasso_flow(u0.x, w0.x, beta, t.x, y0 - x0, c0.x);
			w0.y = hb_lasso_flow(u0.y, w0.y, beta, t.y, y1 - x1, c0.y);
			w1.x = hb_lasso_flow(u1.x, w1.x, beta, t.z, y2 - x2, c1.x);
			w1.y = hb_lasso_flow(u1.y, w1.y, beta, t.w, y3 - x3, c1.y);
			*(double2 *)(w + a) = w0;
			*(double2 *)(w + a + 2) = w1;
			*(double2 *)(flow + (a - lo)) = w0;
			*(double2 *)(flow + (a - lo) + 2) = w1;
		} else {
			for (hb_i64 b = a; b < hi; b++)
				flow[b - lo] = w[b] = hb_lasso_flow(u[b], w[b], beta, step[b], ahead[tail[b]] - ahead[head[b]], cap ? cap[b] : most);
		}
		__syncthreads();
		const hb_i32 from = tail[lo], to = tail[hi - 1];
		bool wide = false;
		for (hb_i32 r = from + (hb_i32)threadIdx.x; r <= to; r += HB_GRAPH_BLOCK) {
			const hb_i64 p = ptr[r] > lo ? ptr[r] : lo, q = ptr[r + 1] < hi ? ptr[r + 1] : hi;
			if (q - p > HB_WARP) {
				wide = true;
				continue;
			}
			double s = 0;
			for (hb_i64 b = p; b < q; b++) s += flow[b - lo];
			value += hb_lasso_row(r, s, lo, hi, next, ptr, load, inv, nu, x, out, carry, pieces);
		}
		if (__syncthreads_or(wide)) {
			for (hb_i32 r = from + (hb_i32)threadIdx.x / HB_WARP; r <= to; r += HB_GRAPH_WARPS) {
				const hb_i64 p = ptr[r] > lo ? ptr[r] : lo, q = ptr[r + 1] < hi ? ptr[r + 1] : hi;
				if (q - p <= HB_WARP) continue;
				double s = 0;
				for (hb_i64 b = p + HB_LANE; b < q; b += HB_WARP) s += flow[b - lo];
				s = hb_total(s);
				if (HB_LANE == 0) value += hb_lasso_row(r, s, lo, hi, next, ptr, load, inv, nu, x, out, carry, pieces);
			}
			__syncthreads();
		}
	}
	value = hb_lasso_block(value, sums);
	if (threadIdx.x == 0) __stcg(partial + blockIdx.x, value);
	__shared__ bool last;
	const bool first = hb_last(numbers + HB_LASSO_DONE, gridDim.x);
	if (threadIdx.x == 0) last = first;
	__syncthreads();
	if (!last) return;
	double all = 0;
	for (hb_i32 b = threadIdx.x; b < (hb_i32)gridDim.x; b += HB_GRAPH_BLOCK) all += hb_lasso_fresh(partial + b);
	all = hb_lasso_block(all, sums);
	if (threadIdx.x == 0) hb_lasso_momentum(state, all);
}

// Block b of hb_lasso_hold has the rows that begin in its share of the arcs.
HB_DEVICE hb_i32 hb_lasso_begin(hb_i32 n, hb_i32 m, const hb_i32 *ptr, hb_u32 b) {
	const hb_i64 arc = (hb_i64)m * b / gridDim.x;
	hb_i32 lo = 0, hi = n;
	while (lo < hi) {
		const hb_i32 mid = lo + (hi - lo) / 2;
		if (ptr[mid] < arc) lo = mid + 1;
		else hi = mid;
	}
	return lo;
}

// hb_lasso_bases writes the first slot of each slice of a block to shared memory, and returns the
// slots. order lists the block's rows by descending length.
HB_DEVICE hb_i32 hb_lasso_bases(hb_i32 rows, const hb_i32 *order, const hb_i32 *ptr, hb_i32 *base) {
	const hb_i32 slices = (rows + HB_WARP - 1) / HB_WARP;
	for (hb_i32 s = threadIdx.x; s < slices; s += blockDim.x) {
		const hb_i32 r = order[s * HB_WARP];
		base[s + 1] = HB_WARP * (ptr[r + 1] - ptr[r]);
	}
	__syncthreads();
	if (threadIdx.x == 0) {
		base[0] = 0;
		for (hb_i32 s = 0; s < slices; s++) base[s + 1] += base[s];
	}
	__syncthreads();
	return base[slices];
}

#define HB_LASSO_SLICES (HB_LASSO_HOLD * HB_LASSO_ROWS / HB_WARP)

// hb_lasso_plan lays out the rows of each block: <<<blocks, HB_LASSO_HOLD, 8·⌈n/32⌉>>>. Rows are
// sorted by descending length; 32 of them are a slice, with arcs in columns. order hb_i32[n] lists
// the rows of a block, local hb_u16[m + blocks·32·HB_LASSO_MOST] the heads of the slots: rows of
// the block, and then the vertices outside it that its arcs reach, which halo hb_i32[m] lists and
// reach hb_i32[blocks] counts; most, if cap is not 0, the capacities of the slots.
// numbers[HB_LASSO_NEED] becomes the bytes of shared memory that hb_lasso_hold needs, or more than
// there are if a block does not fit.
HB_KERNEL __launch_bounds__(HB_LASSO_HOLD) hb_lasso_plan(hb_i32 n, hb_i32 m, const hb_i32 *ptr, const hb_i32 *head, const double *cap, hb_i32 *order,
	hb_u16 *local, double *most, hb_i32 *halo, hb_i32 *reach, hb_u64 *numbers) {
	HB_DYNAMIC_SHARED(hb_u32, shared);
	__shared__ hb_i32 base[HB_LASSO_SLICES + 1], lengths[HB_LASSO_MOST + 2];
	__shared__ hb_u32 sums[HB_LASSO_HOLD / HB_WARP];
	const hb_i32 from = hb_lasso_begin(n, m, ptr, blockIdx.x), to = hb_lasso_begin(n, m, ptr, blockIdx.x + 1), rows = to - from;
	const hb_i32 warp = threadIdx.x / HB_WARP, warps = HB_LASSO_HOLD / HB_WARP;
	for (hb_i32 d = threadIdx.x; d < HB_LASSO_MOST + 2; d += HB_LASSO_HOLD) lengths[d] = 0;
	__syncthreads();
	bool wide = rows > HB_LASSO_HOLD * HB_LASSO_ROWS;
	for (hb_i32 r = from + (hb_i32)threadIdx.x; r < to && !wide; r += HB_LASSO_HOLD) {
		const hb_i32 d = ptr[r + 1] - ptr[r];
		if (d > HB_LASSO_MOST) wide = true;
		else atomicAdd(lengths + d, 1);
	}
	if (__syncthreads_or(wide)) {
		if (threadIdx.x == 0) atomicMax(numbers + HB_LASSO_NEED, (hb_u64)1 << 40);
		return;
	}
	if (threadIdx.x == 0) { // the places of the lengths, in descending order
		hb_i32 sum = 0;
		for (hb_i32 d = HB_LASSO_MOST; d >= 0; d--) {
			const hb_i32 c = lengths[d];
			lengths[d] = sum;
			sum += c;
		}
		lengths[HB_LASSO_MOST + 1] = 0;
	}
	__syncthreads();
	for (hb_i32 d = warp; d <= HB_LASSO_MOST; d += warps) { // a warp places the rows of a length, in their order
		hb_i32 at = lengths[d];
		const hb_i32 end = d > 0 ? lengths[d - 1] : rows;
		for (hb_i32 r0 = from; r0 < to && at < end; r0 += HB_WARP) {
			const hb_i32 r = r0 + HB_LANE;
			const bool mine = r < to && ptr[r + 1] - ptr[r] == d;
			const hb_u32 all = __ballot_sync(HB_FULL, mine);
			if (mine) order[from + at + __popc(all & ((1u << HB_LANE) - 1))] = r;
			at += __popc(all);
		}
	}
	// The vertices outside the block as a bitmap, with the number of vertices before each word.
	const hb_i32 words = (n + 31) / 32, begin = ptr[from], end = ptr[to];
	hb_u32 *map = shared, *before = shared + words;
	for (hb_i32 k = threadIdx.x; k < words; k += HB_LASSO_HOLD) map[k] = 0;
	__syncthreads();
	for (hb_i32 a = begin + (hb_i32)threadIdx.x; a < end; a += HB_LASSO_HOLD) {
		const hb_i32 j = head[a];
		if (j < from || j >= to) atomicOr(map + j / 32, 1u << (j % 32));
	}
	__syncthreads();
	const hb_i32 share = (words + HB_LASSO_HOLD - 1) / HB_LASSO_HOLD;
	const hb_i32 w0 = (hb_i32)threadIdx.x * share, w1 = w0 + share < words ? w0 + share : words;
	hb_u32 mine = 0;
	for (hb_i32 k = w0; k < w1; k++) mine += __popc(map[k]);
	hb_u32 sum = hb_sums(mine);
	if (HB_LANE == HB_WARP - 1) sums[warp] = sum;
	__syncthreads();
	for (hb_i32 k = 0; k < warp; k++) sum += sums[k];
	hb_u32 at = sum - mine;
	for (hb_i32 k = w0; k < w1; k++) {
		before[k] = at;
		for (hb_u32 bits = map[k]; bits; bits &= bits - 1) halo[begin + at++] = 32 * k + __ffs((int)bits) - 1;
	}
	hb_u32 outside = 0;
	for (hb_i32 k = 0; k < warps; k++) outside += sums[k];
	const hb_i32 slots = hb_lasso_bases(rows, order + from, ptr, base);
	const hb_i64 first = begin + (hb_i64)blockIdx.x * HB_WARP * HB_LASSO_MOST;
	for (hb_i32 p = threadIdx.x; p < (rows + HB_WARP - 1) / HB_WARP * HB_WARP; p += HB_LASSO_HOLD) {
		const hb_i32 s = p / HB_WARP, width = (base[s + 1] - base[s]) / HB_WARP;
		const hb_i32 r = p < rows ? order[from + p] : -1, a = p < rows ? ptr[r] : 0, d = p < rows ? ptr[r + 1] - a : 0;
		for (hb_i32 k = 0; k < width; k++) {
			const hb_i64 slot = first + base[s] + k * HB_WARP + HB_LANE;
			hb_u32 to16 = 0;
			if (k < d) {
				const hb_i32 j = head[a + k];
				to16 = j >= from && j < to ? (hb_u32)(j - from) : (hb_u32)rows + before[j / 32] + __popc(map[j / 32] & ((1u << (j % 32)) - 1));
				if (cap) most[slot] = cap[a + k];
			}
			local[slot] = (hb_u16)to16;
		}
	}
	if (threadIdx.x == 0) {
		reach[blockIdx.x] = (hb_i32)outside;
		const hb_u64 vertices = (hb_u64)rows + outside;
		atomicMax(numbers + HB_LASSO_NEED, vertices > 65535 ? (hb_u64)1 << 40 : 18 * (hb_u64)slots + 12 * vertices + 64);
	}
}

// hb_lasso_hold runs iterations in one launch: <<<blocks, HB_LASSO_HOLD, numbers[HB_LASSO_NEED]>>>,
// with all blocks on the device at once, as planned by hb_lasso_plan. A block keeps the flows of
// its rows in shared memory. After each iteration the blocks wait for each other, and read what
// changed outside them: one grid barrier an iteration. arrived counts the blocks at barriers before
// this launch. partial has two numbers for each block. Bound by shared memory and by the barrier.
HB_KERNEL __launch_bounds__(HB_LASSO_HOLD, 1) hb_lasso_hold(hb_i32 times, hb_i32 n, hb_i32 m, const hb_i32 *ptr, const hb_i32 *order, const hb_u16 *local,
	const double *mosts, double most, const hb_i32 *halo, const hb_i32 *reach, const float *degree, const double *load, const double *inv, const double *nu,
	double *u, double *w, double *x, double *ahead, double *out, double *partial, double *state, hb_u64 *numbers, hb_u64 arrived) {
	HB_DYNAMIC_SHARED(double, shared);
	__shared__ hb_i32 base[HB_LASSO_SLICES + 1];
	__shared__ double sums[HB_LASSO_HOLD / HB_WARP], momentum[5];
	const hb_i32 from = hb_lasso_begin(n, m, ptr, blockIdx.x), to = hb_lasso_begin(n, m, ptr, blockIdx.x + 1), rows = to - from;
	const hb_i32 slots = hb_lasso_bases(rows, order + from, ptr, base), outside = reach[blockIdx.x], begin = ptr[from];
	const hb_i64 first = begin + (hb_i64)blockIdx.x * HB_WARP * HB_LASSO_MOST;
	double *now = shared, *old = now + slots, *point = old + slots;
	float *degrees = (float *)(point + rows + outside);
	hb_u16 *heads = (hb_u16 *)(degrees + rows + outside);
	double xs[HB_LASSO_ROWS], next[HB_LASSO_ROWS];
	hb_u32 own[HB_LASSO_ROWS]; // the row in the block, and its length
#pragma unroll
	for (hb_i32 v = 0; v < HB_LASSO_ROWS; v++) {
		const hb_i32 p = v * HB_LASSO_HOLD + (hb_i32)threadIdx.x;
		xs[v] = next[v] = 0;
		own[v] = 0;
		if (p >= rows) continue;
		const hb_i32 r = order[from + p], a = ptr[r], d = ptr[r + 1] - a;
		own[v] = (hb_u32)(r - from) | (hb_u32)d << 16;
		xs[v] = x[r];
		for (hb_i32 k = 0; k < d; k++) {
			const hb_i32 slot = base[p / HB_WARP] + k * HB_WARP + HB_LANE;
			now[slot] = u[a + k];
			old[slot] = w[a + k];
		}
	}
	for (hb_i32 k = threadIdx.x; k < slots; k += HB_LASSO_HOLD) heads[k] = local[first + k];
	for (hb_i32 k = threadIdx.x; k < rows; k += HB_LASSO_HOLD) {
		degrees[k] = degree[from + k];
		point[k] = hb_lasso_fresh(ahead + from + k);
	}
	for (hb_i32 k = threadIdx.x; k < outside; k += HB_LASSO_HOLD) degrees[rows + k] = degree[halo[begin + k]];
	if (threadIdx.x < 5) momentum[threadIdx.x] = hb_lasso_fresh(state + threadIdx.x);
	for (hb_i32 it = 0; it < times; it++) {
		const double *source = it & 1 ? out : ahead;
		double *target = it & 1 ? ahead : out;
		for (hb_i32 k = threadIdx.x; k < outside; k += HB_LASSO_HOLD) point[rows + k] = hb_lasso_fresh(source + halo[begin + k]);
		if (it > 0 && threadIdx.x >= HB_LASSO_HOLD - HB_WARP) {
			double all = 0;
			for (hb_u32 b = HB_LANE; b < gridDim.x; b += HB_WARP) all += hb_lasso_fresh(partial + (it - 1 & 1) * gridDim.x + b);
			all = hb_total(all);
			if (HB_LANE == 0) hb_lasso_momentum(momentum, all);
		}
		__syncthreads();
		const double beta = momentum[HB_LASSO_BETA], after = momentum[HB_LASSO_NEXT];
		double value = 0;
#pragma unroll
		for (hb_i32 v = 0; v < HB_LASSO_ROWS; v++) {
			const hb_i32 p = v * HB_LASSO_HOLD + (hb_i32)threadIdx.x;
			if (p >= rows) continue;
			const hb_i32 r = own[v] & 65535, d = own[v] >> 16;
			const double here = point[r], loaded = load[from + r];
			const float degreeHere = degrees[r];
			double s = 0;
			hb_i32 slot = base[p / HB_WARP] + HB_LANE;
#pragma unroll 4
			for (hb_i32 k = 0; k < d; k++, slot += HB_WARP) {
				const hb_i32 j = heads[slot];
				const float step = HB_LASSO_STEP(degreeHere + degrees[j]);
				const double f = hb_lasso_flow(now[slot], old[slot], beta, step, here - point[j], mosts ? mosts[first + slot] : most);
				old[slot] = f;
				s += f;
			}
			const double y = inv ? (loaded - s) * inv[from + r] : loaded - s;
			next[v] = y + after * (y - xs[v]);
			xs[v] = y;
			value += nu ? nu[from + r] * y * y : y * y;
		}
		double *swap = now;
		now = old;
		old = swap;
		value = hb_lasso_block(value, sums); // a barrier of the block: all have read the points
		if (threadIdx.x == 0) __stcg(partial + (it & 1) * gridDim.x + blockIdx.x, value);
#pragma unroll
		for (hb_i32 v = 0; v < HB_LASSO_ROWS; v++)
			if (v * HB_LASSO_HOLD + (hb_i32)threadIdx.x < rows) point[own[v] & 65535] = next[v];
		__syncthreads();
		for (hb_i32 k = threadIdx.x; k < rows; k += HB_LASSO_HOLD) __stcg(target + from + k, point[k]);
		if (it + 1 == times) break;
		__syncthreads();
		if (threadIdx.x == 0) {
			__threadfence();
			atomicAdd(numbers + HB_LASSO_ARRIVED, (hb_u64)1);
			const hb_u64 all = arrived + (hb_u64)(it + 1) * gridDim.x;
			while (hb_lasso_fresh(numbers + HB_LASSO_ARRIVED) < all) {
#ifdef HB_EMULATED
				__trap(); // blocks run one after the other
#endif
			}
			__threadfence();
		}
		__syncthreads();
	}
#pragma unroll
	for (hb_i32 v = 0; v < HB_LASSO_ROWS; v++) {
		const hb_i32 p = v * HB_LASSO_HOLD + (hb_i32)threadIdx.x;
		if (p >= rows) continue;
		const hb_i32 r = from + (hb_i32)(own[v] & 65535), a = ptr[r], d = own[v] >> 16;
		x[r] = xs[v];
		for (hb_i32 k = 0; k < d; k++) {
			const hb_i32 slot = base[p / HB_WARP] + k * HB_WARP + HB_LANE;
			u[a + k] = now[slot];
			w[a + k] = old[slot];
		}
	}
	__shared__ bool last;
	const bool end = hb_last(numbers + HB_LASSO_DONE, gridDim.x);
	if (threadIdx.x == 0) last = end;
	__syncthreads();
	if (!last || threadIdx.x >= HB_WARP) return;
	double all = 0;
	for (hb_u32 b = HB_LANE; b < gridDim.x; b += HB_WARP) all += hb_lasso_fresh(partial + (times - 1 & 1) * gridDim.x + b);
	all = hb_total(all);
	if (threadIdx.x > 0) return;
	hb_lasso_momentum(momentum, all);
	for (hb_i32 k = 0; k < 5; k++) state[k] = momentum[k];
}

// ---- Regions ----

HB_DEVICE hb_i32 hb_lasso_find(hb_i32 *root, hb_i32 i) {
	volatile hb_i32 *now = root;
	for (;;) {
		const hb_i32 p = now[i];
		if (p == i) return i;
		const hb_i32 q = now[p];
		if (q == p) return p;
		now[i] = q;
		i = q;
	}
}

// hb_lasso_hook joins the sets of i and j, and returns the root that has ceased to be one, −1 if
// none.
HB_DEVICE hb_i32 hb_lasso_hook(hb_i32 *root, hb_i32 i, hb_i32 j) {
	for (;;) {
		i = hb_lasso_find(root, i);
		j = hb_lasso_find(root, j);
		if (i == j) return -1;
		const hb_i32 above = i > j ? i : j, below = i > j ? j : i;
		if (atomicCAS(root + above, above, below) == above) return above;
	}
}

// hb_lasso_alone makes each vertex a set, and clears what the certificate adds to.
HB_KERNEL hb_lasso_alone(hb_i32 n, hb_i32 *root, hb_i32 *joins, double *value, double *weight, hb_u32 *links, hb_u32 *filled) {
	HB_EACH(i, n) {
		root[i] = (hb_i32)i;
		joins[i] = -1;
		value[i] = weight[i] = 0;
		links[i] = filled[i] = 0;
	}
}

// hb_lasso_join joins the ends of the edges below capacity: edges up to half of it, then the
// others. joins[r] is the arc by which root r was joined: the arcs of a spanning forest.
HB_KERNEL hb_lasso_join(hb_i32 m, const hb_i32 *tail, const hb_i32 *head, const double *u, const double *cap, double most, hb_i32 half, hb_i32 *root,
	hb_i32 *joins) {
	HB_EACH(a, m) {
		const hb_i32 i = tail[a], j = head[a];
		if (i > j) continue;
		const double c = cap ? cap[a] : most, f = fabs(u[a]);
		if (f >= c || (f <= .5 * c) != (half != 0)) continue;
		const hb_i32 r = hb_lasso_hook(root, i, j);
		if (r >= 0) joins[r] = (hb_i32)a;
	}
}

// hb_lasso_regions writes the root of each vertex, adds x and ν to its region, and counts the arcs
// of the forest at each vertex.
HB_KERNEL hb_lasso_regions(hb_i32 n, hb_i32 *root, const hb_i32 *joins, const hb_i32 *tail, const hb_i32 *head, const double *x, const double *nu,
	hb_i32 *region, double *value, double *weight, hb_u32 *links) {
	HB_LASSO_WARPS(i, n) {
		hb_i32 r = -1;
		double one = 0;
		if (i < n) {
			region[i] = r = hb_lasso_find(root, (hb_i32)i);
			one = nu ? nu[i] : 1;
			if (joins[i] >= 0) {
				atomicAdd(links + tail[joins[i]], 1u);
				atomicAdd(links + head[joins[i]], 1u);
			}
		}
		hb_lasso_add_to(r < 0 ? 0 : value + r, i < n ? one * x[i] : 0);
		hb_lasso_add_to(r < 0 ? 0 : weight + r, one);
	}
}

// hb_lasso_means makes the values of the regions, and links the arcs of the forest. The arcs of
// vertex i are places[i] … places[i+1]: owner is their tail, twin the arc back, and slot the slot
// of a join.
HB_KERNEL hb_lasso_means(hb_i32 n, const hb_i32 *region, double *value, const double *weight, hb_u8 *proven, hb_u64 *low, hb_u64 *high,
	const hb_i32 *joins, const hb_i32 *tail, const hb_i32 *head, const hb_i64 *places, hb_u32 *filled, hb_i32 *owner, hb_i32 *twin, hb_i32 *slot) {
	HB_EACH(i, n) {
		if (region[i] == i) value[i] /= weight[i];
		proven[i] = 1;
		low[i] = ~0ull;
		high[i] = 0;
		if (joins[i] < 0) continue;
		const hb_i32 s = tail[joins[i]], t = head[joins[i]];
		const hb_i32 p = (hb_i32)places[s] + (hb_i32)atomicAdd(filled + s, 1u), q = (hb_i32)places[t] + (hb_i32)atomicAdd(filled + t, 1u);
		owner[p] = s;
		owner[q] = t;
		twin[p] = q;
		twin[q] = p;
		slot[i] = p;
	}
}

// A hb_lasso_link is an arc of a tour around a tree: the sum from it on, to the arc before next.
struct __align__(16) hb_lasso_link {
	double sum;
	hb_i64 next; // −1 at the end
};

// hb_lasso_surplus is what vertex i sends so that its region becomes constant.
HB_DEVICE double hb_lasso_surplus(hb_i32 i, const hb_i32 *region, const double *value, const double *x, const double *nu) {
	const double d = x[i] - value[region[i]];
	return nu ? nu[i] * d : d;
}

// hb_lasso_tour makes the Euler tours of the trees (Tarjan, Vishkin: An efficient parallel
// biconnectivity algorithm, SIAM J. Comput. 1985): an arc from i to j is followed by the one at j
// after the arc back. The first arc of each vertex carries its surplus.
HB_KERNEL hb_lasso_tour(hb_i32 n, const hb_i64 *places, const hb_i32 *owner, const hb_i32 *twin, const hb_i32 *region, const double *value,
	const double *x, const double *nu, hb_lasso_link *links) {
	HB_EACH(p, places[n]) {
		const hb_i32 i = owner[p], back = twin[p], j = owner[back];
		hb_lasso_link l;
		l.sum = p == places[i] ? hb_lasso_surplus(i, region, value, x, nu) : 0;
		l.next = back + 1;
		if (l.next == places[j + 1]) l.next = region[j] == j ? -1 : places[j];
		links[p] = l;
	}
}

// hb_lasso_jump makes the sums of a tour four times as long. Two rounds after all have ended, links
// and out are equal, and it does nothing.
HB_KERNEL hb_lasso_jump(hb_i32 n, const hb_i64 *places, const hb_lasso_link *links, hb_lasso_link *out, hb_i32 round, hb_u64 *numbers) {
	hb_u64 *active = numbers + HB_LASSO_ACTIVE;
	if (round > 1 && !active[round - 2]) return;
	bool more = false;
	HB_EACH(p, places[n]) {
		hb_lasso_link l = links[p];
#pragma unroll
		for (hb_i32 hop = 0; hop < 3; hop++) {
			if (l.next < 0) break;
			const hb_lasso_link far = links[l.next];
			l.sum += far.sum;
			l.next = far.next;
		}
		more |= l.next >= 0;
		out[p] = l;
	}
	more = __syncthreads_or(more);
	if (more && threadIdx.x == 0) active[round] = 1;
}

// hb_lasso_route finds the flow that each arc of the forest has to carry, extra, and the regions
// with too little capacity for it.
HB_KERNEL hb_lasso_route(hb_i32 n, const hb_i32 *joins, const hb_i32 *slot, const hb_i32 *twin, const hb_i64 *places, const hb_i32 *owner,
	const hb_lasso_link *links, const hb_i32 *region, const double *value, const double *x, const double *nu, const double *u, const double *cap,
	double most, double *extra, hb_u8 *proven) {
	HB_EACH(r, n) {
		const hb_i32 a = joins[r];
		if (a < 0) continue;
		const hb_i32 p = slot[r], q = twin[p], i = owner[p], j = owner[q];
		// The arcs after p, without the arcs after q, leave the vertices on the side of j.
		double f = links[q].sum - links[p].sum;
		if (p == places[i]) f += hb_lasso_surplus(i, region, value, x, nu);
		if (q == places[j]) f -= hb_lasso_surplus(j, region, value, x, nu);
		extra[r] = f; // from i to j
		if (!(fabs(u[a] + f) <= (cap ? cap[a] : most))) proven[region[i]] = 0;
	}
}

// hb_lasso_bounds starts the bounds of each region: its value if it is proven, else the least and
// the largest x.
HB_KERNEL hb_lasso_bounds(hb_i32 n, const hb_i32 *region, const double *value, const hb_u8 *proven, const double *x, hb_u64 *low, hb_u64 *high) {
	HB_EACH(i, n) {
		const hb_i32 r = region[i];
		if (proven[r]) {
			if (r == i) low[i] = high[i] = hb_lasso_ordered(value[i]);
			continue;
		}
		const hb_u64 k = hb_lasso_ordered(x[i]);
		if (k < hb_lasso_fresh(low + r)) atomicMin(low + r, k);
		if (k > hb_lasso_fresh(high + r)) atomicMax(high + r, k);
	}
}

// hb_lasso_spread pushes the bounds over the borders once: against the flow upper bounds, with it
// lower ones. A sweep after one without a change does nothing.
HB_KERNEL hb_lasso_spread(hb_i32 m, const hb_i32 *tail, const hb_i32 *head, const hb_i32 *region, const double *u, hb_u64 *low, hb_u64 *high,
	hb_i32 sweep, hb_u64 *numbers) {
	hb_u64 *changed = numbers + HB_LASSO_CHANGED;
	if (sweep > 0 && !changed[sweep - 1]) return;
	bool any = false;
	HB_EACH(a, m) {
		if (tail[a] > head[a]) continue;
		const hb_i32 i = region[tail[a]], j = region[head[a]];
		if (i == j) continue;
		const bool forth = u[a] > 0;
		const hb_i32 from = forth ? i : j, to = forth ? j : i;
		const hb_u64 h = hb_lasso_fresh(high + to), l = hb_lasso_fresh(low + from);
		if (h > hb_lasso_fresh(high + from)) any |= atomicMax(high + from, h) < h;
		if (l < hb_lasso_fresh(low + to)) any |= atomicMin(low + to, l) > l;
	}
	any = __syncthreads_or(any);
	if (any && threadIdx.x == 0) changed[sweep] = 1;
}

// hb_lasso_frozen marks and counts the vertices of proven regions with both bounds equal to the
// value.
HB_KERNEL hb_lasso_frozen(hb_i32 n, const hb_i32 *region, const hb_u8 *proven, const hb_u64 *low, const hb_u64 *high, hb_u8 *frozen, hb_u64 *numbers) {
	HB_LASSO_WARPS(i, n) {
		bool is = false;
		if (i < n) {
			const hb_i32 r = region[i];
			is = proven[r] && low[r] == high[r];
			frozen[i] = is;
		}
		const hb_u32 all = __ballot_sync(HB_FULL, is);
		if (HB_LANE == 0 && all) atomicAdd(numbers + HB_LASSO_FROZEN, (hb_u64)__popc(all));
	}
}

// ---- Compaction ----

// hb_lasso_cut marks the arcs between vertices that stay, and writes the flows of the other edges.
HB_KERNEL hb_lasso_cut(hb_i32 m, const hb_i32 *tail, const hb_i32 *head, const hb_i32 *name, const hb_u8 *frozen, const double *u, hb_u8 *stay,
	double *flows) {
	HB_EACH(a, m) {
		const bool both = !frozen[tail[a]] && !frozen[head[a]];
		stay[a] = both;
		if (!both && name[a] >= 0) flows[name[a]] = u[a];
	}
}

// hb_lasso_add adds the flows over the forest of the frozen regions, and writes their values.
HB_KERNEL hb_lasso_add(hb_i32 n, const hb_i32 *joins, const hb_i32 *region, const double *value, const hb_u8 *frozen, const hb_i32 *name,
	const double *extra, const hb_i32 *vertex, double *values, double *flows) {
	HB_EACH(i, n) {
		if (!frozen[i]) continue;
		values[vertex[i]] = value[region[i]];
		const hb_i32 a = joins[i];
		if (a < 0) continue;
		if (name[a] >= 0) flows[name[a]] += extra[i];
		else flows[~name[a]] -= extra[i];
	}
}

// hb_lasso_load takes the flows to frozen vertices from the loads of the vertices that stay.
HB_KERNEL hb_lasso_load(hb_i32 m, const hb_i32 *tail, const hb_i32 *head, const hb_u8 *frozen, const double *u, double *load) {
	HB_EACH(a, m) if (!frozen[tail[a]] && frozen[head[a]]) atomicAdd(load + tail[a], -u[a]);
}

// hb_lasso_stay marks the vertices that keep an arc; at counts the arcs that stay before each.
// Others are final.
HB_KERNEL hb_lasso_stay(hb_i32 n, const hb_i32 *ptr, const hb_i64 *at, const hb_u8 *frozen, const double *load, const double *inv, const hb_i32 *vertex,
	hb_u8 *stay, double *values) {
	HB_EACH(i, n) {
		stay[i] = at[ptr[i + 1]] > at[ptr[i]];
		if (!stay[i] && !frozen[i]) values[vertex[i]] = inv ? load[i] * inv[i] : load[i];
	}
}

HB_KERNEL hb_lasso_vertices(hb_i32 n, const hb_u8 *stay, const hb_i64 *place, const hb_i32 *ptr, const hb_i64 *at, const hb_i32 *vertex,
	const double *load, const double *nu, const double *inv, const double *x, const double *ahead, hb_i32 *ptr2, hb_i32 *vertex2, double *load2,
	double *nu2, double *inv2, double *x2, double *ahead2, float *degree2) {
	HB_EACH(i, n) {
		if (i == 0) ptr2[place[n]] = (hb_i32)at[ptr[n]];
		if (!stay[i]) continue;
		const hb_i64 k = place[i];
		ptr2[k] = (hb_i32)at[ptr[i]];
		vertex2[k] = vertex[i];
		load2[k] = load[i];
		x2[k] = x[i];
		ahead2[k] = ahead[i];
		double one = 1;
		if (nu) {
			nu2[k] = nu[i];
			inv2[k] = one = inv[i];
		}
		degree2[k] = (float)((double)(at[ptr[i + 1]] - at[ptr[i]]) * one);
	}
}

HB_KERNEL hb_lasso_arcs(hb_i32 m, const hb_u8 *stay, const hb_i64 *at, const hb_i64 *place, const hb_i32 *tail, const hb_i32 *head, const hb_i32 *name,
	const double *cap, const double *u, const double *w, const float *degree2, hb_i32 *tail2, hb_i32 *head2, hb_i32 *name2, double *cap2, double *u2,
	double *w2, float *step2) {
	HB_EACH(a, m) {
		if (!stay[a]) continue;
		const hb_i64 k = at[a];
		const hb_i32 i = (hb_i32)place[tail[a]], j = (hb_i32)place[head[a]];
		tail2[k] = i;
		head2[k] = j;
		name2[k] = name[a];
		if (cap) cap2[k] = cap[a];
		u2[k] = u[a];
		w2[k] = w[a];
		step2[k] = HB_LASSO_STEP(degree2[i] + degree2[j]);
	}
}

// ---- The whole graph ----

HB_KERNEL hb_lasso_degrees(hb_i32 n, const hb_i32 *ptr, const double *inv, float *degree) {
	HB_EACH(i, n) degree[i] = (float)((ptr[i + 1] - ptr[i]) * (inv ? inv[i] : 1));
}

HB_KERNEL hb_lasso_steps(hb_i32 m, const hb_i32 *tail, const hb_i32 *head, const float *degree, float *step) {
	HB_EACH(a, m) step[a] = HB_LASSO_STEP(degree[tail[a]] + degree[head[a]]);
}

// hb_lasso_capacities makes capacities of weights. No flow exceeds bound.
HB_KERNEL hb_lasso_capacities(hb_i32 m, const double *weight, double lambda1, double bound, double *cap) {
	HB_EACH(a, m) cap[a] = lambda1 * weight[a] < bound ? lambda1 * weight[a] : bound;
}

// hb_lasso_start makes the part of all vertices without a flow.
HB_KERNEL hb_lasso_start(hb_i32 n, const double *y, const double *nu, double *x, double *ahead, double *load, double *values) {
	HB_EACH(i, n) {
		load[i] = nu ? nu[i] * y[i] : y[i];
		x[i] = ahead[i] = y[i];
		values[i] = NAN;
	}
}

// hb_lasso_near adds to figures[0] a part's share of the dual value, and to figures[1] its share of
// the duality gap, with the mean of its region as the value of each vertex.
HB_KERNEL hb_lasso_near(hb_i32 n, const hb_i32 *region, const double *value, const double *x, const double *nu, const double *y, const hb_i32 *vertex,
	double *figures) {
	__shared__ double sums[HB_GRAPH_WARPS];
	double dual = 0, gap = 0;
	HB_EACH(i, n) {
		const double one = nu ? nu[i] : 1, at = x[i], d = value[region[i]] - at, z = y[vertex[i]];
		dual += .5 * one * (z - at) * (z + at);
		gap += .5 * one * d * d;
	}
	dual = hb_lasso_block(dual, sums);
	__syncthreads();
	gap = hb_lasso_block(gap, sums);
	if (threadIdx.x == 0) {
		atomicAdd(figures, dual);
		atomicAdd(figures + 1, gap);
	}
}

HB_KERNEL hb_lasso_near_arcs(hb_i32 m, const hb_i32 *tail, const hb_i32 *head, const hb_i32 *region, const double *value, const double *cap, double most,
	const double *u, double *figures) {
	__shared__ double sums[HB_GRAPH_WARPS];
	double gap = 0;
	HB_EACH(a, m) {
		if (tail[a] > head[a]) continue;
		const double d = value[region[tail[a]]] - value[region[head[a]]];
		gap += (cap ? cap[a] : most) * fabs(d) - u[a] * d;
	}
	gap = hb_lasso_block(gap, sums);
	if (threadIdx.x == 0) atomicAdd(figures + 1, gap);
}

// hb_lasso_final adds the dual value of the final vertices to figures[0].
HB_KERNEL hb_lasso_final(hb_i32 n, const double *values, const double *y, const double *nu, double *figures) {
	__shared__ double sums[HB_GRAPH_WARPS];
	double dual = 0;
	HB_EACH(i, n) {
		const double b = values[i];
		if (b == b) dual += .5 * (nu ? nu[i] : 1) * (y[i] - b) * (y[i] + b);
	}
	dual = hb_lasso_block(dual, sums);
	if (threadIdx.x == 0) atomicAdd(figures, dual);
}

// hb_lasso_take makes the means of the regions of a part final, hb_lasso_take_flows its flows.
HB_KERNEL hb_lasso_take(hb_i32 n, const hb_i32 *region, const double *value, const hb_i32 *vertex, double *values) {
	HB_EACH(i, n) values[vertex[i]] = value[region[i]];
}

HB_KERNEL hb_lasso_take_flows(hb_i32 m, const hb_i32 *name, const double *u, double *flows) {
	HB_EACH(a, m) if (name[a] >= 0) flows[name[a]] = u[a];
}

// hb_lasso_put writes count numbers to places of a list.
HB_KERNEL hb_lasso_put(hb_i32 count, const hb_i32 *places, const double *from, double *to) {
	HB_EACH(k, count) to[places[k]] = from[k];
}

// hb_lasso_largest finds the largest of the absolute values, as an ordered integer.
HB_KERNEL hb_lasso_largest(hb_i32 n, const double *values, hb_u64 *largest) {
	hb_u64 most = 0;
	HB_EACH(i, n) {
		const hb_u64 k = hb_lasso_ordered(fabs(values[i]));
		most = k > most ? k : most;
	}
#pragma unroll
	for (hb_i32 d = HB_WARP / 2; d > 0; d /= 2) {
		const hb_u64 other = __shfl_xor_sync(HB_FULL, most, d);
		most = other > most ? other : most;
	}
	if (HB_LANE == 0) atomicMax(largest, most);
}

// hb_lasso_equal joins the ends of the edges between equal values.
HB_KERNEL hb_lasso_equal(hb_i32 m, const hb_i32 *tail, const hb_i32 *head, const double *values, const hb_u64 *largest, hb_i32 *root) {
	const double apart = HB_LASSO_EQUAL * hb_lasso_number(*largest);
	HB_EACH(a, m) {
		const hb_i32 i = tail[a], j = head[a];
		if (i < j && fabs(values[i] - values[j]) <= apart) hb_lasso_hook(root, i, j);
	}
}

// hb_lasso_pool writes the root of each vertex, and adds ν y and ν to its region. It counts the
// regions.
HB_KERNEL hb_lasso_pool(hb_i32 n, hb_i32 *root, const double *y, const double *nu, hb_i32 *region, double *sum, double *weight, hb_u64 *numbers) {
	HB_LASSO_WARPS(i, n) {
		hb_i32 r = -1;
		double one = 0;
		if (i < n) {
			region[i] = r = hb_lasso_find(root, (hb_i32)i);
			one = nu ? nu[i] : 1;
		}
		const hb_u32 roots = __ballot_sync(HB_FULL, i < n && r == i);
		if (HB_LANE == 0 && roots) atomicAdd(numbers + HB_LASSO_COUNT, (hb_u64)__popc(roots));
		hb_lasso_add_to(r < 0 ? 0 : sum + r, i < n ? one * y[i] : 0);
		hb_lasso_add_to(r < 0 ? 0 : weight + r, one);
	}
}

// hb_lasso_border takes the flows over the borders of regions, which are at capacity, from their
// sums.
HB_KERNEL hb_lasso_border(hb_i32 m, const hb_i32 *tail, const hb_i32 *head, const double *cap, double most, const hb_i32 *region, const double *values,
	double *sum) {
	HB_EACH(a, m) {
		const hb_i32 i = tail[a], j = head[a];
		if (region[i] == region[j]) continue;
		const double c = cap ? cap[a] : most;
		atomicAdd(sum + region[i], values[i] > values[j] ? -c : c);
	}
}

// hb_lasso_settle writes the values of the regions, or keeps the values there are; moves them
// towards 0 by up to λ₂, and counts zeros. It makes each vertex a set again.
HB_KERNEL hb_lasso_settle(hb_i32 n, const hb_i32 *region, const double *sum, const double *weight, double soft, double *values, hb_i32 *root,
	hb_u64 *numbers) {
	HB_LASSO_WARPS(i, n) {
		bool zero = false;
		if (i < n) {
			double b = sum ? sum[region[i]] / weight[region[i]] : values[i];
			b = b > soft ? b - soft : b < -soft ? b + soft : soft > 0 ? 0 : b;
			zero = b == 0;
			values[i] = b;
			root[i] = (hb_i32)i;
		}
		const hb_u32 zeros = __ballot_sync(HB_FULL, zero);
		if (HB_LANE == 0 && zeros) atomicAdd(numbers + HB_LASSO_ZEROS, (hb_u64)__popc(zeros));
	}
}

// hb_lasso_edges adds the terms of the edges to the objective, figures[0], and the duality gap,
// figures[1], and B u to drained.
HB_KERNEL hb_lasso_edges(hb_i32 m, const hb_i32 *tail, const hb_i32 *head, const hb_i32 *name, const double *cap, double most, const double *values,
	const double *flows, double *drained, double *figures) {
	__shared__ double sums[HB_GRAPH_WARPS];
	double objective = 0, gap = 0;
	HB_EACH(a, m) {
		const double f = name[a] >= 0 ? flows[name[a]] : -flows[~name[a]];
		if (f != 0) atomicAdd(drained + tail[a], f);
		if (name[a] < 0) continue;
		const double d = values[tail[a]] - values[head[a]], c = cap ? cap[a] : most;
		if (d == 0) continue;
		objective += c * fabs(d);
		gap += c * fabs(d) - f * d;
	}
	objective = hb_lasso_block(objective, sums);
	__syncthreads();
	gap = hb_lasso_block(gap, sums);
	if (threadIdx.x == 0) {
		atomicAdd(figures, objective);
		atomicAdd(figures + 1, gap);
	}
}

// hb_lasso_value adds the terms of the vertices, and ½ ν y² to figures[2].
HB_KERNEL hb_lasso_value(hb_i32 n, const double *y, const double *nu, const double *inv, const double *values, const double *drained, double lambda2,
	double *figures) {
	__shared__ double sums[HB_GRAPH_WARPS];
	double objective = 0, gap = 0, squares = 0;
	HB_EACH(i, n) {
		const double one = nu ? nu[i] : 1, b = values[i];
		const double z = inv ? (one * y[i] - drained[i]) * inv[i] : y[i] - drained[i];
		const double sign = hb_lasso_clip(z, lambda2), d = y[i] - b, e = b - (z - sign);
		objective += one * (.5 * d * d + lambda2 * fabs(b));
		gap += one * (.5 * e * e + lambda2 * fabs(b) - sign * b);
		squares += .5 * one * y[i] * y[i];
	}
	objective = hb_lasso_block(objective, sums);
	__syncthreads();
	gap = hb_lasso_block(gap, sums);
	__syncthreads();
	squares = hb_lasso_block(squares, sums);
	if (threadIdx.x == 0) {
		atomicAdd(figures, objective);
		atomicAdd(figures + 1, gap);
		atomicAdd(figures + 2, squares);
	}
}

// hb_lasso_gather appends the vertices of a part to a pool of v vertices and a arcs. offset is the
// first vertex of the part's job. hb_lasso_gather_arcs appends the arcs.
HB_KERNEL hb_lasso_gather(hb_i32 n, hb_i32 v, hb_i32 a, hb_i32 offset, const hb_i32 *ptr, const hb_i32 *vertex, const double *load, const double *nu,
	const double *inv, const double *x, const float *degree, hb_i32 *ptr2, hb_i32 *vertex2, double *load2, double *nu2, double *inv2, double *x2,
	double *ahead2, float *degree2) {
	HB_EACH(i, n) {
		const hb_i64 k = v + i;
		ptr2[k] = a + ptr[i];
		if (i + 1 == n) ptr2[k + 1] = a + ptr[n];
		vertex2[k] = offset + vertex[i];
		load2[k] = load[i];
		x2[k] = ahead2[k] = x[i];
		degree2[k] = degree[i];
		if (nu) {
			nu2[k] = nu[i];
			inv2[k] = inv[i];
		}
	}
}

HB_KERNEL hb_lasso_gather_arcs(hb_i32 m, hb_i32 v, hb_i32 at, hb_i32 offset, const hb_i32 *tail, const hb_i32 *head, const hb_i32 *name,
	const double *cap, double most, const float *step, const double *u, hb_i32 *tail2, hb_i32 *head2, hb_i32 *name2, double *cap2, float *step2,
	double *u2, double *w2) {
	HB_EACH(a, m) {
		const hb_i64 k = at + a;
		tail2[k] = v + tail[a];
		head2[k] = v + head[a];
		name2[k] = name[a] < 0 ? name[a] - offset : name[a] + offset; // ~e: −1 − e
		if (cap2) cap2[k] = cap ? cap[a] : most;
		step2[k] = step[a];
		u2[k] = w2[k] = u[a];
	}
}
