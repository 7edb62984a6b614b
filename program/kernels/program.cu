// The functions of a graph program on vertices. The text before this file defines them:
//   HB_V hb_first(id, degree, n)                                  the first state
//   HB_M hb_message(state, id, degree, n, superstep, total)       HB_SENDS: the message of a vertex
//   bool hb_step(state, sum, id, degree, n, superstep, total)     Apply: whether it is active
//   bool hb_closed(state)                                         HB_SKIPS: takes no messages
//   double hb_term(k, state, id, degree, n, superstep, total)     HB_TOTALS: the term of total k
// HB_UNIT is the value of an edge of a pattern. Messages are gathered by the walks of the backend.
// All kernels take a thread a vertex and are bound by memory traffic: the states, and a byte for
// each vertex and set.
//
// With HB_PART the graph is the part of a rank: its own vertices, lo … hi−1, and copies of those
// around them. Each kernel then takes HB_PART_PARAMS: ids and deg hb_i32[n], the numbers and the
// out-degrees of the vertices in the whole graph, and size, its number of vertices.

#define HB_DEGREE(v) ((hb_i32)(ptr[(v) + 1] - ptr[v])) // edges here
#if HB_PART
#define HB_PART_PARAMS , const hb_i32 *ids, const hb_i32 *deg, hb_i32 size, hb_i32 lo, hb_i32 hi
#define HB_GRAPH const hb_graph graph = {ptr, n, ids, deg, size, lo, hi}
#else
#define HB_PART_PARAMS
#define HB_GRAPH const hb_graph graph = {ptr, n}
#endif

struct hb_graph {
	const hb_i64 *ptr;
	hb_i32 n;
#if HB_PART
	const hb_i32 *ids, *deg;
	hb_i32 size, lo, hi;
#endif
};
#if HB_PART
HB_DEVICE hb_i32 hb_id(const hb_graph &g, hb_i32 v) { return g.ids[v]; }
HB_DEVICE hb_i32 hb_degree(const hb_graph &g, hb_i32 v) { return g.deg[v]; }
HB_DEVICE hb_i32 hb_size(const hb_graph &g) { return g.size; }
HB_DEVICE bool hb_owns(const hb_graph &g, hb_i32 v) { return v >= g.lo && v < g.hi; }
#else
HB_DEVICE hb_i32 hb_id(const hb_graph &, hb_i32 v) { return v; }
HB_DEVICE hb_i32 hb_degree(const hb_graph &g, hb_i32 v) { return (hb_i32)(g.ptr[v + 1] - g.ptr[v]); }
HB_DEVICE hb_i32 hb_size(const hb_graph &g) { return g.n; }
HB_DEVICE bool hb_owns(const hb_graph &, hb_i32) { return true; }
#endif
#define HB_VERTEX(v) hb_id(graph, v), hb_degree(graph, v), hb_size(graph) // the arguments id, degree, n

// hb_program_start writes the first states, which vertices are active, and with HB_SKIPS which take
// no messages.
HB_KERNEL hb_program_start(hb_i32 n, const hb_i64 *ptr, HB_V *state, hb_u8 *active, hb_u8 *closed, hb_i32 all HB_PART_PARAMS) {
	HB_GRAPH;
	HB_EACH(v, n) {
		const HB_V first = hb_first(HB_VERTEX((hb_i32)v));
		state[v] = first;
		active[v] = (hb_u8)all;
#if HB_SKIPS
		closed[v] = hb_closed(first);
#endif
	}
}

#if HB_SENDS
// hb_program_send writes the messages of the active vertices. active may be null: all are.
HB_KERNEL hb_program_send(hb_i32 n, const hb_i64 *ptr, const HB_V *state, const hb_u8 *active, HB_M *mail, hb_i32 superstep, const double *total HB_PART_PARAMS) {
	HB_GRAPH;
	HB_EACH(v, n) {
		if (!active || active[v]) mail[v] = hb_message(state[v], HB_VERTEX((hb_i32)v), superstep, total);
	}
}
#endif

#if HB_SKIPS
// hb_program_close does the same for states that are given.
HB_KERNEL hb_program_close(hb_i32 n, const HB_V *state, hb_u8 *closed) {
	HB_EACH(v, n) closed[v] = hb_closed(state[v]);
}
#endif

#if HB_TOTALS
// hb_program_part writes the sums of this block of threads over its block of vertices. The order of
// each sum is fixed. All threads of the block call it.
HB_DEVICE void hb_program_part(const double *mine, double *parts, hb_i64 b) {
	__shared__ double sums[HB_THREADS / HB_WARP][HB_TOTALS];
#pragma unroll
	for (int k = 0; k < HB_TOTALS; k++) {
		const double sum = hb_total(mine[k]);
		if (HB_LANE == 0) sums[threadIdx.x / HB_WARP][k] = sum;
	}
	__syncthreads();
	if (threadIdx.x < HB_TOTALS) {
		double sum = 0;
		for (int w = 0; w < HB_THREADS / HB_WARP; w++) sum += sums[w][threadIdx.x];
		parts[b * HB_TOTALS + threadIdx.x] = sum;
	}
	__syncthreads();
}
#endif

// hb_program_apply takes the sums of messages to the next states. hit says which vertices have a
// message; null: all. With every, vertices without a message are applied too. count hb_u64[2] gets
// the number of vertices that are active next, and of their out-edges. HB_MAILS: mail gets the next
// messages of the active vertices, with HB_IDEMPOTENT of all vertices. HB_PART: count[2] gets the
// number of own vertices. A block of threads takes blocks of HB_BLOCK vertices; parts as of
// hb_program_totals.
HB_KERNEL hb_program_apply(hb_i32 n, const hb_i64 *ptr, const HB_V *state, const hb_u8 *hit, const HB_M *sums, HB_V *next, hb_u8 *active, hb_u8 *closed,
	hb_i32 every, hb_i32 superstep, const double *total, hb_u64 *count, HB_M *mail, double *parts HB_PART_PARAMS) {
	HB_GRAPH;
	hb_u64 mine = 0, edges = 0, own = 0;
	for (hb_i64 b = blockIdx.x; b * HB_BLOCK < n; b += gridDim.x) {
#if HB_TOTALS
		double terms[HB_TOTALS] = {};
#endif
		for (hb_i64 v = b * HB_BLOCK + threadIdx.x; v < (b + 1) * HB_BLOCK && v < n; v += HB_THREADS) {
			HB_V s = state[v];
			bool on = !hit || hit[v];
#if HB_SKIPS
			if (closed[v]) on = false; // a plan may have summed messages to it
#endif
			const bool go = on || every;
			if (go) {
				HB_M sum = HB_IDENTITY;
				if (on) sum = sums[v];
				on = hb_step(s, sum, HB_VERTEX((hb_i32)v), superstep, total);
#if HB_SKIPS
				closed[v] = hb_closed(s);
#endif
			}
			next[v] = s;
			on = go && on;
			active[v] = on;
			mine += on;
			if (on) edges += (hb_u64)HB_DEGREE(v);
			own += on && hb_owns(graph, (hb_i32)v);
#if HB_MAILS
			if (on || HB_IDEMPOTENT) mail[v] = hb_message(s, HB_VERTEX((hb_i32)v), superstep + 1, total);
#endif
#if HB_TOTALS
#pragma unroll
			for (int k = 0; k < HB_TOTALS; k++)
				if (hb_owns(graph, (hb_i32)v)) terms[k] += hb_term(k, s, HB_VERTEX((hb_i32)v), superstep, total);
#endif
		}
#if HB_TOTALS
		hb_program_part(terms, parts, b);
#endif
	}
	mine = hb_total(mine), edges = hb_total(edges);
	if (HB_LANE == 0 && mine) {
		atomicAdd(count, mine);
		atomicAdd(count + 1, edges);
	}
#if HB_PART
	own = hb_total(own);
	if (HB_LANE == 0 && own) atomicAdd(count + 2, own);
#endif
}

#if HB_TOTALS
// hb_program_sum adds the sums of blocks, in an order that depends on their number alone. It writes
// the totals to total and to found. One block of HB_THREADS threads.
HB_KERNEL hb_program_sum(hb_i64 blocks, const double *parts, double *total, double *found) {
	double mine[HB_TOTALS] = {};
	for (hb_i64 b = threadIdx.x; b < blocks; b += HB_THREADS)
#pragma unroll
		for (int k = 0; k < HB_TOTALS; k++) mine[k] += parts[b * HB_TOTALS + k];
	hb_program_part(mine, total, 0);
	if (threadIdx.x < HB_TOTALS) found[threadIdx.x] = total[threadIdx.x];
}

// hb_program_totals writes the sums of blocks of HB_BLOCK vertices: parts[b · HB_TOTALS + k].
HB_KERNEL hb_program_totals(hb_i32 n, const hb_i64 *ptr, const HB_V *state, hb_i32 superstep, const double *total, double *parts HB_PART_PARAMS) {
	HB_GRAPH;
	for (hb_i64 b = blockIdx.x; b * HB_BLOCK < n; b += gridDim.x) {
		double terms[HB_TOTALS] = {};
		for (hb_i64 v = b * HB_BLOCK + threadIdx.x; v < (b + 1) * HB_BLOCK && v < n; v += HB_THREADS)
#pragma unroll
			for (int k = 0; k < HB_TOTALS; k++)
				if (hb_owns(graph, (hb_i32)v)) terms[k] += hb_term(k, state[v], HB_VERTEX((hb_i32)v), superstep, total);
		hb_program_part(terms, parts, b);
	}
}
#endif

#if HB_PART
// Ranks exchange the states of copies. Those for rank r, or from it, are list[starts[r]] …
// list[starts[r+1]−1]; in the buffer, from byte places[r] on, their states follow each other, and
// from byte places[ranks+r] on, a byte for each says whether it is active, unless all are.

// hb_exchanged returns the rank of item i.
HB_DEVICE hb_i32 hb_exchanged(hb_i64 i, hb_i32 ranks, const hb_i64 *starts) {
	hb_i32 r = 0;
	while (r + 1 < ranks && i >= starts[r + 1]) r++;
	return r;
}

// hb_program_pack writes what the rank sends. active may be null: all are.
HB_KERNEL hb_program_pack(hb_i64 count, hb_i32 ranks, const hb_i64 *starts, const hb_i64 *places, const hb_i32 *list, const HB_V *state,
	const hb_u8 *active, hb_i32 all, hb_u8 *out) {
	HB_EACH(i, count) {
		const hb_i32 r = hb_exchanged(i, ranks, starts), v = list[i];
		((HB_V *)(out + places[r]))[i - starts[r]] = state[v];
		if (!all) out[places[ranks + r] + i - starts[r]] = !active || active[v];
	}
}

// hb_program_unpack takes what the rank has received. With all, active and closed as in
// hb_program_apply, and mail, may be null; mail gets the messages of superstep.
HB_KERNEL hb_program_unpack(hb_i64 count, hb_i32 ranks, const hb_i64 *starts, const hb_i64 *places, const hb_i32 *list, const hb_u8 *in,
	hb_i32 all, HB_V *state, hb_u8 *active, hb_u8 *closed, HB_M *mail, hb_i32 superstep, hb_i32 n, const hb_i64 *ptr, const double *total HB_PART_PARAMS) {
	HB_GRAPH;
	HB_EACH(i, count) {
		const hb_i32 r = hb_exchanged(i, ranks, starts), v = list[i];
		const HB_V s = ((const HB_V *)(in + places[r]))[i - starts[r]];
		const bool on = all || in[places[ranks + r] + i - starts[r]];
		state[v] = s;
		if (active) active[v] = on;
#if HB_SKIPS
		closed[v] = hb_closed(s);
#endif
#if HB_MAILS
		if (mail && (on || HB_IDEMPOTENT)) mail[v] = hb_message(s, HB_VERTEX(v), superstep, total);
#endif
	}
}

// hb_program_count counts the active vertices and their edges here: count hb_u64[2], zero before.
HB_KERNEL hb_program_count(hb_i32 n, const hb_i64 *ptr, const hb_u8 *active, hb_u64 *count) {
	hb_u64 mine = 0, edges = 0;
	HB_EACH(v, n) {
		if (!active[v]) continue;
		mine++;
		edges += (hb_u64)HB_DEGREE(v);
	}
	mine = hb_total(mine), edges = hb_total(edges);
	if (HB_LANE == 0 && mine) {
		atomicAdd(count, mine);
		atomicAdd(count + 1, edges);
	}
}
#endif
