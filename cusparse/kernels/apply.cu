// Apply: hb_map of each entry → HB_C. n values: entries of a listed store,
// positions of a dense one, zero where there is no entry.

HB_KERNEL hb_apply(hb_store s, hb_i64 n, hb_i32 vector, HB_Y y, HB_C *out) {
	HB_EACH(p, n) {
		if (s.format == HB_BITMAP && !s.present[p]) {
			out[p] = HB_C();
			continue;
		}
		hb_i64 i = 0, j = 0;
		if (HB_USES_POSITION) hb_where(s, p, HB_USES_I, vector, i, j);
		out[p] = hb_map(HB_GET_A(s, p), y, i, j);
	}
}
