// Vertex mapping: a thread takes a row.
HB_KERNEL __launch_bounds__(HB_BLOCK) hb_walk(hb_topology g, hb_items items, hb_op op) {
	HB_EACH(i, items.count) {
		hb_task t = hb_take(g, items, op, i);
		if (t.r < 0) continue;
		hb_acc a = hb_none();
#if defined(HB_EVEN)
		if (HB_EVEN && t.deg > 0) { // a number of slots that the text knows: all loads at once
#pragma unroll
			for (hb_i32 k = 0; k < HB_WIDTH; k++) {
				hb_i32 u;
				hb_i64 p;
				bool is = hb_edge(g, t.r, t.base, k, u, p);
				hb_visit(g, op, t.v, t.at, u, p, is, a);
			}
			hb_put(op, t.v, a);
			continue;
		}
#endif
#pragma unroll HB_UNROLL
		for (hb_i32 k = 0; k < t.deg; k++) {
			hb_i32 u;
			hb_i64 p;
			bool is = hb_edge(g, t.r, t.base, k, u, p);
			hb_visit(g, op, t.v, t.at, u, p, is, a);
			if (hb_done(a)) break;
		}
		hb_put(op, t.v, a);
	}
}
