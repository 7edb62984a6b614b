// Diagonals: slot d of row r is column r + HB_DIAGONAL(g, d). A word for each row, of type HB_BITS,
// has a bit for each diagonal on which the row has an entry. Entries on no diagonal are the rest,
// in compressed rows behind the diagonals' values. HB_WIDTH is the number of diagonals; HB_BAKED
// has them as constants; HB_REST is 0 if there is no rest. The first HB_EVEN slots of a row can be
// read without a look at its length.
#if HB_BAKED
HB_DEVICE hb_i32 hb_diagonal(const hb_topology &g, hb_i32 d) {
	constexpr hb_i32 at[HB_WIDTH] = {HB_DIAGONALS};
	return at[d];
}
#else
HB_DEVICE hb_i32 hb_diagonal(const hb_topology &g, hb_i32 d) { return g.extra[d]; }
#endif
#define HB_EVEN HB_WIDTH
HB_DEVICE hb_i32 hb_vertex(const hb_topology &g, hb_i32 r) { return r; }
HB_DEVICE hb_i32 hb_place(const hb_topology &g, hb_i32 v) { return v; }
HB_DEVICE void hb_row(const hb_topology &g, hb_i32 r, hb_i64 &base, hb_i32 &deg) {
	base = 0;
	deg = HB_WIDTH;
#if HB_REST // bit HB_WIDTH: the row has entries on no diagonal
	if (((const HB_BITS *)g.present)[r] >> HB_WIDTH & 1) {
		base = g.ptr[r];
		deg += (hb_i32)(g.ptr[r + 1] - base);
		base += g.pitch * HB_WIDTH - HB_WIDTH;
	}
#endif
}
HB_DEVICE bool hb_edge(const hb_topology &g, hb_i32 r, hb_i64 base, hb_i32 k, hb_i32 &u, hb_i64 &p) {
#if HB_REST
	if (k >= HB_WIDTH) {
		p = base + k;
		u = ((const hb_i32 *)g.idx)[p - g.pitch * HB_WIDTH];
		return true;
	}
#endif
	p = g.pitch * k + r;
	bool is = ((const HB_BITS *)g.present)[r] >> k & 1;
	u = r + hb_diagonal(g, k);
	u = u < 0 ? 0 : u < g.ncols ? u : g.ncols - 1;
	return is;
}
HB_DEVICE hb_i64 hb_slots(const hb_topology &g) { return (hb_i64)g.nrows * HB_WIDTH + g.nvals; }
HB_DEVICE bool hb_slot(const hb_topology &g, hb_i64 e, hb_i32 &r, hb_i32 &u, hb_i64 &p) {
	hb_i64 full = (hb_i64)g.nrows * HB_WIDTH, base = 0;
#if HB_REST
	if (e >= full) {
		r = (hb_i32)hb_run_of(g.ptr, g.nrows, e - full);
		p = g.pitch * HB_WIDTH + e - full;
		u = ((const hb_i32 *)g.idx)[e - full];
		return true;
	}
#endif
	hb_i32 k = (hb_i32)(e / g.nrows);
	r = (hb_i32)(e - (hb_i64)k * g.nrows);
	return hb_edge(g, r, base, k, u, p);
}
