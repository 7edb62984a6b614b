// A recorded loop as one kernel that stays on the device. Source: prelude, warp, this file, and the
// loop that package cusparse/internal/loopkernel writes. Go defines
//     HB_PASS_BLOCK   threads of a block
//     HB_PASS_TOTALS  numbers that threads add up
//     HB_PASS_WORDS   numbers of hb_words
//
// All blocks of the grid are resident. Every thread runs the loop, and the threads of a stage share
// its positions, its edges or its rows. hb_grid::sync stands between two stages if the second one
// reads what other threads write in the first one. What steers the loop (lengths of lists, scalars,
// the choice of a direction) is equal in all threads: it follows from numbers that are read after a
// barrier, while nobody changes them.
//
// Thread t of T has the positions p with p mod T = t, and the places of a list alike, in an order
// that spreads them over the blocks, so that stages over the same positions need no barrier. Each
// list begins at other warps of the blocks, and a push at others again: where lists are short,
// stages without a barrier between them run side by side.

struct hb_words {
	hb_u64 w[HB_PASS_WORDS];
};

// hb_control is zero when the kernel begins, and when it ends. Numbers that threads add up between
// two barriers go to a side of three that take turns: all threads read it after the second barrier,
// and it is made zero after the one behind that.
struct hb_control {
	hb_u32 arrived, gone, stop, unused; // the host sets stop
	hb_u64 error[4];                    // step + 1, position, index, limit; 0 for none
	hb_u64 side[3][HB_PASS_TOTALS + 1]; // the last number tells of a stop or an error
};

#define HB_PASS_WARPS (HB_PASS_BLOCK / HB_WARP)

// hb_arrive counts a block that arrives, behind all that its threads wrote. hb_arrived reads the
// count, before all that its threads read.
HB_DEVICE void hb_arrive(hb_u32 *count) {
#if !defined(HB_EMULATED) && __CUDA_ARCH__ >= 700
	asm volatile("fence.acq_rel.gpu; red.relaxed.gpu.global.add.u32 [%0], 1;" ::"l"(count) : "memory");
#else
	__threadfence();
	atomicAdd(count, 1u);
#endif
}
HB_DEVICE hb_u32 hb_arrived(const hb_u32 *count) {
#if !defined(HB_EMULATED) && __CUDA_ARCH__ >= 700
	hb_u32 x;
	asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(x) : "l"(count) : "memory");
	return x;
#else
	const hb_u32 x = *(const volatile hb_u32 *)count;
	__threadfence();
	return x;
#endif
}

// hb_totals are the numbers as they were at the last barrier, and at the end whether to stop.
HB_DEVICE hb_u64 *hb_totals() {
	__shared__ hb_u64 all[HB_PASS_TOTALS + 1];
	return all;
}

// hb_wait is the barrier before turn t. It is no inline function: a loop has many barriers, and
// instructions that are read for the first time cost more than a call. One warp reads the numbers
// for the block: a thread that reads them one by one waits for each.
static __device__ __noinline__ void hb_wait(hb_control *c, hb_u64 *pending, hb_u64 *adds, hb_u32 turn) {
	__syncthreads();
	if (threadIdx.x < HB_WARP) {
#pragma unroll 1
		for (hb_i32 i = threadIdx.x; i <= HB_PASS_TOTALS; i += HB_WARP) {
			const hb_u64 x = pending[i];
			if (x == 0) continue;
			atomicAdd(&adds[i], x);
			pending[i] = 0;
		}
		__syncwarp();
		if (threadIdx.x == 0) {
			hb_arrive(&c->arrived);
			const hb_u32 all = turn * gridDim.x;
			while ((hb_i32)(hb_arrived(&c->arrived) - all) < 0) {
			}
		}
		__syncwarp();
#pragma unroll 1
		for (hb_i32 i = threadIdx.x; i <= HB_PASS_TOTALS; i += HB_WARP) hb_totals()[i] = ((volatile hb_u64 *)adds)[i];
	}
	__syncthreads();
	if (blockIdx.x != 0) return;
	hb_u64 *old = c->side[(turn + 2) % 3]; // it was read before this barrier
#pragma unroll 1
	for (hb_i32 i = threadIdx.x; i <= HB_PASS_TOTALS; i += HB_PASS_BLOCK) old[i] = 0;
	// A warp that has little to do looks for a stop, which the next barrier tells.
	if (threadIdx.x == HB_PASS_BLOCK / 2 && (*(volatile hb_u32 *)&c->stop != 0 || ((volatile hb_u64 *)c->error)[0] != 0)) pending[HB_PASS_TOTALS] = 1;
}

// HB_DECIDE logs a condition for the host, and leaves the loop in place of that if it is to stop or
// has no decision left.
#define HB_DECIDE(go) \
	if (decisions >= most || g.stopped()) goto ends; \
	if (g.thread == 0) log[decisions] = (go) ? 2 : 1; \
	decisions++;

#define HB_PASS_COLLECTORS 8 // of different K

// hb_counts are the numbers of collectors K: places taken, the first one that was not filled, the
// place in the list.
HB_DEVICE hb_i32 *hb_counts(hb_i32 k) {
	__shared__ hb_i32 all[HB_PASS_COLLECTORS][3];
	return all[k];
}

struct hb_grid {
	hb_control *c;
	hb_u64 *pending; // shared: what the block adds to the numbers at the next barrier
	hb_u32 turn;     // barriers passed
	hb_u64 *adds;    // the side that threads add to
	hb_u32 thread, threads;

	__device__ __forceinline__ hb_grid(hb_control *c, hb_u64 *pending)
		: c(c), pending(pending), turn(0), adds(c->side[1]),
		  thread(blockIdx.x * HB_PASS_BLOCK + threadIdx.x), threads(gridDim.x * HB_PASS_BLOCK) {
#pragma unroll 1
		for (hb_i32 i = threadIdx.x; i <= HB_PASS_TOTALS; i += HB_PASS_BLOCK) pending[i] = hb_totals()[i] = 0;
		if (threadIdx.x < HB_PASS_COLLECTORS) hb_counts(threadIdx.x)[0] = 0;
		__syncthreads();
	}

	// place is the number of the thread among those that go along list number at.
	__device__ __forceinline__ hb_u32 place(hb_i32 at) const {
		const hb_u32 warp = (HB_PASS_WARPS - 1 - threadIdx.x / HB_WARP + 3 * at) % HB_PASS_WARPS;
		return (warp * gridDim.x + blockIdx.x) * HB_WARP + HB_LANE;
	}

	// sync waits for all threads. What they wrote before is read after it.
	__device__ __forceinline__ void sync() {
		turn++;
		hb_wait(c, pending, adds, turn);
		adds = c->side[(turn + 1) % 3];
	}

	// number returns what was added to number i between the last two barriers.
	__device__ __forceinline__ hb_u64 number(hb_i32 i) const { return hb_totals()[i]; }
	__device__ __forceinline__ bool stopped() const { return number(HB_PASS_TOTALS) != 0; }

	// add adds the numbers of all threads to number i, at the next barrier. All lanes of a warp
	// call it.
	__device__ __forceinline__ void add(hb_i32 i, hb_i32 x) {
		x = hb_total(x);
		if (HB_LANE == 0 && x != 0) atomicAdd(&pending[i], (hb_u64)(hb_i64)x);
	}

	// fails records the first error, and the next barrier tells.
	__device__ __forceinline__ void fails(hb_u64 step, hb_i64 at, hb_i64 index, hb_i64 limit) {
		atomicAdd(&pending[HB_PASS_TOTALS], 1ull);
		if (atomicCAS(&c->error[0], 0ull, step + 1) != 0) return;
		c->error[1] = (hb_u64)at;
		c->error[2] = (hb_u64)index;
		c->error[3] = (hb_u64)limit;
	}

	// ends makes the control zero again once all blocks are here.
	__device__ __forceinline__ void ends() {
		__shared__ bool last;
		__syncthreads();
		if (threadIdx.x == 0) last = atomicAdd(&c->gone, 1u) + 1 == gridDim.x;
		__syncthreads();
		if (!last) return;
		hb_u64 *w = (hb_u64 *)c;
#pragma unroll 1
		for (hb_i32 i = threadIdx.x; i < (hb_i32)(sizeof(hb_control) / 8); i += HB_PASS_BLOCK) w[i] = 0;
	}
};

// hb_vec is a vector. bits says which positions have an entry. While listed is set, the list has
// every entry once, and maybe positions without one, and marks, if it is not null, says which
// positions are in the list; else it is zero. len, cnt and deg are the length of the list, the
// number of entries, and the edges of the rows in the list, hubs the number of parts of such rows
// with more than HB_PASS_HUB entries, at the last barrier. After each barrier that follows changes,
// update is called once: it adds the changes.
#define HB_PASS_NUMBERS 4
#define HB_PASS_SHORT 8 // a list of at most this part of the positions is short
template <class T> struct hb_vec {
	T *val;
	hb_u32 *bits, *marks;
	hb_i32 *list;
	hb_u64 *parts; // number of the part << 32 | position
	hb_i64 deg;
	hb_i32 n, len, cnt, hubs, at;
	bool listed;

	__device__ __forceinline__ bool has(hb_i64 p) const { return bits[p >> 5] >> (p & 31) & 1; }
	__device__ __forceinline__ void update(const hb_grid &g) {
		len += (hb_i32)g.number(HB_PASS_NUMBERS * at);
		cnt += (hb_i32)g.number(HB_PASS_NUMBERS * at + 1);
		deg += (hb_i64)g.number(HB_PASS_NUMBERS * at + 2);
		hubs += (hb_i32)g.number(HB_PASS_NUMBERS * at + 3);
	}
	// unlist forgets the list. Its marks are cleared already. empty says that no entry is left.
	__device__ __forceinline__ void unlist(bool empty) {
		len = deg = hubs = 0;
		listed = empty;
		if (empty) cnt = 0;
	}
	__device__ __forceinline__ hb_u32 places() const { return listed ? len : n; }
	// along reports whether a stage goes along the list. The places of a long list are in no order,
	// and all positions one after another are read sooner then.
	__device__ __forceinline__ bool along() const { return listed && len <= n / HB_PASS_SHORT; }
};

// hb_read is a vector that the loop does not write: a byte for each position, null if all have an
// entry.
template <class T> struct hb_read {
	const T *val;
	const hb_u8 *bytes;
	hb_i32 n, cnt;
	static constexpr bool listed = false;
	static constexpr hb_i32 hubs = 0;
	static constexpr const hb_i32 *list = nullptr;
	static constexpr const hb_u64 *parts = nullptr;

	__device__ __forceinline__ bool has(hb_i64 p) const { return !bytes || bytes[p] != 0; }
	__device__ __forceinline__ hb_u32 places() const { return n; }
};

template <class V> HB_DEVICE void hb_swap(V &a, V &b) {
	V c = a;
	a = b;
	b = c;
}

// hb_each calls f(p, in) for the positions 0 … n−1, with in false for lanes without one. A warp has
// 32 positions of one word of bits.
template <class F> HB_DEVICE void hb_each(const hb_grid &g, hb_u32 n, F f) {
#pragma unroll 1
	for (hb_u32 base = g.thread - HB_LANE; base < n; base += g.threads) f((hb_i32)(base + HB_LANE), base + HB_LANE < n);
}

// hb_stage calls load(r, p) and then rest(r, p, in) for the positions of list number at, or without
// a list for 0 … n−1; with bits, and no list, words of 32 positions without a bit are left out. r
// is zero before. A lane without a position has p = 0 and in = false. Loads of AHEAD positions are
// under way at a time.
template <hb_i32 AHEAD, class R, class L, class F>
HB_DEVICE void hb_stage(const hb_grid &g, const hb_i32 *list, hb_i32 at, hb_u32 n, const hb_u32 *bits, L load, F rest) {
	const hb_u32 warps = g.threads / HB_WARP;
	const bool skips = !list && bits;
	hb_u32 base = (list ? g.place(at) : g.thread) - HB_LANE;
	// Of 32 words of the warp, every warps-th from word on, the ones with a bit that are left.
	hb_u32 open = 0, word = 0;
#pragma unroll 1
	for (;;) {
		R r[AHEAD];
		hb_i32 p[AHEAD];
		bool in[AHEAD];
		if (skips && open == 0) {
			if (base >= n) return;
			word = base / HB_WARP;
			const hb_u32 w = word + HB_LANE * warps;
			open = __ballot_sync(HB_FULL, w * HB_WARP < n && bits[w] != 0);
			base += HB_WARP * g.threads;
			if (open == 0) continue;
		}
		if (!skips && base >= n) return;
#pragma unroll
		for (hb_i32 u = 0; u < AHEAD; u++) {
			hb_u32 t = base + u * g.threads;
			if (skips) {
				t = open != 0 ? (word + (__ffs((hb_i32)open) - 1) * warps) * HB_WARP : n;
				open &= open - 1;
			}
			t += HB_LANE;
			in[u] = t < n;
			p[u] = !in[u] ? 0 : list ? list[t] : (hb_i32)t;
		}
		if (!skips) base += AHEAD * g.threads;
#pragma unroll
		for (hb_i32 u = 0; u < AHEAD; u++) {
			r[u] = R();
			load(r[u], p[u]);
		}
#pragma unroll
		for (hb_i32 u = 0; u < AHEAD; u++)
			if (__any_sync(HB_FULL, in[u])) rest(r[u], p[u], in[u]);
	}
}

// What follows is called in many places of a loop, and is no inline code: see hb_wait.
#define HB_PASS_CALL static __device__ __noinline__

// hb_enter makes bit p equal to h in the lanes that wrote. With along the lanes have any positions,
// else the 32 positions of a word, or fewer at the end, as in says. It is inline code: around a
// call in the loop of a stage the registers of all vectors go to memory.
HB_DEVICE void hb_enter(hb_u32 *bits, hb_i32 p, bool along, bool in, bool wrote, bool h) {
	if (along) {
		const hb_u32 bit = 1u << (p & 31);
		if (wrote && h) atomicOr(&bits[p >> 5], bit);
		if (wrote && !h) atomicAnd(&bits[p >> 5], ~bit);
		return;
	}
	const hb_u32 all = __ballot_sync(HB_FULL, wrote), now = __ballot_sync(HB_FULL, wrote && h), word = __ballot_sync(HB_FULL, in);
	if (HB_LANE == 0 && all != 0) bits[p >> 5] = all == word ? now : (bits[p >> 5] & ~all) | now;
	__syncwarp();
}

// hb_zero makes words zero.
HB_PASS_CALL void hb_zero(hb_u32 thread, hb_u32 threads, hb_u32 *bits, hb_u32 words) {
#pragma unroll 1
	for (hb_u32 w = thread; w < words; w += threads) bits[w] = 0;
}

// hb_wipe clears the bits of a vector, and its marks: along its list, or all words.
HB_PASS_CALL void hb_wipe(hb_u32 thread, hb_u32 threads, hb_u32 *bits, hb_u32 *marks, const hb_i32 *list, hb_u32 len, hb_u32 n) {
	if (!list) {
		hb_zero(thread, threads, bits, (n + 31) / 32);
		if (marks) hb_zero(thread, threads, marks, (n + 31) / 32);
		return;
	}
#pragma unroll 1
	for (hb_u32 t = thread; t < len; t += threads) {
		const hb_i32 p = list[t];
		bits[p >> 5] = 0;
		if (marks) marks[p >> 5] = 0;
	}
}
template <class V> HB_DEVICE void hb_clear(const hb_grid &g, V &v) {
	const bool along = v.listed && v.len < v.n / 32; // else there are no more words than entries
	hb_wipe(along ? g.place(v.at) : g.thread, g.threads, v.bits, v.marks, along ? v.list : (const hb_i32 *)0, v.len, v.n);
}

// hb_bytes writes a byte for each bit that is not in less, if that is given.
HB_PASS_CALL void hb_bytes(hb_u32 thread, hb_u32 threads, const hb_u32 *bits, const hb_u32 *less, hb_u8 *bytes, hb_u32 n) {
#pragma unroll 1
	for (hb_u32 q = thread; q < (n + 3) / 4; q += threads) { // there is room for whole words
		const hb_u32 four = (less ? bits[q / 8] & ~less[q / 8] : bits[q / 8]) >> (q % 8 * 4) & 15;
		((hb_u32 *)bytes)[q] = (four & 1) | (four & 2) << 7 | (four & 4) << 14 | (four & 8) << 21;
	}
}

// hb_join_bits adds the bits of y to x.
HB_PASS_CALL void hb_join_bits(hb_u32 thread, hb_u32 threads, hb_u32 *x, const hb_u32 *y, hb_u32 words) {
#pragma unroll 1
	for (hb_u32 w = thread; w < words; w += threads) x[w] |= y[w];
}

// hb_begin makes the bits and the values of a vector at the begin of a loop, and returns the
// entries of the thread. format: 0: no entries; 1: a list, which comes later; 2: where has is not
// zero; 3: everywhere; 4: at one, with its value in val. whole says that positions without an
// entry have the value rest. bits is null if the vector is full. The bit of the position also is
// set as well, unless also is −1.
template <class T>
HB_PASS_CALL hb_i32 hb_begin(hb_u32 thread, hb_u32 threads, hb_u32 n, hb_i32 format, hb_i32 one, const hb_u8 *has, const T *val, T value, T *out, hb_u32 *bits, bool whole, T rest, hb_i32 also) {
	hb_i32 d = 0;
	if (format != 2 && format != 3 && !whole) {
#pragma unroll 1
		for (hb_u32 w = thread; w < (n + 31) / 32; w += threads) {
			const bool here = format == 4 && w == (hb_u32)one >> 5;
			bits[w] = (here ? 1u << (one & 31) : 0) | (also >= 0 && w == (hb_u32)also >> 5 ? 1u << (also & 31) : 0);
			if (here) out[one] = value;
			d += here;
		}
		return d;
	}
#pragma unroll 1
	for (hb_u32 base = thread - HB_LANE; base < n; base += threads) {
		const hb_u32 p = base + HB_LANE;
		const bool here = format == 4 && p == (hb_u32)one, h = p < n && (here || format == 3 || (format == 2 && has[p]));
		if (p < n) out[p] = here ? value : h ? (val ? val[p] : (T)1) : rest;
		const hb_u32 word = __ballot_sync(HB_FULL, h || p == (hb_u32)also);
		if (bits && HB_LANE == 0) bits[p >> 5] = word;
		d += h;
	}
	return d;
}

// hb_one makes the list of a vector with one entry, whose row has so many parts.
HB_PASS_CALL void hb_one(hb_u32 thread, hb_u32 threads, hb_i32 one, hb_i32 *list, hb_u32 *marks, hb_u64 *parts, hb_u32 hubs) {
	if (thread == 0) list[0] = one;
	// The thread that wrote the word in hb_zero.
	if (marks && thread == (hb_u32)(one >> 5) % threads) marks[one >> 5] = 1u << (one & 31);
#pragma unroll 1
	for (hb_u32 c = thread; c < hubs; c += threads) parts[c] = (hb_u64)c << 32 | (hb_u32)one;
}

#define HB_PASS_HUB 128   // entries from which a row of a push is shared by warps
#define HB_PASS_CHUNK 128 // entries of such a row that a warp takes at a time
#define HB_PASS_PART 1024 // entries of a long row that a warp takes at a time in a pull

// hb_parted appends the parts of a row, for the lanes with d > HB_PASS_HUB entries, to the parts
// of a vector that has hubs of them; adds counts new ones. All lanes of a warp call it.
HB_PASS_CALL void hb_parted(hb_u64 *parts, hb_i32 hubs, hb_u64 *adds, hb_i64 d, hb_i32 p) {
	hb_u32 open = __ballot_sync(HB_FULL, d > HB_PASS_HUB);
	if (open == 0) return;
	const hb_i32 count = d > HB_PASS_HUB ? (hb_i32)((d + HB_PASS_CHUNK - 1) / HB_PASS_CHUNK) : 0, sum = hb_sums(count);
	hb_i32 first = 0;
	if (HB_LANE == HB_WARP - 1) first = hubs + (hb_i32)atomicAdd(adds, (hb_u64)sum);
	first = __shfl_sync(HB_FULL, first, HB_WARP - 1) + sum - count;
#pragma unroll 1
	for (; open; open &= open - 1) {
		const hb_i32 from = __ffs((hb_i32)open) - 1;
		const hb_i32 n = __shfl_sync(HB_FULL, count, from), q = __shfl_sync(HB_FULL, p, from), at = __shfl_sync(HB_FULL, first, from);
#pragma unroll 1
		for (hb_i32 c = HB_LANE; c < n; c += HB_WARP) parts[at + c] = (hb_u64)c << 32 | (hb_u32)q;
	}
}

// hb_spill appends p to the list of a vector in the lanes with want: a collector has no room.
HB_PASS_CALL void hb_spill(hb_u64 *adds, hb_i32 *list, hb_u64 *parts, hb_i32 len, hb_i32 hubs, const hb_i64 *deg, bool want, hb_i32 p) {
	const hb_u32 lanes = __ballot_sync(HB_FULL, want);
	hb_i32 at = 0;
	if (HB_LANE == 0) at = len + (hb_i32)atomicAdd(&adds[0], (hb_u64)__popc(lanes));
	at = __shfl_sync(HB_FULL, at, 0);
	if (want) list[at + __popc(lanes & ((1u << HB_LANE) - 1))] = p;
	if (!deg) return;
	const hb_i64 d = want ? deg[p + 1] - deg[p] : 0, all = hb_total(d);
	if (HB_LANE == 0) atomicAdd(&adds[2], (hb_u64)all);
	hb_parted(parts, hubs, &adds[3], d, p);
}

// hb_collector appends positions to the list of a vector. A block collects them in shared memory,
// and reserves places for all at the end; what has no room there goes to the list at once. All
// lanes of a warp call put, and all threads of the block call flush, which comes last. Collectors
// of different K may be open at a time. With deg, the edges of the rows are added up, and long rows
// get parts.
template <hb_i32 K> struct hb_collector {
	static const hb_i32 room = K == 0 ? 5120 : 1024;
	__device__ __forceinline__ static hb_i32 *aside() {
		__shared__ hb_i32 all[room];
		return all;
	}
	hb_i32 *count;
	__device__ __forceinline__ hb_collector() : count(hb_counts(K)) {}
	// put appends p[k] for the bits k of want. Places are never given back, since another warp may
	// hold later ones: once a warp finds no room, no warp after it does.
	template <hb_i32 N, class V> __device__ __forceinline__ void put(hb_grid &g, V &v, hb_u32 want, const hb_i32 (&p)[N], const hb_i64 *deg) {
		if (!__any_sync(HB_FULL, want != 0)) return;
		const hb_i32 mine = __popc(want), sum = hb_sums(mine), total = __shfl_sync(HB_FULL, sum, HB_WARP - 1);
		hb_i32 first = 0;
		if (HB_LANE == 0) first = *(volatile hb_i32 *)count > room ? room + 1 : atomicAdd(count, total);
		first = __shfl_sync(HB_FULL, first, 0);
		if (first + total <= room) {
			first += sum - mine;
#pragma unroll
			for (hb_i32 k = 0; k < N; k++)
				if (want >> k & 1) aside()[first++] = p[k];
			return;
		}
		if (HB_LANE == 0 && first <= room) count[1] = first; // one warp
#pragma unroll 1
		for (hb_i32 k = 0; k < N; k++) {
			hb_i32 q = 0;
#pragma unroll
			for (hb_i32 i = 0; i < N; i++) q = i == k ? p[i] : q;
			hb_spill(&g.adds[HB_PASS_NUMBERS * v.at], v.list, v.parts, v.len, v.hubs, deg, want >> k & 1, q);
		}
	}
	static __device__ __noinline__ void write(hb_i32 *count, hb_u64 *adds, hb_u64 *pending, hb_i32 *list, hb_u64 *parts, hb_i32 len, hb_i32 hubs, const hb_i64 *deg) {
		__syncthreads();
		const hb_i32 n = count[0] <= room ? count[0] : count[1];
		hb_u64 place = 0;
		if (threadIdx.x == 0 && n > 0) place = atomicAdd(&adds[0], (hb_u64)n);
		hb_i64 edges = 0;
		if (deg) { // while the place is under way
#pragma unroll 1
			for (hb_i32 base = threadIdx.x - HB_LANE; base < n; base += HB_PASS_BLOCK) {
				const hb_i32 t = base + HB_LANE, p = t < n ? aside()[t] : 0;
				const hb_i64 d = t < n ? deg[p + 1] - deg[p] : 0;
				edges += d;
				hb_parted(parts, hubs, &adds[3], d, p);
			}
			if (threadIdx.x - HB_LANE < n) {
				edges = hb_total(edges);
				if (HB_LANE == 0 && edges != 0) atomicAdd(&pending[2], (hb_u64)edges);
			}
		}
		if (threadIdx.x == 0) count[2] = len + (hb_i32)place;
		__syncthreads();
		if (n == 0) return;
		const hb_i32 first = count[2];
#pragma unroll 1
		for (hb_i32 t = threadIdx.x; t < n; t += HB_PASS_BLOCK) list[first + t] = aside()[t];
		if (threadIdx.x == 0) count[0] = 0;
		__syncthreads(); // the next collector has the same room
	}
	// flush writes the list. Edges are added at the next barrier.
	template <class V> __device__ __forceinline__ void flush(hb_grid &g, V &v, const hb_i64 *deg) {
		write(count, &g.adds[HB_PASS_NUMBERS * v.at], &g.pending[HB_PASS_NUMBERS * v.at], v.list, v.parts, v.len, v.hubs, deg);
	}
};

// hb_list makes the list of a vector that has none. A barrier and update must follow. With whole,
// positions without an entry get the value rest: a vector is emptied along its list. A warp
// reserves places for the entries of so many words at once.
template <class T> HB_DEVICE void hb_list(hb_grid &g, hb_vec<T> &v, const hb_i64 *deg, bool whole, T rest) {
	const hb_u32 words = (v.n + 31) / 32, warps = g.threads / HB_WARP, warp = threadIdx.x / HB_WARP * gridDim.x + blockIdx.x;
	hb_u32 share = (words + warps - 1) / warps;
	if (share > HB_WARP) share = HB_WARP;
	hb_u64 *adds = &g.adds[HB_PASS_NUMBERS * v.at];
	hb_i64 edges = 0;
#pragma unroll 1
	for (hb_u32 base = warp * share; base < words; base += warps * share) {
		const hb_u32 w = base + HB_LANE;
		const bool in = HB_LANE < share && w < words;
		const hb_u32 bits = in ? v.bits[w] : 0, sum = hb_sums((hb_u32)__popc((hb_i32)bits));
		if (v.marks && in) v.marks[w] = bits;
		hb_i32 first = 0;
		if (HB_LANE == HB_WARP - 1 && sum > 0) first = v.len + (hb_i32)atomicAdd(&adds[0], (hb_u64)sum);
		first = __shfl_sync(HB_FULL, first, HB_WARP - 1) + (hb_i32)sum - __popc((hb_i32)bits);
#pragma unroll 2
		for (hb_u32 open = __ballot_sync(HB_FULL, bits != 0); open; open &= open - 1) {
			const hb_i32 from = __ffs((hb_i32)open) - 1, at = __shfl_sync(HB_FULL, first, from), p = (hb_i32)(32 * (base + from)) + HB_LANE;
			const hb_u32 word = __shfl_sync(HB_FULL, bits, from);
			const bool has = word >> HB_LANE & 1;
			if (has) v.list[at + __popc((hb_i32)(word & ((1u << HB_LANE) - 1)))] = p;
			if (!deg) continue;
			const hb_i64 d = has ? deg[p + 1] - deg[p] : 0;
			edges += d;
			if (__any_sync(HB_FULL, d > HB_PASS_HUB)) hb_parted(v.parts, v.hubs, &adds[3], d, p);
		}
	}
	if (deg) {
		edges = hb_total(edges);
		if (HB_LANE == 0 && edges != 0) atomicAdd(&g.pending[HB_PASS_NUMBERS * v.at + 2], (hb_u64)edges);
	}
	if (whole) {
		hb_each(g, v.n, [&](hb_i32 p, bool in) {
			if (in && !v.has(p)) v.val[p] = rest;
		});
	}
	v.listed = true;
}

// hb_mark sets bit k, and reports whether it was not set before. What others set in the same stage
// may be read as not set from the cache, and then costs an atomic operation.
HB_DEVICE bool hb_mark(hb_u32 *bits, hb_i64 k) {
	const hb_u32 bit = 1u << (k & 31);
	return !(atomicOr(&bits[k >> 5], bit) & bit);
}
HB_DEVICE bool hb_marked(const hb_u32 *bits, hb_i64 k) { return bits[k >> 5] >> (k & 31) & 1; }

template <bool, class A, class B> struct hb_pick { using type = A; };
template <class A, class B> struct hb_pick<false, A, B> { using type = B; };

// hb_join sets *p to add(*p, y) at once, for elements of 1, 2, 4 or 8 bytes.
template <class T, class F> HB_DEVICE void hb_join(T *p, T y, F add) {
	using word = typename hb_pick<sizeof(T) == 8, hb_u64, hb_u32>::type;
	union view {
		word w;
		T at[sizeof(word) / sizeof(T)];
		__device__ view() : w(0) {}
	};
	const hb_i32 k = (hb_i32)((hb_u64)p % sizeof(word) / sizeof(T));
	word *at = (word *)((hb_u64)p - k * sizeof(T));
	view now, next;
	now.w = *(volatile word *)at;
	for (;;) {
		next.w = now.w;
		next.at[k] = add(now.at[k], y);
		if (next.w == now.w) return;
		const word seen = atomicCAS(at, now.w, next.w);
		if (seen == now.w) return;
		now.w = seen;
	}
}

#define HB_PASS_UNROLL 4

// hb_push looks at the entries e of the rows of x's entries. If open(to) holds for the column, and
// worth(to, y) for y = get(from, e, to), it calls mark(to), which reports whether the column is
// new in t, and settle(to, y, fresh). It appends new columns to t. With PARTS the list of x has
// parts of its long rows. open, get and worth only read, and are called for other entries too, so
// that the loads of several entries are under way at a time.
template <bool PARTS, class C, class X, class T, class O, class E, class W, class M, class S>
HB_DEVICE void hb_push(hb_grid &g, const hb_i64 *ptr, const hb_i32 *idx, const X &x, T &t, const hb_i64 *deg, O open, E get, W worth, M mark, S settle) {
	hb_collector<0> found;
	// Neighbours in the list go to different blocks: what they find is written block by block.
	const hb_u32 items = x.places(), warps = g.threads / HB_WARP, warp = threadIdx.x / HB_WARP * gridDim.x + blockIdx.x, hubs = PARTS ? x.hubs : 0;
	hb_u32 share = (items + warps - 1) / warps;
	if (share > HB_WARP) share = HB_WARP;
	hb_u32 base = warp * share, part = warps - 1 - warp;
#pragma unroll 1
	for (;;) {
		hb_u32 j = 0, d = 0;
		hb_i64 lo = 0;
		if (base < items) {
			j = base + HB_LANE;
			base += warps * share;
			if (HB_LANE < share && j < items) {
				if (x.listed) j = x.list[j];
				const bool has = x.has(j); // no load waits for another one
				lo = ptr[j];
				const hb_i64 all = ptr[j + 1] - lo;
				d = !has || (PARTS && x.listed && all > HB_PASS_HUB) ? 0 : (hb_u32)all;
			}
		} else if (part < hubs) {
			const hb_u64 item = x.parts[part];
			part += warps;
			j = (hb_u32)item;
			if (x.has(j)) {
				const hb_i64 first = ptr[j] + (hb_i64)(item >> 32) * HB_PASS_CHUNK, end = ptr[j + 1];
				const hb_i64 last = first + HB_PASS_CHUNK < end ? first + HB_PASS_CHUNK : end;
				lo = first + HB_LANE * (HB_PASS_CHUNK / HB_WARP);
				d = lo >= last ? 0 : last - lo < HB_PASS_CHUNK / HB_WARP ? (hb_u32)(last - lo) : HB_PASS_CHUNK / HB_WARP;
			}
		} else break;
		const hb_u32 sum = hb_sums(d), total = __shfl_sync(HB_FULL, sum, HB_WARP - 1);
		lo -= sum - d; // entry s of the warp is at lo + s of its lane
#pragma unroll 1
		for (hb_u32 s = 0; s < total; s += HB_WARP * HB_PASS_UNROLL) {
			hb_i32 from[HB_PASS_UNROLL], to[HB_PASS_UNROLL];
			hb_i64 e[HB_PASS_UNROLL];
			C y[HB_PASS_UNROLL];
			hb_u32 ok = 0, fresh = 0;
#pragma unroll
			for (hb_i32 u = 0; u < HB_PASS_UNROLL; u++) {
				hb_u32 i = s + u * HB_WARP + HB_LANE;
				if (i < total) ok |= 1u << u;
				else i = total - 1;
				const hb_i32 lane = hb_owner(sum, i);
				from[u] = __shfl_sync(HB_FULL, (hb_i32)j, lane);
				e[u] = __shfl_sync(HB_FULL, lo, lane) + i;
				to[u] = idx[e[u]];
			}
#pragma unroll
			for (hb_i32 u = 0; u < HB_PASS_UNROLL; u++) {
				const bool good = open(to[u]);
				ok &= ~((hb_u32)!good << u);
			}
			if (!__any_sync(HB_FULL, ok != 0)) continue;
#pragma unroll
			for (hb_i32 u = 0; u < HB_PASS_UNROLL; u++) {
				y[u] = get(from[u], e[u], to[u]);
				const bool good = worth(to[u], y[u]);
				ok &= ~((hb_u32)!good << u);
			}
#pragma unroll
			for (hb_i32 u = 0; u < HB_PASS_UNROLL; u++)
				if (ok >> u & 1) fresh |= (hb_u32)mark(to[u]) << u;
#pragma unroll
			for (hb_i32 u = 0; u < HB_PASS_UNROLL; u++)
				if (ok >> u & 1) settle(to[u], y[u], fresh >> u & 1);
			found.put(g, t, fresh, to, deg);
		}
	}
	found.flush(g, t, deg);
}

// hb_fold adds up the values of so many lanes, in a fixed order: the first of them has the sum.
template <class C, class F> HB_DEVICE void hb_fold(bool &hit, C &acc, F add, hb_i32 lanes) {
#pragma unroll 1
	for (hb_i32 d = lanes / 2; d > 0; d /= 2) {
		const bool other = __shfl_down_sync(HB_FULL, (hb_i32)hit, d) != 0;
		const C y = hb_from(acc, HB_LANE + d < HB_WARP ? HB_LANE + d : HB_LANE);
		if (HB_LANE % lanes < d && other) {
			acc = hit ? add(acc, y) : y;
			hit = true;
		}
	}
}

// hb_block_fold adds up the values of the threads of a block: all threads have the sum.
template <class C, class F> HB_DEVICE void hb_block_fold(bool &hit, C &acc, F add) {
	__shared__ C sums[HB_PASS_WARPS];
	__shared__ bool hits[HB_PASS_WARPS];
	hb_fold(hit, acc, add, HB_WARP);
	__syncthreads();
	if (HB_LANE == 0) {
		sums[threadIdx.x / HB_WARP] = acc;
		hits[threadIdx.x / HB_WARP] = hit;
	}
	__syncthreads();
	acc = sums[0];
	hit = hits[0];
	for (hb_i32 w = 1; w < HB_PASS_WARPS; w++) {
		if (hits[w]) acc = hit ? add(acc, sums[w]) : sums[w];
		hit = hit || hits[w];
	}
}

// hb_terms adds the terms of the entries e, e + step … below end, HB_PASS_UNROLL of them, to acc.
// e is below end. Past the end term is called for e, and the result is not used.
template <class C, class E, class A>
HB_DEVICE void hb_terms(hb_i64 e, hb_i32 step, hb_i64 end, hb_i32 row, const hb_i32 *idx, bool &hit, C &acc, E term, A add) {
	hb_i32 j[HB_PASS_UNROLL];
	hb_i64 at[HB_PASS_UNROLL];
	C y[HB_PASS_UNROLL];
	bool ok[HB_PASS_UNROLL];
#pragma unroll
	for (hb_i32 u = 0; u < HB_PASS_UNROLL; u++) {
		at[u] = e + u * step < end ? e + u * step : e;
		j[u] = idx[at[u]];
	}
#pragma unroll
	for (hb_i32 u = 0; u < HB_PASS_UNROLL; u++) {
		ok[u] = term(row, at[u], j[u], y[u]);
		ok[u] = ok[u] && e + u * step < end;
	}
#pragma unroll
	for (hb_i32 u = 0; u < HB_PASS_UNROLL; u++) {
		if (!ok[u]) continue;
		acc = hit ? add(acc, y[u]) : y[u];
		hit = true;
	}
}

// hb_pull_parts adds up the terms of the parts of long rows, and calls join for each. With ONE a
// sum is one term.
template <bool ONE, class C, class M, class E, class A, class J>
HB_DEVICE void hb_pull_parts(hb_grid &g, const hb_i64 *ptr, const hb_i32 *idx, const hb_u64 *parts, hb_u32 nparts, M allowed, E term, A add, J join) {
	const hb_u32 warps = g.threads / HB_WARP, warp = g.thread / HB_WARP;
#pragma unroll 1
	for (hb_u32 r = warp; r < nparts; r += warps) {
		const hb_u64 item = parts[r];
		const hb_i32 i = (hb_i32)(hb_u32)item;
		if (!allowed(i)) continue;
		const hb_i64 begin = ptr[i] + (hb_i64)(item >> 32) * HB_PASS_PART;
		hb_i64 end = ptr[i + 1];
		if (end > begin + HB_PASS_PART) end = begin + HB_PASS_PART;
		bool hit = false;
		C acc = C();
#pragma unroll 1
		for (hb_i64 e = begin; e < end; e += HB_WARP * HB_PASS_UNROLL) {
			if (e + HB_LANE < end) hb_terms(e + HB_LANE, HB_WARP, end, i, idx, hit, acc, term, add);
			if (ONE && __any_sync(HB_FULL, hit)) break;
		}
		hb_fold(hit, acc, add, HB_WARP);
		if (HB_LANE == 0 && hit) join(i, acc);
	}
}

// hb_pull adds up the terms y of each row i that allowed(i) admits: term(i, e, j, y) makes the term
// of entry e, in column j, and reports whether there is one. hb_pull calls done(i, acc) with the
// sum, and bits(w, b) for the bits b of rows with a sum in word w. So many lanes take a row. Warps
// share the rows of more than longs entries, and call join(i, acc) with parts of the sum. Sums need
// no order.
template <class C, class M, class E, class A, class D, class B, class J>
HB_DEVICE void hb_pull(hb_grid &g, hb_i32 n, const hb_i64 *ptr, const hb_i32 *idx, const hb_u64 *parts, hb_u32 nparts, hb_i32 longs, hb_i32 lanes, M allowed, E term, A add, D done, B bits, J join) {
	const hb_u32 warps = g.threads / HB_WARP, warp = g.thread / HB_WARP;
	const hb_u32 rows = HB_WARP / lanes; // of a warp
#pragma unroll 1
	for (hb_u32 base = warp * rows; base < (hb_u32)n; base += warps * rows) {
		const hb_i32 i = (hb_i32)(base + HB_LANE / lanes);
		bool reads = i < n && allowed(i), hit = false;
		if (!__any_sync(HB_FULL, reads)) continue;
		hb_i64 e = 0, end = 0;
		if (reads) {
			e = ptr[i];
			end = ptr[i + 1];
			if (nparts > 0 && end - e > longs) reads = false;
			e += HB_LANE % lanes;
		}
		C acc = C();
#pragma unroll 1
		for (; __any_sync(HB_FULL, reads && e < end); e += lanes * HB_PASS_UNROLL)
			if (reads && e < end) hb_terms(e, lanes, end, i, idx, hit, acc, term, add);
		hb_fold(hit, acc, add, lanes);
		hit = hit && HB_LANE % lanes == 0;
		if (hit) done(i, acc);
		const hb_u32 who = __ballot_sync(HB_FULL, hit);
		if (HB_LANE != 0 || who == 0) continue;
		hb_u32 word = who;
		if (lanes > 1) {
			word = 0;
			for (hb_u32 r = 0; r < rows; r++) word |= (who >> r * lanes & 1) << r;
		}
		bits(i >> 5, word << (i & 31));
	}
	hb_pull_parts<false, C>(g, ptr, idx, parts, nparts, allowed, term, add, join);
}

// hb_pull_any is hb_pull where a sum is any term. A thread looks at the first entries of its rows,
// HB_PASS_ROWS at a time, and the warp at the rest.
#define HB_PASS_ROWS 2
#define HB_PASS_FIRST 8 // looks at two entries of a row
template <class C, class M, class E, class A, class D, class B, class J>
HB_DEVICE void hb_pull_any(hb_grid &g, hb_i32 n, const hb_i64 *ptr, const hb_i32 *idx, const hb_u64 *parts, hb_u32 nparts, hb_i32 longs, M allowed, E term, A add, D done, B bits, J join) {
	const hb_u32 warps = g.threads / HB_WARP, warp = g.thread / HB_WARP, share = HB_WARP * HB_PASS_ROWS;
#pragma unroll 1
	for (hb_u32 base = warp * share; base < (hb_u32)n; base += warps * share) {
		hb_i64 e[HB_PASS_ROWS], end[HB_PASS_ROWS];
		bool open[HB_PASS_ROWS], hit[HB_PASS_ROWS], more = false;
		C acc[HB_PASS_ROWS];
#pragma unroll
		for (hb_i32 u = 0; u < HB_PASS_ROWS; u++) {
			const hb_i32 i = (hb_i32)(base + u * HB_WARP + HB_LANE);
			open[u] = i < n && allowed(i);
			more = more || open[u];
		}
		if (!__any_sync(HB_FULL, more)) continue;
		more = false;
#pragma unroll
		for (hb_i32 u = 0; u < HB_PASS_ROWS; u++) {
			const hb_i32 i = (hb_i32)(base + u * HB_WARP + HB_LANE);
			e[u] = open[u] ? ptr[i] : 0;
			end[u] = open[u] ? ptr[i + 1] : 0;
			if (nparts > 0 && end[u] - e[u] > longs) end[u] = e[u];
			hit[u] = false;
			acc[u] = C();
			more = more || e[u] < end[u];
		}
#pragma unroll 1
		for (hb_i32 k = 0; k < HB_PASS_FIRST && __any_sync(HB_FULL, more); k++) {
			hb_i32 j[HB_PASS_ROWS][2];
#pragma unroll
			for (hb_i32 u = 0; u < 2 * HB_PASS_ROWS; u++)
				j[u / 2][u % 2] = e[u / 2] + u % 2 < end[u / 2] ? idx[e[u / 2] + u % 2] : 0;
			more = false;
#pragma unroll
			for (hb_i32 u = 0; u < HB_PASS_ROWS; u++) {
				const hb_i32 i = (hb_i32)(base + u * HB_WARP + HB_LANE);
				C y = C(), z = C();
				const bool one = e[u] < end[u] && term(i, e[u], j[u][0], y), two = e[u] + 1 < end[u] && term(i, e[u] + 1, j[u][1], z);
				e[u] += 2;
				if (one || two) {
					acc[u] = one ? y : z;
					hit[u] = true;
					end[u] = e[u];
				}
				more = more || e[u] < end[u];
			}
		}
#pragma unroll
		for (hb_i32 u = 0; u < HB_PASS_ROWS; u++) {
			const hb_i32 i = (hb_i32)(base + u * HB_WARP + HB_LANE);
#pragma unroll 1
			for (hb_u32 left = __ballot_sync(HB_FULL, e[u] < end[u]); left; left &= left - 1) {
				const hb_i32 from = __ffs((hb_i32)left) - 1, row = __shfl_sync(HB_FULL, i, from);
				const hb_i64 begin = __shfl_sync(HB_FULL, e[u], from), last = __shfl_sync(HB_FULL, end[u], from);
				bool found = false;
				C sum = C();
				hb_u32 who = 0;
#pragma unroll 1
				for (hb_i64 s = begin + HB_LANE; s - HB_LANE < last && who == 0; s += HB_WARP * HB_PASS_UNROLL) {
					if (s < last) hb_terms(s, HB_WARP, last, row, idx, found, sum, term, add);
					who = __ballot_sync(HB_FULL, found);
				}
				if (who == 0) continue;
				sum = hb_from(sum, __ffs((hb_i32)who) - 1);
				if (HB_LANE == from) {
					acc[u] = sum;
					hit[u] = true;
				}
			}
			if (hit[u]) done(i, acc[u]);
			const hb_u32 who = __ballot_sync(HB_FULL, hit[u]);
			if (HB_LANE == 0 && who != 0) bits(i >> 5, who);
		}
	}
	hb_pull_parts<true, C>(g, ptr, idx, parts, nparts, allowed, term, add, join);
}

// hb_pull_tiles is hb_pull for all rows of a matrix with long ones. A warp takes a tile of 32 ·
// HB_PASS_TILE entries at a time, whatever rows they belong to. heads has a bit for each entry, set
// where a row begins, tiles the rows that begin before each tile, and rows the rows with entries.
// none is the sum of no terms. done gets the sums of rows that begin and end in 32 entries, and
// join parts of the others.
#define HB_PASS_TILE 8
template <class C, class E, class A, class D, class B, class J>
HB_DEVICE void hb_pull_tiles(hb_grid &g, hb_i64 nnz, const hb_i32 *idx, const hb_u32 *heads, const hb_i64 *tiles, const hb_i32 *rows, C none, E term, A add, D done, B bits, J join) {
	// Terms of a thread under way.
	const hb_i32 batch = sizeof(C) > 4 ? HB_PASS_TILE / 2 : HB_PASS_TILE;
	const hb_u32 warps = g.threads / HB_WARP, warp = threadIdx.x / HB_WARP * gridDim.x + blockIdx.x;
	const auto whole = [&](C x) {
#pragma unroll
		for (hb_i32 d = HB_WARP / 2; d > 0; d /= 2) x = add(x, hb_from(x, HB_LANE ^ d));
		return x;
	};
#pragma unroll 1
	for (hb_i64 tile = warp; tile * HB_PASS_TILE * HB_WARP < nnz; tile += warps) {
		const hb_i64 first = tile * HB_PASS_TILE * HB_WARP;
		const hb_u32 word = HB_LANE < HB_PASS_TILE ? heads[tile * HB_PASS_TILE + HB_LANE] : 0;
		const hb_i64 row = tiles[tile] - 1; // the number of the row that is open
		// Numbers of 32 rows are loaded ahead: a sum does not wait for the number of its row.
		const hb_i32 mine = rows[row + HB_LANE < 0 ? 0 : row + HB_LANE];
		hb_i32 past = 0; // rows that begin in the words before
		const auto number = [&](hb_i32 k) {
			const hb_i32 i = __shfl_sync(HB_FULL, mine, k % HB_WARP);
			return k < HB_WARP ? i : rows[row + k];
		};
		C acc = none;
		bool hit = false;
#pragma unroll 1
		for (hb_i32 b = 0; b < HB_PASS_TILE; b += batch) {
			hb_i32 j[batch];
			C y[batch];
			hb_u32 ok = 0;
#pragma unroll
			for (hb_i32 u = 0; u < batch; u++) {
				const hb_i64 e = first + (b + u) * HB_WARP + HB_LANE;
				j[u] = idx[e < nnz ? e : nnz - 1];
			}
#pragma unroll
			for (hb_i32 u = 0; u < batch; u++) {
				const hb_i64 e = first + (b + u) * HB_WARP + HB_LANE;
				const bool is = term(e < nnz ? e : nnz - 1, j[u], y[u]);
				ok |= (hb_u32)(is && e < nnz) << u;
			}
#pragma unroll
			for (hb_i32 u = 0; u < batch; u++) {
				const hb_u32 h = __shfl_sync(HB_FULL, word, b + u), hits = __ballot_sync(HB_FULL, ok >> u & 1);
				const C x = ok >> u & 1 ? y[u] : none;
				if (h == 0) {
					acc = add(acc, x);
					hit = hit || hits != 0;
					continue;
				}
				const hb_u32 before = h & (HB_FULL >> (HB_WARP - 1 - HB_LANE));
				if (before == 0) acc = add(acc, x);
				if (hit || (hits & ((h & (0 - h)) - 1)) != 0) {
					const C sum = whole(acc);
					const hb_i32 i = number(past);
					if (HB_LANE == 0) join(i, sum);
				}
				const hb_i32 start = before ? HB_WARP - 1 - __clz((hb_i32)before) : 0, last = HB_WARP - 1 - __clz((hb_i32)h);
				C v = x;
#pragma unroll
				for (hb_i32 d = 1; d < HB_WARP; d *= 2) {
					const C below = hb_up(v, d);
					if (HB_LANE - d >= start) v = add(below, v);
				}
				const hb_i32 i = number(past + __popc((hb_i32)before));
				// The last lane of a row that begins here, and ends before another one.
				if (before != 0 && HB_LANE < last && (h >> (HB_LANE + 1) & 1) && (hits & (HB_FULL >> (HB_WARP - 1 - HB_LANE)) & (HB_FULL << start)) != 0) {
					done(i, v);
					bits(i >> 5, 1u << (i & 31));
				}
				past += __popc((hb_i32)h);
				acc = HB_LANE >= last ? x : none;
				hit = hits >> last != 0;
			}
		}
		if (hit) {
			const C sum = whole(acc);
			const hb_i32 i = number(past);
			if (HB_LANE == 0) join(i, sum);
		}
	}
}

// hb_sum adds up the values y of get(p, y) over the positions of list number at, or without a list
// over 0 … n−1, for which it returns true; sums need no order. All threads have the sum. part and
// hits have two places for each block, one for turns of either parity: a thread may still read the
// sums of the turn before. It waits for all threads.
template <class C, class G, class A>
HB_DEVICE bool hb_sum(hb_grid &g, const hb_i32 *list, hb_i32 at, hb_u32 n, C *part, hb_u8 *hits, C &out, G get, A add) {
	part += (g.turn & 1) * gridDim.x;
	hits += (g.turn & 1) * gridDim.x;
	bool hit = false;
	C acc = C();
#pragma unroll 1
	for (hb_u32 t = list ? g.place(at) : g.thread; t < n; t += HB_PASS_UNROLL * g.threads) {
		C y[HB_PASS_UNROLL];
		hb_i32 p[HB_PASS_UNROLL];
		bool ok[HB_PASS_UNROLL];
#pragma unroll
		for (hb_u32 u = 0; u < HB_PASS_UNROLL; u++) {
			const hb_u32 q = t + u * g.threads < n ? t + u * g.threads : t;
			p[u] = list ? list[q] : (hb_i32)q;
		}
#pragma unroll
		for (hb_u32 u = 0; u < HB_PASS_UNROLL; u++) ok[u] = get(p[u], y[u]) && t + u * g.threads < n;
#pragma unroll
		for (hb_u32 u = 0; u < HB_PASS_UNROLL; u++) {
			if (!ok[u]) continue;
			acc = hit ? add(acc, y[u]) : y[u];
			hit = true;
		}
	}
	hb_block_fold(hit, acc, add);
	if (threadIdx.x == 0) {
		part[blockIdx.x] = acc;
		hits[blockIdx.x] = hit;
	}
	g.sync();
	hit = false;
	acc = C();
#pragma unroll 1
	for (hb_u32 t = threadIdx.x; t < gridDim.x; t += HB_PASS_BLOCK) {
		if (!hits[t]) continue;
		acc = hit ? add(acc, part[t]) : part[t];
		hit = true;
	}
	hb_block_fold(hit, acc, add);
	out = acc;
	return hit;
}
