// Supersteps that a device runs by itself: each pushes along the edges of a queue of active
// vertices and applies the sums. Source: prelude + queue.cu + atomics.cu + the program + program.cu
// + this file. Besides what program.cu names, the text before defines:
//   hb_add(x, y)                       the sum of two messages
//   hb_edge(weight, src, dst), hb_has  !HB_SENDS: the message of an edge, and whether there is one
//   double hb_priority(state)          HB_PRIORITY
//   HB_ANY                             1 if any message is the sum
//   HB_PULLS                           1 if vertices can look for a message: HB_ANY and HB_SKIPS
// and rounds.go the constants HB_ROUND_CHUNK (entries of an item of the queue), HB_ROUND_LOG and
// HB_ROUND_FILL (edges of a step that fill the device), HB_ROUND_FEW (1/HB_ROUND_FEW edges a vertex
// are few).
//
// Scratch: queue hb_u64[2·room], room = n + entries/HB_ROUND_CHUNK + 1; touched hb_i32[n];
//   hit hb_u8[n], 4-byte aligned, zero; sums HB_M[n], the identity, with HB_ANY of any value;
//   with HB_PRIORITY pile hb_i32[2·n] and waiting hb_u8[n], zero;
//   with HB_PULLS bits hb_u32[2·⌈n/32⌉], zero, and rest hb_i32[2·n];
//   round hb_u64[HB_ROUND_STATES]; log hb_i64[HB_ROUND_LOG], the active vertices of each superstep,
//   with HB_PART the own ones that are active after it, plus HB_ROUND_PULLED for a pull.
// Launches, grid = resident blocks of HB_GRAPH_BLOCK threads:
//   hb_program_enter; hb_program_push and hb_program_take until result[0] is not 0;
//   hb_program_leave, and then hb_program_enter again.
//   result hb_i64[4] in pinned host memory: {1 + why (HB_ROUND_…), active vertices, supersteps
//   since the last look, the last of the log}. Further launches return at once; hb_program_again
//   goes on.
// A superstep is two launches. Bound by random access to sums, hit and states.
//
// With HB_PULLS, a superstep with many messages pulls: each vertex that takes messages looks for an
// active in-neighbour and stops at the first (Beamer, Asanović, Patterson, SC 2012). The first pull
// looks at all vertices and lists those without a message; later ones look at that list. Active
// vertices are a bitmap; two bitmaps take turns. Before the first pull and after the last, two
// launches convert the queue to a bitmap and back; a block that finds out that the next step pulls
// sets bits at once. While no active vertex takes messages, as in breadth-first search, a pull
// applies messages where it finds them, since nobody reads those states.
//
// With HB_PRIORITY, active vertices at or above a bound wait in a pile. When no other is left, a
// step splits the pile by a new bound, its least priority plus width (near and far: Davidson,
// Baxter, Garland, Owens, IPDPS 2014). The width doubles after a bucket of few steps that had too
// few edges to fill the device, and falls back to the given one while they have many. The edges of
// those that wait count for the test of a pull.

#define HB_ROUND_ASIDE 1024 // vertices that a block collects in shared memory
#define HB_ROUND_LONG 2048   // in-edges from which a block shares the rest of a row
#define HB_ROUND_LONGS 16    // such rows that a block shares; a warp reads the others
#define HB_ROUND_PULLED (1LL << 62)
#define HB_ROUND_SHORT 4 // steps of a bucket, its split too, up to which a wider one saves steps

enum { // places in round
	HB_ROUND_MODE, HB_ROUND_RESUME, HB_ROUND_ITEMS, HB_ROUND_SIDE, HB_ROUND_TOUCHED, HB_ROUND_SENDERS, HB_ROUND_PILE, HB_ROUND_HEAP,
	HB_ROUND_WAITING, HB_ROUND_STEP, HB_ROUND_LIMIT, HB_ROUND_LOGGED, HB_ROUND_PULL, HB_ROUND_BOUND, HB_ROUND_EXPLORED,
	HB_ROUND_MARKED, HB_ROUND_LISTED, HB_ROUND_REST, HB_ROUND_NEXT_REST, // the bitmap in use; whether rest is a list; its lengths
	HB_ROUND_OPEN, // 1 once a vertex was active and took messages
	HB_ROUND_HELD, // out-edges of the vertices that wait
	HB_ROUND_WIDTH, HB_ROUND_BUCKET, HB_ROUND_STEPS, // width of a bucket, a double; edges and steps since the last split
	HB_ROUND_NEXT, HB_ROUND_ACTIVE, HB_ROUND_EDGES, HB_ROUND_NEXT_PILE, HB_ROUND_LEAST, HB_ROUND_DONE, // of the step under way; LEAST is a complement
	// Mode, pile and bitmap of the step under way: hb_program_take changes the mode, pile and
	// bitmap of the next step while blocks of the same launch may still begin.
	HB_ROUND_NOW, HB_ROUND_NOW_PILE, HB_ROUND_NOW_MARKED,
	HB_ROUND_OWN, // HB_PART: own vertices that are active after the step
	HB_ROUND_STATES
};
enum { HB_ROUND_STOP, HB_ROUND_PUSH, HB_ROUND_SPLIT, HB_ROUND_MARK, HB_ROUND_SCAN, HB_ROUND_QUEUE }; // modes
enum { HB_ROUND_QUIET = 1, HB_ROUND_FULL, HB_ROUND_WIDE }; // why a loop ends: nothing active, limit or log, a pull is better

#if HB_PRIORITY
// hb_ordered maps numbers to integers of the same order, and hb_number back.
HB_DEVICE hb_u64 hb_ordered(double x) {
	const hb_u64 bits = (hb_u64)__double_as_longlong(x);
	return bits >> 63 ? ~bits : bits | 1ULL << 63;
}
HB_DEVICE double hb_number(hb_u64 key) { return __longlong_as_double((hb_i64)(key >> 63 ? key & ~(1ULL << 63) : ~key)); }
#define HB_LISTED 1 // bits of waiting: in the pile, and active
#define HB_WAITS 2
#endif

#if HB_SELECTS
// hb_matters reports whether a message alone would change its vertex. If the sum of messages is one
// of them, such as the least, those that do not matter can be left out.
HB_DEVICE bool hb_matters(const hb_graph &graph, hb_i32 superstep, const HB_V &state, const HB_M &message, hb_i32 v) {
	union bytes {
		hb_u8 at[sizeof(HB_V)];
		HB_V state;
	};
	bytes was, is;
	was.state = is.state = state;
	if (hb_step(is.state, message, HB_VERTEX(v), superstep, (const double *)0)) return true;
	bool same = true;
#pragma unroll
	for (int k = 0; k < (int)sizeof(HB_V); k++) same = same && was.at[k] == is.at[k];
	return !same;
}
#endif

// hb_program_collect adds the lanes' vertices to a list, by way of aside if it has room.
HB_DEVICE void hb_program_collect(bool some, hb_i32 v, hb_i32 *aside, hb_u32 *asides, hb_i32 *list, hb_u64 *size) {
	if (!__any_sync(HB_FULL, some)) return;
	const hb_u32 place = hb_reserve(asides, some);
	if (some && place < HB_ROUND_ASIDE) aside[place] = v;
	const bool over = some && place >= HB_ROUND_ASIDE;
	if (!__any_sync(HB_FULL, over)) return;
	const hb_u64 at = hb_reserve(size, over);
	if (over) list[at] = v;
}

// hb_program_spill appends aside to a list. All threads of the block call it.
HB_DEVICE void hb_program_spill(const hb_i32 *aside, hb_u32 asides, hb_i32 *list, hb_u64 *size, hb_u64 *first) {
	const hb_u32 count = asides < HB_ROUND_ASIDE ? asides : HB_ROUND_ASIDE;
	if (threadIdx.x == 0 && count > 0) *first = atomicAdd(size, (hb_u64)count);
	__syncthreads();
	for (hb_u32 k = threadIdx.x; k < count; k += HB_GRAPH_BLOCK) list[*first + k] = aside[k];
	__syncthreads();
}

// hb_program_activate adds the lanes' vertices to the queue, by way of aside if it has room.
HB_DEVICE void hb_program_activate(bool some, hb_i32 v, hb_i32 *aside, hb_u32 *asides, const hb_i64 *ptr, hb_u64 *queue, hb_u64 *size) {
	if (!__any_sync(HB_FULL, some)) return;
	const hb_u32 place = hb_reserve(asides, some);
	if (some && place < HB_ROUND_ASIDE) aside[place] = v;
	const hb_i32 u = some && place >= HB_ROUND_ASIDE ? v : -1;
	if (__any_sync(HB_FULL, u >= 0)) hb_append(queue, size, u, hb_chunks(ptr, u, HB_ROUND_CHUNK));
}

// hb_program_enter makes the queue, or with HB_PRIORITY the pile, of the active vertices; active
// may be null: all are. pull: the part of the edges from which a pull is better is 1/pull; 0: none.
// mode: HB_ROUND_PUSH or HB_ROUND_MARK.
HB_KERNEL hb_program_enter(hb_i32 n, const hb_i64 *ptr, const HB_V *state, const hb_u8 *active, hb_u64 count, hb_u64 *queue, hb_i32 *pile,
	hb_u8 *waiting, hb_u64 *round, hb_u64 superstep, hb_u64 limit, hb_u64 pull, hb_u64 explored, hb_u64 mode) {
	const hb_i64 threads = (hb_i64)gridDim.x * HB_GRAPH_BLOCK, words = ((hb_i64)n + 15) / 16; // of 16 vertices
	for (hb_i64 w = (hb_i64)blockIdx.x * HB_GRAPH_BLOCK + threadIdx.x; w - HB_LANE < words; w += threads) {
		hb_u32 bits = 0;
		if (active && w * 16 + 16 <= n) {
			const uint4 four = ((const uint4 *)active)[w];
			const hb_u32 part[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
			for (int k = 0; k < 16; k++) bits |= (part[k / 4] >> k % 4 * 8 & 1) << k;
		} else {
			for (hb_i64 v = w * 16; v < w * 16 + 16 && v < n; v++) bits |= (hb_u32)(!active || active[v]) << v % 16;
		}
		while (__any_sync(HB_FULL, bits)) {
			const bool on = bits != 0;
			const hb_i32 v = on ? (hb_i32)(w * 16) + __ffs(bits) - 1 : -1;
			bits &= bits - 1;
#if HB_PRIORITY
			const hb_u64 at = hb_reserve(round + HB_ROUND_PILE, on);
			const hb_u64 held = hb_total(on ? (hb_u64)HB_DEGREE(v) : 0);
			if (HB_LANE == 0) atomicAdd(round + HB_ROUND_HELD, held);
			if (on) {
				pile[at] = v;
				waiting[v] = HB_LISTED | HB_WAITS;
				atomicMax(round + HB_ROUND_LEAST, ~hb_ordered(hb_priority(state[v])));
			}
#else
			hb_append(queue, round + HB_ROUND_ITEMS, v, hb_chunks(ptr, v, HB_ROUND_CHUNK));
#if HB_PULLS
			if (on && !hb_closed(state[v])) round[HB_ROUND_OPEN] = 1;
#endif
#endif
		}
	}
	if (blockIdx.x == 0 && threadIdx.x == 0) { // round is zero before
		round[HB_ROUND_MODE] = mode;
		round[HB_ROUND_STEP] = superstep;
		round[HB_ROUND_LIMIT] = limit;
		round[HB_ROUND_PULL] = pull;
		round[HB_ROUND_EXPLORED] = explored;
		round[HB_ROUND_SENDERS] = count;
	}
}

#if HB_PRIORITY
// hb_program_bound sets the first bound. One thread.
HB_KERNEL hb_program_bound(double width, hb_u64 *round) {
	round[HB_ROUND_WAITING] = round[HB_ROUND_SENDERS];
	round[HB_ROUND_SENDERS] = 0;
	round[HB_ROUND_BOUND] = hb_ordered(hb_number(~round[HB_ROUND_LEAST]) + width);
	round[HB_ROUND_WIDTH] = (hb_u64)__double_as_longlong(width);
	round[HB_ROUND_LEAST] = 0;
	round[HB_ROUND_MODE] = round[HB_ROUND_PILE] ? HB_ROUND_SPLIT : HB_ROUND_PUSH;
}
#endif

// hb_program_again goes on after a look. One thread.
HB_KERNEL hb_program_again(hb_u64 *round) {
	round[HB_ROUND_MODE] = round[HB_ROUND_RESUME];
	round[HB_ROUND_LOGGED] = 0;
}

#if HB_PULLS
// hb_program_pull is what a block pulls with. Shared: hits and left, HB_ROUND_ASIDE vertices with
// and without a message; longs, rows to share; counts, of these three; found, a position.
struct hb_program_pull {
	hb_graph graph;
	hb_i32 superstep;
	const hb_i64 *inptr;
	const hb_i32 *inidx;
	const HB_E *inweight;
	HB_V *state;
	hb_u8 *closed;
	const hb_u32 *bits;
	hb_u32 *next; // the bitmap of those that are active next
	bool once; // apply messages where they are found
	HB_M *sums;
	hb_i32 *touched, *rest;
	hb_u64 *round;
	hb_i32 *hits, *left, *longs;
	hb_u32 *counts;
	hb_i64 *found;
	hb_u64 *first;
	hb_u64 active, edges, own; // once: of this thread, those that are active next, and their out-edges
};

// hb_program_brings reports whether in-edge p, from u, brings v a message. word is the word of u.
HB_DEVICE bool hb_program_brings(const hb_program_pull &x, hb_u32 word, hb_i32 u, hb_i64 p, hb_i32 v) {
	bool some = word >> (u & 31) & 1;
#if !HB_SENDS
	if (some) some = hb_has(x.inweight ? x.inweight[p] : (HB_E)HB_UNIT, x.state[u], x.state[v]);
#endif
	return some;
}

// hb_program_edge is hb_program_brings for in-edge p < end.
HB_DEVICE bool hb_program_edge(const hb_program_pull &x, hb_i64 p, hb_i64 end, hb_i32 v) {
	if (p >= end) return false;
	const hb_i32 u = x.inidx[p];
	return hb_program_brings(x, x.bits[u >> 5], u, p, v);
}

// hb_program_got writes or applies the message of in-edge p to v. It reports whether v is done: it
// takes no more messages, or hb_program_take does the rest.
HB_DEVICE bool hb_program_got(hb_program_pull &x, hb_i64 p, hb_i32 v) {
	const hb_i32 u = x.inidx[p];
	const hb_graph &graph = x.graph;
#if HB_SENDS
	const HB_M m = hb_message(x.state[u], HB_VERTEX(u), x.superstep, (const double *)0);
#else
	const HB_M m = hb_edge(x.inweight ? x.inweight[p] : (HB_E)HB_UNIT, x.state[u], x.state[v]);
#endif
	if (!x.once) {
		x.sums[v] = m;
		return true;
	}
	HB_V s = x.state[v];
	const bool on = hb_step(s, m, HB_VERTEX(v), x.superstep, (const double *)0), shut = hb_closed(s);
	x.state[v] = s;
	x.closed[v] = shut;
	if (on) {
		atomicOr(x.next + v / 32, 1u << v % 32);
		x.active++;
		x.own += hb_owns(graph, v);
		x.edges += (hb_u64)(graph.ptr[v + 1] - graph.ptr[v]);
		if (!shut) x.round[HB_ROUND_OPEN] = 1;
	}
	return shut;
}

// hb_program_row looks for a message along in-edges p … end−1 of the lanes' vertices with more,
// eight lanes a row. It returns the position of an edge, or −1. All lanes of the warp call it.
HB_DEVICE hb_i64 hb_program_row(const hb_program_pull &x, hb_i32 v, hb_i64 p, hb_i64 end, bool more) {
	const hb_i32 group = HB_LANE / 8;
	hb_i64 result = -1;
	for (hb_u32 rows = __ballot_sync(HB_FULL, more); rows;) {
		hb_u32 own = rows; // the lane of the group's lowest bit has the group's row
		for (hb_i32 g = 0; g < 4; g++) {
			if (g < group) own &= own - 1;
			rows &= rows - 1;
		}
		const hb_i32 lane = own ? __ffs(own) - 1 : 0;
		hb_i64 q = __shfl_sync(HB_FULL, p, lane), stop = __shfl_sync(HB_FULL, end, lane), hit = -1;
		const hb_i32 to = __shfl_sync(HB_FULL, v, lane);
		if (!own) q = stop;
		while (__any_sync(HB_FULL, hit < 0 && q < stop)) {
			const bool set = hit < 0 && hb_program_edge(x, q + HB_LANE % 8, stop, to);
			const hb_u32 lanes = __ballot_sync(HB_FULL, set) >> group * 8 & 0xff;
			if (lanes && hit < 0) hit = q + __ffs(lanes) - 1;
			q += 8;
		}
		for (hb_i32 g = 0; g < 4; g++) {
			const hb_i32 whose = __shfl_sync(HB_FULL, own ? lane : -1, g * 8);
			const hb_i64 at = __shfl_sync(HB_FULL, hit, g * 8);
			if (HB_LANE == whose) result = at;
		}
	}
	return result;
}

// hb_program_look looks for a message to K vertices of each thread of the block; −1 is none. A lane
// tests two in-edges of each by itself. All threads of the block call it.
template <hb_i32 K>
HB_DEVICE void hb_program_look(hb_program_pull &x, const hb_i32 (&v)[K]) {
	hb_i64 p[K], end[K], at[K];
	bool open[K];
#pragma unroll
	for (hb_i32 k = 0; k < K; k++) open[k] = v[k] >= 0 && !x.closed[v[k]];
#pragma unroll
	for (hb_i32 k = 0; k < K; k++) {
		at[k] = -1, p[k] = end[k] = 0;
		if (open[k]) p[k] = x.inptr[v[k]], end[k] = x.inptr[v[k] + 1];
		if (p[k] == end[k]) open[k] = false;
	}
#pragma unroll
	for (hb_i32 i = 0; i < 2; i++) {
		hb_i32 u[K];
		hb_u32 word[K];
#pragma unroll
		for (hb_i32 k = 0; k < K; k++) u[k] = at[k] < 0 && p[k] < end[k] ? x.inidx[p[k]] : -1;
#pragma unroll
		for (hb_i32 k = 0; k < K; k++) word[k] = u[k] >= 0 ? x.bits[u[k] >> 5] : 0;
#pragma unroll
		for (hb_i32 k = 0; k < K; k++) {
			if (u[k] < 0) continue;
			if (hb_program_brings(x, word[k], u[k], p[k], v[k])) at[k] = p[k];
			else p[k]++;
		}
	}
#pragma unroll
	for (hb_i32 k = 0; k < K; k++) {
		bool more = at[k] < 0 && p[k] < end[k];
		if (more && end[k] - p[k] > HB_ROUND_LONG) {
			const hb_u32 place = atomicAdd(x.counts + 2, 1u);
			if (place < HB_ROUND_LONGS) x.longs[place] = v[k], more = open[k] = false;
		}
		const hb_i64 later = hb_program_row(x, v[k], p[k], end[k], more);
		if (later >= 0) at[k] = later;
	}
#pragma unroll
	for (hb_i32 k = 0; k < K; k++) {
		const bool hit = at[k] >= 0, done = hit && hb_program_got(x, at[k], v[k]), keep = open[k] && !done;
		if (!x.once) {
			const hb_u32 place = hb_reserve(x.counts, hit);
			if (hit) x.hits[place] = v[k];
		}
		const hb_u32 other = hb_reserve(x.counts + 1, keep);
		if (keep) x.left[other] = v[k];
	}
	__syncthreads();
	const hb_u32 longs = x.counts[2] < HB_ROUND_LONGS ? x.counts[2] : HB_ROUND_LONGS;
	for (hb_u32 i = 0; i < longs; i++) {
		const hb_i32 w = x.longs[i];
		const hb_i64 stop = x.inptr[w + 1];
		if (threadIdx.x == 0) *x.found = -1;
		for (hb_i64 base = x.inptr[w]; base < stop; base += HB_GRAPH_BLOCK) {
			__syncthreads();
			const hb_i64 q = base + threadIdx.x;
			if (hb_program_edge(x, q, stop, w)) *x.found = q;
			__syncthreads();
			if (*x.found >= 0) break;
		}
		__syncthreads();
		if (threadIdx.x == 0) {
			const bool hit = *x.found >= 0, done = hit && hb_program_got(x, *x.found, w);
			if (hit && !x.once) x.hits[x.counts[0]++] = w;
			if (!done) x.left[x.counts[1]++] = w;
		}
		__syncthreads();
	}
	hb_program_spill(x.hits, x.counts[0], x.touched, x.round + HB_ROUND_TOUCHED, x.first);
	hb_program_spill(x.left, x.counts[1], x.rest, x.round + HB_ROUND_NEXT_REST, x.first);
	if (threadIdx.x < 3) x.counts[threadIdx.x] = 0;
	__syncthreads();
}

// hb_program_scan pulls for the count vertices of list, or for all vertices if it is null.
HB_DEVICE void hb_program_scan(hb_program_pull &x, const hb_i32 *list, hb_u64 count) {
	if (threadIdx.x < 3) x.counts[threadIdx.x] = 0;
	__syncthreads();
	if (list) {
		for (hb_u64 base = (hb_u64)blockIdx.x * HB_GRAPH_BLOCK; base < count; base += (hb_u64)gridDim.x * HB_GRAPH_BLOCK) {
			const hb_i32 v[1] = {base + threadIdx.x < count ? list[base + threadIdx.x] : -1};
			hb_program_look<1>(x, v);
		}
	}
	const hb_i64 tile = HB_ROUND_ASIDE;
	for (hb_i64 base = blockIdx.x * tile; !list && base < x.graph.n; base += gridDim.x * tile) {
		hb_i32 v[HB_ROUND_ASIDE / HB_GRAPH_BLOCK];
#pragma unroll
		for (hb_i32 k = 0; k < HB_ROUND_ASIDE / HB_GRAPH_BLOCK; k++) {
			const hb_i64 id = base + k * HB_GRAPH_BLOCK + threadIdx.x;
			v[k] = id < x.graph.n ? (hb_i32)id : -1;
		}
		hb_program_look<HB_ROUND_ASIDE / HB_GRAPH_BLOCK>(x, v);
	}
	if (!x.once) return;
	const hb_u64 active = hb_total(x.active), edges = hb_total(x.edges);
	if (HB_LANE == 0 && active) {
		atomicAdd(x.round + HB_ROUND_ACTIVE, active);
		atomicAdd(x.round + HB_ROUND_EDGES, edges);
	}
#if HB_PART
	const hb_u64 own = hb_total(x.own);
	if (HB_LANE == 0 && own) atomicAdd(x.round + HB_ROUND_OWN, own);
#endif
}

// hb_program_marks sets the bits of the vertices of a queue. Only the first item of a vertex
// counts.
HB_DEVICE void hb_program_marks(const hb_u64 *from, hb_u64 items, hb_u32 *bits) {
	HB_EACH(i, (hb_i64)items) {
		const hb_u64 item = from[i];
		if (item >> 32 == 0) atomicOr(bits + (hb_u32)item / 32, 1u << (hb_u32)item % 32);
	}
}

// hb_program_unmark makes a queue of a bitmap and empties it.
HB_DEVICE void hb_program_unmark(hb_u32 *bits, hb_i32 words, const hb_i64 *ptr, hb_u64 *queue, hb_u64 *size) {
	const hb_i64 threads = (hb_i64)gridDim.x * HB_GRAPH_BLOCK;
	for (hb_i64 i = (hb_i64)blockIdx.x * HB_GRAPH_BLOCK + threadIdx.x; i - HB_LANE < words; i += threads) {
		hb_u32 word = i < words ? bits[i] : 0;
		if (word) bits[i] = 0;
		while (__any_sync(HB_FULL, word)) {
			const hb_i32 v = word ? (hb_i32)(i * 32) + __ffs(word) - 1 : -1;
			word &= word - 1;
			hb_append(queue, size, v, hb_chunks(ptr, v, HB_ROUND_CHUNK));
		}
	}
}
#endif

// hb_program_push sums the messages of the queue. HB_PULLS: or it pulls, or converts between the
// queue and a bitmap; inptr may be null if the host is to make it first.
HB_KERNEL hb_program_push(hb_i32 n, const hb_i64 *ptr, const hb_i32 *idx, const HB_E *weight, HB_V *state, hb_u8 *closed, hb_u8 *hit,
	HB_M *sums, hb_u64 *queue, hb_i64 room, hb_i32 *touched, hb_u64 *round, const hb_i64 *inptr, const hb_i32 *inidx, const HB_E *inweight,
	hb_u32 *bits, hb_i32 *rest HB_PART_PARAMS) {
	HB_GRAPH;
	__shared__ hb_i32 aside[HB_ROUND_ASIDE];
	__shared__ hb_u32 asides;
	__shared__ hb_u64 first;
	const hb_u64 items = round[HB_ROUND_ITEMS], mode = round[HB_ROUND_MODE];
	const hb_i32 superstep = (hb_i32)round[HB_ROUND_STEP];
	if (blockIdx.x == 0 && threadIdx.x == 0) {
		round[HB_ROUND_NOW] = mode;
		round[HB_ROUND_NOW_PILE] = round[HB_ROUND_PILE];
		round[HB_ROUND_NOW_MARKED] = round[HB_ROUND_MARKED];
	}
#if HB_PULLS
	__shared__ hb_i32 left[HB_ROUND_ASIDE], longs[HB_ROUND_LONGS];
	__shared__ hb_u32 counts[3];
	__shared__ hb_i64 found;
	const hb_i32 words = (n + 31) / 32;
	hb_u32 *marked = bits + round[HB_ROUND_MARKED] * words, *other = bits + (1 - round[HB_ROUND_MARKED]) * words;
	if (mode == HB_ROUND_MARK) hb_program_marks(queue + round[HB_ROUND_SIDE] * room, items, marked);
	if (mode == HB_ROUND_QUEUE) hb_program_unmark(marked, words, ptr, queue + (1 - round[HB_ROUND_SIDE]) * room, round + HB_ROUND_NEXT);
	if (mode == HB_ROUND_SCAN) {
		const hb_u64 which = round[HB_ROUND_LISTED];
		hb_program_pull x = {graph, superstep, inptr, inidx, inweight, state, closed, marked, other, round[HB_ROUND_OPEN] == 0, sums, touched,
			rest + (which == 1 ? n : 0), round, aside, left, longs, counts, &found, &first, 0, 0, 0};
		hb_program_scan(x, which ? rest + (which == 1 ? 0 : n) : 0, round[HB_ROUND_REST]);
	}
#endif
	if (mode != HB_ROUND_PUSH) return;
	const hb_u32 busy = hb_busy(items), share = hb_share(items);
	if (items == 0 || blockIdx.x >= busy) return;
	const hb_u64 *from = queue + round[HB_ROUND_SIDE] * room;
	const hb_u64 warps = (hb_u64)busy * HB_GRAPH_WARPS, warp = (hb_u64)blockIdx.x * HB_GRAPH_WARPS + threadIdx.x / HB_WARP;
	if (threadIdx.x == 0) asides = 0;
	__syncthreads();
	for (hb_u64 g = warp; g * share < items; g += warps) {
		const hb_u64 at = g * share + HB_LANE;
		hb_i64 begin = 0, end = 0;
#if HB_SENDS
		HB_M mail = HB_IDENTITY;
#else
		HB_V src = state[0];
#endif
		if (HB_LANE < share && at < items) {
			const hb_u64 item = from[at];
			const hb_i32 v = (hb_i32)(hb_u32)item;
			begin = ptr[v] + (hb_i64)(item >> 32) * HB_ROUND_CHUNK, end = ptr[v + 1];
			if (end > begin + HB_ROUND_CHUNK) end = begin + HB_ROUND_CHUNK;
#if HB_SENDS
			mail = hb_message(state[v], HB_VERTEX(v), superstep, (const double *)0);
#else
			src = state[v];
#endif
		}
		const hb_u32 sum = hb_sums((hb_u32)(end - begin)), total = __shfl_sync(HB_FULL, sum, HB_WARP - 1);
		begin -= sum - (hb_u32)(end - begin); // entry t of the warp is at begin + t of its lane
		for (hb_u32 t0 = 0; t0 < total; t0 += HB_WARP * HB_UNROLL) {
			hb_i32 u[HB_UNROLL];
			HB_M m[HB_UNROLL];
			bool some[HB_UNROLL];
#if !HB_SENDS
			HB_V source[HB_UNROLL];
			hb_i64 p[HB_UNROLL];
#endif
#pragma unroll
			for (hb_i32 k = 0; k < HB_UNROLL; k++) {
				const hb_u32 t = t0 + k * HB_WARP + HB_LANE;
				const hb_i32 lane = hb_owner(sum, t);
				const hb_i64 e = __shfl_sync(HB_FULL, begin, lane) + t;
#if HB_SENDS
				m[k] = hb_from(mail, lane);
#else
				source[k] = hb_from(src, lane);
				p[k] = e;
#endif
				u[k] = t < total ? idx[e] : 0;
				some[k] = t < total;
			}
#if HB_SKIPS
#pragma unroll
			for (hb_i32 k = 0; k < HB_UNROLL; k++) some[k] = some[k] && !closed[u[k]];
#endif
#if !HB_SENDS
#pragma unroll
			for (hb_i32 k = 0; k < HB_UNROLL; k++) {
				if (!some[k]) continue;
				const HB_E w = weight ? weight[p[k]] : (HB_E)HB_UNIT;
				const HB_V &dst = state[u[k]];
				some[k] = hb_has(w, source[k], dst);
				if (some[k]) m[k] = hb_edge(w, source[k], dst);
			}
#endif
#if HB_SELECTS
#pragma unroll
			for (hb_i32 k = 0; k < HB_UNROLL; k++) some[k] = some[k] && hb_matters(graph, superstep, state[u[k]], m[k], u[k]);
#endif
#pragma unroll
			for (hb_i32 k = 0; k < HB_UNROLL; k++) {
				bool fresh = false;
				if (some[k]) {
#if HB_ANY
					sums[u[k]] = m[k];
#else
					hb_atomic_add(sums + u[k], m[k]);
#endif
					if (!hit[u[k]]) {
						const hb_u32 bit = 1u << (u[k] % 4 * 8);
						fresh = !(atomicOr((hb_u32 *)hit + u[k] / 4, bit) & bit);
					}
				}
				hb_program_collect(fresh, u[k], aside, &asides, touched, round + HB_ROUND_TOUCHED);
			}
		}
	}
	__syncthreads();
	hb_program_spill(aside, asides, touched, round + HB_ROUND_TOUCHED, &first);
}

// hb_program_wide reports whether a pull is better than a push along out edges: they are more than
// a part of the edges that it may look at, and not few, so that the end of a search does not pull.
HB_DEVICE bool hb_program_wide(const hb_u64 *round, hb_i32 n, hb_i64 edges, hb_u64 out, hb_u64 explored) {
	const hb_u64 m = (hb_u64)edges, left = HB_SKIPS ? m - (explored < m ? explored : m) : m;
	return round[HB_ROUND_PULL] && out * round[HB_ROUND_PULL] > left && out * HB_ROUND_FEW > (hb_u64)n;
}

// hb_program_take applies the sums, or splits the pile, and decides what the next step does.
HB_KERNEL hb_program_take(hb_i32 n, const hb_i64 *ptr, HB_V *state, hb_u8 *closed, hb_u8 *hit, HB_M *sums, const hb_i32 *touched, hb_u64 *queue,
	hb_i64 room, hb_i32 *pile, hb_u8 *waiting, double width, hb_u64 *round, hb_i64 *log, hb_i64 *result, const hb_i64 *inptr, hb_u32 *bits,
	hb_i32 *rest HB_PART_PARAMS) {
	HB_GRAPH;
	__shared__ hb_i32 near_aside[HB_ROUND_ASIDE];
	__shared__ hb_u32 nears;
	__shared__ hb_u64 edges, active;
#if HB_PRIORITY
	__shared__ hb_i32 far_aside[HB_ROUND_ASIDE];
	__shared__ hb_u32 fars;
	__shared__ hb_u64 first;
	__shared__ hb_i32 delayed;
	__shared__ hb_u64 held_edges;
	const hb_u64 heap = round[HB_ROUND_HEAP], bound = round[HB_ROUND_BOUND];
	hb_u64 least = 0; // complements, so that 0 is none
	hb_i32 waits = 0;
	hb_u64 held = 0; // as a difference
#endif
	const hb_u64 mode = round[HB_ROUND_NOW];
	if (mode == HB_ROUND_STOP) return;
#if HB_PULLS
	if (mode == HB_ROUND_MARK || mode == HB_ROUND_QUEUE) {
		if (blockIdx.x != 0 || threadIdx.x != 0) return;
		if (mode == HB_ROUND_QUEUE) {
			round[HB_ROUND_ITEMS] = round[HB_ROUND_NEXT];
			round[HB_ROUND_NEXT] = 0;
			round[HB_ROUND_SIDE] = 1 - round[HB_ROUND_SIDE];
		}
		round[HB_ROUND_MODE] = mode == HB_ROUND_MARK ? HB_ROUND_SCAN : HB_ROUND_PUSH;
		return;
	}
	const bool scan = mode == HB_ROUND_SCAN;
	const hb_i32 words = (n + 31) / 32;
	const hb_u64 marked = round[HB_ROUND_NOW_MARKED], listed = round[HB_ROUND_LISTED];
	hb_u32 *used = bits + marked * words, *marks = bits + (1 - marked) * words;
	if (scan) {
		HB_EACH(i, words) used[i] = 0; // nobody reads it any more
	}
	hb_i32 *left = rest + (listed == 1 ? n : 0);
#else
	const bool scan = false;
#endif
	const bool split = mode == HB_ROUND_SPLIT;
	const hb_u64 work = split ? round[HB_ROUND_NOW_PILE] : round[HB_ROUND_TOUCHED], side = round[HB_ROUND_SIDE];
	const hb_u32 busy = hb_busy((work + HB_WARP - 1) / HB_WARP);
	if (blockIdx.x >= busy) return;
	const hb_i32 superstep = (hb_i32)round[HB_ROUND_STEP];
	hb_u64 *to = queue + (1 - side) * room, mine = 0, count = 0, own = 0;
	if (threadIdx.x == 0) {
		nears = 0, edges = 0, active = 0;
#if HB_PRIORITY
		fars = 0, delayed = 0, held_edges = 0;
#endif
	}
	__syncthreads();
#if HB_PRIORITY
	const hb_i32 *list = split ? pile + heap * n : touched;
	hb_i32 *far = pile + (split ? 1 - heap : heap) * n;
#else
	const hb_i32 *list = touched;
#endif
	const hb_u64 threads = (hb_u64)busy * HB_GRAPH_BLOCK;
	for (hb_u64 i = (hb_u64)blockIdx.x * HB_GRAPH_BLOCK + threadIdx.x; i - HB_LANE < work; i += threads) {
		const hb_i32 v = i < work ? list[i] : -1;
		bool near = false;
		if (v >= 0 && !split) {
			HB_V s = state[v];
			near = hb_step(s, sums[v], HB_VERTEX(v), superstep, (const double *)0);
#if !HB_ANY
			sums[v] = HB_IDENTITY;
#endif
			if (!scan) hit[v] = 0;
			state[v] = s;
#if HB_SKIPS
			const bool shut = hb_closed(s);
			closed[v] = shut;
#endif
#if HB_PULLS
			if (scan && near) atomicOr(marks + v / 32, 1u << v % 32);
			if (scan && !shut) left[atomicAdd(round + HB_ROUND_NEXT_REST, (hb_u64)1)] = v;
			if (near && !shut) round[HB_ROUND_OPEN] = 1;
#endif
		}
#if HB_PRIORITY
		bool later = false;
		if (v >= 0 && (near || split)) {
			const hb_u8 was = waiting[v];
			const hb_u64 key = hb_ordered(hb_priority(state[v]));
			const bool below = key <= bound;
			hb_u8 is = was;
			if (split) {
				near = (was & HB_WAITS) && below;
				later = (was & HB_WAITS) && !below; // it stays in the pile
				if (!later) is = 0;
			} else {
				near = below;
				later = !below && !(was & HB_LISTED);
				is = below ? was & HB_LISTED : HB_LISTED | HB_WAITS;
			}
			if (!below && (is & HB_WAITS) && ~key > least) least = ~key;
			const hb_i32 more = ((is & HB_WAITS) - (was & HB_WAITS)) / HB_WAITS;
			waits += more;
			held += (hb_u64)(hb_i64)more * (hb_u64)HB_DEGREE(v);
			if (is != was) waiting[v] = is;
		}
		hb_program_collect(later, v, far_aside, &fars, far, round + HB_ROUND_NEXT_PILE);
#endif
		if (near) {
			count++;
			own += hb_owns(graph, v);
			mine += (hb_u64)(ptr[v + 1] - ptr[v]);
		}
		hb_program_activate(near && !scan, v, near_aside, &nears, ptr, to, round + HB_ROUND_NEXT);
	}
	mine = hb_total(mine), count = hb_total(count);
	if (HB_LANE == 0 && count) {
		atomicAdd(&edges, mine);
		atomicAdd(&active, count);
	}
#if HB_PART
	own = hb_total(own);
	if (HB_LANE == 0 && own) atomicAdd(round + HB_ROUND_OWN, own);
#endif
#if HB_PRIORITY
#pragma unroll
	for (hb_i32 d = HB_WARP / 2; d > 0; d /= 2) {
		const hb_u64 other = __shfl_xor_sync(HB_FULL, least, d);
		least = other > least ? other : least;
	}
	waits = hb_total(waits), held = hb_total(held);
	if (HB_LANE == 0 && least) atomicMax(round + HB_ROUND_LEAST, least);
	if (HB_LANE == 0 && waits) atomicAdd(&delayed, waits);
	if (HB_LANE == 0 && held) atomicAdd(&held_edges, held);
#endif
	__syncthreads();
	const hb_u32 asides = nears < HB_ROUND_ASIDE ? nears : HB_ROUND_ASIDE;
	bool marking = false;
#if HB_PULLS
	__shared__ bool pulls;
	if (threadIdx.x == 0) {
		pulls = false;
		if (active) {
			const hb_u64 out = atomicAdd(round + HB_ROUND_EDGES, edges) + edges;
			pulls = !scan && hb_program_wide(round, n, ptr[n], out, round[HB_ROUND_EXPLORED] + out);
			atomicAdd(round + HB_ROUND_ACTIVE, active);
		}
	}
	__syncthreads();
	marking = pulls; // the next step pulls, and does not read the queue
	for (hb_u32 i = threadIdx.x; marking && i < asides; i += HB_GRAPH_BLOCK) atomicOr(used + near_aside[i] / 32, 1u << near_aside[i] % 32);
#else
	if (threadIdx.x == 0 && active) {
		atomicAdd(round + HB_ROUND_EDGES, edges);
		atomicAdd(round + HB_ROUND_ACTIVE, active);
	}
#endif
	if (!marking) hb_flush(ptr, near_aside, asides, to, round + HB_ROUND_NEXT, HB_ROUND_CHUNK);
#if HB_PRIORITY
	hb_program_spill(far_aside, fars, far, round + HB_ROUND_NEXT_PILE, &first);
	if (threadIdx.x == 0 && delayed) atomicAdd(round + HB_ROUND_WAITING, (hb_u64)(hb_i64)delayed);
	if (threadIdx.x == 0 && held_edges) atomicAdd(round + HB_ROUND_HELD, held_edges);
#endif
	if (!hb_last(round + HB_ROUND_DONE, busy)) return;
	volatile hb_u64 *now = round;
	const hb_u64 senders = now[HB_ROUND_SENDERS], next = now[HB_ROUND_ACTIVE], out = now[HB_ROUND_EDGES];
	if (!split) {
#if HB_PART
		log[now[HB_ROUND_LOGGED]] = (hb_i64)now[HB_ROUND_OWN] + (scan ? HB_ROUND_PULLED : 0);
		now[HB_ROUND_OWN] = 0;
#else
		log[now[HB_ROUND_LOGGED]] = (hb_i64)senders + (scan ? HB_ROUND_PULLED : 0);
#endif
		now[HB_ROUND_LOGGED] += 1;
		now[HB_ROUND_STEP] += 1;
	}
	if (!scan) {
		now[HB_ROUND_ITEMS] = now[HB_ROUND_NEXT];
		now[HB_ROUND_SIDE] = 1 - side;
	}
#if HB_PULLS
	if (scan) {
		now[HB_ROUND_MARKED] = 1 - marked;
		now[HB_ROUND_LISTED] = listed == 1 ? 2 : 1;
		now[HB_ROUND_REST] = now[HB_ROUND_NEXT_REST];
		now[HB_ROUND_NEXT_REST] = 0;
	}
#endif
	now[HB_ROUND_SENDERS] = next;
	now[HB_ROUND_EXPLORED] += out;
	now[HB_ROUND_TOUCHED] = now[HB_ROUND_NEXT] = now[HB_ROUND_ACTIVE] = now[HB_ROUND_EDGES] = 0;
	hb_u64 then = HB_ROUND_PUSH, why = 0, all = next;
#if HB_PRIORITY
	if (split) now[HB_ROUND_HEAP] = 1 - heap;
	now[HB_ROUND_PILE] = now[HB_ROUND_NEXT_PILE];
	all += now[HB_ROUND_WAITING];
	now[HB_ROUND_BUCKET] += out;
	now[HB_ROUND_STEPS] += 1;
	if (next == 0 && now[HB_ROUND_WAITING] > 0) {
		then = HB_ROUND_SPLIT;
		double wide = __longlong_as_double((hb_i64)now[HB_ROUND_WIDTH]);
		const hb_u64 fill = (hb_u64)HB_ROUND_FILL * now[HB_ROUND_STEPS];
		if (now[HB_ROUND_BUCKET] < fill && now[HB_ROUND_STEPS] <= HB_ROUND_SHORT) wide *= 2;
		else if (now[HB_ROUND_BUCKET] > 8 * fill && wide > width) wide /= 2;
		now[HB_ROUND_WIDTH] = (hb_u64)__double_as_longlong(wide);
		now[HB_ROUND_BUCKET] = now[HB_ROUND_STEPS] = 0;
		now[HB_ROUND_BOUND] = hb_ordered(hb_number(~now[HB_ROUND_LEAST]) + wide);
		now[HB_ROUND_LEAST] = 0;
		now[HB_ROUND_NEXT_PILE] = 0;
	}
#endif
	hb_u64 sent = out; // edges that the next steps push along
#if HB_PRIORITY
	sent += now[HB_ROUND_HELD];
#endif
	const bool wide = hb_program_wide(round, n, ptr[n], sent, now[HB_ROUND_EXPLORED]);
	if (all == 0) why = HB_ROUND_QUIET;
	else if (now[HB_ROUND_STEP] == now[HB_ROUND_LIMIT] || now[HB_ROUND_LOGGED] == HB_ROUND_LOG) why = HB_ROUND_FULL;
#if HB_PULLS
	if (wide) {
		then = scan || now[HB_ROUND_ITEMS] == 0 ? HB_ROUND_SCAN : HB_ROUND_MARK;
		if (!why && !inptr) why = HB_ROUND_WIDE;
	} else if (scan) {
		then = HB_ROUND_QUEUE;
	}
#else
	else if (wide) why = HB_ROUND_WIDE;
#endif
	now[HB_ROUND_MODE] = then;
	if (!why) return;
	now[HB_ROUND_RESUME] = then;
	now[HB_ROUND_MODE] = HB_ROUND_STOP;
	result[1] = (hb_i64)all;
	result[2] = (hb_i64)now[HB_ROUND_LOGGED];
	result[3] = now[HB_ROUND_LOGGED] ? log[now[HB_ROUND_LOGGED] - 1] : 0;
	__threadfence_system();
	result[0] = 1 + (hb_i64)why;
}

// hb_program_leave marks the active vertices: the vertices of the queue, the vertices that wait,
// and the vertices of the bitmap. The bitmap holds all active vertices after a pull, and some
// before the first pull. active is zero before.
HB_KERNEL hb_program_leave(hb_i32 n, hb_u64 *queue, hb_i64 room, const hb_i32 *pile, hb_u8 *waiting, const hb_u64 *round, const hb_u32 *bits,
	hb_u8 *active) {
	const hb_u64 *list = queue + round[HB_ROUND_SIDE] * room, mode = round[HB_ROUND_RESUME];
	if (mode != HB_ROUND_SCAN && mode != HB_ROUND_QUEUE) {
		HB_EACH(i, (hb_i64)round[HB_ROUND_ITEMS]) active[(hb_u32)list[i]] = 1;
	}
#if HB_PULLS
	if (mode != HB_ROUND_PUSH) {
		const hb_u32 *marked = bits + round[HB_ROUND_MARKED] * ((n + 31) / 32);
		HB_EACH(v, n) {
			if (marked[v >> 5] >> (v & 31) & 1) active[v] = 1;
		}
	}
#endif
#if HB_PRIORITY
	HB_EACH(k, (hb_i64)round[HB_ROUND_PILE]) {
		const hb_i32 v = pile[round[HB_ROUND_HEAP] * n + k];
		if (waiting[v] & HB_WAITS) active[v] = 1;
		waiting[v] = 0;
	}
#endif
}

HB_KERNEL hb_program_identities(hb_i32 n, HB_M *sums) {
	HB_EACH(v, n) sums[v] = HB_IDENTITY;
}
