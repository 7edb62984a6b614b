// A recorded loop as one kernel that stays on the device. Source: prelude, warp, this file, and the
// loop that passtext.go writes. Go defines
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
// Thread t of T has the positions p with p mod T = t, and the places of a list alike, so that
// stages over the same positions need no barrier.

struct hb_words {
	hb_u64 w[HB_PASS_WORDS];
};

// hb_control is zero when the kernel begins, and when it ends. Numbers that threads add up between
// two barriers go to a side of three that take turns: all threads read it after the second barrier,
// and it is made zero after the one behind that.
struct hb_control {
	hb_u32 arrived, gone, stop, unused; // the host sets stop
	hb_u64 error[4];                    // step + 1, position, index, limit; 0 for none
	hb_u64 side[3][HB_PASS_TOTALS + 1]; // the last number tells of a stop
};

#define HB_PASS_WARPS (HB_PASS_BLOCK / HB_WARP)

// hb_wait is the barrier before turn t. It is no inline function: a loop has many barriers, and
// instructions that are read for the first time cost more than a call.
static __device__ __noinline__ void hb_wait(hb_control *c, hb_u64 *pending, hb_u64 *adds, hb_u32 turn) {
	__syncthreads();
	for (hb_i32 i = threadIdx.x; i < HB_PASS_TOTALS; i += HB_PASS_BLOCK) {
		if (pending[i] == 0) continue;
		atomicAdd(&adds[i], pending[i]);
		pending[i] = 0;
		__threadfence();
	}
	if (blockIdx.x == 0 && threadIdx.x == 0 && (*(volatile hb_u32 *)&c->stop != 0 || ((volatile hb_u64 *)c->error)[0] != 0)) adds[HB_PASS_TOTALS] = 1;
	__syncthreads();
	if (threadIdx.x == 0) {
		__threadfence();
		atomicAdd(&c->arrived, 1u);
		const hb_u32 all = turn * gridDim.x;
		while ((hb_i32)(*(volatile hb_u32 *)&c->arrived - all) < 0) {
		}
		__threadfence();
	}
	__syncthreads();
	if (blockIdx.x == 0) { // the side after the next one was read before this barrier
		hb_u64 *old = c->side[(turn + 2) % 3];
		for (hb_i32 i = threadIdx.x; i <= HB_PASS_TOTALS; i += HB_PASS_BLOCK) old[i] = 0;
	}
}

struct hb_grid {
	hb_control *c;
	hb_u64 *pending; // shared: what the block adds to the numbers at the next barrier
	hb_u32 turn;     // barriers passed
	hb_u64 *adds;    // the side that threads add to
	const volatile hb_u64 *reads;
	hb_i64 thread, threads;

	__device__ __forceinline__ hb_grid(hb_control *c, hb_u64 *pending)
		: c(c), pending(pending), turn(0), adds(c->side[1]), reads(c->side[0]),
		  thread((hb_i64)blockIdx.x * HB_PASS_BLOCK + threadIdx.x), threads((hb_i64)gridDim.x * HB_PASS_BLOCK) {
		for (hb_i32 i = threadIdx.x; i < HB_PASS_TOTALS; i += HB_PASS_BLOCK) pending[i] = 0;
		__syncthreads();
	}

	// sync waits for all threads. What they wrote before is read after it.
	__device__ __forceinline__ void sync() {
		turn++;
		hb_wait(c, pending, adds, turn);
		reads = adds;
		adds = c->side[(turn + 1) % 3];
	}

	// number returns what was added to number i between the last two barriers.
	__device__ __forceinline__ hb_u64 number(hb_i32 i) const { return reads[i]; }
	__device__ __forceinline__ bool stopped() const { return number(HB_PASS_TOTALS) != 0; }

	// add adds the numbers of all threads to number i, at the next barrier. All lanes of a warp
	// call it.
	__device__ __forceinline__ void add(hb_i32 i, hb_i64 x) {
		x = hb_total(x);
		if (HB_LANE == 0 && x != 0) atomicAdd(&pending[i], (hb_u64)x);
	}

	// fails records the first error.
	__device__ __forceinline__ void fails(hb_u64 step, hb_i64 at, hb_i64 index, hb_i64 limit) {
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
		for (hb_i32 i = threadIdx.x; i < (hb_i32)(sizeof(hb_control) / 8); i += HB_PASS_BLOCK) w[i] = 0;
	}
};

// hb_vec is a vector. Bit 0 of has[p] says that p has an entry, bit 1 that p is in the list. While
// listed is set, the list has every entry once, and maybe positions without one; else no bit 1 is
// set. len, cnt and deg are the length of the list, the number of entries, and the edges of the
// rows in the list, at the last barrier. After each barrier that follows changes, update is called
// once: it adds the changes.
#define HB_PASS_NUMBERS 3
template <class T> struct hb_vec {
	T *val;
	hb_u8 *has;
	hb_i32 *list;
	hb_i64 n, len, cnt, deg;
	hb_i32 at;
	bool listed;

	__device__ __forceinline__ void update(const hb_grid &g) {
		len += (hb_i64)g.number(HB_PASS_NUMBERS * at);
		cnt += (hb_i64)g.number(HB_PASS_NUMBERS * at + 1);
		deg += (hb_i64)g.number(HB_PASS_NUMBERS * at + 2);
	}
	// unlist forgets the list. Its bits are cleared already. empty says that no entry is left.
	__device__ __forceinline__ void unlist(bool empty) {
		len = deg = 0;
		listed = empty;
		if (empty) cnt = 0;
	}
	__device__ __forceinline__ hb_i64 places() const { return listed ? len : n; }
};

template <class V> HB_DEVICE void hb_swap(V &a, V &b) {
	V c = a;
	a = b;
	b = c;
}

// hb_each calls f(p, in) for the positions 0 … n−1, with in false for lanes without one.
template <class F> HB_DEVICE void hb_each(const hb_grid &g, hb_i64 n, F f) {
	for (hb_i64 base = g.thread - HB_LANE; base < n; base += g.threads) f(base + HB_LANE, base + HB_LANE < n);
}

// hb_listed calls f(p, in) for the places of the list of v, or for all positions.
template <class V, class F> HB_DEVICE void hb_listed(const hb_grid &g, const V &v, F f) {
	const hb_i64 n = v.places();
	for (hb_i64 base = g.thread - HB_LANE; base < n; base += g.threads) {
		hb_i64 t = base + HB_LANE;
		const bool in = t < n;
		if (in && v.listed) t = v.list[t];
		f(t, in);
	}
}

#define HB_PASS_HUB 256   // entries from which a row of a push is shared by warps
#define HB_PASS_CHUNK 256 // entries of such a row that a warp takes at a time
#define HB_PASS_LONG 2048 // entries from which a block takes a row of a pull

// hb_collector appends positions to the list of a vector. A block collects them in shared memory,
// and reserves places for all at the end; what has no room there goes to the list at once. All
// lanes of a warp call put, all threads of the block call the constructor and flush, which comes
// last. Collectors of different K may be open at a time.
template <hb_i32 K> struct hb_collector {
	static const hb_i32 room = K == 0 ? 5120 : 1024;
	__device__ __forceinline__ static hb_i32 *aside() {
		__shared__ hb_i32 all[room];
		return all;
	}
	__device__ __forceinline__ static hb_i32 *count() {
		__shared__ hb_i32 n[2]; // positions aside, and the place of the first in the list
		return n;
	}
	__device__ __forceinline__ hb_collector() {
		__syncthreads();
		if (threadIdx.x == 0) count()[0] = 0;
		__syncthreads();
	}
	// put appends p in the lanes with want.
	template <class V> __device__ __forceinline__ void put(hb_grid &g, V &v, bool want, hb_i64 p, const hb_i64 *deg) {
		const hb_u32 lanes = __ballot_sync(HB_FULL, want);
		if (lanes == 0) return;
		const hb_i32 n = __popc(lanes), rank = __popc(lanes & ((1u << HB_LANE) - 1));
		hb_i32 first = 0;
		if (HB_LANE == 0) first = atomicAdd(count(), n);
		first = __shfl_sync(HB_FULL, first, 0);
		if (first + n <= room) {
			if (want) aside()[first + rank] = (hb_i32)p;
			return;
		}
		hb_u64 at = 0;
		if (HB_LANE == 0) {
			atomicAdd(count(), -n);
			at = (hb_u64)v.len + atomicAdd(&g.adds[HB_PASS_NUMBERS * v.at], (hb_u64)n);
		}
		at = __shfl_sync(HB_FULL, at, 0);
		if (want) v.list[at + rank] = (hb_i32)p;
		if (deg) g.add(HB_PASS_NUMBERS * v.at + 2, want ? deg[p + 1] - deg[p] : 0);
	}
	// flush writes the list. The edges of the rows are added up if deg is not null.
	template <class V> __device__ __forceinline__ void flush(hb_grid &g, V &v, const hb_i64 *deg) {
		__syncthreads();
		const hb_i32 n = count()[0];
		if (n == 0) return;
		if (threadIdx.x == 0) count()[1] = (hb_i32)(v.len + (hb_i64)atomicAdd(&g.adds[HB_PASS_NUMBERS * v.at], (hb_u64)n));
		__syncthreads();
		const hb_i32 first = count()[1];
		hb_i64 edges = 0;
		for (hb_i32 t = threadIdx.x; t < n; t += HB_PASS_BLOCK) {
			const hb_i32 p = aside()[t];
			v.list[first + t] = p;
			if (deg) edges += deg[p + 1] - deg[p];
		}
		if (deg) g.add(HB_PASS_NUMBERS * v.at + 2, edges);
	}
};

// hb_mark sets the bits of has[k], and reports whether bit 0 was not set before.
HB_DEVICE bool hb_mark(hb_u8 *has, hb_i64 k, hb_u32 bits) {
	if (((volatile hb_u8 *)has)[k] & 1) return false;
	const hb_i32 shift = 8 * (hb_i32)(k & 3);
	return !(atomicOr((hb_u32 *)(has + (k & ~(hb_i64)3)), bits << shift) >> shift & 1);
}

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

// hb_edges takes HB_PASS_UNROLL entries in each lane with ok, for hb_push.
#define HB_PASS_UNROLL 4
template <class T, class C, class O, class F>
HB_DEVICE void hb_edges(hb_grid &g, const hb_i32 *idx, T &t, const hb_i64 *deg, C &found, const hb_i32 *from, const hb_i64 *e, hb_i32 *to, bool *ok, O open, F edge) {
#pragma unroll
	for (hb_i32 u = 0; u < HB_PASS_UNROLL; u++) to[u] = ok[u] ? idx[e[u]] : 0;
#pragma unroll
	for (hb_i32 u = 0; u < HB_PASS_UNROLL; u++) ok[u] = ok[u] && open(to[u]);
#pragma unroll
	for (hb_i32 u = 0; u < HB_PASS_UNROLL; u++) ok[u] = ok[u] && edge(from[u], e[u], to[u]);
#pragma unroll
	for (hb_i32 u = 0; u < HB_PASS_UNROLL; u++) found.put(g, t, ok[u], to[u], deg);
}

// hb_push looks at the entries e of the rows of x's entries: if open(to) holds for the column, it
// calls edge(from, e, to), and appends the column to t if that returns true. Rows of more than
// HB_PASS_HUB entries wait in later, if hubs says that there may be such rows, for a barrier, after
// which updates is called and warps share them.
template <class X, class T, class O, class F, class U>
HB_DEVICE void hb_push(hb_grid &g, const hb_i64 *ptr, const hb_i32 *idx, const X &x, T &t, const hb_i64 *deg, hb_u64 *later, hb_i32 at, bool hubs, O open, F edge, U updates) {
	hb_collector<0> found;
	const hb_i64 items = x.places(), warps = g.threads / HB_WARP, warp = g.thread / HB_WARP;
	hb_i64 share = (items + warps - 1) / warps;
	if (share > HB_WARP) share = HB_WARP;
	for (hb_i64 base = warp * share; base < items; base += warps * share) {
		hb_i64 j = base + HB_LANE, lo = 0;
		hb_u32 d = 0;
		if (HB_LANE < share && j < items) {
			if (x.listed) j = x.list[j];
			if (!x.has || x.has[j] & 1) {
				lo = ptr[j];
				hb_i64 all = ptr[j + 1] - lo;
				if (hubs && all > HB_PASS_HUB) {
					const hb_u64 chunks = (hb_u64)(all + HB_PASS_CHUNK - 1) / HB_PASS_CHUNK;
					const hb_u64 first = atomicAdd(&g.adds[HB_PASS_NUMBERS * at], chunks);
					for (hb_u64 c = 0; c < chunks; c++) later[first + c] = c << 32 | (hb_u32)j;
					all = 0;
				}
				d = (hb_u32)all;
			}
		}
		const hb_u32 sum = hb_sums(d), before = sum - d, total = __shfl_sync(HB_FULL, sum, HB_WARP - 1);
		for (hb_u32 s = 0; s < total; s += HB_WARP * HB_PASS_UNROLL) {
			hb_i32 from[HB_PASS_UNROLL], to[HB_PASS_UNROLL];
			hb_i64 e[HB_PASS_UNROLL];
			bool ok[HB_PASS_UNROLL];
#pragma unroll
			for (hb_i32 u = 0; u < HB_PASS_UNROLL; u++) {
				const hb_u32 i = s + u * HB_WARP + HB_LANE;
				ok[u] = i < total;
				const hb_i32 lane = hb_owner(sum, ok[u] ? i : total - 1);
				from[u] = (hb_i32)__shfl_sync(HB_FULL, (hb_i32)j, lane);
				e[u] = __shfl_sync(HB_FULL, lo, lane) + (hb_i64)(i - __shfl_sync(HB_FULL, before, lane));
			}
			hb_edges(g, idx, t, deg, found, from, e, to, ok, open, edge);
		}
	}
	found.flush(g, t, deg);
	if (!hubs) return;
	g.sync();
	updates();
	const hb_i64 count = (hb_i64)g.number(HB_PASS_NUMBERS * at);
	if (count == 0) return;
	hb_collector<1> more;
	for (hb_i64 c = warp; c < count; c += warps) {
		const hb_u64 item = later[c];
		const hb_i32 from = (hb_i32)(hb_u32)item;
		const hb_i64 lo = ptr[from] + (hb_i64)(item >> 32) * HB_PASS_CHUNK, end = ptr[from + 1];
		const hb_i64 hi = lo + HB_PASS_CHUNK < end ? lo + HB_PASS_CHUNK : end;
		for (hb_i64 s = lo; s < hi; s += HB_WARP * HB_PASS_UNROLL) {
			hb_i32 of[HB_PASS_UNROLL], to[HB_PASS_UNROLL];
			hb_i64 e[HB_PASS_UNROLL];
			bool ok[HB_PASS_UNROLL];
#pragma unroll
			for (hb_i32 u = 0; u < HB_PASS_UNROLL; u++) {
				of[u] = from;
				e[u] = s + u * HB_WARP + HB_LANE;
				ok[u] = e[u] < hi;
			}
			hb_edges(g, idx, t, deg, more, of, e, to, ok, open, edge);
		}
	}
	more.flush(g, t, deg);
}

// hb_fold adds up the values of the lanes of a warp, in a fixed order: the first lane has the sum.
template <class C, class F> HB_DEVICE void hb_fold(bool &hit, C &acc, F add) {
	for (hb_i32 d = HB_WARP / 2; d > 0; d /= 2) {
		const bool other = __shfl_down_sync(HB_FULL, (hb_i32)hit, d) != 0;
		const C y = hb_from(acc, HB_LANE + d < HB_WARP ? HB_LANE + d : HB_LANE);
		if (HB_LANE < d && other) {
			acc = hit ? add(acc, y) : y;
			hit = true;
		}
	}
}

// hb_block_fold adds up the values of the threads of a block: all threads have the sum.
template <class C, class F> HB_DEVICE void hb_block_fold(bool &hit, C &acc, F add) {
	__shared__ C sums[HB_PASS_WARPS];
	__shared__ bool hits[HB_PASS_WARPS];
	hb_fold(hit, acc, add);
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
template <class C, class E, class A>
HB_DEVICE void hb_terms(hb_i64 e, hb_i64 step, hb_i64 end, hb_i64 row, const hb_i32 *idx, bool &hit, C &acc, E term, A add) {
	hb_i32 j[HB_PASS_UNROLL];
	C y[HB_PASS_UNROLL];
	bool ok[HB_PASS_UNROLL];
#pragma unroll
	for (hb_i32 u = 0; u < HB_PASS_UNROLL; u++) j[u] = e + u * step < end ? idx[e + u * step] : -1;
#pragma unroll
	for (hb_i32 u = 0; u < HB_PASS_UNROLL; u++) ok[u] = j[u] >= 0 && term(row, e + u * step, j[u], y[u]);
#pragma unroll
	for (hb_i32 u = 0; u < HB_PASS_UNROLL; u++) {
		if (!ok[u]) continue;
		acc = hit ? add(acc, y[u]) : y[u];
		hit = true;
	}
}

// hb_pull calls done(i, hit, acc) for every row i, where acc is the sum of term(i, e, j, y) over
// the entries e of the row for which it returns true, if there is one, in a fixed order. Rows that
// allowed(i) excludes have none. Long rows have more than HB_PASS_LONG entries: a block takes each.
// One entry is enough with ONE: then a thread looks at the first entries of a row, and the warp at
// the rest of each. Else the lanes of a warp share the entries of 32 rows evenly, and add up
// neighbours of one row.
template <bool ONE, class C, class M, class E, class A, class D>
HB_DEVICE void hb_pull(hb_grid &g, hb_i64 n, const hb_i64 *ptr, const hb_i32 *idx, const hb_i32 *longs, hb_i64 nlongs, M allowed, E term, A add, D done) {
	__shared__ C all[HB_PASS_WARPS][HB_WARP];
	C *sums = all[threadIdx.x / HB_WARP];
	for (hb_i64 base = g.thread - HB_LANE; base < n; base += g.threads) {
		const hb_i64 i = base + HB_LANE;
		bool ok = i < n, reads = ok && allowed(i), hit = false;
		hb_i64 e = 0, hi = 0;
		if (reads) {
			e = ptr[i];
			hi = ptr[i + 1];
			if (nlongs > 0 && hi - e > HB_PASS_LONG) ok = reads = false;
		}
		C acc = C();
		if (ONE) {
			for (hb_i32 k = 0; k < 4 && __any_sync(HB_FULL, reads && e < hi); k++) {
				if (reads) hb_terms(e, 1, hi, i, idx, hit, acc, term, add);
				e += HB_PASS_UNROLL;
				reads = reads && !hit;
			}
			for (hb_u32 open = __ballot_sync(HB_FULL, reads && e < hi); open; open &= open - 1) {
				const hb_i32 from = __ffs((hb_i32)open) - 1;
				const hb_i64 row = __shfl_sync(HB_FULL, i, from), begin = __shfl_sync(HB_FULL, e, from), end = __shfl_sync(HB_FULL, hi, from);
				bool found = false;
				C sum = C();
				for (hb_i64 s = begin + HB_LANE; s - HB_LANE < end; s += HB_WARP * HB_PASS_UNROLL) {
					hb_terms(s, HB_WARP, end, row, idx, found, sum, term, add);
					if (__any_sync(HB_FULL, found)) break;
				}
				hb_fold(found, sum, add);
				sum = hb_from(sum, 0);
				if (__shfl_sync(HB_FULL, (hb_i32)found, 0) && HB_LANE == from) {
					acc = sum;
					hit = true;
				}
			}
		} else {
			const hb_u32 d = reads ? (hb_u32)(hi - e) : 0, sum = hb_sums(d), before = sum - d, total = __shfl_sync(HB_FULL, sum, HB_WARP - 1);
			hb_u32 got = 0; // rows with a sum
			for (hb_u32 s = 0; s < total; s += HB_WARP * HB_PASS_UNROLL) {
				hb_i32 row[HB_PASS_UNROLL], j[HB_PASS_UNROLL];
				hb_i64 at[HB_PASS_UNROLL];
				bool in[HB_PASS_UNROLL];
				C y[HB_PASS_UNROLL];
#pragma unroll
				for (hb_i32 u = 0; u < HB_PASS_UNROLL; u++) {
					const hb_u32 t = s + u * HB_WARP + HB_LANE;
					in[u] = t < total;
					row[u] = hb_owner(sum, in[u] ? t : total - 1);
					at[u] = __shfl_sync(HB_FULL, e, row[u]) + (hb_i64)(t - __shfl_sync(HB_FULL, before, row[u]));
				}
#pragma unroll
				for (hb_i32 u = 0; u < HB_PASS_UNROLL; u++) j[u] = in[u] ? idx[at[u]] : 0;
#pragma unroll
				for (hb_i32 u = 0; u < HB_PASS_UNROLL; u++) in[u] = in[u] && term(base + row[u], at[u], j[u], y[u]);
				for (hb_i32 u = 0; u < HB_PASS_UNROLL; u++) {
#pragma unroll
					for (hb_i32 d = 1; d < HB_WARP; d *= 2) {
						const hb_i32 key = __shfl_up_sync(HB_FULL, row[u], d);
						const bool other = __shfl_up_sync(HB_FULL, (hb_i32)in[u], d) != 0;
						const C z = hb_up(y[u], d);
						if (HB_LANE >= d && key == row[u] && other) {
							y[u] = in[u] ? add(z, y[u]) : z;
							in[u] = true;
						}
					}
					const hb_i32 next = __shfl_down_sync(HB_FULL, row[u], 1);
					const bool last = in[u] && (HB_LANE == HB_WARP - 1 || next != row[u]);
					if (last) sums[row[u]] = got >> row[u] & 1 ? add(sums[row[u]], y[u]) : y[u];
					hb_u32 bit = last ? 1u << row[u] : 0;
#pragma unroll
					for (hb_i32 d = HB_WARP / 2; d > 0; d /= 2) bit |= __shfl_xor_sync(HB_FULL, bit, d);
					got |= bit;
					__syncwarp();
				}
			}
			hit = got >> HB_LANE & 1;
			if (hit) acc = sums[HB_LANE];
			__syncwarp();
		}
		if (ok) done(i, hit, acc);
	}
	for (hb_i64 r = blockIdx.x; r < nlongs; r += gridDim.x) {
		const hb_i64 i = longs[r];
		const bool reads = allowed(i);
		bool hit = false;
		C acc = C();
		const hb_i64 end = ptr[i + 1];
		for (hb_i64 e = ptr[i] + threadIdx.x; reads && e < end && !(ONE && hit); e += HB_PASS_BLOCK * HB_PASS_UNROLL) {
			hb_terms(e, HB_PASS_BLOCK, end, i, idx, hit, acc, term, add);
		}
		hb_block_fold(hit, acc, add);
		if (threadIdx.x == 0 && reads) done(i, hit, acc);
	}
}

// hb_sum adds up get(p, y) over the positions 0 … n−1 for which it returns true, in a fixed order.
// All threads have the sum. part and hits have two places for each HB_PASS_TILE positions, one for
// turns of either parity: a thread may still read the sums of the turn before. It waits for all
// threads.
#define HB_PASS_TILE 8192
template <class C, class G, class A>
HB_DEVICE bool hb_sum(hb_grid &g, hb_i64 n, C *part, hb_u8 *hits, C &out, G get, A add) {
	const hb_i64 tiles = (n + HB_PASS_TILE - 1) / HB_PASS_TILE;
	part += (g.turn & 1) * tiles;
	hits += (g.turn & 1) * tiles;
	for (hb_i64 t = blockIdx.x; t < tiles; t += gridDim.x) {
		bool hit = false;
		C acc = C();
		for (hb_i64 p = t * HB_PASS_TILE + threadIdx.x; p < n && p < (t + 1) * HB_PASS_TILE; p += HB_PASS_BLOCK) {
			C y;
			if (!get(p, y)) continue;
			acc = hit ? add(acc, y) : y;
			hit = true;
		}
		hb_block_fold(hit, acc, add);
		if (threadIdx.x == 0) {
			part[t] = acc;
			hits[t] = hit;
		}
	}
	g.sync();
	bool hit = false;
	C acc = C();
	for (hb_i64 t = threadIdx.x; t < tiles; t += HB_PASS_BLOCK) {
		if (!hits[t]) continue;
		acc = hit ? add(acc, part[t]) : part[t];
		hit = true;
	}
	hb_block_fold(hit, acc, add);
	out = acc;
	return hit;
}
