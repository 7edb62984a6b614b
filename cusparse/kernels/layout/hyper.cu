// Compressed rows. Only rows with entries have a place.
HB_DEVICE hb_i32 hb_vertex(const hb_topology &g, hb_i32 r) { return g.rows[r]; }
HB_DEVICE hb_i32 hb_place(const hb_topology &g, hb_i32 v) {
	hb_i64 r = hb_lower(g.rows, 0, g.nplaces, v);
	return r < g.nplaces && g.rows[r] == v ? (hb_i32)r : -1;
}
HB_DEVICE void hb_row(const hb_topology &g, hb_i32 r, hb_i64 &base, hb_i32 &deg) {
	base = g.ptr[r];
	deg = (hb_i32)(g.ptr[r + 1] - base);
}
HB_DEVICE bool hb_edge(const hb_topology &g, hb_i32 r, hb_i64 base, hb_i32 k, hb_i32 &u, hb_i64 &p) {
	p = base + k;
	u = ((const hb_i32 *)g.idx)[p];
	return true;
}
HB_DEVICE hb_i64 hb_slots(const hb_topology &g) { return g.nvals; }
HB_DEVICE bool hb_slot(const hb_topology &g, hb_i64 e, hb_i32 &r, hb_i32 &u, hb_i64 &p) {
	r = (hb_i32)hb_run_of(g.ptr, g.nplaces, e);
	p = e;
	u = ((const hb_i32 *)g.idx)[e];
	return true;
}
