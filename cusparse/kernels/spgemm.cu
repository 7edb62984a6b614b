// C = A ⊗ B by rows (Gustavson), any semiring; C is CSR with sorted rows. First
// the entries of every row of C are counted, then, after a prefix sum and an
// allocation of exactly that size, computed.
//
// Rows of C with more than `light` products ("heavy") have a dense accumulator in
// shared memory; if C is wider than that, by blocks of `cb` columns (a multiple
// of 32), nb = ⌈n/cb⌉ of them. Others ("light") are kernels/short.cu's, by classes: at most 16,
// 32, 64, 128, 256, 512 products, and more. Heavy rows start in descending order of work, drawn by
// ticket. No sum is made by atomics, but for the counts of plus_pair: every
// result is summed in the order of A's row, or of chunks of it, so it is the same
// at every run.
//
// cusparse/spgemm.go launches all of this. HB_SPGEMM_NUMERIC 0 is what knows
// structures only, 1 what needs the semiring, with HB_SPGEMM_PAIR 1 for counts.
// HB_SPGEMM_PACKED 1: columns of B as 16-bit lists, each row at a multiple of 8 and filled
// up with the column `fill` = n rounded up to HB_SPGEMM_SEGMENT (n ≤ 64512); 0: idx of B.
//
// Once for each B (kept; k rows). A hypersparse B has a row of its own for none
// of those stored: bptr i64[k+1], its last twice, and A's columns are renumbered:
//   hb_spgemm_rename<<<…, 256>>>(nnz of A, aidx, k−1, rowids, renamed)
//   packed u16[8·((nnz + 7·k)/8 + 1)]
//   hb_spgemm_pack<<<⌈k/8⌉, 256>>>(k, fill, bptr, bidx, packed)
//   parts = nb·HB_SPGEMM_WARPS; cuts i32[parts+1]: cuts[c·WARPS] = min(c·cb, n), those between
//       divide the entries of B in the column block evenly; cuts[parts] = n
//   hist u32[n] zeroed: the columns of every stride-th entry
//   hb_spgemm_columns<<<…, 256>>>(nnz, stride, bidx, hist)
//   hb_spgemm_cuts<<<…, 256>>>(n, cb, HB_SPGEMM_WARPS, parts, prefix sums of hist, cuts)
//   seg i32[k·(parts+1)]: where in a row of B each part begins
//   hb_spgemm_seg<<<⌈k·(parts+1)/256⌉, 256>>>(k, parts, cuts, bptr, bidx, seg)
//       (seg = null: it is searched for each time; for B too wide to keep it)
// Each call (m rows):
//   zeroed: hist u64[256], limits u64[270] (results, cursors, tickets, the entries of the longest row of C that is hashed), counts i64[m·nb]
//   wanted u8[m] = 1: the mask has a row there; or null. work u64[m], order i32[m]
//   hb_spgemm_wanted<<<…, 256>>>(a, mask, wanted)
//   hb_spgemm_work <<<min(⌈m/8⌉, SMs·8), 256>>>(m, aptr, aidx, bptr, wanted, work, hist, limits)
//   hb_spgemm_order<<<min(⌈m/256⌉, SMs·8), 256>>>(m, light, work, hist, limits, order)
//       limits[0 … 9] = heavy rows h, rows with any product, products, the longest row of A, and
//       the rows with more than 512, 256, 128, 64, 32 and 16 products: the host reads them
//   hb_spgemm_count<<<SMs·8, 256 or 512, max(window, fill)/8 + 4>>>(…)
//       window: the columns that a bitmap in shared memory holds, a multiple of cb, or n rounded up
//       to 32 if that fits
//       bitmaps u32[h·4·⌈n/128⌉], or null where that would be too large: the structure of heavy
//       rows, kept for the second phase (only if window ≥ n)
//   hb_short_count for the light rows
//   prefix sums of counts (m·nb); the host reads the total and allocates cidx, cval
//   numeric, one of
//     hb_spgemm_pair <<<SMs·b, HB_SPGEMM_PAIR_BLOCK, bytes>>>(…)
//         plus_pair, HB_SPGEMM_PACKED, nb = 1; most = fill/2 words (16-bit counters; wider ones in
//         passes), at most 225 KB and a multiple of HB_SPGEMM_SEGMENT, as fill is;
//         bytes = 4·(most+1), b·(bytes+2 KB) ≤ 228 KB
//         If there are as many products as places of C (h·n), and memory for the places,
//         hb_spgemm_pair is the first phase, in place of hb_spgemm_count, with dense u32[h·pitch]
//         not null and parts i32[h·fill/HB_SPGEMM_SEGMENT]. It keeps the counters and writes
//         counts; pitch = fill/2 words if no row of A has 65536 entries, else fill. The second
//         phase is
//         hb_spgemm_pair_write<<<SMs·7, 256, 32·HB_SPGEMM_SEGMENT>>>(…)
//     hb_spgemm_owner<<<SMs·b, 32·HB_SPGEMM_WARPS, cb·sizeof(HB_C) + (bitmaps ? 0 : cb/8)>>>(…)
//         any semiring. Where a row of A is so long that all would wait for it, its chunks are
//         summed first (bitmaps kept):
//         hb_spgemm_chunks<<<…, 256>>>(chunk, …, chunks)     chunks i64[h]; at: their prefix sums
//         hb_spgemm_chunk<<<as owner>>>(…, partial)          partial HB_C[at[h]·n]
//     hb_spgemm_placed<<<SMs·b, 32·HB_SPGEMM_WARPS, 4·⌈n/128⌉>>>(…)
//         any semiring; bitmaps kept, nb = 1 and cb = n whatever shared memory holds: sums are made
//         where they belong in C. For a wide C, if a row of A meets few of its columns
//   hb_short and hb_short_hashed for the light rows
//   nb > 1: hb_spgemm_rowptr<<<⌈(m+1)/256⌉, 256>>>(m, nb, counts, cptr); nb = 1: cptr is counts
// HB_A: elements of A, HB_X: of B, HB_C: of C.
//
// Measured on an H200, AᵀA of 6743×13950 with 1M entries (2.1·10⁸ products, 6.2·10⁷ results),
// 34395×20402 with 5M (1.9·10⁹, 2.8·10⁸), 138493×26744 with 20M (1.03·10¹⁰, 6.5·10⁸), all launches
// of a call without the allocation, ms; cuSPARSE 15.5, the others not tried; pack and seg 0.01,
// 0.03, 0.12, once.
//   fp32, 8 parts, ahead 4, group 16, bitmaps kept   1.30   8.95   41.0
//   the same, ahead 2                                1.29   9.93   45.1
//   fp32, 12 parts, ahead 4, group 32                1.58   8.74   38.0
//   the same, bitmaps not kept, ahead 2              20 % more
// Kernels of plus_pair for 2.2·10⁸ products in 5.9·10⁷ results and 1.08·10⁹ in 1.87·10⁸, µs:
//   hb_spgemm_work 28, 62 (a warp takes every row, however long: 49, 180)
//   first phase 368, 1243 (block 512: 372; 256: 1379)
//   second phase 303, 742 (entries of 32 columns at once: 363, 847; a block takes a row: 421, 1100)
//   no counters kept: hb_spgemm_count 338, 1273 and hb_spgemm_pair 507, 1654
// S·S of R-MAT 14 (1.6·10⁸ products): fp32 1.36, cuSPARSE 12.0. R-MAT 16 (1.2·10⁹), cb 27776,
// unpacked, 16 parts: 11.5; cuSPARSE's default lacks memory, its ALG3 207. So: parts 8 below 16000
// columns, 12 above; group 16 for fewer than 10⁹ products, 32 beyond.

#ifndef HB_SPGEMM_NUMERIC
#define HB_SPGEMM_NUMERIC 1
#endif
#ifndef HB_SPGEMM_PACKED
#define HB_SPGEMM_PACKED 1
#endif
#ifndef HB_SPGEMM_PAIR // 1: hb_spgemm_pair is compiled, 0: hb_spgemm_owner
#define HB_SPGEMM_PAIR 0
#endif
#ifndef HB_SPGEMM_PLACED // 1: hb_spgemm_placed is compiled, 0: hb_spgemm_owner
#define HB_SPGEMM_PLACED 0
#endif
#ifndef HB_SPGEMM_WARPS // parts of a column block, each a warp's
#define HB_SPGEMM_WARPS 8
#endif
#ifndef HB_SPGEMM_ROW // lanes that count the products of a row
#define HB_SPGEMM_ROW 32
#endif
#ifndef HB_SPGEMM_GROUP // lanes that share a row of B when counting
#define HB_SPGEMM_GROUP 32
#endif
#ifndef HB_SPGEMM_AHEAD // groups of 64 columns of B loaded together by hb_spgemm_owner
#define HB_SPGEMM_AHEAD 4
#endif
#ifndef HB_SPGEMM_PAIR_BLOCK
#define HB_SPGEMM_PAIR_BLOCK 512
#endif
#ifndef HB_SPGEMM_SEGMENT // counters of plus_pair that a warp writes
#define HB_SPGEMM_SEGMENT 1024
#endif
#define HB_SPGEMM_SEGMENTS (65536 / HB_SPGEMM_SEGMENT)
#define HB_SPGEMM_CLASSES 6 // of rows of few products
#define HB_SPGEMM_CURSORS 10 // in limits, 256
#define HB_SPGEMM_TICKETS 266 // three

#if HB_SPGEMM_PACKED
typedef hb_u16 hb_col;
#else
typedef hb_i32 hb_col;
#endif

struct __align__(16) hb_words4 { hb_u32 w[4]; };

// hb_packed_at is where row k begins in the packed columns: no prefix sum is
// needed, since ⌊(ptr[k]+7k)/8⌋ grows by ⌈length/8⌉ at least.
HB_DEVICE hb_i64 hb_packed_at(hb_i64 begin, hb_i64 k) { return (begin + 7 * k) / 8 * 8; }

// hb_col_at is where the columns of row k are, as the kernels below read them.
HB_DEVICE hb_i64 hb_col_at(hb_i64 begin, hb_i64 k) { return HB_SPGEMM_PACKED ? hb_packed_at(begin, k) : begin; }

// hb_bitmap_words is how many words the bitmap of a row has: whole groups of 128 columns.
HB_DEVICE hb_i64 hb_bitmap_words(hb_i32 n) { return ((hb_i64)n + 127) / 128 * 4; }

HB_DEVICE hb_i32 hb_lower(const hb_i32 *list, hb_i32 n, hb_i32 c) {
	hb_i32 lo = 0;
	while (lo < n) {
		hb_i32 mid = lo + (n - lo) / 2;
		if (list[mid] < c) lo = mid + 1;
		else n = mid;
	}
	return lo;
}

#if !HB_SPGEMM_NUMERIC
HB_KERNEL __launch_bounds__(256)
hb_spgemm_rename(hb_i64 nnz, const hb_i32 *__restrict__ aidx, hb_i32 stored, const hb_i32 *__restrict__ rowids, hb_i32 *renamed) {
	HB_EACH(e, nnz) {
		const hb_i32 at = hb_lower(rowids, stored, aidx[e]);
		renamed[e] = at < stored && rowids[at] == aidx[e] ? at : stored;
	}
}

HB_KERNEL __launch_bounds__(256)
hb_spgemm_pack(hb_i64 k, hb_i32 fill, const hb_i64 *__restrict__ bptr, const hb_i32 *__restrict__ bidx, hb_u16 *packed) {
	const hb_i64 r = ((hb_i64)blockIdx.x * 256 + threadIdx.x) / HB_WARP;
	if (r >= k) return;
	const hb_i64 begin = bptr[r], length = bptr[r + 1] - begin, at = hb_packed_at(begin, r);
	for (hb_i64 j = threadIdx.x % HB_WARP; j < (length + 7) / 8 * 8; j += HB_WARP)
		packed[at + j] = (hb_u16)(j < length ? bidx[begin + j] : fill);
}

HB_KERNEL __launch_bounds__(256)
hb_spgemm_seg(hb_i64 k, hb_i32 parts, const hb_i32 *__restrict__ cuts, const hb_i64 *__restrict__ bptr,
	const hb_i32 *__restrict__ bidx, hb_i32 *seg) {
	const hb_i64 i = (hb_i64)blockIdx.x * 256 + threadIdx.x, r = i / (parts + 1);
	if (r < k) seg[i] = hb_lower(bidx + bptr[r], (hb_i32)(bptr[r + 1] - bptr[r]), cuts[i % (parts + 1)]);
}

HB_KERNEL __launch_bounds__(256)
hb_spgemm_columns(hb_i64 nnz, hb_i64 stride, const hb_i32 *__restrict__ bidx, hb_u32 *hist) {
	HB_EACH(e, (nnz + stride - 1) / stride) atomicAdd(hist + bidx[e * stride], 1u);
}

HB_KERNEL __launch_bounds__(256)
hb_spgemm_cuts(hb_i32 n, hb_i32 cb, hb_i32 warps, hb_i32 parts, const hb_i64 *__restrict__ before, hb_i32 *cuts) {
	HB_EACH(p, (hb_i64)parts + 1) {
		const hb_i64 first = p / warps * cb;
		hb_i32 lo = first < n ? (hb_i32)first : n, hi = n - lo < cb ? n : lo + cb;
		const hb_i64 base = before[lo], want = (before[hi] - base) * (p % warps) / warps;
		while (lo < hi) { // the first column with that many entries of the block before it
			const hb_i32 mid = lo + (hi - lo) / 2;
			if (before[mid] - base < want) lo = mid + 1;
			else hi = mid;
		}
		cuts[p] = lo;
	}
}

HB_KERNEL __launch_bounds__(256) hb_spgemm_wanted(hb_store a, hb_store mask, hb_u8 *wanted) {
	HB_EACH(r, a.nvec) {
		hb_i64 lo, hi;
		hb_span(mask, hb_row_id(a, (hb_i32)r), lo, hi);
		wanted[r] = lo < hi;
	}
}

// hb_spgemm_bin: four bins to a doubling, 0 for no work. A bin ends at each power of two.
HB_DEVICE int hb_spgemm_bin(hb_u64 work) {
	if (work <= 1) return (int)work;
	const hb_u64 x = work - 1;
	const int log = 63 - __clzll(x), bin = 2 + 4 * log + (int)((x << 2 >> log) & 3);
	return bin < 256 ? bin : 255;
}

// hb_products returns the products of entries begin + first, begin + first + step, … of A, several
// loads at a time.
HB_DEVICE hb_u64 hb_products(hb_i64 begin, hb_i64 end, int first, int step, const hb_i32 *__restrict__ aidx, const hb_i64 *__restrict__ bptr) {
	const int ahead = HB_SPGEMM_ROW < HB_WARP ? 2 : 8;
	hb_u64 w = 0;
	for (hb_i64 e = begin + first; e < end; e += ahead * step) {
		hb_i32 k[ahead];
#pragma unroll
		for (int j = 0; j < ahead; j++) k[j] = e + j * step < end ? aidx[e + j * step] : -1;
#pragma unroll
		for (int j = 0; j < ahead; j++) w += k[j] < 0 ? 0 : bptr[k[j] + 1] - bptr[k[j]];
	}
	return w;
}

// HB_SPGEMM_ROW lanes take a row, and a block the long ones of its rows. Whole warps take rows that
// are far apart, since long ones often stand together.
HB_KERNEL __launch_bounds__(256)
hb_spgemm_work(hb_i64 m, const hb_i64 *__restrict__ aptr, const hb_i32 *__restrict__ aidx, const hb_i64 *__restrict__ bptr,
	const hb_u8 *__restrict__ wanted, hb_u64 *work, hb_u64 *hist, hb_u64 *limits) {
	__shared__ hb_u32 bins[256];
	__shared__ hb_u64 all[2]; // products and the longest row, of the block
	__shared__ hb_u64 parts[8];
	const int rows = 256 / HB_SPGEMM_ROW, group = threadIdx.x / HB_SPGEMM_ROW, in = threadIdx.x % HB_SPGEMM_ROW;
	const hb_i64 apart = HB_SPGEMM_ROW < HB_WARP ? 1 : gridDim.x;
	hb_u64 products = 0, longest = 0;
	bins[threadIdx.x] = 0;
	if (threadIdx.x < 2) all[threadIdx.x] = 0;
	__syncthreads();
	for (hb_i64 base = apart == 1 ? (hb_i64)blockIdx.x * rows : blockIdx.x; base < m; base += rows * (hb_i64)gridDim.x) {
		const hb_i64 r = base + group * apart;
		const hb_i64 begin = r < m ? aptr[r] : 0, end = r >= m || wanted && !wanted[r] ? begin : aptr[r + 1];
		const bool isLong = end - begin > 32 * HB_SPGEMM_ROW;
		hb_u64 w = isLong ? 0 : hb_products(begin, end, in, HB_SPGEMM_ROW, aidx, bptr);
#pragma unroll
		for (int d = HB_SPGEMM_ROW / 2; d > 0; d /= 2) w += __shfl_xor_sync(HB_FULL, w, d);
		if (__syncthreads_or(isLong))
			for (int q = 0; q < rows; q++) {
				const hb_i64 row = base + q * apart;
				if (row >= m || wanted && !wanted[row]) continue; // whole blocks
				if (aptr[row + 1] - aptr[row] <= 32 * HB_SPGEMM_ROW) continue;
				const hb_u64 mine = hb_total(hb_products(aptr[row], aptr[row + 1], threadIdx.x, 256, aidx, bptr));
				if (threadIdx.x % HB_WARP == 0) parts[threadIdx.x / HB_WARP] = mine;
				__syncthreads();
				if (group == q)
					for (int p = 0; p < 8; p++) w += parts[p];
				__syncthreads();
			}
		if (in == 0 && r < m) {
			work[r] = w;
			atomicAdd(bins + hb_spgemm_bin(w), 1u);
			products += w;
			if (w && end - begin > (hb_i64)longest) longest = (hb_u64)(end - begin);
		}
	}
	if (products) {
		atomicAdd(all, products);
		atomicMax(all + 1, longest);
	}
	__syncthreads();
	if (threadIdx.x == 0 && all[0]) { // one a block: additions of 8448 warps to one place took 17 µs
		atomicAdd(limits + 2, all[0]);
		atomicMax(limits + 3, all[1]);
	}
	if (bins[threadIdx.x]) atomicAdd(hist + threadIdx.x, (hb_u64)bins[threadIdx.x]);
}

// A block orders 256 rows at a time, so that rows near each other stay so.
HB_KERNEL __launch_bounds__(256)
hb_spgemm_order(hb_i64 m, hb_i32 light, const hb_u64 *__restrict__ work, const hb_u64 *__restrict__ hist, hb_u64 *limits, hb_i32 *order) {
	__shared__ hb_u64 above[257]; // rows in this bin and those above
	__shared__ hb_u64 place[256];
	__shared__ hb_u32 here[256];
	const int b = threadIdx.x;
	above[b] = hist[b];
	if (b == 0) above[256] = 0;
	__syncthreads();
	for (int d = 1; d < 256; d *= 2) {
		const hb_u64 more = b + d < 256 ? above[b + d] : 0;
		__syncthreads();
		above[b] += more;
		__syncthreads();
	}
	if (blockIdx.x == 0 && b == 0) {
		// A few light rows among many are not worth launches of their own.
		const hb_u64 heavy = above[hb_spgemm_bin((hb_u64)light + 1)];
		limits[0] = (above[1] - heavy) * 16 <= heavy ? above[1] : heavy;
		limits[1] = above[1];
		for (int c = 0; c < HB_SPGEMM_CLASSES; c++) limits[4 + c] = above[hb_spgemm_bin((512 >> c) + 1)];
	}
	for (hb_i64 r0 = (hb_i64)blockIdx.x * 256; r0 < m; r0 += (hb_i64)gridDim.x * 256) {
		here[b] = 0;
		__syncthreads();
		const int bin = r0 + b < m ? hb_spgemm_bin(work[r0 + b]) : 0;
		const hb_u32 mine = bin ? atomicAdd(here + bin, 1u) : 0;
		__syncthreads();
		if (here[b]) place[b] = above[b + 1] + atomicAdd(limits + HB_SPGEMM_CURSORS + b, (hb_u64)here[b]);
		__syncthreads();
		if (bin) order[place[bin] + mine] = (hb_i32)(r0 + b);
	}
}

#endif

#if !HB_SPGEMM_NUMERIC
// Rows of A with more than two chunks of entries are split into them.
HB_KERNEL __launch_bounds__(256)
hb_spgemm_chunks(hb_i64 heavy, hb_i64 chunk, const hb_i64 *__restrict__ aptr, const hb_i32 *__restrict__ order, hb_i64 *chunks) {
	HB_EACH(t, heavy) {
		const hb_i64 length = aptr[order[t] + 1] - aptr[order[t]];
		chunks[t] = length > 2 * chunk ? (length + chunk - 1) / chunk : 0;
	}
}
#endif

// hb_ticket draws the block's next number.
HB_DEVICE hb_i64 hb_ticket(hb_u64 *counter) {
	__shared__ hb_i64 drawn;
	__syncthreads();
	if (threadIdx.x == 0) drawn = (hb_i64)atomicAdd(counter, 1ULL);
	__syncthreads();
	return drawn;
}

// hb_each_product calls visit(column of B) for every product of a row of A, by
// the whole block, in no particular order. Each warp takes `batch` rows of B at a
// time and gives a group of lanes each.
template <class F>
HB_DEVICE void hb_each_product(hb_i64 begin, hb_i64 end, const hb_i32 *__restrict__ aidx, const hb_i64 *__restrict__ bptr,
	const hb_col *__restrict__ bcol, F visit) {
	const int lane = threadIdx.x % HB_WARP, warps = blockDim.x / HB_WARP;
	const int groups = HB_WARP / HB_SPGEMM_GROUP, group = lane / HB_SPGEMM_GROUP, in = lane % HB_SPGEMM_GROUP;
	hb_i64 share = (end - begin + warps - 1) / warps;
	const int batch = share >= HB_WARP ? HB_WARP : (int)(share + groups - 1) / groups * groups;
	for (hb_i64 j0 = begin + (hb_i64)(threadIdx.x / HB_WARP) * batch; j0 < end; j0 += (hb_i64)warps * batch) {
		hb_i64 at = 0;
		hb_i32 length = 0;
		if (lane < batch && j0 + lane < end) {
			const hb_i32 k = aidx[j0 + lane];
			const hb_i64 b = bptr[k];
			length = (hb_i32)(bptr[k + 1] - b);
			at = hb_col_at(b, k);
		}
		for (int q = 0; q < batch; q += groups) {
			const hb_i64 from = __shfl_sync(HB_FULL, at, q + group);
			const hb_i32 len = __shfl_sync(HB_FULL, length, q + group);
#if HB_SPGEMM_PACKED
			const hb_words4 *list = (const hb_words4 *)(bcol + from);
			for (hb_i32 c = in; c < (len + 7) / 8; c += HB_SPGEMM_GROUP) {
				const hb_words4 eight = list[c];
#pragma unroll
				for (int h = 0; h < 4; h++) {
					visit(eight.w[h] & 0xffff);
					visit(eight.w[h] >> 16);
				}
			}
#else
			for (hb_i32 c = in; c < len; c += HB_SPGEMM_GROUP) visit((hb_u32)bcol[from + c]);
#endif
		}
	}
}

#if !HB_SPGEMM_NUMERIC
HB_KERNEL __launch_bounds__(512)
hb_spgemm_count(hb_i32 n, hb_i32 cb, hb_i32 nb, hb_i32 window, const hb_i64 *__restrict__ aptr, const hb_i32 *__restrict__ aidx,
	const hb_i64 *__restrict__ bptr, const hb_col *__restrict__ bcol, const hb_i32 *__restrict__ order, hb_u64 *limits,
	hb_i64 *counts, hb_u32 *bitmaps) {
	HB_DYNAMIC_SHARED(hb_u32, map); // with a word for what fills up the packed rows
	__shared__ hb_i32 parts[HB_WARP];
	const int lane = threadIdx.x % HB_WARP, warp = threadIdx.x / HB_WARP;
	const hb_i64 heavy = (hb_i64)limits[0], words = hb_bitmap_words(n);
	for (;;) {
		const hb_i64 t = hb_ticket(limits + HB_SPGEMM_TICKETS);
		if (t >= heavy) return;
		const hb_i32 row = order[t];
		for (hb_i64 lo = 0; lo < n; lo += window) {
			for (hb_i32 w = threadIdx.x; w < window / 32; w += blockDim.x) map[w] = 0;
			__syncthreads();
			if (window >= n)
				hb_each_product(aptr[row], aptr[row + 1], aidx, bptr, bcol, [=](hb_u32 c) {
					const hb_u32 bit = 1u << (c % 32);
					if (!(map[c / 32] & bit)) atomicOr(map + c / 32, bit);
				});
			else
				hb_each_product(aptr[row], aptr[row + 1], aidx, bptr, bcol, [=](hb_u32 c) {
					c -= (hb_u32)lo;
					const hb_u32 bit = 1u << (c % 32);
					if (c < (hb_u32)window && !(map[c / 32] & bit)) atomicOr(map + c / 32, bit);
				});
			__syncthreads();
			const hb_i32 here = (hb_i32)((n - lo < window ? n - lo : window) + 31) / 32;
			if (bitmaps)
				for (hb_i32 w = threadIdx.x; w < (window >= n ? (hb_i32)words : here); w += blockDim.x) bitmaps[t * words + w] = w < here ? map[w] : 0;
			for (hb_i32 c = 0; c * (cb / 32) < here; c++) { // column blocks of the window
				const hb_i32 stop = (c + 1) * (cb / 32) < here ? (c + 1) * (cb / 32) : here;
				hb_i32 sum = 0;
				for (hb_i32 w = c * (cb / 32) + threadIdx.x; w < stop; w += blockDim.x) sum += __popc(map[w]);
				sum = hb_total(sum);
				if (lane == 0) parts[warp] = sum;
				__syncthreads();
				if (threadIdx.x == 0) {
					sum = 0;
					for (int w = 0; w < (int)blockDim.x / HB_WARP; w++) sum += parts[w];
					counts[(hb_i64)row * nb + lo / cb + c] = sum;
				}
				__syncthreads();
			}
		}
	}
}

#endif

#if HB_SPGEMM_NUMERIC
// hb_before gives a warp the sum of v over the warps before it, and over all; all threads call.
HB_DEVICE hb_i32 hb_before(hb_i32 v, hb_i32 *total) {
	__shared__ hb_i32 sums[HB_WARP];
	const int warp = threadIdx.x / HB_WARP, warps = blockDim.x / HB_WARP;
	__syncthreads();
	if (threadIdx.x % HB_WARP == 0) sums[warp] = v;
	__syncthreads();
	hb_i32 before = 0;
	*total = 0;
	for (int w = 0; w < warps; w++) {
		if (w == warp) before = *total;
		*total += sums[w];
	}
	return before;
}

#if HB_SPGEMM_PAIR
// hb_counters_log: how many counters a word holds, for a row of A of that length.
HB_DEVICE int hb_counters_log(hb_i64 length) { return length < 256 ? 2 : length < 65536 ? 1 : 0; }

// hb_counters_used counts the counters of a word, 1 << LOG of them, that are not 0.
template <int LOG> HB_DEVICE hb_i32 hb_counters_used(hb_u32 v) {
	const hb_u32 low = LOG == 2 ? 0x7f7f7f7fu : LOG == 1 ? 0x7fff7fffu : 0x7fffffffu;
	return __popc(((v & low) + low | v) & ~low);
}

// hb_counters_write writes the columns of a segment with counters that are not 0, by one warp,
// which loads them all first. The first is column c, the first entry goes to place out.
template <int LOG>
HB_DEVICE void hb_counters_write(const hb_u32 *words, hb_i32 c, hb_i64 out, hb_i32 *cidx, HB_C *cval) {
	const int lane = threadIdx.x % HB_WARP, loads = (HB_SPGEMM_SEGMENT >> LOG) / HB_WARP;
	const hb_u32 ones = 0xffffffffu >> (32 - (32 >> LOG));
	const int shift = (lane & ((1 << LOG) - 1)) << (5 - LOG);
	hb_u32 v[loads];
#pragma unroll
	for (int j = 0; j < loads; j++) v[j] = words[j * HB_WARP + lane];
#pragma unroll
	for (int j = 0; j < loads; j++)
#pragma unroll
		for (int q = 0; q < 1 << LOG; q++) { // 32 columns, a lane each
			const hb_u32 x = LOG ? __shfl_sync(HB_FULL, v[j], (q * HB_WARP + lane) >> LOG) >> shift & ones : v[j];
			const hb_u32 bits = __ballot_sync(HB_FULL, x != 0);
			if (x) {
				const hb_i64 p = out + __popc(bits & ((1u << lane) - 1));
				cidx[p] = c + ((j << LOG) + q) * HB_WARP + lane;
				cval[p] = (HB_C)x;
			}
			out += __popc(bits);
		}
}

// hb_parts_before adds up the entries of the segments before s, by one warp.
HB_DEVICE hb_i32 hb_parts_before(const hb_i32 *parts, hb_i32 s) {
	hb_i32 sum = 0;
	for (hb_i32 i = threadIdx.x % HB_WARP; i < s; i += HB_WARP) sum += parts[i];
	return hb_total(sum);
}

// hb_pair_row counts the products of a row of A in acc, which is zero before and after; most: see
// hb_spgemm_pair. A warp takes a segment, and writes the number of its entries to parts. With
// dense, the counters are kept there and *count takes the entries of the row; else the entries go
// to cidx and cval from place out on. Thread 0 calls next() where it does not delay others.
template <int LOG, class F>
HB_DEVICE void hb_pair_row(hb_u32 *acc, hb_i32 fill, hb_i32 most, hb_i64 begin, hb_i64 end, const hb_i32 *__restrict__ aidx,
	const hb_i64 *__restrict__ bptr, const hb_col *__restrict__ bcol, hb_i32 *parts, hb_u32 *dense, hb_u64 *count,
	hb_i64 out, hb_i32 *cidx, HB_C *cval, F next) {
	const int lane = threadIdx.x % HB_WARP, warps = HB_SPGEMM_PAIR_BLOCK / HB_WARP, words = HB_SPGEMM_SEGMENT >> LOG;
	const hb_u32 mask = (1u << LOG) - 1, shift = 5 - LOG;
	const hb_i32 span = most << LOG;
	for (hb_i32 lo = 0; lo < fill; lo += span) { // in passes if the counters do not all fit
		const hb_u32 here = fill - lo < span ? fill - lo : span;
		const hb_i32 segments = here / HB_SPGEMM_SEGMENT;
		if (fill <= span)
			hb_each_product(begin, end, aidx, bptr, bcol, [=](hb_u32 c) {
				atomicAdd(acc + (c >> LOG), 1u << ((c & mask) << shift));
			});
		else
			hb_each_product(begin, end, aidx, bptr, bcol, [=](hb_u32 c) {
				c -= lo;
				if (c < here) atomicAdd(acc + (c >> LOG), 1u << ((c & mask) << shift));
			});
		__syncthreads();
		if (lo == 0 && threadIdx.x == 0) next();
		if (threadIdx.x == 0) acc[here >> LOG] = 0; // what fills up the rows of B
		hb_i32 sum = 0;
		for (hb_i32 s = threadIdx.x / HB_WARP; s < segments; s += warps) {
			hb_i32 found = 0;
#pragma unroll
			for (int w = 4 * lane; w < words; w += 4 * HB_WARP) {
				hb_words4 *from = (hb_words4 *)(acc + s * words + w);
				const hb_words4 v = *from;
				if (dense) {
					*(hb_words4 *)(dense + (lo >> LOG) + s * words + w) = v;
					*from = hb_words4{};
				}
#pragma unroll
				for (int j = 0; j < 4; j++) found += hb_counters_used<LOG>(v.w[j]);
			}
			found = hb_total(found);
			if (lane == 0) parts[(dense ? lo / HB_SPGEMM_SEGMENT : 0) + s] = found;
			sum += found;
		}
		if (dense && lane == 0 && sum) atomicAdd(count, (hb_u64)sum);
		if (!dense) {
			__syncthreads();
			for (hb_i32 s = threadIdx.x / HB_WARP; s < segments; s += warps) {
				hb_counters_write<LOG>(acc + s * words, lo + s * HB_SPGEMM_SEGMENT, out + hb_parts_before(parts, s), cidx, cval);
				for (int w = lane; w < words; w += HB_WARP) acc[s * words + w] = 0;
			}
			out += hb_parts_before(parts, segments);
		}
		__syncthreads();
	}
}

// Counts of common entries, plus_pair: packed counters of 8, 16 or 32 bits, as many as the row's
// length asks for, `most` words of them and one for what fills up the rows of B.
HB_KERNEL __launch_bounds__(HB_SPGEMM_PAIR_BLOCK)
hb_spgemm_pair(hb_i32 fill, hb_i32 most, const hb_i64 *__restrict__ aptr, const hb_i32 *__restrict__ aidx,
	const hb_i64 *__restrict__ bptr, const hb_col *__restrict__ bcol, const hb_i32 *__restrict__ order, hb_u64 *limits,
	hb_i64 *counts, hb_i32 *parts, hb_u32 *dense, hb_i64 pitch, hb_i32 *cidx, HB_C *cval) {
	HB_DYNAMIC_SHARED(hb_u32, acc);
	__shared__ hb_i32 here[HB_SPGEMM_SEGMENTS];
	__shared__ hb_i64 drawn[2][4]; // of this row and the next: ticket, number, begin, end
	hb_u64 *ticket = limits + HB_SPGEMM_TICKETS + 1;
	const hb_i64 heavy = (hb_i64)limits[0];
	hb_i64 after = 0; // thread 0: the ticket of the next row
	if (threadIdx.x == 0) {
		const hb_i64 t = (hb_i64)atomicAdd(ticket, 1ULL);
		after = (hb_i64)atomicAdd(ticket, 1ULL);
		const hb_i32 row = t < heavy ? order[t] : 0;
		drawn[0][0] = t;
		drawn[0][1] = row;
		drawn[0][2] = aptr[row];
		drawn[0][3] = aptr[row + 1];
	}
	for (hb_i32 w = threadIdx.x; w <= most; w += HB_SPGEMM_PAIR_BLOCK) acc[w] = 0;
	__syncthreads();
	for (int side = 0;; side ^= 1) {
		const hb_i64 t = drawn[side][0], row = drawn[side][1], begin = drawn[side][2], end = drawn[side][3];
		if (t >= heavy) return;
		hb_i64 then = 0;
		hb_i32 other = 0;
		if (threadIdx.x == 0) { // the answers take a while
			then = (hb_i64)atomicAdd(ticket, 1ULL);
			other = after < heavy ? order[after] : 0;
		}
		hb_i64 *to = drawn[side ^ 1];
		const auto next = [=]() {
			to[0] = after;
			to[1] = other;
			to[2] = aptr[other];
			to[3] = aptr[other + 1];
		};
		const hb_i64 out = dense ? 0 : counts[row];
		hb_i32 *segments = dense ? parts + t * (fill / HB_SPGEMM_SEGMENT) : here;
		hb_u32 *keep = dense ? dense + t * pitch : dense;
		hb_u64 *count = (hb_u64 *)(counts + row);
		const int log = hb_counters_log(end - begin);
		if (log == 2) hb_pair_row<2>(acc, fill, most, begin, end, aidx, bptr, bcol, segments, keep, count, out, cidx, cval, next);
		else if (log == 1) hb_pair_row<1>(acc, fill, most, begin, end, aidx, bptr, bcol, segments, keep, count, out, cidx, cval, next);
		else hb_pair_row<0>(acc, fill, most, begin, end, aidx, bptr, bcol, segments, keep, count, out, cidx, cval, next);
		after = then;
	}
}

// hb_counters_stage puts the counters of a segment that are not 0 into staged, by one warp: a
// counter times HB_SPGEMM_SEGMENT, plus its column in the segment. A lane takes whole words; the
// prefix sums of four loads are made together, a byte each. It returns how many there are.
template <int LOG> HB_DEVICE hb_i32 hb_counters_stage(const hb_u32 *__restrict__ words, hb_u32 *staged) {
	const int lane = threadIdx.x % HB_WARP, loads = (HB_SPGEMM_SEGMENT >> LOG) / HB_WARP, per = 1 << LOG;
	const hb_u32 ones = 0xffffffffu >> (32 - (32 >> LOG));
	hb_u32 v[loads];
#pragma unroll
	for (int j = 0; j < loads; j++) v[j] = words[j * HB_WARP + lane];
	hb_i32 done = 0;
#pragma unroll
	for (int j0 = 0; j0 < loads; j0 += 4) {
		hb_u32 used = 0;
#pragma unroll
		for (int j = 0; j < 4; j++)
			if (j0 + j < loads) used |= (hb_u32)hb_counters_used<LOG>(v[j0 + j]) << (8 * j);
		const hb_u32 upto = hb_sums(used); // at most 32·per = 128 a byte
		const hb_u32 all = __shfl_sync(HB_FULL, upto, HB_WARP - 1);
#pragma unroll
		for (int j = 0; j < 4; j++) {
			if (j0 + j >= loads) break;
			hb_i32 at = done + (hb_i32)((upto - used) >> (8 * j) & 255);
#pragma unroll
			for (int q = 0; q < per; q++) {
				const hb_u32 x = v[j0 + j] >> (q * (32 >> LOG)) & ones;
				if (x) staged[at++] = x * HB_SPGEMM_SEGMENT + ((j0 + j) * HB_WARP + lane) * per + q;
			}
			done += all >> (8 * j) & 255;
		}
	}
	return done;
}

// The second phase where the first has kept the counters: a warp takes a segment. Narrow counters
// are compacted in shared memory, so that whole sectors are written.
HB_KERNEL __launch_bounds__(256)
hb_spgemm_pair_write(hb_i32 fill, const hb_i64 *__restrict__ aptr, const hb_i32 *__restrict__ order, const hb_u64 *__restrict__ limits,
	const hb_i64 *__restrict__ counts, const hb_i32 *__restrict__ parts, const hb_u32 *__restrict__ dense, hb_i64 pitch,
	hb_i32 *__restrict__ cidx, HB_C *__restrict__ cval) {
	HB_DYNAMIC_SHARED(hb_u32, rooms);
	hb_u32 *staged = rooms + threadIdx.x / HB_WARP * HB_SPGEMM_SEGMENT;
	const int lane = threadIdx.x % HB_WARP;
	const hb_u32 segments = fill / HB_SPGEMM_SEGMENT, units = (hb_u32)limits[0] * segments;
	for (hb_u32 u = (blockIdx.x * 256 + threadIdx.x) / HB_WARP; u < units; u += gridDim.x * 8) {
		const hb_i64 t = u / segments;
		const hb_i32 s = (hb_i32)(u % segments), row = order[t], c = s * HB_SPGEMM_SEGMENT;
		const hb_i32 *mine = parts + t * segments;
		if (mine[s] == 0) continue; // whole warps
		const hb_i64 out = counts[row] + hb_parts_before(mine, s);
		const int log = hb_counters_log(aptr[row + 1] - aptr[row]);
		const hb_u32 *words = dense + t * pitch + (c >> log);
		if (log == 0) {
			hb_counters_write<0>(words, c, out, cidx, cval);
			continue;
		}
		const hb_i32 n = log == 2 ? hb_counters_stage<2>(words, staged) : hb_counters_stage<1>(words, staged);
		__syncwarp();
		for (hb_i32 i = lane - (hb_i32)(out % HB_WARP); i < n; i += HB_WARP)
			if (i >= 0) {
				const hb_u32 x = staged[i];
				cidx[out + i] = c + (hb_i32)(x % HB_SPGEMM_SEGMENT);
				cval[out + i] = (HB_C)(x / HB_SPGEMM_SEGMENT);
			}
		__syncwarp();
	}
}
#else

// hb_walk adds up the products of a row of A with columns in a part, in the order of A's row, by
// one warp: add(column, a, b) does it, or where sums are placed add(place(column), a, b). The
// columns of one row of B differ, so the lanes never meet. seg: see hb_spgemm_seg, the parts of row
// k from seg[k·stride] on; null: searched for.
#if HB_SPGEMM_PLACED
#define HB_PLACE(f) f,
#else
#define HB_PLACE(f)
#endif
template <HB_PLACE(class P) class F>
HB_DEVICE void hb_walk(hb_i64 begin, hb_i64 end, const hb_i32 *__restrict__ aidx, const HB_A *__restrict__ aval,
	const hb_i64 *__restrict__ bptr, const hb_i32 *__restrict__ bidx, const hb_col *__restrict__ bcol,
	const HB_X *__restrict__ bval, const hb_i32 *__restrict__ cuts, const hb_i32 *__restrict__ seg, hb_i64 stride,
	hb_i32 part, HB_PLACE(P place) F add) {
	const int lane = threadIdx.x % HB_WARP;
	for (hb_i64 j0 = begin; j0 < end; j0 += HB_WARP) { // a lane knows a row of B
		hb_i64 cols = 0, vals = 0;
		hb_i32 length = 0;
		HB_A a{};
		if (j0 + lane < end) {
			const hb_i64 k = aidx[j0 + lane];
#if HB_USES_A
			a = aval[j0 + lane];
#endif
			const hb_i64 b = bptr[k];
			hb_i32 s, e;
			if (seg) {
				const hb_i32 *p = seg + k * stride + part;
				s = p[0];
				e = p[1];
			} else {
				const hb_i32 all = (hb_i32)(bptr[k + 1] - b);
				s = hb_lower(bidx + b, all, cuts[part]);
				e = s + hb_lower(bidx + b + s, all - s, cuts[part + 1]);
			}
			length = e - s;
			vals = b + s;
			cols = hb_col_at(b, k) + s;
		}
		hb_i32 base = 0; // done of the row of the first lane that is live
		for (hb_u32 live = __ballot_sync(HB_FULL, length > 0); live;) { // groups of ≤ 64 columns of a row of B
			hb_i32 left[HB_SPGEMM_AHEAD], col[HB_SPGEMM_AHEAD][2];
			HB_A av[HB_SPGEMM_AHEAD];
			HB_X bv[HB_SPGEMM_AHEAD][2];
#pragma unroll
			for (int q = 0; q < HB_SPGEMM_AHEAD; q++) {
				const int src = live ? __ffs(live) - 1 : 0;
				left[q] = live ? __shfl_sync(HB_FULL, length, src) - base : 0;
				const hb_col *c = bcol + __shfl_sync(HB_FULL, cols, src) + base + lane;
#if HB_USES_A
				av[q] = hb_from(a, src);
#else
				av[q] = HB_A{};
#endif
#if HB_USES_X
				const HB_X *x = bval + __shfl_sync(HB_FULL, vals, src) + base + lane;
#endif
#pragma unroll
				for (int r = 0; r < 2; r++) {
					bv[q][r] = HB_X{};
					if (32 * r + lane < left[q]) {
						col[q][r] = (hb_i32)c[32 * r];
#if HB_USES_X
						bv[q][r] = x[32 * r];
#endif
					}
				}
				base += 64;
				if (left[q] <= 64) {
					live &= live - 1;
					base = 0;
				}
			}
#if HB_SPGEMM_PLACED // a load each
#pragma unroll
			for (int q = 0; q < HB_SPGEMM_AHEAD; q++) {
#pragma unroll
				for (int r = 0; r < 2; r++)
					if (32 * r + lane < left[q]) col[q][r] = place(col[q][r]);
			}
#endif
#pragma unroll
			for (int q = 0; q < HB_SPGEMM_AHEAD; q++) {
#pragma unroll
				for (int r = 0; r < 2; r++)
					if (32 * r + lane < left[q]) add(col[q][r], av[q], bv[q][r]);
				__syncwarp();
			}
		}
	}
}

#if !HB_SPGEMM_PLACED
// The sums of chunk after chunk of long rows, as dense rows: see hb_spgemm_owner.
HB_KERNEL __launch_bounds__(32 * HB_SPGEMM_WARPS)
hb_spgemm_chunk(hb_i32 n, hb_i32 cb, hb_i32 nb, const hb_i64 *__restrict__ aptr, const hb_i32 *__restrict__ aidx,
	const HB_A *__restrict__ aval, const hb_i64 *__restrict__ bptr, const hb_i32 *__restrict__ bidx,
	const hb_col *__restrict__ bcol, const HB_X *__restrict__ bval, const hb_i32 *__restrict__ cuts,
	const hb_i32 *__restrict__ seg, const hb_i32 *__restrict__ order, hb_u64 *limits, hb_i64 chunk,
	const hb_i64 *__restrict__ at, HB_C *partial) {
	HB_DYNAMIC_SHARED(HB_C, acc);
	const int threads = 32 * HB_SPGEMM_WARPS;
	const hb_i64 heavy = (hb_i64)limits[0], units = at[heavy] * nb;
	for (;;) {
		const hb_i64 unit = hb_ticket(limits + HB_SPGEMM_TICKETS + 2);
		if (unit >= units) return;
		const hb_i64 c = unit / nb;
		hb_i64 t = 0, last = heavy - 1; // the last row with at[t] ≤ c
		while (t < last) {
			const hb_i64 mid = t + (last - t + 1) / 2;
			if (at[mid] <= c) t = mid;
			else last = mid - 1;
		}
		const hb_i32 row = order[t], block = (hb_i32)(unit % nb), lo = block * cb, width = n - lo < cb ? n - lo : cb;
		const hb_i64 begin = aptr[row] + (c - at[t]) * chunk, end = aptr[row + 1] - begin < chunk ? aptr[row + 1] : begin + chunk;
		for (hb_i32 x = threadIdx.x; x < width; x += threads) acc[x] = HB_IDENTITY;
		__syncthreads();
		hb_walk(begin, end, aidx, aval, bptr, bidx, bcol, bval, cuts, seg, (hb_i64)nb * HB_SPGEMM_WARPS + 1, block * HB_SPGEMM_WARPS + (hb_i32)threadIdx.x / HB_WARP,
			[=](hb_i32 x, HB_A a, HB_X b) { acc[x - lo] = hb_add(acc[x - lo], hb_mul(a, b)); });
		__syncthreads();
		for (hb_i32 x = threadIdx.x; x < width; x += threads) partial[c * n + lo + x] = acc[x];
	}
}

// Any semiring: each warp owns a part of the columns and walks the whole row of
// A, adding to its part of the accumulator: nothing needs an atomic. at: not
// null if there are chunks, which are added up then.
HB_KERNEL __launch_bounds__(32 * HB_SPGEMM_WARPS)
hb_spgemm_owner(hb_i32 n, hb_i32 cb, hb_i32 nb, const hb_i64 *__restrict__ aptr, const hb_i32 *__restrict__ aidx,
	const HB_A *__restrict__ aval, const hb_i64 *__restrict__ bptr, const hb_i32 *__restrict__ bidx,
	const hb_col *__restrict__ bcol, const HB_X *__restrict__ bval, const hb_i32 *__restrict__ cuts,
	const hb_i32 *__restrict__ seg, const hb_i32 *__restrict__ order, hb_u64 *limits, const hb_i64 *__restrict__ counts,
	const hb_u32 *__restrict__ bitmaps, const hb_i64 *__restrict__ at, const HB_C *__restrict__ partial, hb_i32 *cidx, HB_C *cval) {
	HB_DYNAMIC_SHARED(HB_C, acc);
	hb_u32 *map = (hb_u32 *)(acc + cb);
	const int lane = threadIdx.x % HB_WARP, warp = threadIdx.x / HB_WARP, threads = 32 * HB_SPGEMM_WARPS;
	const hb_i64 units = (hb_i64)limits[0] * nb;
	for (;;) {
		const hb_i64 unit = hb_ticket(limits + HB_SPGEMM_TICKETS + 1);
		if (unit >= units) return;
		const hb_i32 row = order[unit / nb], block = (hb_i32)(unit % nb), lo = block * cb;
		const hb_i32 width = n - lo < cb ? n - lo : cb, words = (width + 31) / 32, part = block * HB_SPGEMM_WARPS + warp;
		hb_i64 out = counts[(hb_i64)row * nb + block];
		if (out == counts[(hb_i64)row * nb + block + 1]) continue;
		const hb_i64 first = at ? at[unit / nb] : 0, stop = at ? at[unit / nb + 1] : 0;
		if (first == stop)
			for (hb_i32 c = threadIdx.x; c < words * 32; c += threads) acc[c] = HB_IDENTITY;
		else
			for (hb_i32 c = threadIdx.x; c < width; c += threads) {
				HB_C v = partial[first * n + lo + c];
				for (hb_i64 q = first + 1; q < stop; q++) v = hb_add(v, partial[q * n + lo + c]);
				acc[c] = v;
			}
		if (!bitmaps)
			for (hb_i32 w = threadIdx.x; w < words; w += threads) map[w] = 0;
		__syncthreads();
		if (first == stop)
			hb_walk(aptr[row], aptr[row + 1], aidx, aval, bptr, bidx, bcol, bval, cuts, seg, (hb_i64)nb * HB_SPGEMM_WARPS + 1, part,
				[=](hb_i32 c, HB_A a, HB_X b) {
					c -= lo;
					acc[c] = hb_add(acc[c], hb_mul(a, b));
					if (!bitmaps && !(map[c / 32] >> (c % 32) & 1)) atomicOr(map + c / 32, 1u << (c % 32));
				});
		__syncthreads();
		const hb_u32 *have = bitmaps ? bitmaps + (hb_bitmap_words(n) * (unit / nb) + lo / 32) : map;
		const hb_i32 each = (words + HB_SPGEMM_WARPS - 1) / HB_SPGEMM_WARPS;
		const hb_i32 from = warp * each < words ? warp * each : words, upto = from + each < words ? from + each : words;
		hb_i32 found = 0, total;
		for (hb_i32 w = from + lane; w < upto; w += HB_WARP) found += __popc(have[w]);
		found = hb_total(found);
		out += hb_before(found, &total);
		for (hb_i32 w0 = from; w0 < upto; w0 += HB_WARP) {
			const hb_u32 word = w0 + lane < upto ? have[w0 + lane] : 0;
			for (int i = 0; i < HB_WARP && w0 + i < upto; i++) {
				const hb_u32 bits = __shfl_sync(HB_FULL, word, i);
				if (bits >> lane & 1) {
					const hb_i64 p = out + __popc(bits & ((1u << lane) - 1));
					cidx[p] = lo + (w0 + i) * 32 + lane;
					cval[p] = acc[(w0 + i) * 32 + lane];
				}
				out += __popc(bits);
			}
		}
	}
}
#else
// Any semiring, C of any width: sums are made in C itself, at the place that the
// bitmap of the row tells: the bits before. Each warp owns a part of the columns.
HB_KERNEL __launch_bounds__(32 * HB_SPGEMM_WARPS)
hb_spgemm_placed(hb_i32 n, const hb_i64 *__restrict__ aptr, const hb_i32 *__restrict__ aidx, const HB_A *__restrict__ aval,
	const hb_i64 *__restrict__ bptr, const hb_i32 *__restrict__ bidx, const HB_X *__restrict__ bval,
	const hb_i32 *__restrict__ cuts, const hb_i32 *__restrict__ order, hb_u64 *limits, const hb_i64 *__restrict__ counts,
	const hb_u32 *__restrict__ bitmaps, hb_i32 *cidx, HB_C *cval) {
	HB_DYNAMIC_SHARED(hb_u32, before); // bits before each group of 128 columns
	const int lane = threadIdx.x % HB_WARP, warp = threadIdx.x / HB_WARP;
	const hb_i64 heavy = (hb_i64)limits[0];
	const hb_i32 groups = (hb_i32)(hb_bitmap_words(n) / 4), words = (n + 31) / 32, each = (groups + HB_SPGEMM_WARPS - 1) / HB_SPGEMM_WARPS;
	const hb_i32 from = warp * each < groups ? warp * each : groups, stop = from + each < groups ? from + each : groups;
	for (;;) {
		const hb_i64 t = hb_ticket(limits + HB_SPGEMM_TICKETS + 1);
		if (t >= heavy) return;
		const hb_i32 row = order[t];
		const hb_u32 *__restrict__ have = bitmaps + hb_bitmap_words(n) * t;
		hb_i32 found = 0, total;
		for (hb_i32 w = 4 * from + lane; w < 4 * stop && w < words; w += HB_WARP) found += __popc(have[w]);
		found = hb_total(found);
		hb_i32 done = hb_before(found, &total);
		const hb_i64 out = counts[row];
		for (hb_i32 w0 = 4 * from; w0 < 4 * stop; w0 += HB_WARP) { // the columns in order, and places before each group
			const hb_u32 word = w0 + lane < 4 * stop && w0 + lane < words ? have[w0 + lane] : 0;
			const hb_i32 upto = hb_sums((hb_i32)__popc(word));
			if (lane % 4 == 0 && w0 + lane < 4 * stop) before[(w0 + lane) / 4] = done + upto - __popc(word);
			for (hb_u32 some = __ballot_sync(HB_FULL, word != 0); some; some &= some - 1) {
				const int i = __ffs(some) - 1;
				const hb_u32 bits = __shfl_sync(HB_FULL, word, i);
				if (bits >> lane & 1) {
					const hb_i64 p = out + done + __popc(bits & ((1u << lane) - 1));
					cidx[p] = (w0 + i) * 32 + lane;
					cval[p] = HB_IDENTITY;
				}
				done += __popc(bits);
			}
		}
		__syncthreads();
		HB_C *acc = cval + out;
		hb_walk(aptr[row], aptr[row + 1], aidx, aval, bptr, bidx, (const hb_col *)bidx, bval, cuts, (const hb_i32 *)0, 0, warp,
			[=](hb_i32 c) {
				const hb_words4 near = ((const hb_words4 *)have)[c / 128];
				hb_i32 at = (hb_i32)before[c / 128];
#pragma unroll
				for (int w = 0; w < 4; w++) {
					const hb_i32 upto = c % 128 - 32 * w;
					at += __popc(upto >= 32 ? near.w[w] : upto > 0 ? near.w[w] & ((1u << upto) - 1) : 0u);
				}
				return at;
			},
			[=](hb_i32 at, HB_A a, HB_X b) { acc[at] = hb_add(acc[at], hb_mul(a, b)); });
	}
}
#endif

#endif
#endif

#if !HB_SPGEMM_NUMERIC
HB_KERNEL __launch_bounds__(256) hb_spgemm_rowptr(hb_i64 m, hb_i32 nb, const hb_i64 *__restrict__ counts, hb_i64 *cptr) {
	const hb_i64 r = (hb_i64)blockIdx.x * 256 + threadIdx.x;
	if (r <= m) cptr[r] = counts[r * nb];
}
#endif
