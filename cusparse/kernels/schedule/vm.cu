// Vertex mapping: a thread takes a row, or HB_ROWS rows side by side if every row begins with
// HB_EVEN slots: their loads overlap.
HB_KERNEL __launch_bounds__(HB_BLOCK) hb_walk(hb_topology g, hb_items items, hb_op op) {
	const hb_i64 threads = (hb_i64)gridDim.x * HB_BLOCK;
	for (hb_i64 first = (hb_i64)blockIdx.x * HB_BLOCK + threadIdx.x; first < items.count; first += threads * HB_ROWS) {
		hb_task t[HB_ROWS];
		hb_acc a[HB_ROWS];
		hb_i32 k = 0;
#pragma unroll
		for (int j = 0; j < HB_ROWS; j++) {
			t[j] = hb_take(g, items, op, first + j * threads);
			a[j] = hb_none();
		}
#ifdef HB_EVEN
#pragma unroll
		for (; k < HB_EVEN; k++) {
#pragma unroll
			for (int j = 0; j < HB_ROWS; j++) {
				if (t[j].deg > 0) {
					hb_i32 u;
					hb_i64 p;
					bool is = hb_edge(g, t[j].r, t[j].base, k, u, p);
					hb_visit(g, op, t[j].v, t[j].at, u, p, is, a[j]);
				}
			}
		}
#endif
#pragma unroll
		for (int j = 0; j < HB_ROWS; j++) {
			if (t[j].r < 0) continue;
#pragma unroll HB_UNROLL
			for (hb_i32 e = k; e < t[j].deg && !hb_done(a[j]); e++) {
				hb_i32 u;
				hb_i64 p;
				bool is = hb_edge(g, t[j].r, t[j].base, e, u, p);
				hb_visit(g, op, t[j].v, t[j].at, u, p, is, a[j]);
			}
			hb_put(op, t[j].v, a[j]);
		}
	}
}
