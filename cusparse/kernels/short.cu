// Rows of C = A ⊗ B of few products, any semiring: see kernels/spgemm.cu, whose first and second
// phase these kernels take part in. Terms are summed in the order of A's row.
//
// A group of HB_SHORT_LANES lanes writes out the products of a row, at most HB_SHORT_MOST =
// HB_SHORT_LANES · HB_SHORT_EACH, sorts them by column and place, and sums the runs of equal
// columns. A key is a column · 2^HB_SHORT_BITS + the place among the products, an HB_KEY.
//   hb_short_count<<<…, 256, tables>>>(nb, from, to, …, most, counts)    HB_SHORT_NUMERIC 0
//       shared memory: for each group twice as many hb_i32 as there are products
//   hb_short      <<<…, 256, keys + terms>>>(nb, from, to, …)      HB_SHORT_NUMERIC 1
//       shared memory: for each group as many keys, and values of HB_C, as there are products
// Rows of more products have a hash table of columns and sums, a warp each (HB_SHORT_EACH 0):
//   hb_short_count, with at most 3/4 of the places of a table for the products of a row
//   hb_short_hashed<<<…, 128, …>>>(nb, from, to, room, …)          HB_SHORT_NUMERIC 1
//       room: at least 1.5 times the entries of a row of C, a power of two; shared memory: for each
//       warp room sums, room columns, room columns again
// from, to: which rows of order. nb: see spgemm.cu. Bound by the reads of B and the writes of C.

// hb_group_owner is hb_owner within a group of lanes.
HB_DEVICE int hb_group_owner(hb_i32 sum, hb_i32 t) {
	int lane = 0;
#pragma unroll
	for (int step = HB_SHORT_LANES / 2; step > 0; step /= 2)
		if (__shfl_sync(HB_FULL, sum, lane + step - 1, HB_SHORT_LANES) <= t) lane += step;
	return lane;
}

// hb_short_rows is the rows of a group of lanes, one a round. Addresses that depend on each other
// are read a round apart, since a round has little else to do: a row in round r − 4, where its
// entries are in r − 3, the columns of them in r − 2, and where the rows of B are in r − 1.
struct hb_short_rows {
	hb_i64 t, to, step;
	hb_i32 row[5], n[4], k[3]; // of this round and those to come
	hb_i64 begin[4], at[2];
	hb_i32 length[2];
	const hb_i64 *aptr, *bptr;
	const hb_i32 *aidx, *order;

	__device__ __forceinline__ void read() {
		row[4] = t + 4 * step < to ? order[t + 4 * step] : -1;
		begin[3] = row[3] < 0 ? 0 : aptr[row[3]];
		n[3] = row[3] < 0 ? 0 : (hb_i32)(aptr[row[3] + 1] - begin[3]);
		k[2] = (int)threadIdx.x % HB_SHORT_LANES < n[2] ? aidx[begin[2] + threadIdx.x % HB_SHORT_LANES] : -1;
		at[1] = k[1] < 0 ? 0 : bptr[k[1]];
		length[1] = k[1] < 0 ? 0 : (hb_i32)(bptr[k[1] + 1] - at[1]);
	}

	__device__ __forceinline__ void next() {
		t += step;
#pragma unroll
		for (int x = 0; x < 4; x++) row[x] = row[x + 1];
#pragma unroll
		for (int x = 0; x < 3; x++) begin[x] = begin[x + 1], n[x] = n[x + 1];
		k[1] = k[2];
		at[0] = at[1];
		length[0] = length[1];
	}

	// start begins with row from + this group of all groups, of the order.
	__device__ __forceinline__ void start(hb_i64 from) {
		const int groups = 256 / HB_SHORT_LANES;
		step = (hb_i64)gridDim.x * groups;
		t = from + (hb_i64)blockIdx.x * groups + threadIdx.x / HB_SHORT_LANES - 4 * step;
#pragma unroll
		for (int x = 0; x < 4; x++) row[x] = -1, n[x] = 0, begin[x] = 0;
		k[0] = k[1] = k[2] = -1;
		at[0] = at[1] = 0;
		length[0] = length[1] = 0;
#pragma unroll
		for (int x = 0; x < 4; x++) {
			read();
			next();
		}
	}
};

// hb_short_products calls put(t, e, p) for product t of the row of this round, of its entry e and
// entry p of B. All lanes of a warp call, each group for a row of its own. It returns the number of
// products.
template <class F> HB_DEVICE hb_i32 hb_short_products(const hb_short_rows &r, F put) {
	const int in = threadIdx.x % HB_SHORT_LANES;
	hb_i64 at = r.at[0];
	hb_i32 upto = r.length[0], done = 0; // upto: products of the rows of B up to this lane's
	for (hb_i32 j0 = 0; __any_sync(HB_FULL, j0 < r.n[0]); j0 += HB_SHORT_LANES) {
		if (j0 > 0) {
			at = upto = 0;
			if (j0 + in < r.n[0]) {
				const hb_i32 k = r.aidx[r.begin[0] + j0 + in];
				at = r.bptr[k];
				upto = (hb_i32)(r.bptr[k + 1] - at);
			}
		}
		at += upto;
#pragma unroll
		for (int d = 1; d < HB_SHORT_LANES; d *= 2) {
			const hb_i32 before = __shfl_up_sync(HB_FULL, upto, d, HB_SHORT_LANES);
			if (in >= d) upto += before;
		}
		at -= upto; // so that product t of these is at `at + t` of its row's lane
		const hb_i32 all = __shfl_sync(HB_FULL, upto, HB_SHORT_LANES - 1, HB_SHORT_LANES);
		for (hb_i32 t0 = 0; __any_sync(HB_FULL, t0 < all); t0 += HB_SHORT_LANES) {
			const int who = hb_group_owner(upto, t0 + in);
			const hb_i64 from = __shfl_sync(HB_FULL, at, who, HB_SHORT_LANES);
			if (t0 + in < all) put(done + t0 + in, r.begin[0] + j0 + who, from + t0 + in);
		}
		done += all;
	}
	return done;
}

// hb_order leaves the lesser of a and b in a if up, else in b.
HB_DEVICE void hb_order(HB_KEY &a, HB_KEY &b, bool up) {
	const HB_KEY x = a < b ? a : b, y = a < b ? b : a;
	a = up ? x : y;
	b = up ? y : x;
}

// hb_sort sorts the keys of a group of LANES lanes, EACH of a lane, so that key r of lane l is the
// (l · EACH + r)-th: bitonic.
template <int LANES, int EACH> HB_DEVICE void hb_sort(HB_KEY (&key)[EACH]) {
	const int first = threadIdx.x % LANES * EACH;
#pragma unroll
	for (int k = 2; k <= LANES * EACH; k *= 2)
#pragma unroll
		for (int d = k / 2; d > 0; d /= 2)
#pragma unroll
			for (int r = 0; r < EACH; r++) {
				const bool up = ((first + r) & k) == 0;
				if (d >= EACH) {
					const HB_KEY other = __shfl_xor_sync(HB_FULL, key[r], d / EACH);
					const bool least = up == ((first & d) == 0);
					key[r] = (other < key[r]) == least ? other : key[r];
				} else if ((r & d) == 0) hb_order(key[r], key[r | d], up);
			}
}

#define HB_SHORT_MOST (HB_SHORT_LANES * HB_SHORT_EACH)
#define HB_SHORT_GROUPS (256 / HB_SHORT_LANES)
#define HB_NO_KEY (~(HB_KEY)0)

// hb_place returns the place of column c in a table, which it puts there if it is new. -1 marks a
// free place.
HB_DEVICE hb_u32 hb_place(hb_i32 *table, int log, hb_i32 c, bool &fresh) {
	for (hb_u32 h = (hb_u32)c * 0x9e3779b1u >> (32 - log);; h = (h + 1) & ((1u << log) - 1)) {
		hb_i32 was = table[h];
		if (was == -1) was = atomicCAS(table + h, -1, c);
		fresh = was == -1;
		if (fresh || was == c) return h;
	}
}

#if !HB_SHORT_EACH
// hb_short_walk calls visit(column, a, b) for the products of a row of A, by one warp: one row of B
// after another, so that the lanes never meet.
template <class F>
HB_DEVICE void hb_short_walk(hb_i64 begin, hb_i64 end, const hb_i32 *__restrict__ aidx, const HB_A *__restrict__ aval,
	const hb_i64 *__restrict__ bptr, const hb_i32 *__restrict__ bidx, const HB_X *__restrict__ bval, F visit) {
	for (hb_i64 j0 = begin; j0 < end; j0 += HB_WARP) { // a lane knows a row of B
		hb_i64 at = 0;
		hb_i32 length = 0;
		HB_A a{};
		if (j0 + HB_LANE < end) {
			const hb_i32 k = aidx[j0 + HB_LANE];
			at = bptr[k];
			length = (hb_i32)(bptr[k + 1] - at);
#if HB_USES_A
			a = aval[j0 + HB_LANE];
#endif
		}
		hb_i32 base = 0; // done of the row of the first lane that is live
		for (hb_u32 live = __ballot_sync(HB_FULL, length > 0); live;) { // parts of ≤ 32 columns of a row of B
			hb_i32 left[HB_SPGEMM_AHEAD], col[HB_SPGEMM_AHEAD];
			HB_A av[HB_SPGEMM_AHEAD];
			HB_X bv[HB_SPGEMM_AHEAD];
#pragma unroll
			for (int q = 0; q < HB_SPGEMM_AHEAD; q++) {
				const int src = live ? __ffs(live) - 1 : 0;
				left[q] = live ? __shfl_sync(HB_FULL, length, src) - base : 0;
				const hb_i64 p = __shfl_sync(HB_FULL, at, src) + base + HB_LANE;
				av[q] = HB_A{};
				bv[q] = HB_X{};
#if HB_USES_A
				av[q] = hb_from(a, src);
#endif
				if (HB_LANE < left[q]) {
					col[q] = bidx[p];
#if HB_USES_X
					bv[q] = bval[p];
#endif
				}
				base += HB_WARP;
				if (left[q] <= HB_WARP) {
					live &= live - 1;
					base = 0;
				}
			}
#pragma unroll
			for (int q = 0; q < HB_SPGEMM_AHEAD; q++) {
				if (HB_LANE < left[q]) visit(col[q], av[q], bv[q]);
				__syncwarp();
			}
		}
	}
}
#endif

#if !HB_SHORT_NUMERIC
// most: the greatest count, or null.
HB_KERNEL __launch_bounds__(256)
hb_short_count(hb_i32 nb, hb_i64 from, hb_i64 to, const hb_i64 *__restrict__ aptr, const hb_i32 *__restrict__ aidx,
	const hb_i64 *__restrict__ bptr, const hb_i32 *__restrict__ bidx, const hb_i32 *__restrict__ order, hb_u64 *most,
	hb_i64 *counts) {
	HB_DYNAMIC_SHARED(hb_i32, tables);
	const int in = threadIdx.x % HB_SHORT_LANES, group = threadIdx.x / HB_SHORT_LANES, log = HB_SHORT_BITS + 1;
	hb_i32 *table = tables + group * (2 * HB_SHORT_MOST);
	hb_i32 longest = 0;
	hb_short_rows r;
	r.to = to, r.order = order, r.aptr = aptr, r.aidx = aidx, r.bptr = bptr;
	for (r.start(from); __any_sync(HB_FULL, r.t < to); r.next()) {
		r.read();
#pragma unroll
		for (int x = 0; x < 2 * HB_SHORT_EACH; x++) table[x * HB_SHORT_LANES + in] = -1;
		__syncwarp();
		hb_i32 found = 0;
		hb_short_products(r, [&](hb_i32, hb_i64, hb_i64 p) {
			bool fresh;
			hb_place(table, log, bidx[p], fresh);
			found += fresh;
		});
#pragma unroll
		for (int d = HB_SHORT_LANES / 2; d > 0; d /= 2) found += __shfl_xor_sync(HB_FULL, found, d);
		if (in == 0 && r.t < to) counts[(hb_i64)r.row[0] * nb] = found;
		longest = found > longest ? found : longest;
		__syncwarp();
	}
	if (most && in == 0 && longest) atomicMax(most, (hb_u64)longest);
}
#elif HB_SHORT_EACH
struct __align__(16) hb_key16 { HB_KEY k[16 / sizeof(HB_KEY)]; };

HB_KERNEL __launch_bounds__(256)
hb_short(hb_i32 nb, hb_i64 from, hb_i64 to, const hb_i64 *__restrict__ aptr, const hb_i32 *__restrict__ aidx, const HB_A *__restrict__ aval,
	const hb_i64 *__restrict__ bptr, const hb_i32 *__restrict__ bidx, const HB_X *__restrict__ bval, const hb_i32 *__restrict__ order,
	const hb_i64 *__restrict__ counts, hb_i32 *cidx, HB_C *cval) {
	HB_DYNAMIC_SHARED(HB_C, all);
	const int in = threadIdx.x % HB_SHORT_LANES, group = threadIdx.x / HB_SHORT_LANES;
	HB_C *terms = all + group * HB_SHORT_MOST;
	HB_KEY *keys = (HB_KEY *)(all + HB_SHORT_GROUPS * HB_SHORT_MOST) + group * HB_SHORT_MOST;
	hb_short_rows rows;
	rows.to = to, rows.order = order, rows.aptr = aptr, rows.aidx = aidx, rows.bptr = bptr;
	for (rows.start(from); __any_sync(HB_FULL, rows.t < to); rows.next()) {
		hb_i64 out = rows.t < to ? counts[(hb_i64)rows.row[0] * nb] : 0;
		rows.read();
		const hb_i32 n = hb_short_products(rows, [=](hb_i32 x, hb_i64 e, hb_i64 p) {
			keys[x] = (HB_KEY)bidx[p] << HB_SHORT_BITS | (HB_KEY)x;
			terms[x] = hb_mul(HB_USES_A ? aval[e] : HB_A{}, HB_USES_X ? bval[p] : HB_X{});
		});
		__syncwarp();
		HB_KEY key[HB_SHORT_EACH];
#pragma unroll
		for (int r = 0; r < HB_SHORT_EACH; r++) key[r] = r * HB_SHORT_LANES + in < n ? keys[r * HB_SHORT_LANES + in] : HB_NO_KEY;
#if HB_SHORT_MOST == 16 // the place of a key is the number of lesser keys
#pragma unroll
		for (int r = 0; r < HB_SHORT_EACH; r++)
			if (r * HB_SHORT_LANES + in >= n) keys[r * HB_SHORT_LANES + in] = HB_NO_KEY;
		__syncwarp();
		int rank[HB_SHORT_EACH] = {};
#pragma unroll
		for (int x = 0; x < HB_SHORT_MOST; x += 16 / (int)sizeof(HB_KEY)) {
			const hb_key16 some = *(const hb_key16 *)(keys + x);
#pragma unroll
			for (int y = 0; y < 16 / (int)sizeof(HB_KEY); y++)
#pragma unroll
				for (int r = 0; r < HB_SHORT_EACH; r++) rank[r] += some.k[y] < key[r];
		}
		__syncwarp();
#pragma unroll
		for (int r = 0; r < HB_SHORT_EACH; r++)
			if (key[r] != HB_NO_KEY) keys[rank[r]] = key[r];
#else
		hb_sort<HB_SHORT_LANES, HB_SHORT_EACH>(key);
		__syncwarp();
#pragma unroll
		for (int r = 0; r < HB_SHORT_EACH; r++) keys[in * HB_SHORT_EACH + r] = key[r];
#endif
		__syncwarp();
#pragma unroll
		for (int r = 0; r < HB_SHORT_EACH; r++) {
			const hb_i32 x = r * HB_SHORT_LANES + in;
			const HB_KEY col = keys[x] >> HB_SHORT_BITS;
			const bool head = x < n && (x == 0 || keys[x - 1] >> HB_SHORT_BITS != col);
			const hb_u32 heads = __ballot_sync(HB_FULL, head) >> (HB_LANE & ~(HB_SHORT_LANES - 1)) & (HB_FULL >> (HB_WARP - HB_SHORT_LANES));
			if (head) {
				HB_C sum = hb_add(HB_IDENTITY, terms[keys[x] & (HB_SHORT_MOST - 1)]);
				for (hb_i32 y = x + 1; y < n && keys[y] >> HB_SHORT_BITS == col; y++) sum = hb_add(sum, terms[keys[y] & (HB_SHORT_MOST - 1)]);
				const hb_i64 p = out + __popc(heads & ((1u << in) - 1));
				cidx[p] = (hb_i32)col;
				cval[p] = sum;
			}
			out += __popc(heads);
		}
		__syncwarp();
	}
}
#else

// hb_sort_list sorts n columns, at least one, by one warp. There is room for a power of two.
HB_DEVICE void hb_sort_list(hb_i32 *cols, int n) {
	if (n <= 128) {
		HB_KEY key[4];
#pragma unroll
		for (int r = 0; r < 4; r++) key[r] = r * HB_WARP + HB_LANE < n ? (HB_KEY)cols[r * HB_WARP + HB_LANE] : HB_NO_KEY;
		hb_sort<HB_WARP, 4>(key);
		__syncwarp();
#pragma unroll
		for (int r = 0; r < 4; r++)
			if (HB_LANE * 4 + r < n) cols[HB_LANE * 4 + r] = (hb_i32)key[r];
		__syncwarp();
		return;
	}
	int size = 1;
	while (size < n) size *= 2;
	for (int i = n + HB_LANE; i < size; i += HB_WARP) cols[i] = 0x7fffffff;
	__syncwarp();
	for (int k = 2; k <= size; k *= 2) // bitonic
		for (int d = k / 2; d > 0; d /= 2) {
			for (int i = HB_LANE; i < size / 2; i += HB_WARP) {
				const int lo = i / d * 2 * d + i % d, hi = lo + d;
				const hb_i32 x = cols[lo], y = cols[hi];
				if ((x > y) == ((lo & k) == 0)) {
					cols[lo] = y;
					cols[hi] = x;
				}
			}
			__syncwarp();
		}
}

HB_KERNEL __launch_bounds__(128)
hb_short_hashed(hb_i32 nb, hb_i64 from, hb_i64 to, hb_i32 room, const hb_i64 *__restrict__ aptr, const hb_i32 *__restrict__ aidx,
	const HB_A *__restrict__ aval, const hb_i64 *__restrict__ bptr, const hb_i32 *__restrict__ bidx, const HB_X *__restrict__ bval,
	const hb_i32 *__restrict__ order, const hb_i64 *__restrict__ counts, hb_i32 *cidx, HB_C *cval) {
	HB_DYNAMIC_SHARED(HB_C, all);
	const int warp = threadIdx.x / HB_WARP;
	HB_C *acc = all + warp * room;
	hb_i32 *table = (hb_i32 *)(all + 4 * room) + warp * (2 * room), *cols = table + room;
	for (hb_i64 t = from + (hb_i64)blockIdx.x * 4 + warp; t < to; t += (hb_i64)gridDim.x * 4) {
		const hb_i32 row = order[t];
		const hb_i64 begin = aptr[row], end = aptr[row + 1], out = counts[(hb_i64)row * nb];
		const hb_i32 found = (hb_i32)(counts[(hb_i64)row * nb + 1] - out);
		int log = 5;
		while ((1 << log) * 2 < found * 3) log++;
		for (int h = HB_LANE; h < 1 << log; h += HB_WARP) {
			table[h] = -1;
			acc[h] = HB_IDENTITY;
		}
		__syncwarp();
		bool fresh;
		hb_short_walk(begin, end, aidx, aval, bptr, bidx, bval, [=](hb_i32 c, HB_A a, HB_X b) {
			bool fresh;
			const hb_u32 h = hb_place(table, log, c, fresh);
			acc[h] = hb_add(acc[h], hb_mul(a, b));
		});
		hb_i32 n = 0; // the columns, gathered and sorted
		for (int h = HB_LANE; h < 1 << log; h += HB_WARP) {
			const hb_i32 c = table[h];
			const hb_u32 some = __ballot_sync(HB_FULL, c != -1);
			if (c != -1) cols[n + __popc(some & ((1u << HB_LANE) - 1))] = c;
			n += __popc(some);
		}
		__syncwarp();
		if (n) hb_sort_list(cols, n);
		for (int i = HB_LANE; i < n; i += HB_WARP) {
			cidx[out + i] = cols[i];
			cval[out + i] = acc[hb_place(table, log, cols[i], fresh)];
		}
		__syncwarp();
	}
}
#endif
