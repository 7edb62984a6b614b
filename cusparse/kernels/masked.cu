// C⟨M⟩ = A ⊗ B under a listed mask, over any semiring: a dot product of a row of A and a column of
// B for each entry of the mask. b holds the columns of B as rows. For every type and format.
// HB_A, HB_X, HB_C; hb_mul(a, x, i, k, j); hb_add; HB_IDENTITY; HB_READS_A, HB_READS_X: whether a
// value of that operand is read; HB_ENDED(sum): whether no further term changes it;
// HB_MASKED_PLACES: whether ⊗ reads i and j; HB_MASKED_COUNTS: whether products are counted.
// HB_MASKED_BLOCK: threads of hb_masked_probe, 1024 if the bits fit a multiprocessor once.
// HB_MASKED_WORK: entries of the shorter rows of an owner that a warp takes.
//
// An entry has two rows. If the shorter one has at most HB_MASKED_NEAR entries, a thread searches
// for these in the longer row. Any other entry is a task of its longer row, the owner: a block lays
// the owner's columns out as bits in shared memory, and HB_MASKED_GROUP lanes a task, or a warp if
// the shorter row is long, look there for the columns of the shorter row, and in the owner's row
// for the columns found if columns share bits; where the owner's value is read, the bits before
// tell its place. An owner of little work is a warp's, which has few bits, or none where the owner
// is long: the warp searches then.
//
// cusparse/masked.go launches all of this; n entries of the mask, hit hb_u8[n], out HB_C[n]:
//   owners: the stored rows of a, then of b, from base on; base = 0 if both have one structure
//   hb_masked_near <<<…, 256>>>(a, b, mask, base, hit, out, far, tasks, work)
//       far u64, zeroed: entries with hit = 2; tasks u64[owners], work u64[owners], zeroed, or null
//   hb_masked_count<<<…, 256>>>(a, b, mask, base, e0, e1, hit, tasks, work), if there are several parts
//   first i64[owners + 1]: prefix sums of tasks; cursor = copy of first
//   hb_masked_fill <<<…, 256>>>(a, b, mask, base, e0, e1, hit, cursor, from, length, place)
//   hb_masked_split<<<…>>>(owners, a, b, base, first, work, units, light, sizes)
//       units: some tasks of an owner, for a block; light: owners of little work
//       sizes u64[4], zeroed: units, light owners, and a ticket for each
//   hb_masked_probe<<<…, HB_MASKED_BLOCK, shared>>>(a, b, mask, base, bits, first, …, hit, out)
//       shared memory: (bits + 1)/8 bytes, HB_MASKED_OWN/8 for each warp, and (bits + 1)/32 if the
//       bits before are counted
// The sum of an entry is made by the same lanes in the same order at every run.

#define HB_MASKED_TILE 1024
#define HB_MASKED_NEAR 8
#define HB_MASKED_GROUP 8
#define HB_MASKED_LONG 1024 // entries of a shorter row that a whole warp takes
#define HB_MASKED_OWN 8192 // bits of a warp
#define HB_MASKED_RANKS (HB_READS_A || HB_READS_X) // whether the bits before are counted

struct __align__(16) hb_masked_unit {
	hb_i64 task; // the first
	hb_i32 owner, tasks;
};

// hb_masked_entry is an entry of the mask with its two rows.
struct hb_masked_entry {
	hb_i32 i, j, a, b; // position; stored rows of a and b
	hb_i64 alo, ahi, blo, bhi;
};

// hb_masked_span is hb_span, and returns the stored row.
HB_DEVICE hb_i32 hb_masked_span(const hb_store &s, hb_i32 i, hb_i64 &lo, hb_i64 &hi) {
	hb_i32 k = i;
	if (s.format == HB_HYPER) {
		k = (hb_i32)hb_lower(s.rowids, 0, s.nvec, i);
		if (k == s.nvec || s.rowids[k] != i) {
			lo = hi = 0;
			return 0;
		}
	}
	lo = s.ptr[k];
	hi = s.ptr[k + 1];
	return k;
}

// hb_masked_each calls visit(e, i, j) for the entries e0 … e1 − 1 of the mask, by all threads of
// blocks of 256.
template <class F>
HB_DEVICE void hb_masked_each(const hb_store &mask, hb_i64 e0, hb_i64 e1, F visit) {
	__shared__ hb_i32 rows[2]; // of the mask, of a tile
	for (hb_i64 first = e0 + (hb_i64)blockIdx.x * HB_MASKED_TILE; first < e1; first += (hb_i64)gridDim.x * HB_MASKED_TILE) {
		const hb_i64 last = first + HB_MASKED_TILE < e1 ? first + HB_MASKED_TILE : e1;
		__syncthreads();
		if (threadIdx.x < 2) rows[threadIdx.x] = hb_vec_of(mask, threadIdx.x ? last - 1 : first);
		__syncthreads();
		for (hb_i64 e = first + threadIdx.x; e < last; e += 256)
			visit(e, hb_row_id(mask, rows[0] + (hb_i32)hb_run_of(mask.ptr + rows[0], rows[1] - rows[0] + 1, e)), mask.idx[e]);
	}
}

HB_DEVICE hb_masked_entry hb_masked_rows(const hb_store &a, const hb_store &b, hb_i32 i, hb_i32 j) {
	hb_masked_entry x;
	x.i = i;
	x.j = j;
	x.a = hb_masked_span(a, i, x.alo, x.ahi);
	x.b = hb_masked_span(b, j, x.blo, x.bhi);
	return x;
}

// hb_masked_add adds the product of entry p of a and entry q of b. It returns whether the sum ends.
HB_DEVICE bool hb_masked_add(const hb_store &a, const hb_store &b, hb_i64 p, hb_i64 q, hb_i32 i, hb_i32 k, hb_i32 j, HB_C &sum, bool &any) {
	const HB_C term = hb_mul(HB_GET_A(a, p), HB_GET_X(b, q), i, k, j);
	sum = any ? hb_add(sum, term) : term;
	any = true;
	return HB_ANY || HB_ENDED(sum);
}

HB_DEVICE void hb_masked_put(hb_i64 e, bool any, const HB_C &sum, hb_u8 *hit, HB_C *out) {
	hit[e] = any;
	out[e] = any ? hb_add(HB_IDENTITY, sum) : HB_C(); // absent values are read as part of their array
}

// hb_masked_owner returns the owner of an entry, and its shorter row.
HB_DEVICE hb_i64 hb_masked_owner(const hb_masked_entry &x, hb_i64 base, bool &overA, hb_i64 &lo, hb_i64 &length) {
	overA = x.ahi - x.alo < x.bhi - x.blo;
	lo = overA ? x.alo : x.blo;
	length = overA ? x.ahi - x.alo : x.bhi - x.blo;
	return overA ? base + x.b : x.a;
}

HB_DEVICE void hb_masked_charge(const hb_masked_entry &x, hb_i64 base, hb_u64 *tasks, hb_u64 *work) {
	bool overA;
	hb_i64 lo, length;
	const hb_i64 owner = hb_masked_owner(x, base, overA, lo, length);
	atomicAdd(tasks + owner, (hb_u64)1);
	atomicAdd(work + owner, (hb_u64)length);
}

HB_KERNEL __launch_bounds__(256)
hb_masked_near(hb_store a, hb_store b, hb_store mask, hb_i64 base, hb_u8 *hit, HB_C *out, hb_u64 *far, hb_u64 *tasks, hb_u64 *work) {
	hb_u64 left = 0;
	hb_masked_each(mask, 0, mask.nvals, [&](hb_i64 e, hb_i32 i, hb_i32 j) {
		const hb_masked_entry x = hb_masked_rows(a, b, i, j);
		const bool overA = x.ahi - x.alo < x.bhi - x.blo;
		const hb_i64 lo = overA ? x.alo : x.blo, hi = overA ? x.ahi : x.bhi, end = overA ? x.bhi : x.ahi;
		if (hi - lo > HB_MASKED_NEAR) {
			hit[e] = 2;
			left++;
			if (tasks) hb_masked_charge(x, base, tasks, work);
			return;
		}
		HB_C sum = HB_IDENTITY;
		bool any = false;
		hb_i64 at = overA ? x.blo : x.alo;
		for (hb_i64 p = lo; p < hi; p++) {
			const hb_i32 k = overA ? a.idx[p] : b.idx[p];
			at = hb_lower(overA ? b.idx : a.idx, at, end, k);
			if (at == end) break;
			if ((overA ? b.idx[at] : a.idx[at]) != k) continue;
			if (hb_masked_add(a, b, overA ? p : at, overA ? at : p, x.i, k, x.j, sum, any)) break;
		}
		hb_masked_put(e, any, sum, hit, out);
	});
	if (left) atomicAdd(far, left);
}

// Full operands and bitmaps: a thread an entry. The strides say where element (i, k) of A and
// (k, j) of B are; hit and out need no launch but this.
HB_KERNEL __launch_bounds__(256)
hb_masked_dense(hb_store a, hb_store b, hb_store mask, hb_i32 inner, hb_i64 ai, hb_i64 ak, hb_i64 bk, hb_i64 bj, hb_u8 *hit, HB_C *out) {
	hb_masked_each(mask, 0, mask.nvals, [&](hb_i64 e, hb_i32 i, hb_i32 j) {
		HB_C sum = HB_IDENTITY;
		bool any = false;
		for (hb_i32 k = 0; k < inner; k++) {
			const hb_i64 p = i * ai + k * ak, q = k * bk + j * bj;
			if (a.present && !a.present[p] || b.present && !b.present[q]) continue;
			if (hb_masked_add(a, b, p, q, i, k, j, sum, any)) break;
		}
		hb_masked_put(e, any, sum, hit, out);
	});
}

HB_KERNEL __launch_bounds__(256)
hb_masked_count(hb_store a, hb_store b, hb_store mask, hb_i64 base, hb_i64 e0, hb_i64 e1, const hb_u8 *hit, hb_u64 *tasks, hb_u64 *work) {
	hb_masked_each(mask, e0, e1, [&](hb_i64 e, hb_i32 i, hb_i32 j) {
		if (hit[e] != 2) return;
		const hb_masked_entry x = hb_masked_rows(a, b, i, j);
		hb_masked_charge(x, base, tasks, work);
	});
}

// place is 2 · the entry of the mask, plus 1 if the shorter row is of a.
HB_KERNEL __launch_bounds__(256)
hb_masked_fill(hb_store a, hb_store b, hb_store mask, hb_i64 base, hb_i64 e0, hb_i64 e1, const hb_u8 *hit, hb_u64 *cursor,
	hb_i64 *from, hb_i32 *length, hb_i64 *place) {
	hb_masked_each(mask, e0, e1, [&](hb_i64 e, hb_i32 i, hb_i32 j) {
		if (hit[e] != 2) return;
		const hb_masked_entry x = hb_masked_rows(a, b, i, j);
		bool overA;
		hb_i64 lo, n;
		const hb_u64 at = atomicAdd(cursor + hb_masked_owner(x, base, overA, lo, n), (hb_u64)1);
		from[at] = lo;
		length[at] = (hb_i32)n;
		place[at] = 2 * e + overA;
	});
}

// hb_masked_bounds returns whether an owner is a row of a, and where it is.
HB_DEVICE bool hb_masked_bounds(const hb_store &a, const hb_store &b, hb_i64 base, hb_i64 owner, hb_i64 &lo, hb_i64 &hi) {
	const bool ofA = base == 0 || owner < base;
	const hb_i64 *ptr = ofA ? a.ptr + owner : b.ptr + (owner - base);
	lo = ptr[0];
	hi = ptr[1];
	return ofA;
}

HB_KERNEL hb_masked_split(hb_i64 owners, hb_store a, hb_store b, hb_i64 base, const hb_i64 *first, const hb_u64 *work,
	hb_masked_unit *units, hb_i32 *light, hb_u64 *sizes) {
	HB_EACH(x, owners) {
		const hb_i64 tasks = first[x + 1] - first[x];
		if (tasks == 0) continue;
		hb_i64 lo, hi;
		hb_masked_bounds(a, b, base, x, lo, hi);
		const hb_i64 probes = (hb_i64)work[x];
		if (probes <= HB_MASKED_WORK && hi - lo <= HB_MASKED_OWN / 4 || tasks <= 128 && 8 * probes < hi - lo) {
			light[atomicAdd(sizes + 1, (hb_u64)1)] = (hb_i32)x;
			continue;
		}
		hb_i64 chunk = (tasks << 20) / probes; // a million probes, 256 to 4096 tasks
		chunk = chunk < 256 ? 256 : chunk > 4096 ? 4096 : chunk;
		const hb_i64 parts = (tasks + chunk - 1) / chunk, to = (hb_i64)atomicAdd(sizes, (hb_u64)parts);
		for (hb_i64 c = 0; c < parts; c++) {
			const hb_i64 left = tasks - c * chunk;
			units[to + c] = hb_masked_unit{first[x] + c * chunk, (hb_i32)x, (hb_i32)(left < chunk ? left : chunk)};
		}
	}
}

// hb_masked_fold leaves the sum of a group of LANES lanes in its first lane.
template <int LANES> HB_DEVICE void hb_masked_fold(HB_C &sum, bool &any) {
#pragma unroll
	for (int d = LANES / 2; d > 0; d /= 2) {
		HB_C other = hb_from(sum, HB_LANE + d);
		const bool is = __shfl_down_sync(HB_FULL, (int)any, d) && HB_LANE % LANES < d;
		if (is) sum = any ? hb_add(sum, other) : other;
		any = any || is;
	}
}

struct __align__(16) hb_masked_words { hb_u32 w[4]; };

// hb_masked_map is an owner: entries lo … hi − 1 of its operand.
struct hb_masked_map {
	hb_u32 *map;    // bits of its columns, a multiple of 128; or null
	hb_u32 *before; // bits before each 128, if exact
	hb_u32 bits;
	bool exact; // a bit is a column
	hb_i64 lo, hi;

	__device__ __forceinline__ bool has(hb_u32 k) const { return !map || map[(k & bits) / 32] >> (k % 32) & 1; }

	// find returns where column k is in idx, -1 if it is not there. k has its bit.
	__device__ __forceinline__ hb_i64 find(const hb_i32 *idx, hb_i32 k) const {
#if HB_MASKED_RANKS
		if (exact) {
			const hb_masked_words near = ((const hb_masked_words *)map)[k / 128];
			hb_i32 at = (hb_i32)before[k / 128];
#pragma unroll
			for (int w = 0; w < 4; w++) {
				const hb_i32 upto = k % 128 - 32 * w;
				at += __popc(upto >= 32 ? near.w[w] : upto > 0 ? near.w[w] & ((1u << upto) - 1) : 0u);
			}
			return lo + at;
		}
#endif
		const hb_i64 at = hb_lower(idx, lo, hi, k);
		return at < hi && idx[at] == k ? at : -1;
	}
};

// hb_masked_task makes the sum of a task by LANES lanes, in the first of them.
template <int LANES>
HB_DEVICE void hb_masked_task(const hb_store &a, const hb_store &b, const hb_store &mask, const hb_masked_map &o,
	hb_i64 from, hb_i32 length, hb_i64 place, hb_u8 *hit, HB_C *out) {
	const bool overA = place & 1, search = !o.exact || (overA ? HB_READS_X : HB_READS_A);
	const hb_i32 *list = (overA ? a.idx : b.idx) + from, *owner = overA ? b.idx : a.idx;
	hb_i32 i = 0, j = 0;
#if HB_MASKED_PLACES
	if (length) {
		i = hb_row_of(mask, place / 2);
		j = mask.idx[place / 2];
	}
#endif
#if HB_MASKED_COUNTS
	if (o.exact) {
		hb_u32 found = 0;
		for (hb_i32 x = HB_LANE % LANES; x < length; x += 8 * LANES) {
			hb_i32 k[8];
#pragma unroll
			for (int q = 0; q < 8; q++) k[q] = x + q * LANES < length ? list[x + q * LANES] : -1;
#pragma unroll
			for (int q = 0; q < 8; q++) found += k[q] < 0 ? 0 : o.map[k[q] / 32] >> (k[q] % 32) & 1;
		}
#pragma unroll
		for (int d = LANES / 2; d > 0; d /= 2) found += __shfl_xor_sync(HB_FULL, found, d);
		if (HB_LANE % LANES == 0 && length) hb_masked_put(place / 2, found != 0, (HB_C)found, hit, out);
		return;
	}
#endif
	HB_C sum = HB_IDENTITY;
	bool any = false, ended = false;
	for (hb_i32 x = HB_LANE % LANES; x < length && !ended; x += 4 * LANES) {
		hb_i32 k[4];
#pragma unroll
		for (int q = 0; q < 4; q++) k[q] = x + q * LANES < length ? list[x + q * LANES] : -1;
#pragma unroll
		for (int q = 0; q < 4; q++) {
			if (k[q] < 0 || ended || !o.has((hb_u32)k[q])) continue;
			const hb_i64 at = search ? o.find(owner, k[q]) : o.lo;
			if (at < 0) continue;
			const hb_i64 p = from + x + q * LANES;
			ended = hb_masked_add(a, b, overA ? p : at, overA ? at : p, i, k[q], j, sum, any);
		}
	}
	hb_masked_fold<LANES>(sum, any);
	if (HB_LANE % LANES == 0 && length) hb_masked_put(place / 2, any, sum, hit, out);
}

// hb_masked_warp takes up to 32 tasks of an owner by one warp. They are sorted by length, so that
// the groups of lanes have about as much to do.
HB_DEVICE void hb_masked_warp(const hb_store &a, const hb_store &b, const hb_store &mask, const hb_masked_map &o, const hb_i64 *from, const hb_i32 *length, const hb_i64 *place, hb_i64 first, int tasks, hb_u8 *hit, HB_C *out) {
	const int groups = HB_WARP / HB_MASKED_GROUP;
	hb_i64 begin = 0, to = 0;
	hb_i32 n = 0;
	if (HB_LANE < tasks) {
		begin = from[first + HB_LANE];
		n = length[first + HB_LANE];
		to = place[first + HB_LANE];
	}
	hb_u32 key = (hb_u32)(n < 1 << 26 ? n : (1 << 26) - 1) << 5 | HB_LANE; // length and task
	for (int k = 2; k <= HB_WARP; k *= 2) // bitonic, the longest first
		for (int d = k / 2; d > 0; d /= 2) {
			const hb_u32 t = __shfl_xor_sync(HB_FULL, key, d);
			key = ((HB_LANE & d) == 0) == ((HB_LANE & k) == 0) ? (key > t ? key : t) : (key < t ? key : t);
		}
	int q = 0;
	for (; q < tasks; q++) {
		const int src = __shfl_sync(HB_FULL, key, q) % HB_WARP;
		const hb_i32 len = __shfl_sync(HB_FULL, n, src);
		if (len < HB_MASKED_LONG) break;
		hb_masked_task<HB_WARP>(a, b, mask, o, __shfl_sync(HB_FULL, begin, src), len, __shfl_sync(HB_FULL, to, src), hit, out);
	}
	for (; q < tasks; q += groups) {
		const int mine = q + HB_LANE / HB_MASKED_GROUP;
		const int src = __shfl_sync(HB_FULL, key, mine % HB_WARP) % HB_WARP;
		const hb_i32 len = __shfl_sync(HB_FULL, n, src);
		const hb_i64 at = __shfl_sync(HB_FULL, begin, src), e = __shfl_sync(HB_FULL, to, src);
		hb_masked_task<HB_MASKED_GROUP>(a, b, mask, o, at, mine < tasks ? len : 0, e, hit, out);
	}
}

// hb_masked_before counts the bits before each 128 of o, by the block.
HB_DEVICE void hb_masked_before(const hb_masked_map &o) {
	__shared__ hb_u32 parts[HB_WARP];
	const int groups = (int)((o.bits + 128) / 128), each = (groups + HB_MASKED_BLOCK - 1) / HB_MASKED_BLOCK;
	const int from = threadIdx.x * each < groups ? threadIdx.x * each : groups, stop = from + each < groups ? from + each : groups;
	hb_u32 mine = 0;
	for (int g = from; g < stop; g++) {
		const hb_masked_words x = ((const hb_masked_words *)o.map)[g];
		o.before[g] = mine;
		mine += __popc(x.w[0]) + __popc(x.w[1]) + __popc(x.w[2]) + __popc(x.w[3]);
	}
	const hb_u32 upto = hb_sums(mine);
	if (HB_LANE == HB_WARP - 1) parts[threadIdx.x / HB_WARP] = upto;
	__syncthreads();
	hb_u32 done = upto - mine;
	for (int w = 0; w < (int)threadIdx.x / HB_WARP; w++) done += parts[w];
	for (int g = from; g < stop; g++) o.before[g] += done;
	__syncthreads();
}

HB_KERNEL __launch_bounds__(HB_MASKED_BLOCK)
hb_masked_probe(hb_store a, hb_store b, hb_store mask, hb_i64 base, hb_u32 bits, const hb_i64 *first, const hb_i64 *from,
	const hb_i32 *length, const hb_i64 *place, const hb_masked_unit *units, const hb_i32 *light, hb_u64 *sizes, hb_u8 *hit, HB_C *out) {
	HB_DYNAMIC_SHARED(hb_u32, map);
	__shared__ hb_masked_unit drawn;
	__shared__ hb_i32 taken;
	const int words = HB_MASKED_OWN / 32;
	hb_u32 *own = map + (bits + 1) / 32;
	hb_masked_map o = {map, own + HB_MASKED_BLOCK / HB_WARP * words, bits, (hb_u32)a.ncols - 1 <= bits, 0, 0};
	own += threadIdx.x / HB_WARP * words;
	for (hb_u32 w = threadIdx.x; w <= bits / 32; w += HB_MASKED_BLOCK) map[w] = 0;
	for (;;) {
		__syncthreads();
		if (threadIdx.x == 0) {
			const hb_u64 t = atomicAdd(sizes + 2, (hb_u64)1);
			drawn.tasks = 0;
			if (t < sizes[0]) drawn = units[t];
			taken = 0;
		}
		__syncthreads();
		const hb_masked_unit u = drawn;
		if (u.tasks == 0) break;
		const hb_i32 *idx = hb_masked_bounds(a, b, base, u.owner, o.lo, o.hi) ? a.idx : b.idx;
		for (hb_i64 e = o.lo + threadIdx.x; e < o.hi; e += HB_MASKED_BLOCK) atomicOr(map + ((hb_u32)idx[e] & bits) / 32, 1u << (idx[e] % 32));
		__syncthreads();
#if HB_MASKED_RANKS
		if (o.exact) hb_masked_before(o);
#endif
		const int grab = u.tasks >= HB_MASKED_BLOCK ? 32 : u.tasks >= HB_MASKED_BLOCK / 2 ? 16 : 8;
		for (;;) {
			hb_i32 t = 0;
			if (HB_LANE == 0) t = atomicAdd(&taken, grab);
			t = __shfl_sync(HB_FULL, t, 0);
			if (t >= u.tasks) break;
			hb_masked_warp(a, b, mask, o, from, length, place, u.task + t, u.tasks - t < grab ? u.tasks - t : grab, hit, out);
		}
		__syncthreads();
		for (hb_i64 e = o.lo + threadIdx.x; e < o.hi; e += HB_MASKED_BLOCK) map[((hb_u32)idx[e] & bits) / 32] = 0;
	}
	for (int w = HB_LANE; w < words; w += HB_WARP) own[w] = 0;
	__syncwarp();
	o.bits = HB_MASKED_OWN - 1;
	o.exact = false;
	for (;;) { // a warp takes 4 light owners
		hb_u64 x = 0;
		if (HB_LANE == 0) x = atomicAdd(sizes + 3, (hb_u64)4);
		x = __shfl_sync(HB_FULL, x, 0);
		if (x >= sizes[1]) return;
		for (hb_u64 stop = x + 4 < sizes[1] ? x + 4 : sizes[1]; x < stop; x++) {
			const hb_i32 owner = light[x];
			const hb_i32 *idx = hb_masked_bounds(a, b, base, owner, o.lo, o.hi) ? a.idx : b.idx;
			o.map = o.hi - o.lo <= HB_MASKED_OWN / 4 ? own : (hb_u32 *)0;
			if (o.map)
				for (hb_i64 e = o.lo + HB_LANE; e < o.hi; e += HB_WARP) atomicOr(own + (idx[e] % HB_MASKED_OWN) / 32, 1u << (idx[e] % 32));
			__syncwarp();
			for (hb_i64 t = first[owner]; t < first[owner + 1]; t += HB_WARP) {
				const hb_i64 left = first[owner + 1] - t;
				hb_masked_warp(a, b, mask, o, from, length, place, t, left < HB_WARP ? (int)left : HB_WARP, hit, out);
			}
			__syncwarp();
			if (o.map)
				for (hb_i64 e = o.lo + HB_LANE; e < o.hi; e += HB_WARP) own[(idx[e] % HB_MASKED_OWN) / 32] = 0;
			__syncwarp();
		}
	}
}
