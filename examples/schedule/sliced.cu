//hb:layout sliced
//hb:group 32
//hb:extra 1
// Groups of 32 rows, column by column, so that the lanes of a warp read side by side. g.ptr is the
// first slot of each group, g.extra the number of entries of each row.
HB_DEVICE void hb_row(const hb_topology &g, hb_i32 r, hb_i64 &base, hb_i32 &deg) {
	base = g.ptr[r / 32] + r % 32;
	deg = g.extra[r];
}
HB_DEVICE bool hb_edge(const hb_topology &g, hb_i32 r, hb_i64 base, hb_i32 k, hb_i32 &u, hb_i64 &p) {
	p = base + (hb_i64)k * 32;
	u = ((const hb_i32 *)g.idx)[p];
	return true;
}
//hb:kernels
// sizes[i] = the slots of group i.
HB_KERNEL hb_sizes(hb_i64 rows, const hb_i64 *ptr, const hb_i32 *idx, hb_i64 *sizes) {
	HB_EACH(i, (rows + 31) / 32) {
		hb_i64 most = 0;
		for (hb_i64 r = i * 32; r < rows && r < i * 32 + 32; r++)
			if (ptr[r + 1] - ptr[r] > most) most = ptr[r + 1] - ptr[r];
		sizes[i] = most * 32;
	}
}
// The column and the number of the entry of each slot; slots without an entry have -1 before.
HB_KERNEL hb_fill(hb_i64 rows, const hb_i64 *ptr, const hb_i32 *idx, const hb_i64 *at, hb_i32 *columns, hb_i64 *entries, hb_i32 *extra) {
	HB_EACH(r, rows) {
		hb_i64 p = at[r / 32] + r % 32;
		extra[r] = (hb_i32)(ptr[r + 1] - ptr[r]);
		for (hb_i64 e = ptr[r]; e < ptr[r + 1]; e++, p += 32) {
			columns[p] = idx[e];
			entries[p] = e;
		}
	}
}
