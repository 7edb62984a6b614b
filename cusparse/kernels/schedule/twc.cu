// Thread, warp, CTA: a row of at least HB_BLOCK edges is the work of a block, a row of at least
// HB_MIDDLE the work of a warp, and the edges of smaller rows are dealt out within a warp (Merrill,
// Garland, Grimshaw, PPoPP 2012).
HB_KERNEL __launch_bounds__(HB_BLOCK) hb_walk(hb_topology g, hb_items items, hb_op op) {
	__shared__ hb_task large[HB_BLOCK];
	__shared__ hb_i32 owners[HB_BLOCK];
	__shared__ hb_acc parts[HB_BLOCK_WARPS];
	__shared__ hb_i32 count;
	const int warp = threadIdx.x / HB_WARP;
	for (hb_i64 first = (hb_i64)blockIdx.x * HB_BLOCK; first < items.count; first += (hb_i64)gridDim.x * HB_BLOCK) {
		if (threadIdx.x == 0) count = 0;
		__syncthreads();
		hb_task t = hb_take(g, items, op, first + threadIdx.x);
		hb_acc mine = hb_none();
		if (t.deg >= HB_LARGE) {
			hb_i32 at = atomicAdd(&count, 1);
			large[at] = t;
			owners[at] = threadIdx.x;
		}
		__syncthreads();
		const hb_i32 n = count;
		for (hb_i32 q = 0; q < n; q++) {
			const hb_task row = large[q];
			hb_acc a = hb_none();
			for (hb_i32 k = threadIdx.x; k < row.deg; k += HB_BLOCK) {
				hb_i32 u;
				hb_i64 p;
				bool is = hb_edge(g, row.r, row.base, k, u, p);
				hb_visit(g, op, row.v, row.at, u, p, is, a);
			}
#if HB_REDUCES
			a = hb_add_lanes(a, HB_WARP);
			if (HB_LANE == 0) parts[warp] = a;
			__syncthreads();
			if (owners[q] == (hb_i32)threadIdx.x)
				for (int w = 0; w < HB_BLOCK_WARPS; w++) mine = hb_join(mine, parts[w]);
			__syncthreads();
#endif
		}
		for (hb_u32 left = __ballot_sync(HB_FULL, t.deg >= HB_MIDDLE && t.deg < HB_LARGE); left; left &= left - 1) {
			const int who = __ffs(left) - 1;
			const hb_task row = hb_from(t, who);
			hb_acc a = hb_none();
			for (hb_i32 k = HB_LANE; k < row.deg; k += HB_WARP) {
				hb_i32 u;
				hb_i64 p;
				bool is = hb_edge(g, row.r, row.base, k, u, p);
				hb_visit(g, op, row.v, row.at, u, p, is, a);
			}
			a = hb_add_lanes(a, HB_WARP);
#if HB_REDUCES
			a = hb_from(a, 0);
			if (HB_LANE == who) mine = a;
#endif
		}
		hb_deal(g, op, t, 0, t.deg < HB_MIDDLE ? t.deg : 0, mine);
		if (t.r >= 0) hb_put(op, t.v, mine);
	}
}
