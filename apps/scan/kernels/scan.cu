// Scan statistics of one hop: the degree of each vertex and the triangles through it.
// Source: prelude + queue.cu + this file. Host: apps/scan/gpu.go, which defines
//     HB_SCAN_COUNTERS  numbers of vertices with triangles that a block counts in shared memory
//     HB_SCAN_GROUP     lanes that share a task
//     HB_SCAN_CHUNK     tasks of a unit: several blocks and devices share the tasks of a hub
//     HB_SCAN_LIGHT     owners of less work (probes) than this are searched
//
// The vertices are numbered by descending degree. Only the lower neighbours of a number are kept,
// without loops: at hb_i64[n+1] and adj hb_u32[m], ascending; and as codes of 16 bits, 8 to a load,
// each list at a multiple of 8 (hb_scan_at) and filled up with HB_SCAN_FILL. The code of a number
// below `exact` is the number; numbers beyond share `spread` codes.
//
// Once a matrix (kept):
//   hb_scan_keys, a stable sort (order), hb_scan_rank, hb_scan_lengths, prefix sums (at)
//   hb_scan_pairs, a sort, hb_scan_lists (packed filled with ones before)
//   hb_scan_count, prefix sums (first), hb_scan_fill, hb_scan_split
// Each call: count hb_u64[n] and state hb_u64[HB_SCAN_STATES] zeroed
//   hb_scan_corners<<<grid, HB_GRAPH_BLOCK>>>, hb_scan_finish, hb_scan_top
//
// An edge is a task of its end with more lower neighbours, the owner. A block lays the codes of an
// owner's list out as a bitmap in shared memory, and a few lanes a task probe it with the list of
// the other end. A hit is a triangle: beyond `exact` only after a search in the owner's list. Its
// third corner is the highest of the three in degree, and is counted in shared memory if its number
// is low, as nearly all are. Owners of little work have their list searched by halving instead. All
// results are integers: they do not depend on the order.

#define HB_SCAN_FILL 0xffff
#define HB_SCAN_FLUSH (1u << 30) // triangles after which a block empties the counters, before they overflow

enum { HB_SCAN_TICKET, HB_SCAN_LIGHTS, HB_SCAN_SUM, HB_SCAN_MAX, HB_SCAN_TOPS, HB_SCAN_STATES };

struct __align__(16) hb_scan_eight { hb_u32 w[4]; };

struct __align__(16) hb_scan_unit {
	hb_i64 task; // the first
	hb_i32 owner, tasks;
};

// hb_scan_at is where the codes of list x begin, by 8: it grows by ⌈length/8⌉ at least.
HB_DEVICE hb_i64 hb_scan_at(hb_i64 begin, hb_i64 x) { return (begin + 7 * x) / 8; }

HB_KERNEL hb_scan_keys(hb_i32 n, const hb_i64 *ptr, hb_u32 *keys) {
	HB_EACH(v, n) keys[v] = ~(hb_u32)(ptr[v + 1] - ptr[v]);
}

HB_KERNEL hb_scan_rank(hb_i32 n, const hb_u32 *order, hb_u32 *rank) {
	HB_EACH(x, n) rank[order[x]] = (hb_u32)x;
}

// hb_scan_lengths counts the neighbours of each number, and the neighbours of lower number.
HB_KERNEL hb_scan_lengths(hb_i32 n, const hb_i64 *ptr, const hb_i32 *idx, const hb_u32 *order, const hb_u32 *rank, hb_u32 *degree, hb_u32 *out) {
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
			degree[x] = (hb_u32)all;
			out[x] = (hb_u32)low;
		}
	}
}

// hb_scan_pairs writes the edges as x·2^bits + y, the edges of x from at[x] on, in any order.
HB_KERNEL hb_scan_pairs(hb_i32 n, const hb_i64 *ptr, const hb_i32 *idx, const hb_u32 *order, const hb_u32 *rank, const hb_i64 *at, hb_i32 bits,
	hb_u64 *pairs) {
	const hb_i64 warps = (hb_i64)gridDim.x * HB_GRAPH_WARPS;
	for (hb_i64 x = (hb_i64)blockIdx.x * HB_GRAPH_WARPS + threadIdx.x / HB_WARP; x < n; x += warps) {
		const hb_i64 v = order[x], end = ptr[v + 1];
		hb_i64 to = at[x];
		for (hb_i64 p = ptr[v] + HB_LANE; p - HB_LANE < end; p += HB_WARP) {
			const hb_u32 y = p < end ? rank[idx[p]] : (hb_u32)x;
			const hb_u32 lows = __ballot_sync(HB_FULL, y < (hb_u32)x);
			if (y < (hb_u32)x) pairs[to + __popc(lows & ((1u << HB_LANE) - 1))] = (hb_u64)x << bits | y;
			to += __popc(lows);
		}
	}
}

// hb_scan_lists writes the lists and their codes.
HB_KERNEL hb_scan_lists(hb_i64 m, const hb_u64 *pairs, hb_i32 bits, const hb_i64 *at, hb_u32 exact, hb_u32 spread,
	hb_u32 *adj, hb_u16 *packed) {
	HB_EACH(e, m) {
		const hb_i64 x = (hb_i64)(pairs[e] >> bits);
		const hb_u32 y = (hb_u32)(pairs[e] - ((hb_u64)x << bits));
		adj[e] = y;
		packed[8 * hb_scan_at(at[x], x) + e - at[x]] = (hb_u16)(y < exact ? y : exact + (y - exact) % spread);
	}
}

// hb_scan_mine reports whether a part has a task: of owners with many neighbours each part has
// every parts-th other end; each other owner belongs to one part. The order of an owner's tasks
// differs from run to run, so no part may depend on it.
HB_DEVICE bool hb_scan_mine(const hb_u32 *degree, hb_i64 owner, hb_i64 other, hb_i32 part, hb_i32 parts) {
	return (degree[owner] > HB_SCAN_CHUNK ? owner + other : owner) % parts == part;
}

// hb_scan_count counts the tasks of each owner in a part, and their probes.
HB_KERNEL hb_scan_count(hb_i32 n, const hb_i64 *at, const hb_u32 *adj, const hb_u32 *degree, hb_i32 part, hb_i32 parts, hb_u64 *tasks,
	hb_u64 *work) {
	const hb_i64 warps = (hb_i64)gridDim.x * HB_GRAPH_WARPS;
	for (hb_i64 x = (hb_i64)blockIdx.x * HB_GRAPH_WARPS + threadIdx.x / HB_WARP; x < n; x += warps) {
		const hb_i64 end = at[x + 1], length = end - at[x];
		hb_u64 own = 0, probes = 0;
		for (hb_i64 e = at[x] + HB_LANE; e < end; e += HB_WARP) {
			const hb_u32 y = adj[e];
			const hb_i64 other = at[y + 1] - at[y];
			if (other == 0) continue;
			const bool its = other <= length;
			if (!hb_scan_mine(degree, its ? x : y, its ? y : x, part, parts)) continue;
			if (its) {
				own++;
				probes += (hb_u64)other;
			} else {
				atomicAdd(tasks + y, (hb_u64)1);
				atomicAdd(work + y, (hb_u64)length);
			}
		}
		own = hb_total(own);
		probes = hb_total(probes);
		if (HB_LANE == 0 && own) {
			atomicAdd(tasks + x, own);
			atomicAdd(work + x, probes);
		}
	}
}

// hb_scan_fill lists the tasks of each owner that hb_scan_count counted: the other end, and its
// codes. cursor is the next free place of an owner.
HB_KERNEL hb_scan_fill(hb_i32 n, const hb_i64 *at, const hb_u32 *adj, const hb_u32 *degree, hb_i32 part, hb_i32 parts, hb_u64 *cursor,
	hb_u32 *other, hb_i32 *from, hb_i32 *eights) {
	const hb_i64 warps = (hb_i64)gridDim.x * HB_GRAPH_WARPS;
	for (hb_i64 x = (hb_i64)blockIdx.x * HB_GRAPH_WARPS + threadIdx.x / HB_WARP; x < n; x += warps) {
		const hb_i64 begin = at[x], end = at[x + 1];
		for (hb_i64 e0 = begin; e0 < end; e0 += HB_WARP) {
			const hb_i64 e = e0 + HB_LANE;
			const hb_u32 y = e < end ? adj[e] : 0;
			const hb_i64 length = e < end ? at[y + 1] - at[y] : 0;
			const bool its = length <= end - begin, mine = length > 0 && hb_scan_mine(degree, its ? x : y, its ? y : x, part, parts);
			const bool own = mine && its;
			const hb_u32 owned = __ballot_sync(HB_FULL, own);
			hb_u64 to = 0;
			if (HB_LANE == 0 && owned) to = atomicAdd(cursor + x, (hb_u64)__popc(owned));
			to = __shfl_sync(HB_FULL, to, 0) + __popc(owned & ((1u << HB_LANE) - 1));
			if (!mine) continue; // no further shuffles in this round
			if (!own) to = atomicAdd(cursor + y, (hb_u64)1);
			other[to] = own ? y : (hb_u32)x;
			from[to] = (hb_i32)(own ? hb_scan_at(at[y], y) : hb_scan_at(begin, x));
			eights[to] = (hb_i32)(((own ? length : end - begin) + 7) / 8);
		}
	}
}

// hb_scan_split makes the units of the owners with work, and lists the others. sizes hb_u64[2],
// zeroed, gets the number of both.
HB_KERNEL hb_scan_split(hb_i32 n, const hb_i64 *first, const hb_u64 *work, hb_scan_unit *units, hb_u32 *light, hb_u64 *sizes) {
	HB_EACH(x, n) {
		const hb_i64 tasks = first[x + 1] - first[x];
		if (tasks == 0) continue;
		if (work[x] < HB_SCAN_LIGHT) {
			light[atomicAdd(sizes + 1, (hb_u64)1)] = (hb_u32)x;
			continue;
		}
		const hb_i64 all = (tasks + HB_SCAN_CHUNK - 1) / HB_SCAN_CHUNK;
		const hb_i64 to = (hb_i64)atomicAdd(sizes, (hb_u64)all);
		for (hb_i64 c = 0; c < all; c++) {
			const hb_i64 left = tasks - c * HB_SCAN_CHUNK;
			units[to + c] = hb_scan_unit{first[x] + c * HB_SCAN_CHUNK, (hb_i32)x, (hb_i32)(left < HB_SCAN_CHUNK ? left : HB_SCAN_CHUNK)};
		}
	}
}

// hb_scan_credit counts triangles of a vertex.
HB_DEVICE void hb_scan_credit(hb_u32 *counters, hb_u64 *count, hb_u32 z, hb_u32 triangles) {
	if (z < HB_SCAN_COUNTERS) atomicAdd(counters + z, triangles);
	else atomicAdd(count + z, (hb_u64)triangles);
}

// hb_scan_has reports whether an ascending list has z.
HB_DEVICE bool hb_scan_has(const hb_u32 *list, hb_i32 length, hb_u32 z) {
	hb_i32 low = 0, high = length;
	while (low < high) {
		const hb_i32 middle = (low + high) / 2;
		if (list[middle] < z) low = middle + 1;
		else high = middle;
	}
	return low < length && list[low] == z;
}

// hb_scan_search takes the light owners: 8 lanes a task look for its list in the owner's list. A
// warp takes 8 owners at a time.
HB_DEVICE void hb_scan_search(const hb_i64 *at, const hb_u32 *adj, const hb_i64 *first, const hb_u32 *other, const hb_u32 *light, hb_u64 owners,
	hb_u32 *counters, hb_u64 *count, hb_u64 *state) {
	const hb_i32 group = HB_LANE / 8;
	for (;;) {
		hb_u64 base = 0;
		if (HB_LANE == 0) base = atomicAdd(state + HB_SCAN_LIGHTS, (hb_u64)8);
		base = __shfl_sync(HB_FULL, base, 0);
		if (base >= owners) return;
		const hb_u64 stop = base + 8 < owners ? base + 8 : owners;
		for (hb_u64 o = base; o < stop; o++) {
			const hb_u32 x = light[o];
			const hb_u32 *list = adj + at[x];
			const hb_i32 length = (hb_i32)(at[x + 1] - at[x]);
			hb_u32 all = 0;
			for (hb_i64 t0 = first[x]; t0 < first[x + 1]; t0 += 4) {
				hb_u32 hits = 0, y = 0;
				if (t0 + group < first[x + 1]) {
					y = other[t0 + group];
					for (hb_i64 e = at[y] + HB_LANE % 8; e < at[y + 1]; e += 8) {
						const hb_u32 z = adj[e];
						if (!hb_scan_has(list, length, z)) continue;
						hits++;
						hb_scan_credit(counters, count, z, 1);
					}
				}
				for (int d = 4; d > 0; d /= 2) hits += __shfl_xor_sync(HB_FULL, hits, d);
				if (HB_LANE % 8 == 0 && hits) {
					hb_scan_credit(counters, count, y, hits);
					all += hits;
				}
			}
			all = hb_total(all);
			if (HB_LANE == 0 && all) hb_scan_credit(counters, count, x, all);
		}
	}
}

// hb_scan_probe takes up to 32 tasks of the owner in map, by one warp, and returns the triangles
// that this lane found. The tasks are sorted by length, so that the groups of lanes have about as
// much to do.
HB_DEVICE hb_u32 hb_scan_probe(const hb_u32 *map, hb_u32 exact, const hb_i64 *at, const hb_u32 *adj, const hb_u32 *list, hb_i32 length,
	const hb_scan_eight *packed, const hb_u32 *other, const hb_i32 *from, const hb_i32 *eights, hb_i64 first, hb_i32 tasks, hb_u32 *counters,
	hb_u64 *count) {
	const hb_i32 groups = HB_WARP / HB_SCAN_GROUP, group = HB_LANE / HB_SCAN_GROUP, in = HB_LANE % HB_SCAN_GROUP;
	hb_i32 begin = 0;
	hb_u32 key = HB_LANE, end = 0; // length and task
	if (HB_LANE < tasks) {
		begin = from[first + HB_LANE];
		key = (hb_u32)eights[first + HB_LANE] << 5 | HB_LANE;
		end = other[first + HB_LANE];
	}
	for (int k = 2; k <= HB_WARP; k *= 2) // bitonic, the longest first
		for (int d = k / 2; d > 0; d /= 2) {
			const hb_u32 t = __shfl_xor_sync(HB_FULL, key, d);
			key = ((HB_LANE & d) == 0) == ((HB_LANE & k) == 0) ? (key > t ? key : t) : (key < t ? key : t);
		}
	hb_u32 all = 0;
	for (int q = 0; q < HB_WARP; q += groups) {
		const hb_u32 mine = __shfl_sync(HB_FULL, key, q + group);
		const hb_scan_eight *codes = packed + __shfl_sync(HB_FULL, begin, mine % HB_WARP);
		const hb_u32 y = __shfl_sync(HB_FULL, end, mine % HB_WARP);
		if (!__any_sync(HB_FULL, mine >= HB_WARP)) break; // no tasks
		hb_u32 hits = 0;
		for (hb_u32 p = in; p < mine / HB_WARP; p += HB_SCAN_GROUP) {
			const hb_scan_eight eight = codes[p];
			hb_u32 rare = 0;
#pragma unroll
			for (int h = 0; h < 8; h++) {
				const hb_u32 z = eight.w[h / 2] >> 16 * (h % 2) & 0xffff;
				if (!(map[z / 32] >> (z % 32) & 1)) continue;
				if (z < HB_SCAN_COUNTERS) {
					atomicAdd(counters + z, 1u);
					hits++;
				} else rare |= 1u << h;
			}
			while (rare) {
				const hb_i32 h = __ffs((int)rare) - 1;
				rare &= rare - 1;
				const hb_u32 z = adj[at[y] + 8 * (hb_i64)p + h];
				if (z >= exact && !hb_scan_has(list, length, z)) continue;
				atomicAdd(count + z, (hb_u64)1);
				hits++;
			}
		}
		for (int d = HB_SCAN_GROUP / 2; d > 0; d /= 2) hits += __shfl_xor_sync(HB_FULL, hits, d);
		if (in == 0 && hits) {
			hb_scan_credit(counters, count, y, hits);
			all += hits;
		}
	}
	return all;
}

// hb_scan_empty adds the counters to count.
HB_DEVICE void hb_scan_empty(hb_u32 *counters, hb_u64 *count, hb_i32 n) {
	__syncthreads();
	for (hb_i32 z = threadIdx.x; z < HB_SCAN_COUNTERS && z < n; z += HB_GRAPH_BLOCK) {
		if (counters[z]) atomicAdd(count + z, (hb_u64)counters[z]);
		counters[z] = 0;
	}
	__syncthreads();
}

HB_KERNEL __launch_bounds__(HB_GRAPH_BLOCK)
hb_scan_corners(hb_i32 n, hb_u32 exact, const hb_i64 *at, const hb_u32 *adj, const hb_u16 *packed, const hb_i64 *first, const hb_u32 *other,
	const hb_i32 *from, const hb_i32 *eights, const hb_scan_unit *units, hb_u64 all, const hb_u32 *light, hb_u64 lights, hb_u64 *count,
	hb_u64 *state) {
	__shared__ hb_u32 counters[HB_SCAN_COUNTERS], map[(HB_SCAN_FILL + 1) / 32], found;
	__shared__ hb_scan_unit drawn[2];
	__shared__ hb_i32 taken;
	if (threadIdx.x == 0) {
		const hb_u64 t = atomicAdd(state + HB_SCAN_TICKET, (hb_u64)1);
		drawn[0].tasks = 0;
		if (t < all) drawn[0] = units[t];
		taken = 0;
		found = 0;
	}
	for (hb_i32 k = threadIdx.x; k < (HB_SCAN_FILL + 1) / 32; k += HB_GRAPH_BLOCK) map[k] = 0;
	for (hb_i32 k = threadIdx.x; k < HB_SCAN_COUNTERS; k += HB_GRAPH_BLOCK) counters[k] = 0;
	hb_u32 since = 0;
	for (int side = 0;; side ^= 1) {
		__syncthreads(); // the unit is there, the map is clear
		const hb_scan_unit u = drawn[side];
		if (u.tasks == 0) break;
		const hb_i64 x = u.owner, begin = at[x];
		const hb_i32 length = (hb_i32)(at[x + 1] - begin);
		const hb_u16 *codes = packed + 8 * hb_scan_at(begin, x);
		for (hb_i32 e = threadIdx.x; e < length; e += HB_GRAPH_BLOCK) atomicOr(map + codes[e] / 32, 1u << (codes[e] % 32));
		__syncthreads();
		if (threadIdx.x == 0) { // while the others are at work
			const hb_u64 t = atomicAdd(state + HB_SCAN_TICKET, (hb_u64)1);
			drawn[side ^ 1].tasks = 0;
			if (t < all) drawn[side ^ 1] = units[t];
		}
		const hb_i32 grab = u.tasks >= 256 ? 32 : u.tasks >= 128 ? 16 : 8;
		hb_u32 mine = 0;
		for (;;) {
			hb_i32 t = 0;
			if (HB_LANE == 0) t = atomicAdd(&taken, grab);
			t = __shfl_sync(HB_FULL, t, 0);
			if (t >= u.tasks) break;
			mine += hb_scan_probe(map, exact, at, adj, adj + begin, length, (const hb_scan_eight *)packed, other, from, eights, u.task + t,
				u.tasks - t < grab ? u.tasks - t : grab, counters, count);
		}
		mine = hb_total(mine);
		if (HB_LANE == 0 && mine) atomicAdd(&found, mine);
		__syncthreads();
		for (hb_i32 e = threadIdx.x; e < length; e += HB_GRAPH_BLOCK) map[codes[e] / 32] = 0;
		const hb_u32 triangles = found;
		since += triangles;
		__syncthreads();
		if (threadIdx.x == 0) {
			taken = 0;
			found = 0;
			if (triangles) atomicAdd(count + x, (hb_u64)triangles);
		}
		if (since >= HB_SCAN_FLUSH) {
			hb_scan_empty(counters, count, n);
			since = 0;
		}
	}
	hb_scan_search(at, adj, first, other, light, lights, counters, count, state);
	hb_scan_empty(counters, count, n);
}

// hb_scan_note adds a sum and a maximum of each lane to the sum and the maximum of the state.
HB_DEVICE void hb_scan_note(hb_u64 sum, hb_u64 most, hb_u64 *state) {
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

// hb_scan_finish stores the statistics by vertex, their sum and their maximum. A null degree counts
// the triangles alone.
HB_KERNEL hb_scan_finish(hb_i32 n, const hb_u32 *degree, const hb_u32 *order, const hb_u64 *count, hb_i64 *statistic, hb_u64 *state) {
	hb_u64 sum = 0, most = 0;
	HB_EACH(x, n) {
		const hb_u64 s = (degree ? degree[x] : 0) + count[x];
		statistic[order[x]] = (hb_i64)s;
		sum += s;
		most = s > most ? s : most;
	}
	hb_scan_note(sum, most, state);
}

// hb_scan_block adds up the statistics of n vertices, and finds their maximum.
HB_KERNEL hb_scan_block(hb_i64 n, const hb_i64 *statistic, hb_u64 *state) {
	hb_u64 sum = 0, most = 0;
	HB_EACH(v, n) {
		const hb_u64 s = (hb_u64)statistic[v];
		sum += s;
		most = s > most ? s : most;
	}
	hb_scan_note(sum, most, state);
}

// hb_scan_top lists the vertices with the maximum, in any order; tops counts them, also beyond
// room.
HB_KERNEL hb_scan_top(hb_i32 n, const hb_i64 *statistic, hb_i32 room, hb_i32 *list, hb_u64 *state) {
	const hb_i64 most = (hb_i64)state[HB_SCAN_MAX];
	HB_EACH(v, n) {
		if (statistic[v] != most) continue;
		const hb_u64 k = atomicAdd(state + HB_SCAN_TOPS, (hb_u64)1);
		if (k < (hb_u64)room) list[k] = (hb_i32)v;
	}
}
