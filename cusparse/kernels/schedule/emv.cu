// Edge mapping by fours: a thread takes four consecutive entries of the coordinates, read by
// 16-byte loads, and adds up runs in registers; the warp adds up the runs that cross lanes.
HB_KERNEL __launch_bounds__(HB_BLOCK) hb_walk(hb_topology g, hb_items items, hb_op op) {
	const hb_i64 quads = (g.nvals + 3) / 4, threads = (hb_i64)gridDim.x * HB_BLOCK;
	for (hb_i64 q = (hb_i64)blockIdx.x * HB_BLOCK + threadIdx.x; q - HB_LANE < quads; q += threads) {
		hb_i32 v[4], u[4];
		const int n = q >= quads ? 0 : 4 * q + 4 <= g.nvals ? 4 : (int)(g.nvals - 4 * q);
		if (n == 4) {
			const int4 a = ((const int4 *)g.rows)[q], b = ((const int4 *)g.idx)[q];
			v[0] = a.x, v[1] = a.y, v[2] = a.z, v[3] = a.w;
			u[0] = b.x, u[1] = b.y, u[2] = b.z, u[3] = b.w;
		} else {
#pragma unroll
			for (int j = 0; j < 4; j++) {
				v[j] = j < n ? g.rows[4 * q + j] : -1;
				u[j] = j < n ? ((const hb_i32 *)g.idx)[4 * q + j] : 0;
			}
		}
		hb_acc a[4];
		bool some[4];
#pragma unroll
		for (int j = 0; j < 4; j++) {
			a[j] = hb_none();
			some[j] = v[j] >= 0 && hb_wanted(op, v[j]);
#if HB_FRONTIER == 2
			some[j] = some[j] && items.present[v[j]];
#endif
			if (some[j]) hb_visit(g, op, v[j], v[j], u[j], 4 * q + j, true, a[j]);
		}
#if HB_REDUCES
		// Runs of a lane are added up in registers. A run that touches neither end of the lane is
		// complete; the first and the last run may continue in other lanes and warps.
#pragma unroll
		for (int j = 1; j < 4; j++) {
			if (v[j] == v[j - 1]) {
				a[j] = hb_join(a[j - 1], a[j]);
				some[j] = some[j] || some[j - 1];
			} else if (v[j - 1] >= 0 && v[j - 1] != v[0]) {
				if (some[j - 1]) hb_part(op, 0, v[j - 1], a[j - 1]);
			}
		}
		// The last run of each lane with its part in the lanes before, which are then one run each.
		const bool one = v[0] == v[3];
		hb_acc last = a[3];
		const hb_i32 before = __shfl_up_sync(HB_FULL, v[3], 1);
		const bool joins = HB_LANE > 0 && v[0] >= 0 && before == v[0]; // its first run began in the lane before
		const hb_u32 heads = __ballot_sync(HB_FULL, !(joins && one)) | 1u;
		const hb_u32 full = __ballot_sync(HB_FULL, some[3]);
		const int start = hb_run_start(heads);
		const bool any = (full & HB_FULL >> (HB_WARP - 1 - HB_LANE) & HB_FULL << start) != 0;
		last = hb_add_runs(last, heads); // of the run that is open at the end of the lane
		const hb_acc carry = hb_up(last, 1);
		const bool carryAny = __shfl_up_sync(HB_FULL, (int)any, 1);
		const hb_i32 next = __shfl_down_sync(HB_FULL, v[0], 1);
		// The first run of a lane with several runs, with its part in the lanes before.
		if (!one) {
			int k = 0;
#pragma unroll
			for (int j = 1; j < 4; j++)
				if (v[j] == v[0] && k == j - 1) k = j;
			hb_acc f = a[0];
			bool has = some[0];
#pragma unroll
			for (int j = 1; j < 4; j++)
				if (j == k) f = a[j], has = some[j];
			if (joins) f = hb_join(carry, f), has = has || carryAny;
			if (v[0] >= 0 && has) hb_part(op, 0, v[0], f);
		}
		if (v[3] >= 0 && any && (HB_LANE == HB_WARP - 1 || next != v[3])) hb_part(op, 0, v[3], last);
#endif
	}
}
