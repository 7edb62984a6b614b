// Breadth-first search and shortest distances on a group, where a device has the rows and the
// values of own vertices, lo … lo+own−1 of n. All devices know the frontier.
// Source: prelude + queue.cu + element type + relax.cu + this file. Host: apps/paths/rows_gpu.go,
// which defines
//     HB_T          hb_i32 (levels), hb_u32, hb_i64, hb_u64, float or double
//     HB_MAX        its largest value, +Inf for floats: unreached
//     HB_ROWS_CHUNK entries of an item of the queue
//     HB_ROWS_FEW   in-neighbours that one lane tests
//     HB_ROWS_GROUP lanes that test the others of a vertex
//     HB_ROWS_LONG  in-neighbours above which many groups do
//     HB_ROWS_ASIDE vertices of each kind that a block collects in shared memory
//     HB_ROWS_WINDOWS windows of own vertices, at most
//
// A step of pushes: every device gathers the frontier as records of vertex and distance, relaxes
// the edges from them to its own vertices, and lists the vertices with a distance that fell. It
// holds these edges by their sources: ptr of n rows, idx counting from lo. A step of pulls, of
// levels: every device gathers the frontier as bits, and its unreached vertices look for one of
// them among their in-neighbours. With few records each device decides for itself: where they have
// more than so many edges to its own vertices, it makes bits of them and pulls. Vertices with a
// distance above bound wait in a pile (near and far, see sssp.cu).
//
// Where the records have many edges each and the distances exceed the cache, the queue has the
// items by windows of their targets: chunk j of k comes in window j·windows/k, as targets ascend in
// a row.
//
// Scratch: count hb_u64[8 + 2·HB_ROWS_WINDOWS], 0 before; flags hb_u32[2·⌈own/32⌉], bits of
//   the list, of the pile;
//   next, pile, kept hb_i32[own], numbers of own vertices; records hb_record[frontier];
//   queue hb_u64[records + entries/HB_ROWS_CHUNK + 1];
//   left hb_u64[entries/HB_ROWS_CHUNK + entries/HB_ROWS_LONG + 1];
//   bits hb_u32[⌈n/32⌉], the frontier; least HB_T[1].
// Launches: hb_rows_relax with the resident blocks of HB_GRAPH_BLOCK threads, hb_rows_sources and
// hb_rows_report with one block, all others one thread an item in a grid-stride loop.
//   the start: hb_rows_start, hb_rows_sources
//   a push: flags of the list to 0, with windows hb_rows_windows, hb_rows_items; of levels
//     hb_rows_clear, hb_rows_mark and the kernels of a pull; hb_rows_relax; of distances
//     hb_rows_least
//   a pull: flags of the list to 0, hb_rows_join, hb_rows_pull, hb_rows_pull_left, hb_rows_list
//   a split, where no rank has a list: flags of the list to 0, hb_rows_split
//   after each of these hb_rows_records, hb_rows_report
//   the end: hb_rows_finish, hb_rows_report; with parents hb_rows_parents
// Bound by random reads and atomics on dist; a pull by reads of idx and random reads of bits.

struct hb_record { HB_T d; hb_u32 v; };

enum { // places in count
	HB_ROWS_NEXT, HB_ROWS_PILE, HB_ROWS_KEPT, HB_ROWS_ITEMS, HB_ROWS_EDGES, HB_ROWS_LEFT, HB_ROWS_REACHED,
	HB_ROWS_LISTED,
	HB_ROWS_WINDOW, HB_ROWS_CURSOR = HB_ROWS_WINDOW + HB_ROWS_WINDOWS // items of each window, and those written
};

HB_KERNEL hb_rows_start(hb_i32 own, HB_T *dist, hb_u32 *flags) {
	HB_EACH(v, own) dist[v] = HB_MAX;
	HB_EACH(w, 2 * (((hb_i64)own + 31) / 32)) flags[w] = 0;
}

// hb_rows_sources lists the own vertices among m sources, which differ. One block.
HB_KERNEL hb_rows_sources(hb_i32 m, const hb_i32 *sources, hb_i32 lo, hb_i32 own, HB_T *dist, hb_u32 *flags, HB_T *least, hb_i32 *next,
	hb_u64 *count) {
	if (threadIdx.x == 0) *least = HB_MAX;
	HB_EACH(i, m) {
		hb_i32 v = sources[i] - lo;
		if (v < 0 || v >= own) continue;
		dist[v] = 0;
		atomicOr(flags + (v >> 5), 1u << (v & 31));
		next[atomicAdd(count + HB_ROWS_NEXT, 1ull)] = v;
	}
}

// hb_rows_records writes the list as records, unless it has more than most vertices.
HB_KERNEL hb_rows_records(hb_i64 most, const hb_i32 *next, hb_i32 lo, const HB_T *dist, hb_record *records, const hb_u64 *count) {
	hb_i64 listed = (hb_i64)count[HB_ROWS_NEXT];
	if (listed > most) return;
	HB_EACH(i, listed) {
		hb_record r;
		r.d = dist[next[i]], r.v = (hb_u32)(lo + next[i]);
		records[i] = r;
	}
}

// hb_rows_report writes the number of vertices in the list, the least distance in the pile and the
// number of vertices reached to result, in pinned host memory, and begins the next list. After a
// split the vertices that were kept are the pile.
HB_KERNEL hb_rows_report(hb_i32 split, HB_T *least, hb_u64 *count, hb_i64 *result) {
	if (threadIdx.x > 0) return;
	if (split) count[HB_ROWS_PILE] = count[HB_ROWS_KEPT], count[HB_ROWS_KEPT] = 0;
	result[0] = (hb_i64)count[HB_ROWS_NEXT];
	*(HB_T *)(result + 1) = *least;
	result[2] = (hb_i64)count[HB_ROWS_REACHED];
	*least = HB_MAX;
	count[HB_ROWS_NEXT] = count[HB_ROWS_ITEMS] = count[HB_ROWS_EDGES] = count[HB_ROWS_LEFT] = count[HB_ROWS_LISTED] = 0;
	for (hb_i32 w = 0; w < 2 * HB_ROWS_WINDOWS; w++) count[HB_ROWS_WINDOW + w] = 0;
}

// hb_rows_clear sets the bits of n vertices to 0, if the records have more than most edges.
HB_KERNEL hb_rows_clear(hb_i32 n, hb_i64 most, hb_u32 *bits, const hb_u64 *count) {
	if ((hb_i64)count[HB_ROWS_EDGES] <= most) return;
	HB_EACH(w, ((hb_i64)n + 31) / 32) bits[w] = 0;
}

// hb_rows_mark sets the bits of m records, if they have more than most edges.
HB_KERNEL hb_rows_mark(hb_i64 m, hb_i64 most, const hb_record *records, hb_u32 *bits, const hb_u64 *count) {
	if ((hb_i64)count[HB_ROWS_EDGES] <= most) return;
	HB_EACH(i, m) atomicOr(bits + (records[i].v >> 5), 1u << (records[i].v & 31));
}

// hb_rows_join makes the bits of all n vertices from the bits of p ranks: rank r has vertices
// cuts[r] … cuts[r+1]−1, in words from places[r] on.
HB_KERNEL hb_rows_join(hb_i32 n, hb_i32 p, const hb_i64 *cuts, const hb_i64 *places, const hb_u32 *words, hb_u32 *bits) {
	HB_EACH(w, ((hb_i64)n + 31) / 32) {
		hb_i64 from = 32 * w, to = from + 32 < n ? from + 32 : n;
		hb_u32 word = 0;
		for (hb_i32 r = 0; r < p; r++) {
			hb_i64 a = cuts[r] > from ? cuts[r] : from, b = cuts[r + 1] < to ? cuts[r + 1] : to;
			if (a >= b) continue;
			hb_i64 at = a - cuts[r], q = places[r] + at / 32;
			hb_u64 both = words[q];
			if (at % 32 + (b - a) > 32) both |= (hb_u64)words[q + 1] << 32;
			hb_u64 part = both >> (at % 32) & ((1ull << (b - a)) - 1);
			word |= (hb_u32)(part << (a - from));
		}
		bits[w] = word;
	}
}

// hb_rows_chunks returns the items of the edges of record i, 0 beyond m.
HB_DEVICE hb_u32 hb_rows_chunks(hb_i64 i, hb_i64 m, const hb_record *records, const hb_i64 *ptr, hb_i64 *edges) {
	*edges = i < m ? ptr[records[i].v + 1] - ptr[records[i].v] : 0;
	return (hb_u32)((*edges + HB_ROWS_CHUNK - 1) / HB_ROWS_CHUNK);
}

// hb_rows_windows counts the items of m records in each of 2^shift windows.
HB_KERNEL hb_rows_windows(hb_i64 m, const hb_record *records, const hb_i64 *ptr, hb_i32 shift, hb_u64 *count) {
	__shared__ hb_u64 sums[HB_ROWS_WINDOWS];
	if (threadIdx.x < HB_ROWS_WINDOWS) sums[threadIdx.x] = 0;
	__syncthreads();
	hb_u64 own[HB_ROWS_WINDOWS];
	for (hb_i32 w = 0; w < HB_ROWS_WINDOWS; w++) own[w] = 0;
	HB_EACH(i, m) {
		hb_i64 edges;
		const hb_u64 chunks = hb_rows_chunks(i, m, records, ptr, &edges);
		for (hb_i32 w = 0; w < HB_ROWS_WINDOWS; w++) {
			if (w >> shift == 0) own[w] += ((w + 1) * chunks >> shift) - (w * chunks >> shift);
		}
	}
	for (hb_i32 w = 0; w < HB_ROWS_WINDOWS; w++) {
		const hb_u64 sum = hb_total(own[w]);
		if (HB_LANE == 0 && sum) atomicAdd(sums + w, sum);
	}
	__syncthreads();
	if (threadIdx.x < HB_ROWS_WINDOWS && sums[threadIdx.x]) atomicAdd(count + HB_ROWS_WINDOW + threadIdx.x, sums[threadIdx.x]);
}

// hb_rows_items cuts the rows of m records into items of the queue, by 2^shift windows, and counts
// their edges.
HB_KERNEL hb_rows_items(hb_i64 m, const hb_record *records, const hb_i64 *ptr, hb_i32 shift, hb_u64 *queue, hb_u64 *count) {
	const hb_i64 threads = (hb_i64)gridDim.x * blockDim.x;
	for (hb_i64 i = (hb_i64)blockIdx.x * blockDim.x + threadIdx.x; i - HB_LANE < m; i += threads) {
		hb_i64 edges;
		const hb_u64 chunks = hb_rows_chunks(i, m, records, ptr, &edges);
		if (!__any_sync(HB_FULL, edges > 0)) continue;
		const hb_u64 sum = hb_total((hb_u64)edges);
		if (HB_LANE == 0) atomicAdd(count + HB_ROWS_EDGES, sum);
		if (shift == 0) {
			hb_append(queue, count + HB_ROWS_ITEMS, (hb_i32)i, (hb_u32)chunks);
			continue;
		}
		const hb_u64 items = hb_total(chunks);
		if (HB_LANE == 0) atomicAdd(count + HB_ROWS_ITEMS, items);
		hb_u64 before = 0; // items of the windows before
		for (hb_i32 w = 0; w >> shift == 0; before += count[HB_ROWS_WINDOW + w], w++) {
			const hb_u64 from = w * chunks >> shift, all = ((w + 1) * chunks >> shift) - from, total = hb_total(all);
			if (total == 0) continue;
			hb_u64 first = 0;
			if (HB_LANE == 0) first = atomicAdd(count + HB_ROWS_CURSOR + w, total);
			first = __shfl_sync(HB_FULL, first, 0) + before;
			const hb_u32 ends = hb_sums((hb_u32)all);
			for (hb_u32 t0 = 0; t0 < total; t0 += HB_WARP) {
				const hb_u32 t = t0 + HB_LANE;
				const hb_i32 lane = hb_owner(ends, t);
				const hb_u32 record = __shfl_sync(HB_FULL, (hb_u32)i, lane), begin = __shfl_sync(HB_FULL, ends - (hb_u32)all, lane);
				const hb_u32 chunk = __shfl_sync(HB_FULL, (hb_u32)from, lane) + t - begin;
				if (t < total) queue[first + t] = (hb_u64)chunk << 32 | record;
			}
		}
	}
}

// hb_rows_relax relaxes the items of the queue, unless they have more than most edges. val is null
// for edges of length 1.
HB_KERNEL hb_rows_relax(hb_i64 most, const hb_record *records, const hb_i64 *ptr, const hb_i32 *idx, const HB_T *val, HB_T bound, hb_i64 words,
	HB_T *dist, hb_u32 *flags, const hb_u64 *queue, hb_i32 *next, hb_i32 *pile, hb_u64 *count) {
	__shared__ hb_i32 near_aside[HB_ROWS_ASIDE], far_aside[HB_ROWS_ASIDE];
	__shared__ hb_u32 nears, fars;
	if ((hb_i64)count[HB_ROWS_EDGES] > most) return;
	if (threadIdx.x == 0) nears = fars = 0;
	__syncthreads();
	hb_u64 items = count[HB_ROWS_ITEMS], warps = (hb_u64)gridDim.x * HB_GRAPH_WARPS, share = hb_share(items);
	for (hb_u64 g = (hb_u64)blockIdx.x * HB_GRAPH_WARPS + threadIdx.x / HB_WARP; g * share < items; g += warps) {
		hb_u64 at = g * share + HB_LANE;
		hb_i64 begin = 0, end = 0;
		HB_T d = 0;
		if (HB_LANE < share && at < items) {
			hb_u64 item = queue[at];
			hb_record r = records[(hb_u32)item];
			begin = ptr[r.v] + (hb_i64)(item >> 32) * HB_ROWS_CHUNK, end = ptr[r.v + 1];
			if (end > begin + HB_ROWS_CHUNK) end = begin + HB_ROWS_CHUNK;
			d = r.d;
		}
		hb_u32 sum = hb_sums((hb_u32)(end - begin)), total = __shfl_sync(HB_FULL, sum, HB_WARP - 1);
		begin -= sum - (hb_u32)(end - begin); // entry t of the warp is at begin + t of its lane
		for (hb_u32 t0 = 0; t0 < total; t0 += HB_WARP * HB_UNROLL) {
			hb_i32 u[HB_UNROLL];
			HB_T to_u[HB_UNROLL];
			bool less[HB_UNROLL];
			if (val) hb_relax<false>(t0, total, sum, begin, d, idx, val, dist, u, to_u, less);
			else hb_relax<true>(t0, total, sum, begin, d, idx, val, dist, u, to_u, less);
			for (hb_i32 k = 0; k < HB_UNROLL; k++) {
				if (!__any_sync(HB_FULL, less[k])) continue;
				bool near = less[k] && to_u[k] <= bound, later = less[k] && !near;
				if (less[k]) { // at most once in the list and once in the pile
					hb_u32 bit = 1u << (u[k] & 31);
					if (atomicOr(flags + (near ? 0 : words) + (u[k] >> 5), bit) & bit) near = later = false;
				}
				hb_aside(near, u[k], near_aside, &nears, HB_ROWS_ASIDE, next, count + HB_ROWS_NEXT);
				hb_aside(later, u[k], far_aside, &fars, HB_ROWS_ASIDE, pile, count + HB_ROWS_PILE);
			}
		}
	}
	__syncthreads();
	hb_flush_aside(near_aside, nears, HB_ROWS_ASIDE, next, count + HB_ROWS_NEXT);
	hb_flush_aside(far_aside, fars, HB_ROWS_ASIDE, pile, count + HB_ROWS_PILE);
}

// hb_rows_pull gives level depth to the unreached own vertices with an in-neighbour in the
// frontier, sets their bits and counts them, if the records have more than most edges; with most −1
// always. A lane tests the first HB_ROWS_FEW in-neighbours of its vertex, HB_ROWS_GROUP lanes the
// others. Rows of more than HB_ROWS_LONG are left to hb_rows_pull_left. Counts are added once for a
// warp.
HB_KERNEL hb_rows_pull(hb_i32 own, hb_i64 most, const hb_i64 *ptr, const hb_i32 *idx, const hb_u32 *bits, HB_T depth, HB_T *dist,
	hb_u32 *flags, hb_u64 *left, hb_u64 *count) {
	if ((hb_i64)count[HB_ROWS_EDGES] <= most) return;
	const hb_i64 threads = (hb_i64)gridDim.x * blockDim.x;
	const hb_u32 lane = HB_LANE % HB_ROWS_GROUP, group = HB_LANE / HB_ROWS_GROUP, first = HB_LANE - lane;
	hb_u64 some = 0;
	for (hb_i64 v = (hb_i64)blockIdx.x * blockDim.x + threadIdx.x; v - HB_LANE < own; v += threads) {
		hb_i64 p = 0, end = 0;
		bool found = false;
		if (v < own && dist[v] == HB_MAX) p = ptr[v], end = ptr[v + 1];
		hb_i32 u[HB_ROWS_FEW];
		for (hb_i32 k = 0; k < HB_ROWS_FEW; k++) u[k] = p + k < end ? idx[p + k] : -1;
		for (hb_i32 k = 0; k < HB_ROWS_FEW; k++) if (u[k] >= 0 && (bits[u[k] >> 5] >> (u[k] & 31) & 1)) found = true;
		const hb_i64 others = found ? 0 : end - p - HB_ROWS_FEW;
		if (__any_sync(HB_FULL, others > HB_ROWS_LONG))
			hb_append(left, count + HB_ROWS_LEFT, (hb_i32)v, others > HB_ROWS_LONG ? (hb_u32)((others + HB_ROWS_CHUNK - 1) / HB_ROWS_CHUNK) : 0);
		hb_u32 open = __ballot_sync(HB_FULL, others > 0 && others <= HB_ROWS_LONG), word = __ballot_sync(HB_FULL, found);
		while (open) { // each group takes one
			hb_u32 mine = open;
			for (hb_u32 k = 0; k < HB_WARP / HB_ROWS_GROUP; k++) {
				if (k < group) mine &= mine - 1;
				open &= open - 1;
			}
			const hb_i32 owner = mine ? __ffs((int)mine) - 1 : 0;
			hb_i64 q = __shfl_sync(HB_FULL, p, owner) + HB_ROWS_FEW + lane, stop = __shfl_sync(HB_FULL, end, owner);
			if (!mine) q = stop = 0;
			bool hit = false;
			for (; __any_sync(HB_FULL, !hit && q - lane < stop); q += HB_ROWS_GROUP) {
				const hb_i32 w = !hit && q < stop ? idx[q] : -1;
				const hb_u32 hits = __ballot_sync(HB_FULL, w >= 0 && (bits[w >= 0 ? w >> 5 : 0] >> (w & 31) & 1));
				if (hits >> first & ((1u << HB_ROWS_GROUP) - 1)) hit = true;
			}
			const hb_u32 done = hit && lane == 0 ? 1u << owner : 0;
			for (hb_u32 k = 0; k < HB_WARP; k += HB_ROWS_GROUP) word |= __shfl_sync(HB_FULL, done, (int)k);
		}
		if (word >> HB_LANE & 1) dist[v] = depth, some++;
		if (word && HB_LANE == 0) flags[v >> 5] = word;
	}
	some = hb_total(some);
	if (HB_LANE == 0 && some > 0) atomicAdd(count + HB_ROWS_NEXT, some);
}

// hb_rows_pull_left does the same for the in-neighbours of long rows: HB_ROWS_GROUP lanes read an
// item of the queue.
HB_KERNEL hb_rows_pull_left(const hb_i64 *ptr, const hb_i32 *idx, const hb_u32 *bits, HB_T depth, HB_T *dist, hb_u32 *flags,
	const hb_u64 *left, hb_u64 *count) {
	const hb_i64 items = (hb_i64)count[HB_ROWS_LEFT], threads = (hb_i64)gridDim.x * blockDim.x;
	const hb_u32 lane = HB_LANE % HB_ROWS_GROUP, first = HB_LANE - lane;
	hb_u64 some = 0;
	for (hb_i64 t = (hb_i64)blockIdx.x * blockDim.x + threadIdx.x; t - HB_LANE < items * HB_ROWS_GROUP; t += threads) {
		hb_i64 item = t / HB_ROWS_GROUP, p = 0, end = 0;
		hb_i32 v = -1;
		if (item < items) {
			v = (hb_i32)(hb_u32)left[item];
			p = ptr[v] + HB_ROWS_FEW + (hb_i64)(left[item] >> 32) * HB_ROWS_CHUNK, end = ptr[v + 1];
			if (end > p + HB_ROWS_CHUNK) end = p + HB_ROWS_CHUNK;
		}
		bool found = false;
		for (p += lane; __any_sync(HB_FULL, !found && p - lane < end); p += HB_ROWS_GROUP) {
			hb_i32 u = !found && p < end ? idx[p] : -1;
			hb_u32 hits = __ballot_sync(HB_FULL, u >= 0 && (bits[u >= 0 ? u >> 5 : 0] >> (u & 31) & 1));
			if (hits >> first & ((1u << HB_ROWS_GROUP) - 1)) found = true;
		}
		if (found && lane == 0) { // another item of the vertex may have found one
			hb_u32 bit = 1u << (v & 31);
			if (!(atomicOr(flags + (v >> 5), bit) & bit)) dist[v] = depth, some++;
		}
	}
	some = hb_total(some);
	if (HB_LANE == 0 && some > 0) atomicAdd(count + HB_ROWS_NEXT, some);
}

// hb_rows_list lists the vertices of the bits, if they were pulled and are at most most. The count
// of the list is kept in HB_ROWS_NEXT; places are given by HB_ROWS_LISTED.
HB_KERNEL hb_rows_list(hb_i32 own, hb_i64 pulled, hb_i64 most, const hb_u32 *flags, hb_i32 *next, hb_u64 *count) {
	if ((hb_i64)count[HB_ROWS_EDGES] <= pulled || (hb_i64)count[HB_ROWS_NEXT] > most) return;
	const hb_i64 words = ((hb_i64)own + 31) / 32, threads = (hb_i64)gridDim.x * blockDim.x;
	for (hb_i64 w = (hb_i64)blockIdx.x * blockDim.x + threadIdx.x; w - HB_LANE < words; w += threads) {
		hb_u32 word = w < words ? flags[w] : 0, here = (hb_u32)__popc(word), sum = hb_sums(here);
		hb_u32 total = __shfl_sync(HB_FULL, sum, HB_WARP - 1);
		if (total == 0) continue;
		hb_u64 place = 0;
		if (HB_LANE == 0) place = atomicAdd(count + HB_ROWS_LISTED, (hb_u64)total);
		place = __shfl_sync(HB_FULL, place, 0) + sum - here;
		for (; word; word &= word - 1) next[place++] = (hb_i32)(32 * w + __ffs((int)word) - 1);
	}
}

// hb_rows_least lowers *least to the least distance above bound in the pile, if the list is empty.
HB_KERNEL hb_rows_least(const hb_i32 *pile, const hb_u64 *count, const HB_T *dist, HB_T bound, HB_T *least) {
	HB_T low = HB_MAX;
	if (count[HB_ROWS_NEXT] > 0) return;
	HB_EACH(i, (hb_i64)count[HB_ROWS_PILE]) {
		HB_T d = dist[pile[i]];
		if (d > bound && d < low) low = d;
	}
	for (hb_i32 k = HB_WARP / 2; k > 0; k /= 2) {
		HB_T other = __shfl_xor_sync(HB_FULL, low, k);
		if (other < low) low = other;
	}
	if (HB_LANE == 0 && low < HB_MAX) hb_lower(least, low);
}

// hb_rows_split lists the vertices of the pile with a distance above settled and at most bound,
// drops those settled, and copies the others to kept. The list is empty before.
HB_KERNEL hb_rows_split(const hb_i32 *pile, HB_T settled, HB_T bound, hb_i64 words, const HB_T *dist, hb_u32 *flags, hb_i32 *next,
	hb_i32 *kept, hb_u64 *count) {
	HB_EACH(i, (hb_i64)count[HB_ROWS_PILE]) {
		hb_i32 v = pile[i];
		HB_T d = dist[v];
		if (d > bound) {
			kept[atomicAdd(count + HB_ROWS_KEPT, 1ull)] = v;
			continue;
		}
		atomicAnd(flags + words + (v >> 5), ~(1u << (v & 31)));
		if (d > settled) {
			atomicOr(flags + (v >> 5), 1u << (v & 31));
			next[atomicAdd(count + HB_ROWS_NEXT, 1ull)] = v;
		}
	}
}

// hb_rows_finish writes which own vertices are reached, and adds their number to count.
HB_KERNEL hb_rows_finish(hb_i32 own, const HB_T *dist, hb_u8 *present, hb_u64 *count) {
	hb_u64 some = 0;
	HB_EACH(v, own) {
		bool is = dist[v] < HB_MAX;
		present[v] = is;
		some += is;
	}
	some = hb_total(some);
	if (HB_LANE == 0 && some > 0) atomicAdd(count + HB_ROWS_REACHED, some);
}

// hb_rows_parents gives each reached own vertex its least-numbered in-neighbour of the level
// before, and the source itself. all are the levels of all vertices. A lane tests the first
// in-neighbours of its vertex, a warp the others.
HB_KERNEL hb_rows_parents(hb_i32 own, hb_i32 lo, const hb_i64 *ptr, const hb_i32 *idx, const HB_T *dist, const HB_T *all, hb_i32 *parent) {
	hb_i64 threads = (hb_i64)gridDim.x * blockDim.x;
	for (hb_i64 v = (hb_i64)blockIdx.x * blockDim.x + threadIdx.x; v - HB_LANE < own; v += threads) {
		HB_T level = v < own ? dist[v] : (HB_T)0;
		hb_i64 p = 0, end = 0;
		hb_i32 found = -1;
		if (level > 0 && level < HB_MAX) p = ptr[v], end = ptr[v + 1];
		for (hb_i32 k = 0; k < 4 * HB_ROWS_FEW && p < end && found < 0; k++, p++) if (all[idx[p]] == level - 1) found = idx[p];
		hb_u32 open = __ballot_sync(HB_FULL, found < 0 && p < end);
		while (open) {
			hb_i32 lane = __ffs((int)open) - 1;
			open &= open - 1;
			hb_i64 from = __shfl_sync(HB_FULL, p, lane), to = __shfl_sync(HB_FULL, end, lane);
			HB_T before = __shfl_sync(HB_FULL, level, lane) - 1;
			hb_u32 hits = 0;
			hb_i32 u = -1;
			for (; from < to && !hits; from += HB_WARP) {
				hb_i64 q = from + HB_LANE;
				u = q < to ? idx[q] : -1;
				hits = __ballot_sync(HB_FULL, u >= 0 && all[u >= 0 ? u : 0] == before);
			}
			u = __shfl_sync(HB_FULL, u, hits ? __ffs((int)hits) - 1 : 0);
			if ((hb_i32)HB_LANE == lane && hits) found = u;
		}
		if (v < own) parent[v] = found < 0 ? (hb_i32)(lo + v) : found;
	}
}
