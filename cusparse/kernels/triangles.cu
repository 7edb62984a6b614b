// C⟨A⟩ = A plus_pair Aᵀ, for a square A: for every entry (i, j) of A the number
// of columns that rows i and j of A have in common. With the edges of a graph
// that lead to the vertex of higher degree as A, their sum is the number of triangles.
//
// Every entry is a task of the longer of its two rows, its owner: a block lays
// the owner's columns out as a bitmap in shared memory, and a few lanes a task
// probe it with the shorter row. Columns are renumbered so that frequent ones
// come first, and kept in 16 bits: rows packed at multiples of 8 (16 bytes, one
// load), filled up with the column `fill`, which no bitmap has and which stands
// for all beyond, too. Owners of little work, or with columns beyond, have their
// row searched by halving instead. All results are counts: whatever the order, they
// are the same.
//
// cusparse/triangles.go launches all of this. Once a matrix (kept; n rows, nnz entries):
//   n > fill: the new number of a column
//   hist u32[n] zeroed; keys u32[n], to be sorted; rank i32[n]
//   hb_tri_columns<<<…>>>(nnz, idx, hist)
//   hb_tri_keys<<<…>>>(n, hist, keys)
//   hb_tri_rank<<<…>>>(n, places, rank)
//   packed u16[8·((nnz + 7·n)/8 + 1)], beyond u8[n]
//   hb_tri_pack <<<⌈n/8⌉, 256>>>(n, fill, ptr, idx, rank or null, packed, beyond)
//   ptr2 i64[n], zeroed; work u64[n], zeroed
//   hb_tri_count<<<⌈n/8⌉, 256>>>(n, ptr, idx, ptr2, work);   prefix sums of ptr2
//   cursor u64[n] = copy of ptr2[0..n)
//   other i32[nnz], place i64[nnz]
//   hb_tri_fill <<<⌈n/8⌉, 256>>>(n, ptr, idx, cursor, other, from, quads, place)
//   hb_tri_split<<<⌈n/256⌉, 256>>>(n, ptr, ptr2, work, beyond, units, light, sizes)
//       units hb_tri_unit[n + nnz/HB_TRI_CHUNK]: some tasks of an owner, for a block; light i32[n];
//       sizes u64[5], zeroed: units, light owners, a ticket for each, and the probes of owners with
//       columns beyond: the host takes another way if they are many
// Each call: counts u32[nnz]
//   the tickets, sizes[2..3], zeroed
//   hb_tri_intersect<<<SMs·8, 256, fill/8 + 4>>>(…);   compact.cu keeps the counts that are not 0
//
// hb_tri_intersect, R-MAT 20, edge factor 16, by degree, 4.2·10⁸ triangles, on an H200, µs: 1609;
// CHUNK 1024 1640, 2048 1618; GROUP 2 1603, 8 with 48 registers 1899; with GROUP 2 and CHUNK 2048,
// LIGHT 64 1708, 256 1635, 512 1654; 64-bit counts 25 more. With 32-bit columns and a warp a task
// twice as long: a task of 32 lanes was short of columns (83 on average).

#ifndef HB_TRI_GROUP // lanes that share a task
#define HB_TRI_GROUP 4
#endif
#ifndef HB_TRI_LIGHT // owners of less work (probes) than this are searched
#define HB_TRI_LIGHT 256
#endif
#ifndef HB_TRI_CHUNK // tasks of a unit: a hub's are shared by several blocks
#define HB_TRI_CHUNK 4096
#endif

struct __align__(16) hb_eight { hb_u32 w[4]; };

struct __align__(16) hb_tri_unit {
	hb_i64 task; // the first
	hb_i32 from, length, tasks, unused; // where the owner is packed, by 8; its columns
};

// hb_tri_at is where row k begins in the packed columns, by 8: no prefix sum is
// needed, since it grows by ⌈length/8⌉ at least.
HB_DEVICE hb_i64 hb_tri_at(hb_i64 begin, hb_i64 k) { return (begin + 7 * k) / 8; }

HB_KERNEL __launch_bounds__(256) hb_tri_columns(hb_i64 nnz, const hb_i32 *__restrict__ idx, hb_u32 *hist) {
	for (hb_i64 e = (hb_i64)blockIdx.x * 256 + threadIdx.x; e < nnz; e += (hb_i64)gridDim.x * 256) atomicAdd(hist + idx[e], 1u);
}

// The more often a column is used, the smaller is its key: eight to a doubling.
HB_KERNEL __launch_bounds__(256) hb_tri_keys(hb_i64 n, const hb_u32 *__restrict__ hist, hb_u32 *keys) {
	for (hb_i64 c = (hb_i64)blockIdx.x * 256 + threadIdx.x; c < n; c += (hb_i64)gridDim.x * 256) {
		const hb_u64 used = hist[c];
		const int log = used ? 63 - __clzll(used) : 0;
		keys[c] = used ? 254 - (hb_u32)(8 * log + ((used << 3 >> log) & 7)) : 255;
	}
}

HB_KERNEL __launch_bounds__(256) hb_tri_rank(hb_i64 n, const hb_u32 *__restrict__ places, hb_i32 *rank) {
	for (hb_i64 p = (hb_i64)blockIdx.x * 256 + threadIdx.x; p < n; p += (hb_i64)gridDim.x * 256) rank[places[p]] = (hb_i32)p;
}

HB_KERNEL __launch_bounds__(256)
hb_tri_pack(hb_i64 n, hb_i32 fill, const hb_i64 *__restrict__ ptr, const hb_i32 *__restrict__ idx, const hb_i32 *__restrict__ rank,
	hb_u16 *packed, hb_u8 *beyond) {
	const hb_i64 r = ((hb_i64)blockIdx.x * 256 + threadIdx.x) / HB_WARP;
	if (r >= n) return; // whole warps
	const hb_i64 begin = ptr[r], length = ptr[r + 1] - begin, at = hb_tri_at(begin, r) * 8;
	bool out = false;
	for (hb_i64 j = threadIdx.x % HB_WARP; j < (length + 7) / 8 * 8; j += HB_WARP) {
		hb_i32 c = fill;
		if (j < length) {
			c = rank ? rank[idx[begin + j]] : idx[begin + j];
			out |= c >= fill;
		}
		packed[at + j] = (hb_u16)(c < fill ? c : fill);
	}
	out = __any_sync(HB_FULL, out);
	if (threadIdx.x % HB_WARP == 0) beyond[r] = out;
}

HB_KERNEL __launch_bounds__(256)
hb_tri_count(hb_i64 n, const hb_i64 *__restrict__ ptr, const hb_i32 *__restrict__ idx, hb_u64 *ptr2, hb_u64 *work) {
	const hb_i64 i = ((hb_i64)blockIdx.x * 256 + threadIdx.x) / HB_WARP;
	if (i >= n) return;
	const int lane = threadIdx.x % HB_WARP;
	const hb_i64 end = ptr[i + 1], length = end - ptr[i];
	hb_u64 tasks = 0, probes = 0;
	for (hb_i64 e = ptr[i] + lane; e < end; e += HB_WARP) {
		const hb_i64 other = ptr[idx[e] + 1] - ptr[idx[e]];
		if (other <= length) {
			tasks++;
			probes += other;
		} else {
			atomicAdd(ptr2 + idx[e], 1ULL);
			atomicAdd(work + idx[e], (hb_u64)length);
		}
	}
	tasks = hb_total(tasks);
	probes = hb_total(probes);
	if (lane == 0 && tasks) {
		atomicAdd(ptr2 + i, tasks);
		atomicAdd(work + i, probes);
	}
}

HB_KERNEL __launch_bounds__(256)
hb_tri_fill(hb_i64 n, const hb_i64 *__restrict__ ptr, const hb_i32 *__restrict__ idx, hb_u64 *cursor, hb_i32 *other,
	hb_i32 *from, hb_i32 *quads, hb_i64 *place) {
	const hb_i64 i = ((hb_i64)blockIdx.x * 256 + threadIdx.x) / HB_WARP;
	if (i >= n) return;
	const int lane = threadIdx.x % HB_WARP;
	const hb_i64 begin = ptr[i], end = ptr[i + 1];
	for (hb_i64 e0 = begin; e0 < end; e0 += HB_WARP) {
		const hb_i64 e = e0 + lane;
		const bool real = e < end;
		const hb_i32 j = real ? idx[e] : 0;
		const hb_i64 length = ptr[j + 1] - ptr[j];
		const bool own = real && length <= end - begin;
		const hb_u32 owned = __ballot_sync(HB_FULL, own);
		hb_u64 at = 0;
		if (lane == 0 && owned) at = atomicAdd(cursor + i, (hb_u64)__popc(owned));
		at = __shfl_sync(HB_FULL, at, 0) + __popc(owned & ((1u << lane) - 1));
		if (real && !own) at = atomicAdd(cursor + j, 1ULL);
		if (real) {
			other[at] = own ? j : (hb_i32)i;
			from[at] = (hb_i32)(own ? hb_tri_at(ptr[j], j) : hb_tri_at(begin, i));
			quads[at] = (hb_i32)(((own ? length : end - begin) + 7) / 8);
			place[at] = e;
		}
	}
}

HB_KERNEL __launch_bounds__(256)
hb_tri_split(hb_i64 n, const hb_i64 *__restrict__ ptr, const hb_i64 *__restrict__ ptr2, const hb_u64 *__restrict__ work,
	const hb_u8 *__restrict__ beyond, hb_tri_unit *units, hb_i32 *light, hb_u64 *sizes) {
	const hb_i64 i = (hb_i64)blockIdx.x * 256 + threadIdx.x;
	const hb_i64 tasks = i < n ? ptr2[i + 1] - ptr2[i] : 0;
	const bool fits = tasks && work[i] >= HB_TRI_LIGHT && !beyond[i];
	const int lane = threadIdx.x % HB_WARP;
	const hb_i32 parts = fits ? (hb_i32)((tasks + HB_TRI_CHUNK - 1) / HB_TRI_CHUNK) : 0, upto = hb_sums(parts);
	hb_u64 at = 0; // places are taken warp by warp: near the order of the rows
	if (lane == HB_WARP - 1 && upto) at = atomicAdd(sizes, (hb_u64)upto);
	at = __shfl_sync(HB_FULL, at, HB_WARP - 1) + upto - parts;
	for (hb_i32 c = 0; c < parts; c++) {
		const hb_i64 first = (hb_i64)c * HB_TRI_CHUNK, left = tasks - first;
		units[at + c] = hb_tri_unit{ptr2[i] + first, (hb_i32)hb_tri_at(ptr[i], i), (hb_i32)(ptr[i + 1] - ptr[i]),
			(hb_i32)(left < HB_TRI_CHUNK ? left : HB_TRI_CHUNK), 0};
	}
	const hb_u32 all = __ballot_sync(HB_FULL, tasks && !fits);
	if (lane == 0 && all) at = atomicAdd(sizes + 1, (hb_u64)__popc(all));
	at = __shfl_sync(HB_FULL, at, 0) + __popc(all & ((1u << lane) - 1));
	if (tasks && !fits) light[at] = (hb_i32)i;
	const hb_u64 searched = hb_total(tasks && beyond[i] ? work[i] : (hb_u64)0);
	if (lane == 0 && searched) atomicAdd(sizes + 4, searched);
}

// hb_tri_search counts the light owners' tasks: 8 lanes a task, each column of
// the shorter row looked for in the owner's.
HB_DEVICE void hb_tri_search(const hb_i64 *__restrict__ ptr, const hb_i32 *__restrict__ idx, const hb_i64 *__restrict__ ptr2,
	const hb_i32 *__restrict__ other, const hb_i64 *__restrict__ place, const hb_i32 *__restrict__ light, hb_u64 *sizes, hb_u32 *counts) {
	const int lane = threadIdx.x % HB_WARP, group = lane / 8;
	const hb_i64 owners = (hb_i64)sizes[1];
	for (;;) {
		hb_u64 base = 0; // a warp takes 8 owners
		if (lane == 0) base = atomicAdd(sizes + 3, 8ULL);
		base = __shfl_sync(HB_FULL, base, 0);
		if ((hb_i64)base >= owners) return;
		const hb_i64 stop = (hb_i64)base + 8 < owners ? (hb_i64)base + 8 : owners;
		for (hb_i64 o = (hb_i64)base; o < stop; o++) {
			const hb_i32 v = light[o];
			const hb_i64 begin = ptr[v], last = ptr2[v + 1];
			const hb_i32 n = (hb_i32)(ptr[v + 1] - begin);
			for (hb_i64 t0 = ptr2[v]; t0 < last; t0 += 4) {
				hb_u32 hits = 0;
				if (t0 + group < last) {
					const hb_i32 w = other[t0 + group];
					const hb_i64 end = ptr[w + 1];
					for (hb_i64 e = ptr[w] + lane % 8; e < end; e += 8) {
						const hb_i32 c = idx[e];
						hb_i32 lo = 0, hi = n;
						while (lo < hi) {
							const hb_i32 mid = (lo + hi) / 2;
							if (idx[begin + mid] < c) lo = mid + 1;
							else hi = mid;
						}
						hits += lo < n && idx[begin + lo] == c;
					}
				}
				for (int d = 4; d > 0; d /= 2) hits += __shfl_xor_sync(HB_FULL, hits, d);
				if (lane % 8 == 0 && t0 + group < last) counts[place[t0 + group]] = hits;
			}
		}
	}
}

// hb_tri_probe counts up to 32 tasks of the owner in map, by one warp. They are
// sorted by length, so that the groups of lanes have about as much to do.
HB_DEVICE void hb_tri_probe(const hb_u32 *map, const hb_eight *__restrict__ packed, const hb_i32 *__restrict__ from,
	const hb_i32 *__restrict__ quads, const hb_i64 *__restrict__ place, hb_i64 first, int tasks, hb_u32 *counts) {
	const int lane = threadIdx.x % HB_WARP, groups = HB_WARP / HB_TRI_GROUP, group = lane / HB_TRI_GROUP, in = lane % HB_TRI_GROUP;
	hb_i32 begin = 0;
	hb_u32 key = lane; // length and task
	hb_i64 out = 0;
	if (lane < tasks) {
		begin = from[first + lane];
		key = (hb_u32)quads[first + lane] << 5 | lane;
		out = place[first + lane];
	}
	for (int k = 2; k <= HB_WARP; k *= 2) // bitonic, the longest first
		for (int d = k / 2; d > 0; d /= 2) {
			const hb_u32 t = __shfl_xor_sync(HB_FULL, key, d);
			key = ((lane & d) == 0) == ((lane & k) == 0) ? (key > t ? key : t) : (key < t ? key : t);
		}
	hb_u32 found = 0;
	for (int q = 0; q < HB_WARP; q += groups) {
		const hb_u32 mine = __shfl_sync(HB_FULL, key, q + group);
		const hb_eight *list = packed + __shfl_sync(HB_FULL, begin, mine % HB_WARP);
		if (!__any_sync(HB_FULL, mine >= HB_WARP)) break; // no tasks, or empty ones
		hb_u32 hits = 0;
#pragma unroll 2
		for (hb_u32 p = in; p < mine / HB_WARP; p += HB_TRI_GROUP) {
			const hb_eight eight = list[p];
#pragma unroll
			for (int h = 0; h < 4; h++) {
				const hb_u32 w = eight.w[h];
				hits += map[(w & 0xffff) / 32] >> (w % 32) & 1;
				hits += map[w >> 21] >> (w >> 16 & 31) & 1;
			}
		}
		for (int d = HB_TRI_GROUP / 2; d > 0; d /= 2) hits += __shfl_xor_sync(HB_FULL, hits, d);
		const hb_u32 theirs = __shfl_sync(HB_FULL, hits, lane % groups * HB_TRI_GROUP);
		if (lane / groups * groups == q) found = theirs; // lane l has the l-th longest task
	}
	out = __shfl_sync(HB_FULL, out, key % HB_WARP);
	if ((int)(key % HB_WARP) < tasks) counts[out] = found;
}

HB_KERNEL __launch_bounds__(256, 6) // 40 registers; 48: 1794 µs, 32: 1684
hb_tri_intersect(hb_i32 fill, const hb_i64 *__restrict__ ptr, const hb_i32 *__restrict__ idx, const hb_u16 *__restrict__ packed,
	const hb_i64 *__restrict__ ptr2, const hb_i32 *__restrict__ other, const hb_i32 *__restrict__ from, const hb_i32 *__restrict__ quads,
	const hb_i64 *__restrict__ place, const hb_tri_unit *__restrict__ units, const hb_i32 *__restrict__ light, hb_u64 *sizes, hb_u32 *counts) {
	HB_DYNAMIC_SHARED(hb_u32, map); // fill/32 + 1 words, the last 0
	__shared__ hb_tri_unit drawn[2];
	__shared__ hb_i32 taken;
	const hb_u64 all = sizes[0];
	if (threadIdx.x == 0) {
		const hb_u64 t = atomicAdd(sizes + 2, 1ULL);
		drawn[0] = t < all ? units[t] : hb_tri_unit{};
		taken = 0;
	}
	for (int w = threadIdx.x; w <= fill / 32; w += 256) map[w] = 0;
	for (int side = 0;; side ^= 1) {
		__syncthreads(); // the unit is there, the map is clear
		const hb_tri_unit u = drawn[side];
		if (u.tasks == 0) break;
		const hb_u16 *row = packed + (hb_i64)u.from * 8;
		for (hb_i32 e = threadIdx.x; e < u.length; e += 256) atomicOr(map + row[e] / 32, 1u << (row[e] % 32));
		__syncthreads();
		if (threadIdx.x == 0) { // while the others are at work
			const hb_u64 t = atomicAdd(sizes + 2, 1ULL);
			drawn[side ^ 1] = t < all ? units[t] : hb_tri_unit{};
		}
		const int grab = u.tasks >= 256 ? 32 : u.tasks >= 128 ? 16 : 8;
		for (;;) {
			hb_i32 t = 0;
			if (threadIdx.x % HB_WARP == 0) t = atomicAdd(&taken, grab);
			t = __shfl_sync(HB_FULL, t, 0);
			if (t >= u.tasks) break;
			hb_tri_probe(map, (const hb_eight *)packed, from, quads, place, u.task + t, u.tasks - t < grab ? u.tasks - t : grab, counts);
		}
		__syncthreads();
		for (hb_i32 e = threadIdx.x; e < u.length; e += 256) map[row[e] / 32] = 0;
		if (threadIdx.x == 0) taken = 0;
	}
	hb_tri_search(ptr, idx, ptr2, other, place, light, sizes, counts);
}
