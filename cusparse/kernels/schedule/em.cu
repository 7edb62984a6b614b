// Edge mapping: a thread takes an edge. Neighbouring edges of one row are added up in the warp
// before they are added to its result.
HB_KERNEL __launch_bounds__(HB_BLOCK) hb_walk(hb_topology g, hb_items items, hb_op op) {
	const hb_i64 slots = hb_slots(g), threads = (hb_i64)gridDim.x * HB_BLOCK;
	for (hb_i64 e = (hb_i64)blockIdx.x * HB_BLOCK + threadIdx.x; e - HB_LANE < slots; e += threads) {
		hb_i32 r = -1, v = -1, u;
		hb_i64 p;
		bool is = false;
		hb_acc a = hb_none();
		if (e < slots) {
			is = hb_slot(g, e, r, u, p);
			v = hb_vertex(g, r);
#if HB_FRONTIER == 2
			is = is && items.present[v];
#endif
			is = is && hb_wanted(op, v);
			if (is) hb_visit(g, op, v, v, u, p, true, a);
		}
#if HB_REDUCES
		const hb_i32 prev = __shfl_up_sync(HB_FULL, v, 1), next = __shfl_down_sync(HB_FULL, v, 1);
		const hb_u32 heads = __ballot_sync(HB_FULL, HB_LANE == 0 || v != prev);
		const hb_u32 full = __ballot_sync(HB_FULL, is);
		a = hb_add_runs(a, heads);
		const int start = hb_run_start(heads);
		const hb_u32 run = HB_FULL >> (HB_WARP - 1 - HB_LANE) & HB_FULL << start; // the lanes of this run so far
		if (v >= 0 && (full & run) && (HB_LANE == HB_WARP - 1 || next != v)) hb_part(op, 0, v, a);
#endif
	}
}
