// hb_add_lanes adds up the sums of groups of `lanes` neighbouring lanes, a power of two; the first
// of each has the result.
HB_DEVICE hb_acc hb_add_lanes(hb_acc a, int lanes) {
#if HB_REDUCES
#pragma unroll
	for (int d = lanes / 2; d > 0; d /= 2) {
		hb_acc other = hb_from(a, HB_LANE + d);
		if ((HB_LANE & (lanes - 1)) < d) a = hb_join(a, other);
	}
#endif
	return a;
}

// hb_add_runs gives each lane the sum over its run of lanes up to itself; see hb_run_start.
HB_DEVICE hb_acc hb_add_runs(hb_acc a, hb_u32 heads) {
#if HB_REDUCES
	const int start = hb_run_start(heads);
#pragma unroll
	for (int d = 1; d < HB_WARP; d *= 2) {
		hb_acc other = hb_up(a, d);
		if (HB_LANE - d >= start) a = hb_join(other, a);
	}
#endif
	return a;
}

// hb_deal walks the edges of the lanes' rows, lo … hi−1 of each, dealt out evenly to the lanes of
// the warp, and adds to each lane's sum (scan-and-search: Merrill, Garland, Grimshaw, PPoPP 2012).
HB_DEVICE void hb_deal(const hb_topology &g, const hb_op &op, const hb_task &task, hb_i32 lo, hb_i32 hi, hb_acc &mine) {
	hb_u32 n = hi > lo ? (hb_u32)(hi - lo) : 0, sum = hb_sums(n), before = sum - n;
	hb_u32 total = __shfl_sync(HB_FULL, sum, HB_WARP - 1);
	for (hb_u32 t0 = 0; t0 < total; t0 += HB_WARP) {
		hb_u32 t = t0 + HB_LANE;
		int who = hb_owner(sum, t);
		hb_i32 k = (hb_i32)(t - __shfl_sync(HB_FULL, before, who)) + __shfl_sync(HB_FULL, lo, who);
		hb_i64 base = __shfl_sync(HB_FULL, task.base, who);
		hb_i32 r = __shfl_sync(HB_FULL, task.r, who), v = __shfl_sync(HB_FULL, task.v, who), at = __shfl_sync(HB_FULL, task.at, who), u;
		hb_i64 p;
		hb_acc a = hb_none();
		if (t < total) {
			bool is = hb_edge(g, r, base, k, u, p);
			hb_visit(g, op, v, at, u, p, is, a);
		}
#if HB_REDUCES
		int prev = __shfl_up_sync(HB_FULL, who, 1);
		a = hb_add_runs(a, __ballot_sync(HB_FULL, HB_LANE == 0 || who != prev));
		// The edges of this lane's row among these end at lane `end`.
		hb_u32 end = (sum < t0 + HB_WARP ? sum : t0 + HB_WARP) - t0;
		hb_acc got = hb_from(a, (int)end - 1);
		if (n && sum > t0 && before < t0 + HB_WARP) mine = hb_join(mine, got);
#endif
	}
}
