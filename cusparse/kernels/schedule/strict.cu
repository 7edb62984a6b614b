// STRICT: the edges of all rows, in a row, are cut into tiles of HB_TILE, each the work of a warp.
// at has the place of each item's first edge, and the number of edges at its end. With starts,
// which hold the item of each tile's first edge (HB_STARTS), nothing is searched for at the begin
// of a tile.
HB_DEVICE hb_i64 hb_between(const hb_i64 *at, hb_i64 lo, hb_i64 hi, hb_i64 t) { // the last with at[i] ≤ t
	while (lo < hi) {
		hb_i64 mid = lo + (hi - lo + 1) / 2;
		if (at[mid] <= t) lo = mid;
		else hi = mid - 1;
	}
	return lo;
}

// hb_degrees gives the slots of each item, 0 for those that the frontier or the mask leaves out.
HB_KERNEL hb_degrees(hb_topology g, hb_items items, hb_op op, hb_i64 *degrees) {
	HB_EACH(i, items.count) degrees[i] = hb_take(g, items, op, i).deg;
}

// hb_starts finds the item of each tile's first edge; starts[tiles] is the last item.
HB_KERNEL hb_starts(const hb_i64 *at, hb_i64 items, hb_i64 tiles, hb_i32 *starts) {
	HB_EACH(t, tiles + 1) starts[t] = (hb_i32)(t < tiles ? hb_between(at, 0, items - 1, t * HB_TILE) : items - 1);
}

HB_KERNEL __launch_bounds__(HB_BLOCK) hb_walk(hb_topology g, hb_items items, hb_op op, const hb_i64 *at, const hb_i32 *starts) {
	const hb_i64 total = at[items.count], tiles = (total + HB_TILE - 1) / HB_TILE;
	const hb_i64 warps = (hb_i64)gridDim.x * HB_BLOCK_WARPS;
	for (hb_i64 tile = (hb_i64)blockIdx.x * HB_BLOCK_WARPS + threadIdx.x / HB_WARP; tile < tiles; tile += warps) {
		const hb_i64 lo = tile * HB_TILE, hi = lo + HB_TILE < total ? lo + HB_TILE : total;
#if HB_STARTS
		const hb_i64 first = starts[tile];
		hb_i64 last = starts[tile + 1];
#else
		const hb_i64 first = hb_between(at, 0, items.count - 1, lo);
		hb_i64 last = hb_between(at, first, items.count - 1, hi - 1);
#endif
		const bool broken = at[first] < lo; // the tile begins within a row
		hb_i64 open = first;
		hb_acc sum = hb_none(); // of the open row, in all lanes
		for (hb_i64 t0 = lo; t0 < hi; t0 += HB_WARP) {
			const hb_i64 t = t0 + HB_LANE;
			const hb_i64 i = hb_between(at, open < 0 ? first : open, last, t < hi ? t : hi - 1);
			hb_acc a = hb_none();
			hb_i32 v = -1;
			if (t < hi) {
				hb_task task = hb_take(g, items, op, i);
				v = task.v;
				if (task.deg > 0) {
					hb_i32 u;
					hb_i64 p;
					bool is = hb_edge(g, task.r, task.base, (hb_i32)(t - at[i]), u, p);
					hb_visit(g, op, task.v, task.at, u, p, is, a);
				}
			}
#if HB_REDUCES
			const hb_i64 prev = __shfl_up_sync(HB_FULL, i, 1);
			const hb_u32 heads = __ballot_sync(HB_FULL, HB_LANE == 0 || i != prev || t >= hi);
			a = hb_add_runs(a, heads);
			if (i == open && hb_run_start(heads) == 0) a = hb_join(sum, a);
			const bool ends = t < hi && at[i + 1] == t + 1;
			if (ends) {
				if (i == first && broken) hb_part(op, 2 * tile, v, a);
				else hb_put(op, v, a);
			}
			const int lastLane = (int)(hi - t0 < HB_WARP ? hi - t0 : HB_WARP) - 1;
			const bool closed = __shfl_sync(HB_FULL, (int)ends, lastLane);
			open = closed ? -1 : __shfl_sync(HB_FULL, i, lastLane);
			sum = closed ? hb_none() : hb_from(a, lastLane);
#endif
		}
#if HB_REDUCES
		if (HB_LANE == 0) {
			const bool whole = open == first && broken;
			if (open >= 0) hb_part(op, whole ? 2 * tile : 2 * tile + 1, hb_vertex(g, hb_item(g, items, open)), sum);
			else hb_no_part(op, 2 * tile + 1);
			if (whole) hb_part(op, 2 * tile + 1, hb_vertex(g, hb_item(g, items, open)), hb_none());
			else if (!broken) hb_no_part(op, 2 * tile);
		}
#endif
	}
}
