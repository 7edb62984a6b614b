// Virtual warps: HB_LANES neighbouring lanes take a row (Hong et al., PPoPP 2011).
HB_KERNEL __launch_bounds__(HB_BLOCK) hb_walk(hb_topology g, hb_items items, hb_op op) {
	const hb_i64 groups = (hb_i64)gridDim.x * (HB_BLOCK / HB_LANES);
	const hb_i64 end = (items.count + HB_WARP / HB_LANES - 1) / (HB_WARP / HB_LANES) * (HB_WARP / HB_LANES);
	const hb_i32 lane = threadIdx.x % HB_LANES;
	for (hb_i64 i = ((hb_i64)blockIdx.x * HB_BLOCK + threadIdx.x) / HB_LANES; i < end; i += groups) { // whole warps
		hb_task t = hb_take(g, items, op, i);
		hb_acc a = hb_none();
#pragma unroll HB_UNROLL
		for (hb_i32 k = lane; k < t.deg; k += HB_LANES) {
			hb_i32 u;
			hb_i64 p;
			bool is = hb_edge(g, t.r, t.base, k, u, p);
			hb_visit(g, op, t.v, t.at, u, p, is, a);
			if (hb_done(a)) break;
		}
		a = hb_add_lanes(a, HB_LANES);
		if (lane == 0 && t.r >= 0) hb_put(op, t.v, a);
	}
}
