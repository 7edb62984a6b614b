// Coordinates, sorted by row, and the offsets of rows beside them.
HB_DEVICE hb_i32 hb_vertex(const hb_topology &g, hb_i32 r) { return r; }
HB_DEVICE hb_i32 hb_place(const hb_topology &g, hb_i32 v) { return v; }
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
	r = g.rows[e];
	p = e;
	u = ((const hb_i32 *)g.idx)[e];
	return true;
}
