// The edges towards the vertex of higher degree, ties by number.
// Source: prelude + common.cu + this file.
//
// In: ptr hb_i64[n+1] and idx hb_i32[entries], the rows of an n×n matrix.
// Out: keep hb_u8[entries], 1 for the edges that stay.
// Launch: one thread an edge, in a loop (HB_EACH). Bound by the random reads of
// ptr and by the binary search of an edge's row.

HB_KERNEL hb_towards_hubs(hb_i64 entries, hb_i32 n, const hb_i64 *ptr, const hb_i32 *idx, hb_u8 *keep) {
	HB_EACH(p, entries) {
		hb_i64 i = hb_run_of(ptr, n, p), j = idx[p];
		hb_i64 di = ptr[i + 1] - ptr[i], dj = ptr[j + 1] - ptr[j];
		keep[p] = di < dj || (di == dj && i < j);
	}
}
