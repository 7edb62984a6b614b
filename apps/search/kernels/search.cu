// Walks of graph search; see apps.GraphSearch for the rules. Source: prelude, queue.cu, philox.cu,
// this file.
// Host: apps/search/gpu.go, which defines
//     HB_SEARCH_CURVE    points of the curve, at most
//     HB_T               the values of edges
//     HB_SEARCH_TRIES    draws of a walk that must not return, before it searches its row
//     HB_SEARCH_RESTART  the purpose of the random numbers of restarts
//     HB_SEARCH_OWN      whether the caller has a function of weights, hb_search_own
//     HB_SEARCH_PART     walks in a partial sum of scores
//     HB_SEARCH_LANES    threads of a short row, in hb_search_best
//     HB_SEARCH_LONG     entries above which a block takes a row there
//
// In: ptr, idx, the rows of an n×n matrix; score double[n], or null. Tables, by the rule:
//     best, second  hb_i32[n], the best neighbours, −1 for none: hb_search_best, some threads a
//                   row, and hb_search_best_long, a block a row
//     slots         hb_slot[entries], alias tables: hb_search_mass, a warp a row, writes integer
//                   masses hb_u64[entries]; from these hb_search_slots, a warp a row, makes the
//                   tables
// Both null: uniform. hb_search_walk has a thread a walk; hb_search_live lists the walks that move,
// so that no lane waits for one that cannot. All of it gives the bits of the host.
//
// A step of a walk reads a row and one entry or slot at random: one sector of DRAM where the rows
// stay in the cache, which bounds uniform and stochastic walks. hb_search_pack puts the offset, the
// length and the score of a row into one record. Slots have 16 bytes so that one load takes all of
// a slot.


struct __align__(16) hb_slot { hb_i32 own, alias; hb_u32 threshold, unused; };

#define HB_SEARCH_WARP(v) \
	for (hb_i64 v = ((hb_i64)blockIdx.x * HB_GRAPH_BLOCK + threadIdx.x) / HB_WARP; v < n; v += (hb_i64)gridDim.x * HB_GRAPH_WARPS)

// hb_search_present notes which of n vertices walks have visited.
HB_KERNEL hb_search_present(hb_i64 n, const hb_u32 *first, hb_u8 *present) {
	HB_EACH(v, n) present[v] = first[v] != 0xffffffffu;
}

// hb_search_curve counts n vertices by the point of their first visit, in sums of points numbers
// that are 0 before. Launch: blocks of HB_GRAPH_BLOCK threads.
HB_KERNEL hb_search_curve(hb_i64 n, const hb_u32 *first, hb_i32 points, hb_u64 *sums) {
	__shared__ hb_u32 own[HB_SEARCH_CURVE];
	for (hb_i32 p = threadIdx.x; p < points; p += HB_GRAPH_BLOCK) own[p] = 0;
	__syncthreads();
	HB_EACH(v, n) {
		if (first[v] != 0xffffffffu) atomicAdd(own + first[v], 1u);
	}
	__syncthreads();
	for (hb_i32 p = threadIdx.x; p < points; p += HB_GRAPH_BLOCK) {
		if (own[p]) atomicAdd(sums + p, (hb_u64)own[p]);
	}
}

// hb_search_weights writes the weight of each entry: its value, times the score of the neighbour if
// there are scores, or the weight that the caller gives, hb_search_own(score, value). bad becomes 1
// if a weight is not finite, or with least negative. val may be null: all 1.
HB_KERNEL hb_search_weights(hb_i64 entries, const hb_i32 *idx, const HB_T *val, const double *score, hb_i32 least, double *weight, hb_u64 *bad) {
	HB_EACH(p, entries) {
#if HB_SEARCH_OWN
		const double w = hb_search_own(score ? score[idx[p]] : 0, val ? (double)val[p] : 1);
#else
		const double w = (val ? (double)val[p] : 1) * (score ? score[idx[p]] : 1);
#endif
		weight[p] = w;
		if (!(w <= 1.7976931348623157e308 && w >= (least ? 0 : -1.7976931348623157e308))) *bad = 1;
	}
}

// hb_search_before reports whether weight x at p comes before y at q; places below 0 come last.
HB_DEVICE bool hb_search_before(double x, hb_i64 p, double y, hb_i64 q) {
	return p >= 0 && (q < 0 || x > y || (x == y && p < q));
}

// The best two entries of a row so far; −1 for none.
struct hb_search_pair { double top, next; hb_i64 at, after; };

HB_DEVICE void hb_search_add(hb_search_pair &r, double x, hb_i64 p) {
	if (hb_search_before(x, p, r.top, r.at)) {
		r.next = r.top;
		r.after = r.at;
		r.top = x;
		r.at = p;
	} else if (hb_search_before(x, p, r.next, r.after)) {
		r.next = x;
		r.after = p;
	}
}

// hb_search_scan adds every step-th entry from p on; four loads are under way at a time.
HB_DEVICE void hb_search_scan(hb_search_pair &r, hb_i64 p, hb_i64 end, hb_i32 step, const hb_i32 *idx, const double *score, const double *weight) {
	for (; p + 3 * step < end; p += 4 * step) {
		double x[4];
#pragma unroll
		for (hb_i32 k = 0; k < 4; k++) x[k] = weight ? weight[p + k * step] : score[idx[p + k * step]];
#pragma unroll
		for (hb_i32 k = 0; k < 4; k++) hb_search_add(r, x[k], p + k * step);
	}
	for (; p < end; p += step) hb_search_add(r, weight ? weight[p] : score[idx[p]], p);
}

// hb_search_reduce leaves the best two of a group of lanes in each of them.
HB_DEVICE void hb_search_reduce(hb_search_pair &r, hb_i32 lanes) {
	for (hb_i32 d = lanes / 2; d > 0; d /= 2) {
		const double x = __shfl_xor_sync(HB_FULL, r.top, d), y = __shfl_xor_sync(HB_FULL, r.next, d);
		const hb_i64 p = __shfl_xor_sync(HB_FULL, r.at, d), q = __shfl_xor_sync(HB_FULL, r.after, d);
		hb_search_add(r, x, p);
		hb_search_add(r, y, q);
	}
}

HB_DEVICE void hb_search_store(const hb_search_pair &r, hb_i64 v, const hb_i32 *idx, hb_i32 *best, hb_i32 *second) {
	best[v] = r.at < 0 ? -1 : idx[r.at];
	second[v] = r.after < 0 ? -1 : idx[r.after];
}

// hb_search_best finds the neighbours of the highest and of the second highest weight, of several
// the first, of rows of at most HB_SEARCH_LONG entries. Longer rows are appended to longs, and
// counted. weight may be null: the scores of neighbours.
HB_KERNEL hb_search_best(hb_i32 n, const hb_i64 *ptr, const hb_i32 *idx, const double *score, const double *weight, hb_i32 *best, hb_i32 *second,
	hb_i32 *longs, hb_u64 *count) {
	const hb_i64 groups = (hb_i64)gridDim.x * (HB_GRAPH_BLOCK / HB_SEARCH_LANES);
	const hb_i32 lane = threadIdx.x % HB_SEARCH_LANES;
	const hb_i64 first = ((hb_i64)blockIdx.x * HB_GRAPH_BLOCK + threadIdx.x) / HB_SEARCH_LANES;
	for (hb_i64 v = first; v - first < n; v += groups) { // as many rounds for all lanes of a warp
		const bool there = v < n;
		const hb_i64 begin = there ? ptr[v] : 0, end = there ? ptr[v + 1] : 0;
		const bool large = end - begin > HB_SEARCH_LONG;
		hb_search_pair r = {0, 0, -1, -1};
		if (!large) hb_search_scan(r, begin + lane, end, HB_SEARCH_LANES, idx, score, weight);
		hb_search_reduce(r, HB_SEARCH_LANES);
		if (lane == 0 && large) longs[atomicAdd(count, (hb_u64)1)] = (hb_i32)v;
		else if (lane == 0 && there) hb_search_store(r, v, idx, best, second);
	}
}

// hb_search_best_long does so for the long rows, a block a row.
HB_KERNEL hb_search_best_long(const hb_i64 *ptr, const hb_i32 *idx, const double *score, const double *weight, hb_i32 *best, hb_i32 *second,
	const hb_i32 *longs, const hb_u64 *count) {
	__shared__ hb_search_pair parts[HB_GRAPH_WARPS];
	for (hb_i64 k = blockIdx.x; k < (hb_i64)*count; k += gridDim.x) {
		const hb_i64 v = longs[k];
		hb_search_pair r = {0, 0, -1, -1};
		hb_search_scan(r, ptr[v] + threadIdx.x, ptr[v + 1], HB_GRAPH_BLOCK, idx, score, weight);
		hb_search_reduce(r, HB_WARP);
		if (HB_LANE == 0) parts[threadIdx.x / HB_WARP] = r;
		__syncthreads();
		if (threadIdx.x == 0) {
			for (hb_i32 w = 1; w < HB_GRAPH_WARPS; w++) {
				hb_search_add(r, parts[w].top, parts[w].at);
				hb_search_add(r, parts[w].next, parts[w].after);
			}
			hb_search_store(r, v, idx, best, second);
		}
		__syncthreads();
	}
}

// hb_search_mass is integerMasses of apps/search/rows.go for each row.
HB_KERNEL hb_search_mass(hb_i32 n, const hb_i64 *ptr, const hb_i32 *idx, const double *score, const double *weight, hb_u64 *mass) {
	HB_SEARCH_WARP(v) {
		const hb_i64 begin = ptr[v], end = ptr[v + 1];
		double largest = 0;
		for (hb_i64 p = begin + HB_LANE; p < end; p += HB_WARP) {
			const double x = weight ? weight[p] : score[idx[p]];
			largest = x > largest ? x : largest;
		}
		for (hb_i32 d = HB_WARP / 2; d > 0; d /= 2) {
			const double x = __shfl_xor_sync(HB_FULL, largest, d);
			largest = x > largest ? x : largest;
		}
		hb_i32 bits = 62;
		for (hb_i64 c = end - begin; c > 0; c /= 2) bits--;
		if (bits > 52) bits = 52;
		const double scale = (double)((hb_u64)1 << bits); // a power of 2: the product is exact, fused or not
		for (hb_i64 p = begin + HB_LANE; p < end; p += HB_WARP)
			mass[p] = largest > 0 ? (hb_u64)((weight ? weight[p] : score[idx[p]]) / largest * scale + 0.5) : 0;
	}
}

// hb_threshold is 2³²·part/whole, rounded down, of part < whole ≤ 2⁶²: an estimate, and its
// remainder.
HB_DEVICE hb_u32 hb_threshold(hb_u64 part, hb_u64 whole) {
	hb_u64 q = (hb_u64)((double)part / (double)whole * 4294967296.0);
	hb_i64 rest = (hb_i64)((part << 32) - q * whole); // exact: it is below 2⁶³
	while (rest < 0) {
		q--;
		rest += (hb_i64)whole;
	}
	while (rest >= (hb_i64)whole) {
		q++;
		rest -= (hb_i64)whole;
	}
	return (hb_u32)q;
}

// hb_search_least reports whether a·b is at least c·d, in 128 bits.
HB_DEVICE bool hb_search_least(hb_u64 a, hb_u64 b, hb_u64 c, hb_u64 d) {
	const hb_u64 x = __umul64hi(a, b), y = __umul64hi(c, d);
	return x > y || (x == y && a * b >= c * d);
}

// hb_search_slots is aliasTable of apps/search/rows.go for each row. The sweep fills the deficits
// of the light neighbours from the excess of the heavy ones, both in order. D is the sums of the
// first deficits and E the sums of the first excesses. The first heavy neighbour with E at least D
// before i fills light neighbour i, and heavy neighbour j becomes light when D first exceeds its E.
// sums and at have the sums of masses and the places of a row's light neighbours first, then of its
// heavy neighbours: D = i·sum − count·(mass of i light ones), E = count·(mass of j heavy ones) −
// j·sum. D and E have up to 94 bits, and are compared by products of 128; all is exact in integers.
HB_KERNEL hb_search_slots(hb_i32 n, const hb_i64 *ptr, const hb_i32 *idx, const hb_u64 *mass, hb_u64 *sums, hb_i32 *at, hb_slot *slots) {
	const hb_u32 below = (1u << HB_LANE) - 1;
	HB_SEARCH_WARP(v) {
		const hb_i64 begin = ptr[v], length = ptr[v + 1] - begin;
		const hb_u64 count = (hb_u64)length;
		hb_u64 sum = 0;
		hb_i64 lights = 0;
		for (hb_i64 k = HB_LANE; k < length; k += HB_WARP) sum += mass[begin + k];
		sum = hb_total(sum);
		for (hb_i64 k = HB_LANE; k < length; k += HB_WARP) lights += mass[begin + k] * count < sum;
		lights = hb_total(lights);
		hb_u64 inLight = 0, inHeavy = 0;
		hb_i64 light = 0, heavy = lights;
		for (hb_i64 first = 0; first < length && sum > 0; first += HB_WARP) {
			const hb_i64 k = first + HB_LANE;
			const bool there = k < length;
			const hb_u64 m = there ? mass[begin + k] : 0;
			const bool isLight = there && m * count < sum, isHeavy = there && !isLight;
			const hb_u32 l = __ballot_sync(HB_FULL, isLight), h = __ballot_sync(HB_FULL, isHeavy);
			const hb_u64 d = hb_sums(isLight ? m : (hb_u64)0) + inLight, e = hb_sums(isHeavy ? m : (hb_u64)0) + inHeavy;
			if (there) {
				const hb_i64 to = begin + (isLight ? light + __popc(l & below) : heavy + __popc(h & below));
				sums[to] = isLight ? d : e;
				at[to] = (hb_i32)k;
			}
			inLight = __shfl_sync(HB_FULL, d, HB_WARP - 1);
			inHeavy = __shfl_sync(HB_FULL, e, HB_WARP - 1);
			light += __popc(l);
			heavy += __popc(h);
		}
		__syncwarp();
		const hb_u64 *L = sums + begin, *H = L + lights;
		for (hb_i64 k = HB_LANE; k < length; k += HB_WARP) {
			hb_i64 place = k, other = k;
			hb_u64 part = 0;
			if (sum > 0 && k < lights) {
				const hb_u64 before = k > 0 ? L[k - 1] : 0;
				hb_i64 lo = 0, hi = length - lights; // the first heavy one with E ≥ D
				while (lo < hi) {
					const hb_i64 mid = (lo + hi) / 2;
					if (hb_search_least(count, H[mid] + before, (hb_u64)(k + mid + 1), sum)) hi = mid;
					else lo = mid + 1;
				}
				place = at[begin + k];
				other = at[begin + lights + lo];
				part = mass[begin + place] * count;
			} else if (sum > 0) {
				const hb_i64 j = k - lights;
				hb_i64 lo = 0, hi = lights; // the first light one with D > E
				while (lo < hi) {
					const hb_i64 mid = (lo + hi) / 2;
					if (hb_search_least(count, H[j] + L[mid], (hb_u64)(mid + j + 2), sum)) lo = mid + 1;
					else hi = mid;
				}
				place = other = at[begin + k];
				if (lo < lights) {
					other = at[begin + k + 1];
					part = sum + count * (H[j] + L[lo]) - (hb_u64)(lo + j + 2) * sum; // exact modulo 2⁶⁴
				}
			}
			const hb_slot s = {idx[begin + place], idx[begin + other], place == other ? 0 : hb_threshold(part, sum), 0};
			slots[begin + place] = s;
		}
	}
}

// hb_search_parts adds up the sums of walks by parts, each in order. A warp takes 32 parts, which
// go through shared memory so that loads are of whole lines.
HB_KERNEL hb_search_parts(hb_i64 walks, const double *sums, double *parts) {
	__shared__ double tile[HB_WARP][HB_WARP + 1];
	const hb_i64 count = (walks + HB_SEARCH_PART - 1) / HB_SEARCH_PART;
	for (hb_i64 first = (hb_i64)blockIdx.x * HB_WARP; first < count; first += (hb_i64)gridDim.x * HB_WARP) {
		double sum = 0;
		for (hb_i32 from = 0; from < HB_SEARCH_PART; from += HB_WARP) {
#pragma unroll 8
			for (hb_i32 r = 0; r < HB_WARP; r++) {
				const hb_i64 w = (first + r) * HB_SEARCH_PART + from + threadIdx.x;
				tile[r][threadIdx.x] = w < walks ? sums[w] : 0;
			}
			__syncthreads();
			for (hb_i32 k = 0; k < HB_WARP; k++)
				if ((first + threadIdx.x) * HB_SEARCH_PART + from + k < walks) sum += tile[threadIdx.x][k];
			__syncthreads();
		}
		if (first + threadIdx.x < count) parts[first + threadIdx.x] = sum;
	}
}

// The row of a vertex as draws need it, with its score or without. Chases have the best neighbour
// in place of the offset.
struct __align__(8) hb_search_row { hb_u32 begin, count; };
struct __align__(16) hb_search_scored { hb_u32 begin, count; double score; };

// hb_search_pack writes the rows of a graph of less than 2³² entries, or with best the rows of
// chases: scored if there are scores.
HB_KERNEL hb_search_pack(hb_i32 n, const hb_i64 *ptr, const hb_i32 *best, const double *score, hb_search_row *rows, hb_search_scored *scored) {
	HB_EACH(v, n) {
		const hb_u32 begin = best ? (hb_u32)best[v] : (hb_u32)ptr[v], count = (hb_u32)(ptr[v + 1] - ptr[v]);
		if (score) {
			const hb_search_scored r = {begin, count, score[v]};
			scored[v] = r;
		} else {
			const hb_search_row r = {begin, count};
			rows[v] = r;
		}
	}
}

// Cells of walks are staged: a thread writes 8 of them at a time, a sector, if rows are of whole 16
// bytes. The end of a greedy walk, to and fro between two vertices, is written by its warp along
// with what is staged.
#define HB_SEARCH_STAGE 8

struct __align__(16) hb_search_cells { hb_i32 x[4]; };

HB_DEVICE void hb_search_flush(hb_i32 *row, const hb_i32 (*stage)[HB_GRAPH_BLOCK]) {
#pragma unroll
	for (hb_i32 k = 0; k < HB_SEARCH_STAGE; k += 4) {
		const hb_search_cells c = {{stage[k][threadIdx.x], stage[k + 1][threadIdx.x], stage[k + 2][threadIdx.x], stage[k + 3][threadIdx.x]}};
		*(hb_search_cells *)(row + k) = c;
	}
}

// hb_search_ends writes the rest of the walks of a warp, a walk after another: left cells from row
// on, the first staged of them from stage, then a, b, a … With whole, rows begin at multiples of 16
// bytes and left is a multiple of 4, so that a warp writes whole sectors.
HB_DEVICE void hb_search_ends(hb_i32 *row, hb_i32 left, hb_i32 a, hb_i32 b, bool whole, hb_i32 staged, const hb_i32 (*stage)[HB_GRAPH_BLOCK]) {
	const hb_i32 first = threadIdx.x - HB_LANE;
	__syncwarp(); // stage is of other threads
	for (hb_u32 some = __ballot_sync(HB_FULL, left > 0); some; some &= some - 1) {
		const hb_i32 l = __ffs(some) - 1;
		const hb_i32 count = __shfl_sync(HB_FULL, left, l), x = __shfl_sync(HB_FULL, a, l), y = __shfl_sync(HB_FULL, b, l);
		const hb_i32 ready = __shfl_sync(HB_FULL, staged, l);
		hb_i32 *to = (hb_i32 *)__shfl_sync(HB_FULL, (hb_u64)row, l);
		if (!whole) {
			for (hb_i32 k = HB_LANE; k < count; k += HB_WARP) to[k] = k < ready ? stage[k][first + l] : (k - ready) % 2 ? y : x;
			continue;
		}
		for (hb_i32 k = 4 * HB_LANE; k < count; k += 4 * HB_WARP) {
			hb_search_cells c;
#pragma unroll
			for (hb_i32 i = 0; i < 4; i++) c.x[i] = k + i < ready ? stage[k + i][first + l] : (k + i - ready) % 2 ? y : x;
			*(hb_search_cells *)(to + k) = c;
		}
	}
	__syncwarp();
}

// hb_search_movers counts, in each part of HB_SEARCH_PART walks, the walks from a start with
// neighbours. A warp a part.
HB_KERNEL hb_search_movers(hb_i32 n, hb_i64 walks, const hb_i64 *ptr, const hb_i32 *starts, hb_i64 per_start, hb_u64 *movers) {
	HB_SEARCH_WARP(part) {
		const hb_i64 begin = part * HB_SEARCH_PART, end = begin + HB_SEARCH_PART < walks ? begin + HB_SEARCH_PART : walks;
		hb_u64 sum = 0;
		for (hb_i64 s = begin / per_start + HB_LANE; s * per_start < end; s += HB_WARP) {
			const hb_i64 v = starts ? starts[s] : s;
			if (ptr[v] == ptr[v + 1]) continue;
			const hb_i64 from = s * per_start > begin ? s * per_start : begin, to = (s + 1) * per_start < end ? (s + 1) * per_start : end;
			sum += (hb_u64)(to - from);
		}
		sum = hb_total(sum);
		if (HB_LANE == 0) movers[part] = sum;
	}
}

// hb_search_live lists the walks of a launch from starts with neighbours, in any order, and does
// the work of the other walks, which have one vertex. The arguments are the arguments of
// hb_search_walk.
HB_KERNEL hb_search_live(const hb_i64 *ptr, const hb_i32 *starts, hb_i64 per_start, hb_i64 first_walk, hb_i64 walks, hb_i32 length,
	const double *score, hb_u32 *first, hb_u64 *visits, double *sums, hb_i32 *cells, hb_u64 *ends, hb_u32 *list, hb_u64 *live) {
	__shared__ hb_u32 count;
	__shared__ hb_u64 base;
	__shared__ hb_i32 stage[1][HB_GRAPH_BLOCK];
	for (hb_i64 tile = (hb_i64)blockIdx.x * HB_GRAPH_BLOCK; tile < walks; tile += (hb_i64)gridDim.x * HB_GRAPH_BLOCK) {
		if (threadIdx.x == 0) count = 0;
		__syncthreads();
		const hb_i64 w = tile + threadIdx.x, walk = first_walk + w;
		const bool there = w < walks;
		const hb_i32 v = !there ? 0 : starts ? starts[walk / per_start] : (hb_i32)(walk / per_start);
		const bool moves = there && ptr[v] < ptr[v + 1];
		const hb_u32 place = hb_reserve(&count, moves);
		__syncthreads();
		if (threadIdx.x == 0) {
			base = atomicAdd(live, (hb_u64)count);
			const hb_i64 all = walks - tile < HB_GRAPH_BLOCK ? walks - tile : HB_GRAPH_BLOCK;
			if (all > count) atomicAdd(ends, (hb_u64)(all - count));
		}
		__syncthreads();
		if (moves) list[base + place] = (hb_u32)w;
		if (there && !moves) {
			if (first) first[v] = 0;
			if (visits) atomicAdd(visits + v, (hb_u64)1);
			if (sums) sums[w] = score[v];
			stage[0][threadIdx.x] = v;
		}
		if (cells) hb_search_ends(cells + w * length, there && !moves ? length : 0, -1, -1, length % 4 == 0, 1, stage);
		__syncthreads();
	}
}

// What walks read, and what they write; the comment of hb_search_walk says more.
struct hb_search {
	const hb_i64 *ptr;
	const hb_i32 *idx;
	const hb_slot *slots;
	const hb_i32 *best, *second;
	const hb_u64 *mass;
	hb_i64 seed;
	const hb_search_row *rows;
	const hb_search_scored *scored;
	const hb_u32 *list; // walks of the launch, null for all
	const hb_u64 *live; // their number
	bool forward, biased; // never to the vertex before; of second order
	hb_u64 back, common, away; // biases
};

// hb_search_random is random number purpose of a step of a walk; see searchRows.random.
HB_DEVICE hb_u64 hb_search_random(hb_i64 walk, hb_i32 step, hb_u64 purpose, hb_i64 seed) {
	hb_u64 even, odd;
	hb_philox((hb_u64)walk, (hb_u64)(step / 2) | purpose << 32, (hb_u64)seed, even, odd);
	return step % 2 ? odd : even;
}

// hb_search_draw draws an entry of a row by x, −1 without entries. Entries are read past the first
// cache, which they would only flush.
HB_DEVICE hb_i32 hb_search_draw(const hb_search &s, hb_i64 begin, hb_u64 count, hb_u64 x) {
	if (count == 0) return -1;
	const hb_i64 e = begin + (hb_i64)__umul64hi(x, count);
	if (!s.slots) return __ldcg(s.idx + e);
	const hb_slot slot = s.slots[e];
	return (hb_u32)((x * count) >> 32) < slot.threshold ? slot.own : slot.alias;
}

// hb_search_pick draws a neighbour of v by x, −1 without neighbours.
HB_DEVICE hb_i32 hb_search_pick(const hb_search &s, hb_i32 v, hb_u64 x) {
	const hb_i64 begin = s.ptr[v];
	return hb_search_draw(s, begin, (hb_u64)(s.ptr[v + 1] - begin), x);
}

// hb_search_other is searchRows.pickOther: a draw among the neighbours other than before.
HB_DEVICE hb_i32 hb_search_other(const hb_search &s, hb_i32 v, hb_i32 before, hb_i64 walk, hb_i32 step) {
	if (s.best) return s.best[v] == before ? s.second[v] : s.best[v];
	const hb_i64 begin = s.ptr[v], count = s.ptr[v + 1] - begin;
	if (count == 0 || (count == 1 && s.idx[begin] == before)) return -1;
	for (hb_u64 k = 0; k < HB_SEARCH_TRIES; k++) {
		const hb_i32 u = hb_search_pick(s, v, hb_search_random(walk, step, k, s.seed));
		if (u != before) return u;
	}
	const hb_u64 x = hb_search_random(walk, step, HB_SEARCH_TRIES, s.seed);
	hb_i64 lo = 0, hi = count; // before is there: it was drawn
	while (lo < hi) {
		const hb_i64 mid = (lo + hi) / 2;
		if (s.idx[begin + mid] < before) lo = mid + 1;
		else hi = mid;
	}
	if (s.slots) {
		hb_u64 sum = 0;
		for (hb_i64 k = 0; k < count; k++) sum += k == lo ? 0 : s.mass[begin + k];
		if (sum > 0) {
			hb_u64 left = __umul64hi(x, sum);
			for (hb_i64 k = 0;; k++) {
				const hb_u64 m = k == lo ? 0 : s.mass[begin + k];
				if (left < m) return s.idx[begin + k];
				left -= m;
			}
		}
	}
	const hb_i64 k = (hb_i64)__umul64hi(x, (hb_u64)(count - 1));
	return s.idx[begin + (k >= lo ? k + 1 : k)];
}

// hb_search_bias is searchRows.biasOf.
HB_DEVICE hb_u64 hb_search_bias(const hb_search &s, hb_i32 u, hb_i32 before) {
	if (u == before) return s.back;
	if (s.common == s.away) return s.away;
	const hb_i64 end = s.ptr[before + 1];
	hb_i64 lo = s.ptr[before], hi = end;
	while (lo < hi) {
		const hb_i64 mid = (lo + hi) / 2;
		if (s.idx[mid] < u) lo = mid + 1;
		else hi = mid;
	}
	return lo < end && s.idx[lo] == u ? s.common : s.away;
}

// hb_search_accepts is searchRows.accepts.
HB_DEVICE bool hb_search_accepts(const hb_search &s, hb_i32 u, hb_i32 before, hb_u64 x) {
	if (u == before) return x < s.back;
	if (x >= s.common && x >= s.away) return false;
	if (x < s.common && x < s.away) return true;
	return x < hb_search_bias(s, u, before);
}

// hb_search_biased is searchRows.pickBiased: a draw in a walk of second order.
HB_DEVICE hb_i32 hb_search_biased(const hb_search &s, hb_i32 v, hb_i32 before, hb_i64 walk, hb_i32 step) {
	const hb_i64 begin = s.ptr[v], count = s.ptr[v + 1] - begin;
	if (count == 0 || (count == 1 && s.forward && s.idx[begin] == before)) return -1;
	hb_u64 x, y;
	for (hb_u64 k = 0; k < HB_SEARCH_BIAS_TRIES && k < (hb_u64)count && count > HB_SEARCH_BIAS_SHORT; k++) {
		hb_philox((hb_u64)walk, (hb_u64)step | (HB_SEARCH_BIASED + k) << 32, (hb_u64)s.seed, x, y);
		const hb_i32 u = hb_search_pick(s, v, x);
		if (hb_search_accepts(s, u, before, y >> 32)) return u;
	}
	hb_philox((hb_u64)walk, (hb_u64)step | ((hb_u64)HB_SEARCH_BIASED + HB_SEARCH_BIAS_TRIES) << 32, (hb_u64)s.seed, x, y);
	bool massive = s.slots != 0;
	hb_u64 sum = 0;
	for (hb_i64 k = 0; massive && k < count; k++)
		sum += __umul64hi(s.mass[begin + k], hb_search_bias(s, s.idx[begin + k], before) << 31);
	massive = sum > 0;
	for (hb_i64 k = 0; !massive && k < count; k++) sum += hb_search_bias(s, s.idx[begin + k], before);
	hb_u64 left = __umul64hi(x, sum);
	for (hb_i64 k = 0; k < count; k++) {
		const hb_u64 bias = hb_search_bias(s, s.idx[begin + k], before);
		const hb_u64 m = massive ? __umul64hi(s.mass[begin + k], bias << 31) : bias;
		if (left < m) return s.idx[begin + k];
		left -= m;
	}
	return -1;
}

// The forms of hb_search_walks: what a step reads of a vertex.
enum { hb_search_general, hb_search_packed, hb_search_chase };

// hb_search_walk walks. Of walk w of this launch: sums[w] is the sum of its scores, cells the
// vertices, length of them, −1 after the end. first is lowered to the point of the curve of each
// visit; ends[k] counts the walks that end early after k steps, ends[length] the restarts. visits,
// score, first, sums and cells may be null. hb_search_walk_packed reads packed rows,
// hb_search_walk_chase goes from best to best. hb_search_walk_more has restarts, with probability
// restarts/2⁵³, walks that do not return to the vertex before, and walks of second order.
template <bool more, int form>
HB_DEVICE void hb_search_walks(const hb_search &s, const hb_i32 *starts, hb_i64 per_start, hb_i64 first_walk, hb_i64 walks, hb_i32 length,
	const double *score, hb_u32 *first, hb_u64 *visits, double *sums, hb_i32 *cells, hb_u64 *ends, hb_u64 restarts) {
	__shared__ hb_i32 stage[HB_SEARCH_STAGE][HB_GRAPH_BLOCK];
	const hb_i64 all = s.live ? (hb_i64)*s.live : walks;
	const bool whole = length % 4 == 0;
	// As many rounds for all lanes of a warp.
	for (hb_i64 k = (hb_i64)blockIdx.x * HB_GRAPH_BLOCK + threadIdx.x; k - HB_LANE < all; k += (hb_i64)gridDim.x * HB_GRAPH_BLOCK) {
		hb_i32 left = 0, staged = 0; // cells for the warp, and its cells in stage
		hb_i32 *row = 0;
		hb_i32 a = 0, b = 0;
		if (k < all) {
			const hb_i64 w = s.list ? s.list[k] : k, walk = first_walk + w;
			const hb_i32 start = starts ? starts[walk / per_start] : (hb_i32)(walk / per_start);
			if (cells) row = cells + w * length;
			hb_i32 v = start, step = 0, before = -1;
			double sum = 0, here = 0, last = 0; // of scores
			hb_u64 even = 0, odd = 0, returns = 0;
			bool early = false;
			for (;;) {
				hb_i64 begin = 0;
				hb_u64 count = 0;
				if (form != hb_search_general && s.scored) {
					const hb_search_scored r = s.scored[v];
					begin = r.begin;
					count = r.count;
					last = here;
					here = r.score;
					sum += here;
				} else if (score) {
					sum += score[v];
				}
				if (first) {
					const hb_u32 point = length <= HB_SEARCH_CURVE ? step
						: (hb_u32)(((hb_i64)step * (HB_SEARCH_CURVE - 1) + length - 2) / (length - 1));
					if (first[v] > point) atomicMin(first + v, point);
				}
				if (visits) atomicAdd(visits + v, (hb_u64)1);
				if (row && whole) {
					stage[step % HB_SEARCH_STAGE][threadIdx.x] = v;
					if (step % HB_SEARCH_STAGE == HB_SEARCH_STAGE - 1) hb_search_flush(row + step - (HB_SEARCH_STAGE - 1), stage);
				} else if (row) {
					row[step] = v;
				}
				if (++step == length) break;
				hb_i32 next = -1;
				const bool back = more && restarts > 0 && hb_search_random(walk, step, HB_SEARCH_RESTART, s.seed) >> 11 < restarts;
				if (back) {
					next = start;
					returns++;
				} else if (more && s.biased && before >= 0) {
					next = hb_search_biased(s, v, before, walk, step);
				} else if (more && s.forward && before >= 0) {
					next = hb_search_other(s, v, before, walk, step);
				} else if (form == hb_search_chase || (more && s.best)) {
					next = form == hb_search_chase && s.scored ? (hb_i32)begin : s.best[v];
					if (form == hb_search_chase && next >= 0 && next == before) break; // between two vertices from here on
				} else {
					if (more || step == 1 || step % 2 == 0)
						hb_philox((hb_u64)walk, (hb_u64)(step / 2), (hb_u64)s.seed, even, odd);
					if (form == hb_search_packed && !s.scored) {
						const hb_search_row r = s.rows[v];
						begin = r.begin;
						count = r.count;
					} else if (form != hb_search_packed) {
						begin = s.ptr[v];
						count = (hb_u64)(s.ptr[v + 1] - begin);
					}
					next = hb_search_draw(s, begin, count, step % 2 ? odd : even);
				}
				if (next < 0) {
					early = true;
					break;
				}
				before = back ? -1 : v;
				v = next;
			}
			const hb_i32 moved = step;
			if (form == hb_search_chase) {
				staged = whole ? step % HB_SEARCH_STAGE : 0;
				left = row ? length - (step - staged) : 0;
				row += row ? step - staged : 0;
				a = early ? -1 : before;
				b = early ? -1 : v;
				if (!early) { // visits of before, v, before …
					const hb_i32 rest = length - step;
					if (sums)
						for (hb_i32 k = 0; k < rest; k++) sum += k % 2 ? here : last;
					if (visits && rest > 0) atomicAdd(visits + before, (hb_u64)((rest + 1) / 2));
					if (visits && rest > 1) atomicAdd(visits + v, (hb_u64)(rest / 2));
				}
				step = length;
			} else if (row && whole) {
				for (hb_i32 j = step - step % HB_SEARCH_STAGE; j < step; j++) row[j] = stage[j % HB_SEARCH_STAGE][threadIdx.x];
			}
			if (sums) sums[w] = sum;
			if (early) atomicAdd(ends + moved - 1, (hb_u64)1);
			if (more && returns > 0) atomicAdd(ends + length, returns);
			for (hb_i32 k = step; row && k < length; k++) row[k] = -1;
		}
		if (form == hb_search_chase && cells) hb_search_ends(row, left, a, b, whole, staged, stage);
	}
}

HB_KERNEL hb_search_walk(const hb_i64 *ptr, const hb_i32 *idx, const hb_slot *slots, const hb_i32 *best, const hb_i32 *starts,
	hb_i64 per_start, hb_i64 first_walk, hb_i64 walks, hb_i32 length, hb_i64 seed, const double *score, hb_u32 *first,
	hb_u64 *visits, double *sums, hb_i32 *cells, hb_u64 *ends, const hb_search_row *rows, const hb_search_scored *scored,
	const hb_u32 *list, const hb_u64 *live) {
	const hb_search s = {ptr, idx, slots, best, 0, 0, seed, rows, scored, list, live, false, false, 0, 0, 0};
	hb_search_walks<false, hb_search_general>(s, starts, per_start, first_walk, walks, length, score, first, visits, sums, cells, ends, 0);
}

HB_KERNEL hb_search_walk_packed(const hb_i64 *ptr, const hb_i32 *idx, const hb_slot *slots, const hb_i32 *best, const hb_i32 *starts,
	hb_i64 per_start, hb_i64 first_walk, hb_i64 walks, hb_i32 length, hb_i64 seed, const double *score, hb_u32 *first,
	hb_u64 *visits, double *sums, hb_i32 *cells, hb_u64 *ends, const hb_search_row *rows, const hb_search_scored *scored,
	const hb_u32 *list, const hb_u64 *live) {
	const hb_search s = {ptr, idx, slots, best, 0, 0, seed, rows, scored, list, live, false, false, 0, 0, 0};
	hb_search_walks<false, hb_search_packed>(s, starts, per_start, first_walk, walks, length, score, first, visits, sums, cells, ends, 0);
}

HB_KERNEL hb_search_walk_chase(const hb_i64 *ptr, const hb_i32 *idx, const hb_slot *slots, const hb_i32 *best, const hb_i32 *starts,
	hb_i64 per_start, hb_i64 first_walk, hb_i64 walks, hb_i32 length, hb_i64 seed, const double *score, hb_u32 *first,
	hb_u64 *visits, double *sums, hb_i32 *cells, hb_u64 *ends, const hb_search_row *rows, const hb_search_scored *scored,
	const hb_u32 *list, const hb_u64 *live) {
	const hb_search s = {ptr, idx, slots, best, 0, 0, seed, rows, scored, list, live, false, false, 0, 0, 0};
	hb_search_walks<false, hb_search_chase>(s, starts, per_start, first_walk, walks, length, score, first, visits, sums, cells, ends, 0);
}

HB_KERNEL hb_search_walk_more(const hb_i64 *ptr, const hb_i32 *idx, const hb_slot *slots, const hb_i32 *best, const hb_i32 *starts,
	hb_i64 per_start, hb_i64 first_walk, hb_i64 walks, hb_i32 length, hb_i64 seed, const double *score, hb_u32 *first,
	hb_u64 *visits, double *sums, hb_i32 *cells, hb_u64 *ends, const hb_i32 *second, const hb_u64 *mass, hb_i64 restarts, hb_i32 forward,
	hb_i32 biased, hb_i64 back, hb_i64 common, hb_i64 away) {
	const hb_search s = {ptr, idx, slots, best, second, mass, seed, 0, 0, 0, 0, forward != 0, biased != 0, (hb_u64)back, (hb_u64)common, (hb_u64)away};
	hb_search_walks<true, hb_search_general>(s, starts, per_start, first_walk, walks, length, score, first, visits, sums, cells, ends,
		(hb_u64)restarts);
}
