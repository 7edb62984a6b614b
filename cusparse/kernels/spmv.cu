// y = A ⊗ x over any semiring, A a CSR matrix, x full. y of an empty row is the
// identity of ⊕; presence of y is the structure of A and is not written.
//
// Large matrices: the entries, not the rows, are divided. A warp takes a tile
// of HB_SPMV_TILE consecutive entries, whatever rows they are of, adds up by a
// segmented scan in registers, and writes the rows that begin and end in it;
// of the two that may cross its ends it writes the parts, which hb_spmv_carry
// adds up. All sums have a fixed order. Segmented scan: Blelloch, Heroux,
// Zagha, CMU-CS-93-173; tiles of equal entries: Merrill, Garland, SC'16.
//
// Once a matrix (kept; entries = nnz, tiles = ⌈nnz/HB_SPMV_TILE⌉ > 0):
//   bits      u32[tiles·HB_SPMV_TILE/32], zeroed: bit e = entry e begins a row
//   first     i32[tiles+1]: number of rows that begin before the tile
//   rows      i32[non-empty rows]: the row that begins k-th; empty  i32[empty rows]
//   hb_spmv_starts <<<⌈nrows/256⌉, 256>>>(nrows, ptr, bits)
//   hb_spmv_ranks  <<<⌈tiles/8⌉, 256>>>(tiles, bits, first)
//   hb_spmv_scan   <<<1, 1024>>>(tiles, first)       first[tiles] = non-empty rows
//   hb_spmv_compact<<<⌈nrows/256⌉, 256>>>(nrows, nnz, tiles, ptr, bits, first, rows, empty)
//   If all non-empty rows come first (no empty ones, or rows by degree) pass rows = null later.
//   head, tail  HB_C[tiles] and ticket  u64, zeroed once: scratch of one call at a time.
// Each call:
//   [hb_spmv_permute<<<⌈n/256⌉, 256>>>(n, perm, x, xp): xp[i] = x[perm[i]], if the columns
//    have been relabelled inside the matrix (by descending degree; only the n non-empty ones)]
//   [hb_spmv_bits<<<⌈n/256⌉, 256>>>(n, x, bits u32[⌈n/32⌉]), with HB_SPMV_BITS 1: then x is bits]
//   [hb_spmv_wanted<<<⌈(used+1)/256⌉, 256>>>(used, rows, mask, comp, wanted u32[used/32+2],
//    present u8[nrows], zeroed), with HB_SPMV_MASKED 1: entries of excluded rows are not read]
//   grid = min(SMs·HB_SPMV_MINBLOCKS, ⌈tiles·32/HB_SPMV_BLOCK⌉)
//   hb_spmv_tiles<<<grid, HB_SPMV_BLOCK, shared>>>(…)
//       shared = hot·sizeof(HB_X): with HB_SPMV_HOT 1, the first `hot` places of x are kept in
//       shared memory (of no use unless columns are by descending degree); with 0,
//       shared = hot = 0
//   hb_spmv_carry<<<⌈max(tiles, nempty)/256⌉, 256>>>(…)
//
// Measured on an H200 (R-MAT 18, 20, 22, edge factor 16, ms; cuSPARSE's best fp32 0.036, 0.124,
// 0.473, fp64 0.043, 0.131, 0.544). Tile 512 costs 3–8 %, 4096 ≤ 3 %.
//                                          fp32               fp64               pattern
// plain, tile 1024, unroll 2, 4 blocks     0.034 0.126 0.502  0.041 0.138 0.576
// plain, unroll 4, 2 blocks, INSIDE 0      0.037 0.124 0.494
// columns by degree, x permuted: hot       0.037 0.076 0.303
// rows too: hot, tile 2048                 0.034 0.064 0.272  0.054 0.087 0.362  0.034 0.056 0.241
// rows too: not hot, tile 1024             0.022 0.082 0.366  0.033 0.106 0.444  0.021 0.073 0.337
// Hot is 192 KB; tile 1024 with 64 KB takes 0.027 for R-MAT 18 with columns by degree. INSIDE 1
// costs 2 % at R-MAT 22. There, hot, min_plus and a/(a+x) take 0.272, and with 160 KB lor_land
// 0.173 and plus_times of 8 bits 0.176.
// 208 KB starve L1 (0.367). So: hot = 192 KB/sizeof(HB_X) from about 8M entries on, where columns
// stand by degree; HB_SPMV_HOT 0 below that or where they do not; unroll 4, 2 blocks, INSIDE 0 for
// plain beyond 10M.
//
// val may be null if !HB_USES_A, x if !HB_USES_X. ptr, idx, val and x begin at
// multiples of 16 bytes; nothing past their ends is read.

#ifndef HB_SPMV_TILE
#define HB_SPMV_TILE (HB_SPMV_HOT ? 2048 : 1024)
#endif
#ifndef HB_SPMV_UNROLL // groups of 128 entries loaded together
#define HB_SPMV_UNROLL 2
#endif
#ifndef HB_SPMV_INSIDE // groups inside one row are read without a scan, by neighbouring lanes
#define HB_SPMV_INSIDE 1
#endif
#ifndef HB_SPMV_HOT
#define HB_SPMV_HOT 0
#endif
#ifndef HB_SPMV_BLOCK
#define HB_SPMV_BLOCK (HB_SPMV_HOT ? 1024 : 256)
#endif
#ifndef HB_SPMV_MINBLOCKS
#define HB_SPMV_MINBLOCKS (HB_SPMV_HOT ? 1 : 4)
#endif

#ifndef HB_SPMV_BITS // 1: x, of true and false, is given as bits, made by hb_spmv_bits
#define HB_SPMV_BITS 0
#endif

#ifndef HB_SPMV_MASKED // 1: entries of rows that the mask excludes are not read
#define HB_SPMV_MASKED 0
#endif

#if HB_SPMV_BITS
typedef hb_u32 hb_spmv_x;
#else
typedef HB_X hb_spmv_x;
#endif

// hb_quad is four consecutive elements, moved as words.
template <class T> union hb_quad {
	hb_u32 word[sizeof(T)];
	T at[4];
};

struct __align__(16) hb_words4 { hb_u32 w[4]; };
struct __align__(8) hb_words2 { hb_u32 w[2]; };

// hb_stream16 loads 16 bytes that are used once: past L1, which is for x.
HB_DEVICE void hb_stream16(hb_u32 *w, const void *p) {
#if !defined(HB_EMULATED) && __CUDA_ARCH__ >= 800 && __CUDACC_VER_MAJOR__ >= 12
	asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0,%1,%2,%3}, [%4];"
		: "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3]) : "l"(p));
#else
	hb_words4 t = *(const hb_words4 *)p;
	for (int j = 0; j < 4; j++) w[j] = t.w[j];
#endif
}

// hb_stream loads p[0..3]; 4·sizeof(T) bytes, aligned as 16, 8 or 4.
template <class T> HB_DEVICE void hb_stream(hb_quad<T> &q, const T *p) {
	if constexpr (sizeof(T) % 4 == 0) {
#pragma unroll
		for (int j = 0; j < (int)sizeof(T) / 4; j++)
			hb_stream16(q.word + 4 * j, (const hb_words4 *)p + j);
	} else if constexpr (sizeof(T) % 2 == 0) {
#pragma unroll
		for (int j = 0; j < (int)sizeof(T) / 2; j++) {
			hb_words2 t = ((const hb_words2 *)p)[j];
			q.word[2 * j] = t.w[0];
			q.word[2 * j + 1] = t.w[1];
		}
	} else {
#pragma unroll
		for (int j = 0; j < (int)sizeof(T); j++) q.word[j] = ((const hb_u32 *)p)[j];
	}
}

// hb_stream1 loads one element so, of 4 or 8 bytes; others as they come.
template <class T> HB_DEVICE T hb_stream1(const T *p) {
#if !defined(HB_EMULATED) && __CUDA_ARCH__ >= 800 && __CUDACC_VER_MAJOR__ >= 12
	hb_lane_words<T> u;
	if constexpr (sizeof(T) == 4) {
		asm volatile("ld.global.nc.L1::no_allocate.u32 %0, [%1];" : "=r"(u.word[0]) : "l"(p));
		return u.t;
	} else if constexpr (sizeof(T) == 8) {
		asm volatile("ld.global.nc.L1::no_allocate.v2.u32 {%0,%1}, [%2];" : "=r"(u.word[0]), "=r"(u.word[1]) : "l"(p));
		return u.t;
	}
#endif
	return *p;
}

// hb_warp_sum gives all lanes the sum over the warp.
HB_DEVICE HB_C hb_warp_sum(HB_C v) {
	const int lane = threadIdx.x % HB_WARP;
#pragma unroll
	for (int d = HB_WARP / 2; d > 0; d /= 2) {
		HB_C other = hb_from(v, lane + d);
		if (lane < d) v = hb_add(v, other);
	}
	return hb_from(v, 0);
}

HB_DEVICE HB_C hb_spmv_product(hb_i32 col, HB_A a, const hb_spmv_x *__restrict__ x, const HB_X *kept, hb_u32 hot) {
	HB_X v{};
#if HB_USES_X
#if HB_SPMV_HOT
	if ((hb_u32)col < hot) v = kept[col];
	else
#endif
#if HB_SPMV_BITS
	v = (HB_X)(x[(hb_u32)col / 32] >> (col % 32) & 1);
#else
	v = x[col];
#endif
#endif
	return hb_mul(a, v);
}

// hb_spmv_open returns which row is open before this lane's four of 128 entries. w has the bits of
// the entries. rank rows begin before the 128; it becomes the number before the next. begin: bits
// of the four.
HB_DEVICE hb_i32 hb_spmv_open(const hb_u32 *w, hb_i32 &rank, int lane, hb_u32 &begin) {
	hb_u32 mine = lane < 16 ? (lane < 8 ? w[0] : w[1]) : (lane < 24 ? w[2] : w[3]);
	hb_i32 open = rank - 1 + __popc(mine & ((1u << (4 * (lane % 8))) - 1));
	if (lane >= 8) open += __popc(w[0]);
	if (lane >= 16) open += __popc(w[1]);
	if (lane >= 24) open += __popc(w[2]);
	rank += __popc(w[0]) + __popc(w[1]) + __popc(w[2]) + __popc(w[3]);
	begin = mine >> (4 * (lane % 8)) & 15;
	return open;
}

#if HB_SPMV_MASKED
#define HB_SPMV_SPANS (HB_SPMV_TILE / 1024)

// hb_spmv_wants gives lane l the bits of the entries 32·l … of each 1024 of a tile: whether the
// mask has their rows; begun rows begin before the tile.
HB_DEVICE void hb_spmv_wants(const hb_u32 *bits, const hb_u32 *__restrict__ wanted, hb_i32 begun,
	hb_u32 *want) {
#pragma unroll
	for (int i = 0; i < HB_SPMV_SPANS; i++) {
		const hb_u32 word = bits[32 * i + HB_LANE];
		const hb_u32 upto = hb_sums((hb_u32)__popc(word)), at = (hb_u32)begun + upto - __popc(word);
		begun += (hb_i32)__shfl_sync(HB_FULL, upto, HB_WARP - 1);
		hb_u64 rows = ((hb_u64)wanted[at / 32 + 1] << 32 | wanted[at / 32]) >> (at % 32);
		hb_u32 all = rows & 1 ? HB_FULL : 0;
		for (hb_u32 left = word; left; left &= left - 1) {
			const hb_u32 on = HB_FULL << (__ffs(left) - 1);
			rows >>= 1;
			all = rows & 1 ? all | on : all & ~on;
		}
		want[i] = all;
	}
}
#endif

HB_KERNEL __launch_bounds__(HB_SPMV_BLOCK, HB_SPMV_MINBLOCKS)
hb_spmv_tiles(hb_i64 nnz, hb_i64 tiles, const hb_u32 *__restrict__ bits, const hb_i32 *__restrict__ first,
	const hb_i32 *__restrict__ rows, const hb_i32 *__restrict__ idx, const HB_A *__restrict__ val,
	const hb_spmv_x *__restrict__ x, hb_i32 hot, HB_C *y, HB_C *head, HB_C *tail, hb_u64 *ticket,
	const hb_u32 *__restrict__ wanted) {
	HB_DYNAMIC_SHARED(HB_X, kept);
#if HB_SPMV_HOT && HB_USES_X
	for (hb_i32 i = threadIdx.x; i < hot / 4; i += HB_SPMV_BLOCK)
		((hb_quad<HB_X> *)kept)[i] = ((const hb_quad<HB_X> *)x)[i];
	for (hb_i32 i = hot / 4 * 4 + threadIdx.x; i < hot; i += HB_SPMV_BLOCK) kept[i] = x[i];
	__syncthreads();
#endif
	const int lane = threadIdx.x % HB_WARP;
	const hb_u32 upto = HB_FULL >> (HB_WARP - 1 - lane); // this lane and the lanes before
	const hb_i64 warps = (hb_i64)gridDim.x * (HB_SPMV_BLOCK / HB_WARP);
	hb_i64 tile = (hb_i64)blockIdx.x * (HB_SPMV_BLOCK / HB_WARP) + threadIdx.x / HB_WARP;
	while (tile < tiles) {
		hb_u64 next = 0; // asked for early: the answer takes a while
		if (tiles > warps && lane == 0) next = atomicAdd(ticket, 1ULL);
		const hb_i32 begun = first[tile];
		hb_i32 rank = begun; // rows begun so far
		HB_C carry = HB_IDENTITY; // of the row that is open
		bool spread = false;      // over the lanes; else all hold it
#if HB_SPMV_MASKED
		hb_u32 want[HB_SPMV_SPANS];
		hb_spmv_wants(bits + tile * (HB_SPMV_TILE / 32), wanted, begun, want);
#endif
#if HB_SPMV_INSIDE
		hb_u32 begins = 0; // bit w: a row begins among entries 32·w.. of these 1024
		int word = 32;
#endif
		for (hb_i64 e0 = tile * HB_SPMV_TILE; e0 < (tile + 1) * HB_SPMV_TILE; e0 += 128 * HB_SPMV_UNROLL) {
#if HB_SPMV_INSIDE
			if (word == 32) {
				word = 0;
				begins = __ballot_sync(HB_FULL, lane < HB_SPMV_TILE / 32 && bits[e0 / 32 + lane % (HB_SPMV_TILE / 32)] != 0);
			}
			const bool inside = (begins >> word & (hb_u32)((1ull << (4 * HB_SPMV_UNROLL)) - 1)) == 0;
			word += 4 * HB_SPMV_UNROLL;
			if (inside && e0 + 128 * HB_SPMV_UNROLL <= nnz) {
				// Inside one row: no scan, and neighbouring lanes read neighbouring places of x.
#if HB_SPMV_MASKED
				if (!(__shfl_sync(HB_FULL, want[(e0 % HB_SPMV_TILE) / 1024], (e0 % 1024) / 32) & 1)) continue;
#endif
				hb_i32 col[4 * HB_SPMV_UNROLL];
				HB_A a[4 * HB_SPMV_UNROLL];
#pragma unroll
				for (int j = 0; j < 4 * HB_SPMV_UNROLL; j++) {
					col[j] = hb_stream1(idx + (e0 + 32 * j + lane));
					a[j] = HB_A{};
#if HB_USES_A
					a[j] = hb_stream1(val + (e0 + 32 * j + lane));
#endif
				}
				HB_C sum = hb_spmv_product(col[0], a[0], x, kept, hot);
#pragma unroll
				for (int j = 1; j < 4 * HB_SPMV_UNROLL; j++) sum = hb_add(sum, hb_spmv_product(col[j], a[j], x, kept, hot));
				carry = spread || lane == 0 ? hb_add(carry, sum) : sum;
				spread = true;
				continue;
			}
#endif
			HB_C p[HB_SPMV_UNROLL][4];
			hb_words4 starts[HB_SPMV_UNROLL];
#pragma unroll
			for (int u = 0; u < HB_SPMV_UNROLL; u++) starts[u] = *(const hb_words4 *)(bits + (e0 / 32 + 4 * u));
			hb_u32 wants[HB_SPMV_UNROLL]; // bit j: the mask has the row of the lane's entry j
#pragma unroll
			for (int u = 0; u < HB_SPMV_UNROLL; u++) {
				wants[u] = 15;
#if HB_SPMV_MASKED
				const int at = (int)(e0 % HB_SPMV_TILE) / 32 + 4 * u;
				wants[u] = __shfl_sync(HB_FULL, want[at / 32], at % 32 + lane / 8) >> (4 * (lane % 8)) & 15;
#endif
			}
			if (e0 + 128 * HB_SPMV_UNROLL <= nnz) {
				hb_quad<hb_i32> col[HB_SPMV_UNROLL];
				hb_quad<HB_A> a[HB_SPMV_UNROLL];
#pragma unroll
				for (int u = 0; u < HB_SPMV_UNROLL; u++) {
					if (wants[u]) {
						hb_stream(col[u], idx + (e0 + 128 * u + 4 * lane));
#if HB_USES_A
						hb_stream(a[u], val + (e0 + 128 * u + 4 * lane));
#else
						for (int j = 0; j < (int)sizeof(HB_A); j++) a[u].word[j] = 0;
#endif
					}
				}
#pragma unroll
				for (int u = 0; u < HB_SPMV_UNROLL; u++)
#pragma unroll
					for (int j = 0; j < 4; j++)
						p[u][j] = wants[u] >> j & 1 ? hb_spmv_product(col[u].at[j], a[u].at[j], x, kept, hot) : HB_IDENTITY;
			} else {
#pragma unroll
				for (int u = 0; u < HB_SPMV_UNROLL; u++)
#pragma unroll
					for (int j = 0; j < 4; j++) {
						hb_i64 e = e0 + 128 * u + 4 * lane + j;
						p[u][j] = HB_IDENTITY;
						if (e < nnz && wants[u] >> j & 1) p[u][j] = hb_spmv_product(idx[e], HB_USES_A ? val[e] : HB_A{}, x, kept, hot);
					}
			}
#pragma unroll
			for (int u = 0; u < HB_SPMV_UNROLL; u++) {
				const hb_u32 *w = starts[u].w;
				if (!(w[0] | w[1] | w[2] | w[3])) { // inside one row: nothing to scan
					HB_C sum = hb_add(hb_add(p[u][0], p[u][1]), hb_add(p[u][2], p[u][3]));
					carry = spread || lane == 0 ? hb_add(carry, sum) : sum;
					spread = true;
					continue;
				}
				if (spread) carry = hb_warp_sum(carry);
				spread = false;
				hb_u32 begin;
				const hb_i32 open = hb_spmv_open(w, rank, lane, begin); // the row open before this lane

				// In the lane: up to the first row's start, rows that fit, from the last start on.
				HB_C before = HB_IDENTITY, sum = p[u][0];
				hb_i32 k = open + (hb_i32)(begin & 1);
#pragma unroll
				for (int j = 1; j < 4; j++) {
					if (begin >> j & 1) {
						if (begin & ((1u << j) - 1)) y[rows ? rows[k] : k] = sum;
						else before = sum;
						k++;
						sum = p[u][j];
					} else sum = hb_add(sum, p[u][j]);
				}

				// Over the lanes: each takes the sum since the last lane where a row began.
				const hb_u32 any = __ballot_sync(HB_FULL, begin != 0) & upto;
				const int from = any ? HB_WARP - 1 - __clz(any) : 0;
				if (lane == 0 && !begin) sum = hb_add(carry, sum);
#pragma unroll
				for (int d = 1; d < HB_WARP; d *= 2) {
					HB_C t = hb_up(sum, d);
					if (lane - d >= from) sum = hb_add(t, sum);
				}
				HB_C in = hb_up(sum, 1);
				if (lane == 0) in = carry;
				carry = hb_from(sum, HB_WARP - 1);
				if (begin) { // the row open before this lane ends in it
					if (!(begin & 1)) in = hb_add(in, before);
					if (open < begun) head[tile] = in;
					else y[rows ? rows[open] : open] = in;
				}
			}
		}
		if (spread) carry = hb_warp_sum(carry);
		if (lane == 0) (rank > begun ? tail : head)[tile] = carry;
		tile = tiles > warps ? warps + (hb_i64)__shfl_sync(HB_FULL, next, 0) : tiles;
	}
}

// The last row begun in each tile, and the empty rows. A thread follows a row
// over 8 tiles, a warp over more.
HB_KERNEL __launch_bounds__(256)
hb_spmv_carry(hb_i64 tiles, const hb_i32 *__restrict__ first, const hb_i32 *__restrict__ rows,
	const HB_C *__restrict__ head, const HB_C *__restrict__ tail, hb_i64 nempty, const hb_i32 *__restrict__ empty,
	HB_C *y, hb_u64 *ticket) {
	const hb_i64 t = (hb_i64)blockIdx.x * 256 + threadIdx.x;
	const int lane = threadIdx.x % HB_WARP;
	if (t == 0) *ticket = 0; // for the next call
	if (t < nempty) y[empty[t]] = HB_IDENTITY;
	hb_i64 u = t + 1;
	hb_i32 k = 0;
	bool more = false;
	HB_C sum = HB_IDENTITY;
	if (t < tiles) {
		k = first[t + 1];
		more = k > first[t];
		if (more) sum = tail[t];
		const bool mine = more;
		for (; more && u < tiles && u < t + 9; u++) {
			sum = hb_add(sum, head[u]);
			more = first[u + 1] == k;
		}
		if (u == tiles) more = false;
		if (mine && !more) y[rows ? rows[k - 1] : k - 1] = sum;
	}
	for (hb_u32 left = __ballot_sync(HB_FULL, more); left; left &= left - 1) {
		const int who = __ffs(left) - 1;
		const hb_i32 last = __shfl_sync(HB_FULL, k, who);
		hb_i64 at = __shfl_sync(HB_FULL, u, who);
		HB_C part = HB_IDENTITY;
		for (; at + 128 < tiles && first[at + 128] == last; at += 128)
			part = hb_add(hb_add(part, hb_add(head[at + lane], head[at + 32 + lane])),
				hb_add(head[at + 64 + lane], head[at + 96 + lane]));
		// first[v] == last: the row has not ended before tile v
		for (; at < tiles && first[at] == last; at += HB_WARP)
			if (at + lane < tiles && first[at + lane] == last) part = hb_add(part, head[at + lane]);
		part = hb_warp_sum(part);
		if (lane == who) y[rows ? rows[last - 1] : last - 1] = hb_add(sum, part);
	}
}

HB_KERNEL __launch_bounds__(256)
hb_spmv_permute(hb_i64 n, const hb_i32 *__restrict__ perm, const HB_X *__restrict__ x, HB_X *__restrict__ xp) {
	const hb_i64 i = (hb_i64)blockIdx.x * 256 + threadIdx.x;
	if (i < n) xp[i] = x[perm[i]];
}

#if HB_SPMV_MASKED
// Bit k + 1 of wanted: the mask has the row that begins k-th; present: of these rows.
HB_KERNEL __launch_bounds__(256) hb_spmv_wanted(hb_i64 used, const hb_i32 *__restrict__ rows, hb_store mask, hb_i32 comp,
	hb_u32 *__restrict__ wanted, hb_u8 *__restrict__ present) {
	const hb_i64 k = (hb_i64)blockIdx.x * 256 + threadIdx.x;
	bool is = false;
	if (k > 0 && k <= used) {
		const hb_i32 r = rows ? rows[k - 1] : (hb_i32)(k - 1);
		hb_i64 q;
		is = hb_find(mask, 0, r, q) != (comp != 0);
		if (is) present[r] = 1;
	}
	const hb_u32 word = __ballot_sync(HB_FULL, is);
	if (k <= used && k % HB_WARP == 0) wanted[k / HB_WARP] = word;
}
#endif

#if HB_SPMV_BITS
HB_KERNEL __launch_bounds__(256) hb_spmv_bits(hb_i64 n, const HB_X *__restrict__ x, hb_u32 *__restrict__ bits) {
	const hb_i64 i = (hb_i64)blockIdx.x * 256 + threadIdx.x;
	const hb_u32 word = __ballot_sync(HB_FULL, i < n && x[i]);
	if (i < n && i % HB_WARP == 0) bits[i / HB_WARP] = word;
}
#endif

HB_KERNEL __launch_bounds__(256)
hb_spmv_starts(hb_i64 nrows, const hb_i64 *__restrict__ ptr, hb_u32 *bits) {
	const hb_i64 r = (hb_i64)blockIdx.x * 256 + threadIdx.x;
	if (r < nrows && ptr[r] < ptr[r + 1]) atomicOr(bits + ptr[r] / 32, 1u << (ptr[r] % 32));
}

HB_KERNEL __launch_bounds__(256)
hb_spmv_ranks(hb_i64 tiles, const hb_u32 *__restrict__ bits, hb_i32 *first) {
	const hb_i64 t = ((hb_i64)blockIdx.x * 256 + threadIdx.x) / HB_WARP;
	if (t >= tiles) return; // whole warps
	hb_i32 n = 0;
	for (int j = threadIdx.x % HB_WARP; j < HB_SPMV_TILE / 32; j += HB_WARP) n += __popc(bits[t * (HB_SPMV_TILE / 32) + j]);
	n = hb_total(n);
	if (threadIdx.x % HB_WARP == 0) first[t] = n;
}

// In place, exclusive, by one block; first[n] = the total.
HB_KERNEL __launch_bounds__(HB_BLOCK) hb_spmv_scan(hb_i64 n, hb_i32 *first) {
	__shared__ hb_i32 warps[HB_BLOCK_WARPS];
	hb_i32 offset = 0, total;
	for (hb_i64 base = 0; base < n; base += HB_BLOCK) {
		const hb_i64 i = base + threadIdx.x;
		const hb_i32 v = i < n ? first[i] : 0, upto = hb_block_sums(v, total, warps);
		if (i < n) first[i] = offset + upto - v;
		offset += total;
	}
	if (threadIdx.x == 0) first[n] = offset;
}

HB_KERNEL __launch_bounds__(256)
hb_spmv_compact(hb_i64 nrows, hb_i64 nnz, hb_i64 tiles, const hb_i64 *__restrict__ ptr, const hb_u32 *__restrict__ bits,
	const hb_i32 *__restrict__ first, hb_i32 *rows, hb_i32 *empty) {
	const hb_i64 r = (hb_i64)blockIdx.x * 256 + threadIdx.x;
	if (r >= nrows) return;
	const hb_i64 e = ptr[r], t = e / HB_SPMV_TILE;
	hb_i32 rank = first[e < nnz ? t : tiles]; // non-empty rows before r
	if (e < nnz) {
		for (hb_i64 w = t * (HB_SPMV_TILE / 32); w < e / 32; w++) rank += __popc(bits[w]);
		rank += __popc(bits[e / 32] & ((1u << (e % 32)) - 1));
	}
	if (e < ptr[r + 1]) rows[rank] = (hb_i32)r;
	else empty[r - rank] = (hb_i32)r;
}
