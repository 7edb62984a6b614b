// Supersteps that a device runs by itself: each pushes along the edges of a queue of active
// vertices and applies the sums. Source: prelude + queue.cu + atomics.cu + the program + program.cu
// + this file. Besides what program.cu names, the text before defines:
//   hb_add(x, y)                       the sum of two messages
//   hb_edge(weight, src, dst), hb_has  !HB_SENDS: the message of an edge, and whether there is one
//   double hb_priority(state)          HB_PRIORITY
//   HB_ANY                             1 if any message is the sum
// and rounds.go the constants HB_ROUND_CHUNK (entries of an item of the queue) and HB_ROUND_LOG.
//
// Scratch: queue hb_u64[2·room], room = n + entries/HB_ROUND_CHUNK + 1; touched hb_i32[n];
//   hit hb_u8[n], 4-byte aligned, zero; sums HB_M[n], the identity; with HB_PRIORITY pile hb_i32[2·n] and waiting
//   hb_u8[n], zero; round hb_u64[HB_ROUND_STATES]; log hb_i64[HB_ROUND_LOG], the active vertices of
//   each superstep.
// Launches, grid = resident blocks of HB_GRAPH_BLOCK threads:
//   hb_program_enter; hb_program_push and hb_program_take until result[0] is not 0; hb_program_leave.
//   result hb_i64[4] in pinned host memory: {1 + why (HB_ROUND_…), active vertices, supersteps since the
//   last look, 0}. Further launches return at once; hb_program_again goes on.
// A superstep is two launches. Bound by random access to sums, hit and states.
//
// With HB_PRIORITY, active vertices at or above a bound wait in a pile. When no other is left, a
// step splits the pile by a new bound, its least priority plus width (near and far: Davidson,
// Baxter, Garland, Owens, IPDPS 2014).

#define HB_ROUND_ASIDE 1024 // vertices that a block collects in shared memory

enum { // places in round
	HB_ROUND_MODE, HB_ROUND_RESUME, HB_ROUND_ITEMS, HB_ROUND_SIDE, HB_ROUND_TOUCHED, HB_ROUND_SENDERS, HB_ROUND_PILE, HB_ROUND_HEAP,
	HB_ROUND_WAITING, HB_ROUND_STEP, HB_ROUND_LIMIT, HB_ROUND_LOGGED, HB_ROUND_PULL, HB_ROUND_BOUND, HB_ROUND_EXPLORED,
	HB_ROUND_NEXT, HB_ROUND_ACTIVE, HB_ROUND_EDGES, HB_ROUND_NEXT_PILE, HB_ROUND_LEAST, HB_ROUND_DONE, // of the step under way; LEAST is a complement
	HB_ROUND_STATES
};
enum { HB_ROUND_STOP, HB_ROUND_PUSH, HB_ROUND_SPLIT }; // modes
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
HB_DEVICE bool hb_matters(const hb_i64 *ptr, hb_i32 n, hb_i32 superstep, const HB_V &state, const HB_M &message, hb_i32 v) {
	union bytes {
		hb_u8 at[sizeof(HB_V)];
		HB_V state;
	};
	bytes was, is;
	was.state = is.state = state;
	if (hb_step(is.state, message, v, HB_DEGREE(v), n, superstep, (const double *)0)) return true;
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
HB_KERNEL hb_program_enter(hb_i32 n, const hb_i64 *ptr, const HB_V *state, const hb_u8 *active, hb_u64 count, hb_u64 *queue, hb_i32 *pile,
	hb_u8 *waiting, hb_u64 *round, hb_u64 superstep, hb_u64 limit, hb_u64 pull, hb_u64 explored) {
	const hb_i64 threads = (hb_i64)gridDim.x * HB_GRAPH_BLOCK;
	for (hb_i64 i = (hb_i64)blockIdx.x * HB_GRAPH_BLOCK + threadIdx.x; i - HB_LANE < n; i += threads) {
		const bool on = i < n && (!active || active[i]);
		if (!__any_sync(HB_FULL, on)) continue;
#if HB_PRIORITY
		const hb_u64 at = hb_reserve(round + HB_ROUND_PILE, on);
		if (on) {
			pile[at] = (hb_i32)i;
			waiting[i] = HB_LISTED | HB_WAITS;
			atomicMax(round + HB_ROUND_LEAST, ~hb_ordered(hb_priority(state[i])));
		}
#else
		const hb_i32 v = on ? (hb_i32)i : -1;
		hb_append(queue, round + HB_ROUND_ITEMS, v, hb_chunks(ptr, v, HB_ROUND_CHUNK));
#endif
	}
	if (blockIdx.x == 0 && threadIdx.x == 0) { // round is zero before
		round[HB_ROUND_MODE] = HB_ROUND_PUSH;
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
	round[HB_ROUND_LEAST] = 0;
	round[HB_ROUND_MODE] = round[HB_ROUND_PILE] ? HB_ROUND_SPLIT : HB_ROUND_PUSH;
}
#endif

// hb_program_again goes on after a look. One thread.
HB_KERNEL hb_program_again(hb_u64 *round) {
	round[HB_ROUND_MODE] = round[HB_ROUND_RESUME];
	round[HB_ROUND_LOGGED] = 0;
}

// hb_program_push sums the messages of the queue.
HB_KERNEL hb_program_push(hb_i32 n, const hb_i64 *ptr, const hb_i32 *idx, const HB_E *weight, const HB_V *state, const hb_u8 *closed, hb_u8 *hit,
	HB_M *sums, const hb_u64 *queue, hb_i64 room, hb_i32 *touched, hb_u64 *round) {
	__shared__ hb_i32 aside[HB_ROUND_ASIDE];
	__shared__ hb_u32 asides;
	__shared__ hb_u64 first;
	if (round[HB_ROUND_MODE] != HB_ROUND_PUSH) return;
	const hb_u64 items = round[HB_ROUND_ITEMS];
	const hb_i32 superstep = (hb_i32)round[HB_ROUND_STEP];
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
			mail = hb_message(state[v], v, HB_DEGREE(v), n, superstep, (const double *)0);
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
				const HB_E w = weight ? weight[p[k]] : (HB_E)1;
				const HB_V &dst = state[u[k]];
				some[k] = hb_has(w, source[k], dst);
				if (some[k]) m[k] = hb_edge(w, source[k], dst);
			}
#endif
#if HB_SELECTS
#pragma unroll
			for (hb_i32 k = 0; k < HB_UNROLL; k++) some[k] = some[k] && hb_matters(ptr, n, superstep, state[u[k]], m[k], u[k]);
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

// hb_program_take applies the sums, or splits the pile, and decides what the next step does.
HB_KERNEL hb_program_take(hb_i32 n, const hb_i64 *ptr, HB_V *state, hb_u8 *closed, hb_u8 *hit, HB_M *sums, const hb_i32 *touched, hb_u64 *queue,
	hb_i64 room, hb_i32 *pile, hb_u8 *waiting, double width, hb_u64 *round, hb_i64 *log, hb_i64 *result) {
	__shared__ hb_i32 near_aside[HB_ROUND_ASIDE];
	__shared__ hb_u32 nears;
	__shared__ hb_u64 edges, active;
#if HB_PRIORITY
	__shared__ hb_i32 far_aside[HB_ROUND_ASIDE];
	__shared__ hb_u32 fars;
	__shared__ hb_u64 first;
	__shared__ hb_i32 delayed;
	const hb_u64 heap = round[HB_ROUND_HEAP], bound = round[HB_ROUND_BOUND];
	hb_u64 least = 0; // complements, so that 0 is none
	hb_i32 waits = 0;
#endif
	const hb_u64 mode = round[HB_ROUND_MODE];
	if (mode == HB_ROUND_STOP) return;
	const bool split = mode == HB_ROUND_SPLIT;
	const hb_u64 work = split ? round[HB_ROUND_PILE] : round[HB_ROUND_TOUCHED], side = round[HB_ROUND_SIDE];
	const hb_u32 busy = hb_busy((work + HB_WARP - 1) / HB_WARP);
	if (blockIdx.x >= busy) return;
	const hb_i32 superstep = (hb_i32)round[HB_ROUND_STEP];
	hb_u64 *to = queue + (1 - side) * room, mine = 0, count = 0;
	if (threadIdx.x == 0) {
		nears = 0, edges = 0, active = 0;
#if HB_PRIORITY
		fars = 0, delayed = 0;
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
			near = hb_step(s, sums[v], v, HB_DEGREE(v), n, superstep, (const double *)0);
			sums[v] = HB_IDENTITY;
			hit[v] = 0;
			state[v] = s;
#if HB_SKIPS
			closed[v] = hb_closed(s);
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
			waits += ((is & HB_WAITS) - (was & HB_WAITS)) / HB_WAITS;
			if (is != was) waiting[v] = is;
		}
		hb_program_collect(later, v, far_aside, &fars, far, round + HB_ROUND_NEXT_PILE);
#endif
		if (near) {
			count++;
			mine += (hb_u64)(ptr[v + 1] - ptr[v]);
		}
		hb_program_activate(near, v, near_aside, &nears, ptr, to, round + HB_ROUND_NEXT);
	}
	mine = hb_total(mine), count = hb_total(count);
	if (HB_LANE == 0 && count) {
		atomicAdd(&edges, mine);
		atomicAdd(&active, count);
	}
#if HB_PRIORITY
#pragma unroll
	for (hb_i32 d = HB_WARP / 2; d > 0; d /= 2) {
		const hb_u64 other = __shfl_xor_sync(HB_FULL, least, d);
		least = other > least ? other : least;
	}
	waits = hb_total(waits);
	if (HB_LANE == 0 && least) atomicMax(round + HB_ROUND_LEAST, least);
	if (HB_LANE == 0 && waits) atomicAdd(&delayed, waits);
#endif
	__syncthreads();
	hb_flush(ptr, near_aside, nears < HB_ROUND_ASIDE ? nears : HB_ROUND_ASIDE, to, round + HB_ROUND_NEXT, HB_ROUND_CHUNK);
#if HB_PRIORITY
	hb_program_spill(far_aside, fars, far, round + HB_ROUND_NEXT_PILE, &first);
	if (threadIdx.x == 0 && delayed) atomicAdd(round + HB_ROUND_WAITING, (hb_u64)(hb_i64)delayed);
#endif
	if (threadIdx.x == 0 && active) {
		atomicAdd(round + HB_ROUND_EDGES, edges);
		atomicAdd(round + HB_ROUND_ACTIVE, active);
	}
	if (!hb_last(round + HB_ROUND_DONE, busy)) return;
	volatile hb_u64 *now = round;
	const hb_u64 senders = now[HB_ROUND_SENDERS], next = now[HB_ROUND_ACTIVE], out = now[HB_ROUND_EDGES];
	if (!split) {
		log[now[HB_ROUND_LOGGED]] = (hb_i64)senders;
		now[HB_ROUND_LOGGED] += 1;
		now[HB_ROUND_STEP] += 1;
	}
	now[HB_ROUND_ITEMS] = now[HB_ROUND_NEXT];
	now[HB_ROUND_SIDE] = 1 - side;
	now[HB_ROUND_SENDERS] = next;
	now[HB_ROUND_EXPLORED] += out;
	now[HB_ROUND_TOUCHED] = now[HB_ROUND_NEXT] = now[HB_ROUND_ACTIVE] = now[HB_ROUND_EDGES] = 0;
	hb_u64 then = HB_ROUND_PUSH, why = 0, all = next;
#if HB_PRIORITY
	if (split) now[HB_ROUND_HEAP] = 1 - heap;
	now[HB_ROUND_PILE] = now[HB_ROUND_NEXT_PILE];
	all += now[HB_ROUND_WAITING];
	if (next == 0 && now[HB_ROUND_WAITING] > 0) {
		then = HB_ROUND_SPLIT;
		now[HB_ROUND_BOUND] = hb_ordered(hb_number(~now[HB_ROUND_LEAST]) + width);
		now[HB_ROUND_LEAST] = 0;
		now[HB_ROUND_NEXT_PILE] = 0;
	}
#endif
	const hb_u64 m = (hb_u64)ptr[n], pull = now[HB_ROUND_PULL];
	const hb_u64 rest = HB_SKIPS ? m - (now[HB_ROUND_EXPLORED] < m ? now[HB_ROUND_EXPLORED] : m) : m;
	if (all == 0) why = HB_ROUND_QUIET;
	else if (now[HB_ROUND_STEP] == now[HB_ROUND_LIMIT] || now[HB_ROUND_LOGGED] == HB_ROUND_LOG) why = HB_ROUND_FULL;
	else if (pull && out * pull > rest) why = HB_ROUND_WIDE;
	now[HB_ROUND_MODE] = then;
	if (!why) return;
	now[HB_ROUND_RESUME] = then;
	now[HB_ROUND_MODE] = HB_ROUND_STOP;
	result[1] = (hb_i64)all;
	result[2] = (hb_i64)now[HB_ROUND_LOGGED];
	__threadfence_system();
	result[0] = 1 + (hb_i64)why;
}

// hb_program_leave marks the vertices of the queue. active is zero before.
HB_KERNEL hb_program_leave(hb_u64 *queue, hb_i64 room, const hb_u64 *round, hb_u8 *active) {
	const hb_u64 *list = queue + round[HB_ROUND_SIDE] * room;
	HB_EACH(i, (hb_i64)round[HB_ROUND_ITEMS]) active[(hb_u32)list[i]] = 1;
}

HB_KERNEL hb_program_identities(hb_i32 n, HB_M *sums) {
	HB_EACH(v, n) sums[v] = HB_IDENTITY;
}
