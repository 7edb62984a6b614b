// CTA mapping: a block takes as many rows as it has threads; each of its warps takes an equal part
// of their edges.
HB_KERNEL __launch_bounds__(HB_BLOCK) hb_walk(hb_topology g, hb_items items, hb_op op) {
	__shared__ hb_u32 ends[HB_BLOCK], warps[HB_BLOCK_WARPS];
	__shared__ hb_i32 rows[HB_BLOCK], verts[HB_BLOCK], ats[HB_BLOCK];
	__shared__ hb_i64 bases[HB_BLOCK];
	__shared__ hb_acc sums[HB_BLOCK], carry[HB_BLOCK_WARPS];
	__shared__ hb_i32 carried[HB_BLOCK_WARPS];
	const int warp = threadIdx.x / HB_WARP;
	for (hb_i64 first = (hb_i64)blockIdx.x * HB_BLOCK; first < items.count; first += (hb_i64)gridDim.x * HB_BLOCK) {
		hb_task t = hb_take(g, items, op, first + threadIdx.x);
		hb_u32 total;
		hb_u32 end = hb_block_sums((hb_u32)t.deg, total, warps);
		ends[threadIdx.x] = end;
		rows[threadIdx.x] = t.r;
		verts[threadIdx.x] = t.v;
		ats[threadIdx.x] = t.at;
		bases[threadIdx.x] = t.base - (end - t.deg); // slot e of the block is base + e
		sums[threadIdx.x] = hb_none();
		if (HB_LANE == 0) carried[warp] = -1;
		__syncthreads();
		const hb_u32 share = (total + HB_BLOCK_WARPS - 1) / HB_BLOCK_WARPS;
		const hb_u32 from = share * warp < total ? share * warp : total, to = from + share < total ? from + share : total;
		for (hb_u32 t0 = from; t0 < to; t0 += HB_WARP) {
			hb_u32 e = t0 + HB_LANE;
			int who = 0; // the row of slot e: the first with an end above it
#pragma unroll
			for (int step = HB_BLOCK / 2; step > 0; step /= 2)
				if (ends[who + step - 1] <= e) who += step;
			who = who < HB_BLOCK ? who : HB_BLOCK - 1;
			hb_acc a = hb_none();
			if (e < to) {
				hb_i32 before = who ? (hb_i32)ends[who - 1] : 0, u;
				hb_i64 p;
				bool is = hb_edge(g, rows[who], bases[who] + before, (hb_i32)e - before, u, p);
				hb_visit(g, op, verts[who], ats[who], u, p, is, a);
			} else {
				who = HB_BLOCK; // of no row
			}
#if HB_REDUCES
			int prev = __shfl_up_sync(HB_FULL, who, 1), next = __shfl_down_sync(HB_FULL, who, 1);
			a = hb_add_runs(a, __ballot_sync(HB_FULL, HB_LANE == 0 || who != prev));
			if (who < HB_BLOCK && (HB_LANE == HB_WARP - 1 || who != next)) { // the last lane of its run
				bool begins = (who ? ends[who - 1] : 0) >= from;
				hb_acc &to = begins ? sums[who] : carry[warp];
				to = begins || carried[warp] >= 0 ? hb_join(to, a) : a;
				if (!begins) carried[warp] = who;
			}
			__syncwarp();
#endif
		}
		__syncthreads();
#if HB_REDUCES
		hb_acc a = sums[threadIdx.x];
		for (int w = 0; w < HB_BLOCK_WARPS; w++)
			if (carried[w] == (int)threadIdx.x) a = hb_join(a, carry[w]);
		if (t.r >= 0) hb_put(op, t.v, a);
		__syncthreads();
#endif
	}
}
