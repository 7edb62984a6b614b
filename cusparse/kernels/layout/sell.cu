// Groups of 32 rows, each group column by column, so that the lanes of a warp read side by side:
// the column-major adjacency of Medusa (Zhong, He, TPDS 2014), cut into groups as in SELL-C
// (Kreutzer et al., SISC 2014). Rows stand by descending degree, by a projection of it, or as they
// are.
HB_DEVICE hb_i32 hb_vertex(const hb_topology &g, hb_i32 r) { return HB_ORDERED ? g.rows[r] : r; }
HB_DEVICE hb_i32 hb_place(const hb_topology &g, hb_i32 v) { return HB_ORDERED ? g.places[v] : v; }
HB_DEVICE void hb_row(const hb_topology &g, hb_i32 r, hb_i64 &base, hb_i32 &deg) {
	base = g.ptr[r / HB_WARP] + r % HB_WARP;
	deg = g.extra[r];
}
HB_DEVICE bool hb_edge(const hb_topology &g, hb_i32 r, hb_i64 base, hb_i32 k, hb_i32 &u, hb_i64 &p) {
	p = base + (hb_i64)k * HB_WARP;
	u = ((const hb_i32 *)g.idx)[p];
	return true;
}
// The slots of a group, column by column.
HB_DEVICE hb_i64 hb_slots(const hb_topology &g) { return g.ptr[(g.nplaces + HB_WARP - 1) / HB_WARP]; }
HB_DEVICE bool hb_slot(const hb_topology &g, hb_i64 e, hb_i32 &r, hb_i32 &u, hb_i64 &p) {
	hb_i64 group = hb_run_of(g.ptr, (g.nplaces + HB_WARP - 1) / HB_WARP, e);
	hb_i32 k = (hb_i32)((e - g.ptr[group]) / HB_WARP);
	r = (hb_i32)(group * HB_WARP + (e - g.ptr[group]) % HB_WARP);
	p = e;
	bool is = r < g.nplaces && k < g.extra[r < g.nplaces ? r : 0];
	r = r < g.nplaces ? r : 0;
	u = is ? ((const hb_i32 *)g.idx)[e] : 0;
	return is;
}
