// The edges towards the vertex of higher degree, ties by number.
// Source: prelude + this file. Host: apps/triangles/hubs_gpu.go, which defines
//     HB_HUB_TILE  entries that a warp takes at a time, a multiple of 32
//
// In: ptr hb_i64[n+1] and idx hb_i32[entries], the rows of an n×n matrix; n > 0.
// Scratch: degree hb_u32[n].
// Out: keep hb_u8[entries], 1 for the edges that stay.
// Launches: hb_hub_degrees, one thread a vertex; hb_towards_hubs, blocks of any number of warps,
//   which take tiles in turns. A warp searches the row of its first entry, with 32 probes at a
//   time, and finds the rows of the others among the next offsets. Bound by the random reads of
//   degree.

HB_KERNEL hb_hub_degrees(hb_i64 n, const hb_i64 *ptr, hb_u32 *degree) {
	HB_EACH(v, n) degree[v] = (hb_u32)(ptr[v + 1] - ptr[v]);
}

// hb_hub_row returns the last row that begins at entry p or before.
HB_DEVICE hb_i64 hb_hub_row(const hb_i64 *ptr, hb_i64 n, hb_i64 p) {
	hb_i64 row = 0;
	for (hb_i64 stop = n, step = n; step > 1;) {
		step = (stop - row + HB_WARP - 1) / HB_WARP;
		const hb_i64 r = row + HB_LANE * step;
		const hb_u32 ok = __ballot_sync(HB_FULL, r < stop && ptr[r < stop ? r : 0] <= p);
		row += (__popc(ok) - 1) * step;
		if (stop > row + step) stop = row + step;
	}
	return row;
}

HB_KERNEL hb_towards_hubs(hb_i64 entries, hb_i64 n, const hb_i64 *ptr, const hb_i32 *idx, const hb_u32 *degree, hb_u8 *keep) {
	const hb_i64 warps = (hb_i64)gridDim.x * (blockDim.x / HB_WARP);
	for (hb_i64 tile = (hb_i64)blockIdx.x * (blockDim.x / HB_WARP) + threadIdx.x / HB_WARP; tile * HB_HUB_TILE < entries; tile += warps) {
		hb_i64 base = hb_hub_row(ptr, n, tile * HB_HUB_TILE);
		for (hb_i32 t0 = 0; t0 < HB_HUB_TILE; t0 += HB_WARP) {
			const hb_i64 first = tile * HB_HUB_TILE + t0, p = first + HB_LANE;
			hb_i64 i = base;
			// The rows after base that begin among the 32 entries, 32 rows at a time.
			for (bool open = true;; base += HB_WARP) {
				const hb_i64 next = base + 1 + HB_LANE < n ? ptr[base + 1 + HB_LANE] - first : HB_WARP;
				const hb_u32 begin = next < HB_WARP ? (hb_u32)next : HB_WARP, last = __shfl_sync(HB_FULL, begin, HB_WARP - 1);
				const hb_i32 begun = hb_owner(begin, (hb_u32)HB_LANE); // rows up to this lane's entry, if last is beyond it
				if (open) i = base + (last > (hb_u32)HB_LANE ? begun : HB_WARP);
				open = open && last <= (hb_u32)HB_LANE;
				if (last == HB_WARP) break;
			}
			base = __shfl_sync(HB_FULL, i, HB_WARP - 1);
			if (p >= entries) continue;
			const hb_i64 j = idx[p];
			const hb_u32 di = degree[i], dj = degree[j];
			keep[p] = di < dj || (di == dj && i < j);
		}
	}
}
