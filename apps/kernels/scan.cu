// Scan statistics of one hop: the degree of each vertex and the triangles through it.
// Source: prelude + graph.cu + this file. Host: apps/scan_gpu.go, which defines
//     HB_SCAN_BITS      numbers whose marks a warp keeps in shared memory
//     HB_SCAN_COUNTERS  numbers whose triangles a block counts in shared memory
//     HB_SCAN_LANES     threads that look at a list
//     HB_SCAN_CHUNK     ends of a unit: those of a hub are shared by several warps
//
// The vertices are numbered by descending degree. ptr hb_i64[n+1] and adj hb_u32[…] hold the
// neighbours of each number without loops: the lower ones first, out[x] of them, then the others.
//
// once a matrix (kept): hb_scan_keys, a stable sort (order), hb_scan_rank, hb_scan_lengths, prefix sums
//   (ptr), hb_scan_fill; a warp a vertex; hb_scan_parts, prefix sums (first), hb_scan_units; a thread a vertex
// each call: count hb_u64[n] and state hb_u64[HB_SCAN_STATES] zeroed, marks hb_u32[warps·words] zeroed,
//   with words of 32 marks for the numbers from HB_SCAN_BITS on
//   hb_scan_corners<<<grid, HB_GRAPH_BLOCK, 4·HB_SCAN_COUNTERS + HB_SCAN_BITS/8·warps of a block>>>
//   hb_scan_finish (one thread a vertex), hb_scan_top (one thread a vertex)
//
// An edge belongs to its end with more lower neighbours, the owner. A warp takes a unit, some of the
// edges of an owner: it marks the owner's lower neighbours, and looks for those of the other ends
// among the marks. A hit is a triangle. Its third corner is counted in shared memory if its number
// is low, as nearly all are, else in global memory. All results are integers: they do not depend on
// the order. Bound by random reads and atomics in shared memory.

#define HB_SCAN_WORDS (HB_SCAN_BITS / 32)
#define HB_SCAN_FLUSH (1u << 28) // triangles after which a warp empties the counters, before they overflow

enum { HB_SCAN_TICKET, HB_SCAN_SUM, HB_SCAN_MAX, HB_SCAN_TOPS, HB_SCAN_STATES };

HB_KERNEL hb_scan_keys(hb_i32 n, const hb_i64 *ptr, hb_u32 *keys) {
	HB_EACH(v, n) keys[v] = ~(hb_u32)(ptr[v + 1] - ptr[v]);
}

HB_KERNEL hb_scan_rank(hb_i32 n, const hb_u32 *order, hb_u32 *rank) {
	HB_EACH(x, n) rank[order[x]] = (hb_u32)x;
}

// hb_scan_lengths counts the neighbours of each number, and those of lower number.
HB_KERNEL hb_scan_lengths(hb_i32 n, const hb_i64 *ptr, const hb_i32 *idx, const hb_u32 *order, const hb_u32 *rank, hb_u32 *length, hb_u32 *out) {
	const hb_i64 warps = (hb_i64)gridDim.x * HB_GRAPH_WARPS;
	for (hb_i64 x = (hb_i64)blockIdx.x * HB_GRAPH_WARPS + threadIdx.x / HB_WARP; x < n; x += warps) {
		const hb_i64 v = order[x];
		hb_u64 low = 0, all = 0;
		for (hb_i64 p = ptr[v] + HB_LANE; p < ptr[v + 1]; p += HB_WARP) {
			const hb_u32 y = rank[idx[p]];
			low += y < (hb_u32)x;
			all += y != (hb_u32)x;
		}
		low = hb_total(low);
		all = hb_total(all);
		if (HB_LANE == 0) {
			length[x] = (hb_u32)all;
			out[x] = (hb_u32)low;
		}
	}
}

HB_KERNEL hb_scan_fill(hb_i32 n, const hb_i64 *ptr, const hb_i32 *idx, const hb_u32 *order, const hb_u32 *rank, const hb_i64 *at, const hb_u32 *out,
	hb_u32 *adj) {
	const hb_i64 warps = (hb_i64)gridDim.x * HB_GRAPH_WARPS;
	const hb_u32 below = (1u << HB_LANE) - 1;
	for (hb_i64 x = (hb_i64)blockIdx.x * HB_GRAPH_WARPS + threadIdx.x / HB_WARP; x < n; x += warps) {
		const hb_i64 v = order[x], end = ptr[v + 1];
		hb_i64 low = at[x], high = low + out[x];
		for (hb_i64 p = ptr[v] + HB_LANE; p - HB_LANE < end; p += HB_WARP) {
			const hb_u32 y = p < end ? rank[idx[p]] : (hb_u32)x;
			const hb_u32 lows = __ballot_sync(HB_FULL, y < (hb_u32)x), highs = __ballot_sync(HB_FULL, y > (hb_u32)x);
			if (y < (hb_u32)x) adj[low + __popc(lows & below)] = y;
			if (y > (hb_u32)x) adj[high + __popc(highs & below)] = y;
			low += __popc(lows);
			high += __popc(highs);
		}
	}
}

// hb_scan_parts counts the units of each number. Ends above an owner with less than three lower
// neighbours have too few or too many to belong to it.
HB_KERNEL hb_scan_parts(hb_i32 n, const hb_i64 *ptr, const hb_u32 *out, hb_u32 *parts) {
	HB_EACH(x, n) {
		const hb_i64 own = out[x], ends = own < 3 ? own : ptr[x + 1] - ptr[x];
		parts[x] = (hb_u32)((ends + HB_SCAN_CHUNK - 1) / HB_SCAN_CHUNK);
	}
}

// hb_scan_units lists the owner of each unit; the first unit of x is first[x].
HB_KERNEL hb_scan_units(hb_i32 n, const hb_i64 *first, hb_u32 *owner) {
	HB_EACH(x, n) for (hb_i64 u = first[x]; u < first[x + 1]; u++) owner[u] = (hb_u32)x;
}

// hb_scan_credit counts triangles of a vertex.
HB_DEVICE void hb_scan_credit(hb_u32 *counters, hb_u64 *count, hb_u32 z, hb_u32 triangles) {
	if (z < HB_SCAN_COUNTERS) atomicAdd(counters + z, triangles);
	else atomicAdd(count + z, (hb_u64)triangles);
}

// hb_scan_empty adds the counters to count. A warp may call it while others count.
HB_DEVICE void hb_scan_empty(hb_u32 *counters, hb_u64 *count, hb_i32 n, hb_i32 first, hb_i32 step) {
	for (hb_i32 z = first; z < HB_SCAN_COUNTERS && z < n; z += step) {
		const hb_u32 c = atomicExch(counters + z, 0u);
		if (c) atomicAdd(count + z, (hb_u64)c);
	}
}

// hb_scan_look looks for the triangles of owner x with the ends list[0 … ends). least is the number of
// lower neighbours from which an end belongs to the owner, most that to which it does. Returns the
// triangles that this lane found.
HB_DEVICE hb_u32 hb_scan_look(const hb_i64 *ptr, const hb_u32 *out, const hb_u32 *adj, const hb_u32 *list, hb_i64 ends, hb_u32 least, hb_u32 most,
	const hb_u32 *map, const hb_u32 *rest, hb_u32 *counters, hb_u64 *count) {
	const hb_i32 lane = HB_LANE % HB_SCAN_LANES, group = HB_LANE / HB_SCAN_LANES, groups = HB_WARP / HB_SCAN_LANES;
	hb_u32 all = 0;
	for (hb_i64 e0 = 0; e0 < ends; e0 += HB_WARP) {
		// A lane reads an end; the groups take those that belong to the owner.
		hb_u32 y = 0, length = 0;
		hb_i64 begin = 0;
		if (e0 + HB_LANE < ends) {
			y = list[e0 + HB_LANE];
			length = out[y];
			if (length < least || length > most) length = 0;
			if (length) begin = ptr[y];
		}
		hb_u32 tasks = __ballot_sync(HB_FULL, length > 0);
		while (tasks) {
			hb_u32 mine = tasks; // the group's: its group-th set bit
			for (hb_i32 k = 0; k < group; k++) mine &= mine - 1;
			const hb_i32 from = mine ? __ffs((int)mine) - 1 : 0;
			for (hb_i32 k = 0; k < groups; k++) tasks &= tasks - 1;
			const hb_u32 end = __shfl_sync(HB_FULL, y, from);
			hb_u32 size = __shfl_sync(HB_FULL, length, from);
			const hb_i64 at = __shfl_sync(HB_FULL, begin, from);
			if (!mine) size = 0;
			hb_u32 hits = 0;
			for (hb_u32 k = lane; k < size; k += HB_SCAN_LANES) {
				const hb_u32 z = adj[at + k];
				const hb_u32 word = z < HB_SCAN_BITS ? map[z / 32] : rest[(z - HB_SCAN_BITS) / 32];
				if (word >> (z % 32) & 1) {
					hits++;
					hb_scan_credit(counters, count, z, 1);
				}
			}
#pragma unroll
			for (hb_i32 d = HB_SCAN_LANES / 2; d > 0; d /= 2) hits += __shfl_xor_sync(HB_FULL, hits, d);
			if (lane == 0 && hits) {
				all += hits;
				hb_scan_credit(counters, count, end, hits);
			}
		}
	}
	return all;
}

HB_KERNEL hb_scan_corners(hb_i32 n, const hb_i64 *ptr, const hb_u32 *out, const hb_u32 *adj, hb_i64 units, const hb_i64 *first, const hb_u32 *owner,
	hb_u32 *marks, hb_i64 words, hb_u64 *count, hb_u64 *state) {
	HB_DYNAMIC_SHARED(hb_u32, shared);
	hb_u32 *counters = shared, *map = shared + HB_SCAN_COUNTERS + threadIdx.x / HB_WARP * HB_SCAN_WORDS;
	hb_u32 *rest = marks + ((hb_i64)blockIdx.x * HB_GRAPH_WARPS + threadIdx.x / HB_WARP) * words;
	for (hb_i32 k = threadIdx.x; k < HB_SCAN_COUNTERS + HB_GRAPH_WARPS * HB_SCAN_WORDS; k += HB_GRAPH_BLOCK) shared[k] = 0;
	__syncthreads();
	hb_u32 since = 0;
	for (;;) {
		hb_u64 u = 0;
		if (HB_LANE == 0) u = atomicAdd(state + HB_SCAN_TICKET, (hb_u64)1);
		u = __shfl_sync(HB_FULL, u, 0);
		if (u >= (hb_u64)units) break;
		const hb_u32 x = owner[u], own = out[x];
		const hb_i64 begin = ptr[x], ends = ptr[x + 1] - begin, from = ((hb_i64)u - first[x]) * HB_SCAN_CHUNK;
		const hb_i64 upto = from + HB_SCAN_CHUNK < ends ? from + HB_SCAN_CHUNK : ends;
		const hb_i64 middle = own < from ? from : own < upto ? own : upto; // the lower ends stand before it
		for (hb_u32 k = HB_LANE; k < own; k += HB_WARP) {
			const hb_u32 z = adj[begin + k];
			atomicOr(z < HB_SCAN_BITS ? map + z / 32 : rest + (z - HB_SCAN_BITS) / 32, 1u << (z % 32));
		}
		__threadfence_block();
		__syncwarp();
		hb_u64 mine = hb_scan_look(ptr, out, adj, adj + begin + from, middle - from, 1, own, map, rest, counters, count);
		mine += hb_scan_look(ptr, out, adj, adj + begin + middle, upto - middle, 2, own - 1, map, rest, counters, count);
		mine = hb_total(mine);
		if (HB_LANE == 0 && mine) atomicAdd(count + x, mine);
		__syncwarp();
		for (hb_u32 k = HB_LANE; k < own; k += HB_WARP) {
			const hb_u32 z = adj[begin + k];
			if (z < HB_SCAN_BITS) map[z / 32] = 0;
			else rest[(z - HB_SCAN_BITS) / 32] = 0;
		}
		__threadfence_block();
		__syncwarp();
		since = mine > HB_SCAN_FLUSH ? HB_SCAN_FLUSH : since + (hb_u32)mine;
		if (since >= HB_SCAN_FLUSH) {
			hb_scan_empty(counters, count, n, HB_LANE, HB_WARP);
			since = 0;
		}
	}
	__syncthreads();
	hb_scan_empty(counters, count, n, threadIdx.x, HB_GRAPH_BLOCK);
}

// hb_scan_finish stores the statistics by vertex, their sum and their maximum.
HB_KERNEL hb_scan_finish(hb_i32 n, const hb_i64 *ptr, const hb_u32 *order, const hb_u64 *count, hb_i64 *statistic, hb_u64 *state) {
	hb_u64 sum = 0, most = 0;
	HB_EACH(x, n) {
		const hb_u64 s = (hb_u64)(ptr[x + 1] - ptr[x]) + count[x];
		statistic[order[x]] = (hb_i64)s;
		sum += s;
		most = s > most ? s : most;
	}
	sum = hb_total(sum);
	for (hb_i32 d = HB_WARP / 2; d > 0; d /= 2) {
		const hb_u64 other = __shfl_xor_sync(HB_FULL, most, d);
		most = other > most ? other : most;
	}
	if (HB_LANE == 0) {
		atomicAdd(state + HB_SCAN_SUM, sum);
		atomicMax(state + HB_SCAN_MAX, most);
	}
}

// hb_scan_top lists the vertices with the maximum, in any order; tops counts them, also beyond room.
HB_KERNEL hb_scan_top(hb_i32 n, const hb_i64 *statistic, hb_i32 room, hb_i32 *list, hb_u64 *state) {
	const hb_i64 most = (hb_i64)state[HB_SCAN_MAX];
	HB_EACH(v, n) {
		if (statistic[v] != most) continue;
		const hb_u64 k = atomicAdd(state + HB_SCAN_TOPS, (hb_u64)1);
		if (k < (hb_u64)room) list[k] = (hb_i32)v;
	}
}
