// Vertex mapping: a thread takes a row.
HB_KERNEL __launch_bounds__(HB_BLOCK) hb_walk(hb_topology g, hb_items items, hb_op op) {
	HB_EACH(i, items.count) {
		hb_task t = hb_take(g, items, op, i);
		if (t.r < 0) continue;
		hb_acc a = hb_none();
		hb_i32 k = 0;
#ifdef HB_EVEN
		if (t.deg > 0) { // slots that every row has: all loads at once
#pragma unroll
			for (; k < HB_EVEN; k++) {
				hb_i32 u;
				hb_i64 p;
				bool is = hb_edge(g, t.r, t.base, k, u, p);
				hb_visit(g, op, t.v, t.at, u, p, is, a);
			}
		}
#endif
#pragma unroll HB_UNROLL
		for (; k < t.deg && !hb_done(a); k++) {
			hb_i32 u;
			hb_i64 p;
			bool is = hb_edge(g, t.r, t.base, k, u, p);
			hb_visit(g, op, t.v, t.at, u, p, is, a);
		}
		hb_put(op, t.v, a);
	}
}
