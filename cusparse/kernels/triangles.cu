// C⟨M⟩ = A plus_pair Bᵀ with M = A = B: for every entry (i, j) of A the number
// of columns that rows i and j of A have in common. With A the lower triangle
// of a graph whose vertices stand by descending degree, the sum over the
// entries is the number of triangles.
//
// Every entry is a task of the longer of its two rows, its owner: a block lays
// the owner's columns out as a bitmap in shared memory and its warps probe it
// with the shorter rows. Owners of little work, or with columns beyond the
// bitmap, have their row searched by halving instead. All results are counts:
// whatever the order, they are the same.
//
// Once a matrix (kept; n rows, `bits` = columns a bitmap holds, multiple of 128,
// ≤ 262144: bits/8 bytes of shared memory a block):
//   ptr2 i64[n+1], zeroed; work u64[n], zeroed
//   hb_tri_count<<<⌈n/8⌉, 256>>>(n, ptr, idx, ptr2, work)
//   hb_scan_*                    (n, ptr2)            of scan.cu
//   cursor i64[n] = copy of ptr2[0..n)
//   hb_tri_fill <<<⌈n/8⌉, 256>>>(n, ptr, idx, cursor, other, probes, place)   other, probes i32[nnz], place i64[nnz]
//   hb_tri_split<<<⌈n/256⌉, 256>>>(n, bits, ptr, idx, ptr2, work, heavy, chunk, light, sizes)
//       heavy, chunk i32[n + nnz/HB_TRI_CHUNK]: an owner and which of its tasks, a block's unit of work;
//       light i32[n]; sizes u64[4], zeroed: units, light owners, and a ticket for each
//   (place may be null if only the sum will be asked for)
// Each call:
//   hb_tri_intersect<<<SMs·k, 256, bits/8>>>(…)   k blocks fit an SM: min(8, 227 KB/(bits/8 + 1 KB))
//   hb_tri_reset <<<1, 32>>>(sizes)            the tickets back to 0
//   idx is read in groups of 16 bytes: the last one may lie partly past its end.
//   counts HB_C[nnz] or null; sum u64 zeroed, or null.
//
// Measured on an H200, R-MAT 20, edge factor 16, by degree (15.7M entries, 4.2·10⁸ triangles), ms: sum 3.19,
// counts 3.72, preparation 1.45 while an owner was one block's and rows were asked for whole; asked only up to
// the owner's last column, still one block an owner: 3.90, 5.51, preparation 2.33 (hubs own more tasks, and
// hold up the end), which is why HB_TRI_CHUNK divides them. The division itself has not been timed yet.
// bits 65536 … 262144 differ by 2 %.

#ifndef HB_TRI_LIGHT // owners of less work (probes) than this are searched
#define HB_TRI_LIGHT 1024
#endif

#ifndef HB_TRI_CHUNK // tasks of a unit: a hub's are shared by several blocks
#define HB_TRI_CHUNK 1024
#endif

struct __align__(16) hb_quad { hb_i32 at[4]; };

HB_DEVICE hb_u32 hb_tri_total(hb_u32 v) {
#if !defined(HB_EMULATED) && __CUDA_ARCH__ >= 800
	return __reduce_add_sync(HB_FULL, v);
#else
	for (int d = HB_WARP / 2; d > 0; d /= 2) v += __shfl_xor_sync(HB_FULL, v, d);
	return v;
#endif
}

// hb_tri_own says whether row i owns its entry e = (i, j), and how many columns
// of the other row its owner will be asked for: none beyond the last of the owner's
// row j can be common, for a lower triangle half of row i.
HB_DEVICE bool hb_tri_own(const hb_i64 *ptr, const hb_i32 *idx, hb_i64 begin, hb_i64 end, hb_i64 e, hb_i32 *probes) {
	const hb_i32 j = idx[e];
	const hb_i64 other = ptr[j + 1] - ptr[j];
	hb_i64 lo = begin, hi = begin;
	if (other) {
		const hb_i32 last = idx[ptr[j + 1] - 1];
		lo = last < j ? begin : e;
		hi = last < j ? e : end;
		while (lo < hi) {
			const hb_i64 mid = (lo + hi) / 2;
			if (idx[mid] <= last) lo = mid + 1;
			else hi = mid;
		}
	}
	const bool own = other <= lo - begin;
	*probes = (hb_i32)(own ? other : lo - begin);
	return own;
}

HB_KERNEL __launch_bounds__(256)
hb_tri_count(hb_i64 n, const hb_i64 *__restrict__ ptr, const hb_i32 *__restrict__ idx, hb_u64 *ptr2, hb_u64 *work) {
	const hb_i64 i = ((hb_i64)blockIdx.x * 256 + threadIdx.x) / HB_WARP;
	if (i >= n) return; // whole warps
	const int lane = threadIdx.x % HB_WARP;
	const hb_i64 begin = ptr[i], end = ptr[i + 1];
	hb_u64 tasks = 0, probes = 0;
	for (hb_i64 e = begin + lane; e < end; e += HB_WARP) {
		hb_i32 asked;
		if (hb_tri_own(ptr, idx, begin, end, e, &asked)) {
			tasks++;
			probes += asked;
		} else {
			atomicAdd(ptr2 + idx[e], 1ULL);
			atomicAdd(work + idx[e], (hb_u64)asked);
		}
	}
	for (int d = HB_WARP / 2; d > 0; d /= 2) {
		tasks += __shfl_xor_sync(HB_FULL, tasks, d);
		probes += __shfl_xor_sync(HB_FULL, probes, d);
	}
	if (lane == 0 && tasks) {
		atomicAdd(ptr2 + i, tasks);
		atomicAdd(work + i, probes);
	}
}

HB_KERNEL __launch_bounds__(256)
hb_tri_fill(hb_i64 n, const hb_i64 *__restrict__ ptr, const hb_i32 *__restrict__ idx, hb_u64 *cursor, hb_i32 *other,
	hb_i32 *probes, hb_i64 *place) {
	const hb_i64 i = ((hb_i64)blockIdx.x * 256 + threadIdx.x) / HB_WARP;
	if (i >= n) return;
	const int lane = threadIdx.x % HB_WARP;
	const hb_i64 begin = ptr[i], end = ptr[i + 1];
	for (hb_i64 e0 = begin; e0 < end; e0 += HB_WARP) {
		const hb_i64 e = e0 + lane;
		hb_i32 asked = 0;
		const bool real = e < end, own = real && hb_tri_own(ptr, idx, begin, end, e, &asked);
		const hb_u32 owned = __ballot_sync(HB_FULL, own);
		hb_u64 at = 0;
		if (lane == 0 && owned) at = atomicAdd(cursor + i, (hb_u64)__popc(owned));
		at = __shfl_sync(HB_FULL, at, 0) + __popc(owned & ((1u << lane) - 1));
		if (real && !own) at = atomicAdd(cursor + idx[e], 1ULL);
		if (real) {
			other[at] = own ? idx[e] : (hb_i32)i;
			probes[at] = asked;
			if (place) place[at] = e;
		}
	}
}

HB_KERNEL __launch_bounds__(256)
hb_tri_split(hb_i64 n, hb_i32 bits, const hb_i64 *__restrict__ ptr, const hb_i32 *__restrict__ idx, const hb_i64 *__restrict__ ptr2,
	const hb_u64 *__restrict__ work, hb_i32 *heavy, hb_i32 *chunk, hb_i32 *light, hb_u64 *sizes) {
	const hb_i64 i = (hb_i64)blockIdx.x * 256 + threadIdx.x;
	bool tasks = false, fits = false;
	if (i < n) {
		tasks = ptr2[i] < ptr2[i + 1];
		fits = tasks && work[i] >= HB_TRI_LIGHT && idx[ptr[i + 1] - 1] < bits;
	}
	const int lane = threadIdx.x % HB_WARP;
	hb_i32 units = fits ? (hb_i32)((ptr2[i + 1] - ptr2[i] + HB_TRI_CHUNK - 1) / HB_TRI_CHUNK) : 0, upto = units;
	for (int d = 1; d < HB_WARP; d *= 2) {
		const hb_i32 t = __shfl_up_sync(HB_FULL, upto, d);
		if (lane >= d) upto += t;
	}
	hb_u64 at = 0; // places are taken warp by warp: near the order of the rows
	if (lane == HB_WARP - 1 && upto) at = atomicAdd(sizes, (hb_u64)upto);
	at = __shfl_sync(HB_FULL, at, HB_WARP - 1) + upto - units;
	for (hb_i32 c = 0; c < units; c++) {
		heavy[at + c] = (hb_i32)i;
		chunk[at + c] = c;
	}
	const hb_u32 all = __ballot_sync(HB_FULL, tasks && !fits);
	if (lane == 0 && all) at = atomicAdd(sizes + 1, (hb_u64)__popc(all));
	at = __shfl_sync(HB_FULL, at, 0) + __popc(all & ((1u << lane) - 1));
	if (tasks && !fits) light[at] = (hb_i32)i;
}

// hb_tri_search counts the light owners' tasks: 8 lanes a task, each column of
// the shorter row looked for in the owner's.
HB_DEVICE hb_u64 hb_tri_search(const hb_i64 *__restrict__ ptr, const hb_i32 *__restrict__ idx, const hb_i64 *__restrict__ ptr2,
	const hb_i32 *__restrict__ other, const hb_i32 *__restrict__ probes, const hb_i64 *__restrict__ place, const hb_i32 *__restrict__ light, hb_u64 *sizes,
	HB_C *counts) {
	const int lane = threadIdx.x % HB_WARP, group = lane / 8;
	const hb_i64 owners = (hb_i64)sizes[1];
	hb_u64 mine = 0;
	for (;;) {
		hb_u64 base = 0; // a warp takes 8 owners
		if (lane == 0) base = atomicAdd(sizes + 3, 8ULL);
		base = __shfl_sync(HB_FULL, base, 0);
		if ((hb_i64)base >= owners) return mine;
		const hb_i64 stop = (hb_i64)base + 8 < owners ? (hb_i64)base + 8 : owners;
		for (hb_i64 o = (hb_i64)base; o < stop; o++) {
			const hb_i32 v = light[o];
			const hb_i64 begin = ptr[v], last = ptr2[v + 1];
			const hb_i32 n = (hb_i32)(ptr[v + 1] - begin);
			for (hb_i64 t0 = ptr2[v]; t0 < last; t0 += 4) {
				hb_u32 hits = 0;
				if (t0 + group < last) {
					const hb_i32 w = other[t0 + group];
					const hb_i64 end = ptr[w] + probes[t0 + group];
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
				mine += hits;
				if (counts) {
					for (int d = 4; d > 0; d /= 2) hits += __shfl_xor_sync(HB_FULL, hits, d);
					if (lane % 8 == 0 && t0 + group < last) counts[place[t0 + group]] = (HB_C)hits;
				}
			}
		}
	}
}

HB_KERNEL __launch_bounds__(256)
hb_tri_intersect(hb_i32 bits, const hb_i64 *__restrict__ ptr, const hb_i32 *__restrict__ idx, const hb_i64 *__restrict__ ptr2,
	const hb_i32 *__restrict__ other, const hb_i32 *__restrict__ probes, const hb_i64 *__restrict__ place, const hb_i32 *__restrict__ heavy,
	const hb_i32 *__restrict__ chunk, const hb_i32 *__restrict__ light, hb_u64 *sizes, HB_C *counts, hb_u64 *sum) {
	HB_DYNAMIC_SHARED(hb_u32, map);
	__shared__ hb_i64 ticket;
	const int lane = threadIdx.x % HB_WARP, warp = threadIdx.x / HB_WARP;
	const hb_i64 units = (hb_i64)sizes[0];
	hb_u64 mine = 0;
	for (int w = threadIdx.x; w < bits / 32; w += 256) map[w] = 0;
	for (;;) {
		__syncthreads(); // the ticket has been read, the map is clear
		if (threadIdx.x == 0) ticket = (hb_i64)atomicAdd(sizes + 2, 1ULL);
		__syncthreads();
		if (ticket >= units) break;
		const hb_i32 v = heavy[ticket];
		const hb_i64 begin = ptr[v], end = ptr[v + 1];
		for (hb_i64 e = begin + threadIdx.x; e < end; e += 256) atomicOr(map + idx[e] / 32, 1u << (idx[e] % 32));
		__syncthreads();
		// The tasks are divided evenly among the warps, which take up to 32 at a time.
		const hb_i64 start = ptr2[v] + (hb_i64)chunk[ticket] * HB_TRI_CHUNK;
		const hb_i64 stop = start + HB_TRI_CHUNK < ptr2[v + 1] ? start + HB_TRI_CHUNK : ptr2[v + 1];
		const hb_i64 share = (stop - start + 7) / 8, first = start + warp * share;
		const hb_i64 last = first + share < stop ? first + share : stop;
		for (hb_i64 t0 = first; t0 < last; t0 += 32) {
			hb_i64 from = 0;
			hb_i32 length = 0;
			if (t0 + lane < last) {
				from = ptr[other[t0 + lane]];
				length = probes[t0 + lane];
			}
			hb_u32 found = 0;
			const int n = last - t0 < 32 ? (int)(last - t0) : 32;
			// at: this lane's place in the shorter row, "negative" is beyond its end;
			// the first columns of a task are loaded before those of the last are probed.
			hb_i64 begins = __shfl_sync(HB_FULL, from, 0);
			hb_u32 len = (hb_u32)__shfl_sync(HB_FULL, length, 0), at = 4 * lane - (hb_u32)(begins % 4);
			const hb_quad *list = (const hb_quad *)(idx + begins / 4 * 4) + lane;
			hb_quad four = (hb_i32)at < (hb_i32)len ? *list : hb_quad{};
			for (int q = 0; q < n; q++) {
				begins = __shfl_sync(HB_FULL, from, (q + 1) % 32);
				const hb_u32 len2 = q + 1 < n ? (hb_u32)__shfl_sync(HB_FULL, length, (q + 1) % 32) : 0;
				const hb_u32 at2 = 4 * lane - (hb_u32)(begins % 4);
				const hb_quad *list2 = (const hb_quad *)(idx + begins / 4 * 4) + lane;
				const hb_quad four2 = (hb_i32)at2 < (hb_i32)len2 ? *list2 : hb_quad{};
				hb_u32 hits = 0;
				for (;;) {
#pragma unroll
					for (hb_u32 j = 0; j < 4; j++) {
						const hb_u32 c = (hb_u32)four.at[j];
						if (at + j < len && c < (hb_u32)bits) hits += map[c / 32] >> (c % 32) & 1;
					}
					at += 128;
					list += 32;
					if (!__any_sync(HB_FULL, (hb_i32)at < (hb_i32)len)) break;
					if ((hb_i32)at < (hb_i32)len) four = *list;
				}
				four = four2;
				list = list2;
				at = at2;
				len = len2;
				if (counts) {
					const hb_u32 all = hb_tri_total(hits);
					if (lane == q) found = all;
				}
				mine += hits;
			}
			if (counts && t0 + lane < last) counts[place[t0 + lane]] = (HB_C)found;
		}
		__syncthreads();
		for (hb_i64 e = begin + threadIdx.x; e < end; e += 256) map[idx[e] / 32] = 0;
	}
	mine += hb_tri_search(ptr, idx, ptr2, other, probes, place, light, sizes, counts);
	if (sum) {
		for (int d = HB_WARP / 2; d > 0; d /= 2) mine += __shfl_xor_sync(HB_FULL, mine, d);
		if (lane == 0 && mine) atomicAdd(sum, mine);
	}
}

HB_KERNEL hb_tri_reset(hb_u64 *sizes) {
	if (threadIdx.x < 2) sizes[2 + threadIdx.x] = 0;
}
