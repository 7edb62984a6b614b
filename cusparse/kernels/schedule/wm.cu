// Warp mapping: a warp takes 32 rows and deals out their edges to its lanes.
HB_KERNEL __launch_bounds__(HB_BLOCK) hb_walk(hb_topology g, hb_items items, hb_op op) {
	const hb_i64 threads = (hb_i64)gridDim.x * HB_BLOCK;
	for (hb_i64 i = (hb_i64)blockIdx.x * HB_BLOCK + threadIdx.x; i - HB_LANE < items.count; i += threads) {
		hb_task t = hb_take(g, items, op, i);
		hb_acc a = hb_none();
		hb_deal(g, op, t, 0, t.deg, a);
		if (t.r >= 0) hb_put(op, t.v, a);
	}
}
