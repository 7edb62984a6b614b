//hb:schedule strided
//hb:threads 1
// A thread takes a row, and then the row as many rows further on as the launch has threads.
HB_KERNEL __launch_bounds__(HB_BLOCK) hb_walk(hb_topology g, hb_items items, hb_op op) {
	const hb_i64 threads = (hb_i64)gridDim.x * HB_BLOCK;
	for (hb_i64 i = (hb_i64)blockIdx.x * HB_BLOCK + threadIdx.x; i < items.count; i += threads) {
		hb_task t = hb_take(g, items, op, i); // the row, and where its slots begin
		if (t.r < 0) continue;                // the frontier leaves it out
		hb_acc sum = hb_none();
		for (hb_i32 k = 0; k < t.deg && !hb_done(sum); k++) {
			hb_i32 u; // the column of slot k, and the place of its value
			hb_i64 p;
			bool is = hb_edge(g, t.r, t.base, k, u, p);
			hb_visit(g, op, t.v, t.at, u, p, is, sum);
		}
		hb_put(op, t.v, sum);
	}
}
