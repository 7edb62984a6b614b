// ELLPACK: the first `width` entries of each row in columns of slots, column −1 where a row has
// fewer; the rest in compressed rows behind them, in the same arrays.
HB_DEVICE hb_i32 hb_vertex(const hb_topology &g, hb_i32 r) { return r; }
HB_DEVICE hb_i32 hb_place(const hb_topology &g, hb_i32 v) { return v; }
HB_DEVICE void hb_row(const hb_topology &g, hb_i32 r, hb_i64 &base, hb_i32 &deg) {
	base = g.ptr[r];
	deg = g.width + (hb_i32)(g.ptr[r + 1] - base);
	base += g.pitch * g.width - g.width;
}
HB_DEVICE bool hb_edge(const hb_topology &g, hb_i32 r, hb_i64 base, hb_i32 k, hb_i32 &u, hb_i64 &p) {
	p = k < g.width ? g.pitch * k + r : base + k;
	u = ((const hb_i32 *)g.idx)[p];
	bool is = u >= 0;
	u = is ? u : 0;
	return is;
}
HB_DEVICE hb_i64 hb_slots(const hb_topology &g) { return (hb_i64)g.nrows * g.width + g.nvals; }
HB_DEVICE bool hb_slot(const hb_topology &g, hb_i64 e, hb_i32 &r, hb_i32 &u, hb_i64 &p) {
	hb_i64 full = (hb_i64)g.nrows * g.width;
	if (e < full) {
		hb_i64 k = e / g.nrows;
		r = (hb_i32)(e - k * g.nrows);
		p = g.pitch * k + r;
	} else {
		r = (hb_i32)hb_run_of(g.ptr, g.nrows, e - full);
		p = g.pitch * g.width + e - full;
	}
	u = ((const hb_i32 *)g.idx)[p];
	bool is = u >= 0;
	u = is ? u : 0;
	return is;
}
