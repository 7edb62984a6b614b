// One operand, entry by entry: apply (hb_map → HB_C) and select (hb_keep).
// n values: entries of a listed store, positions of a dense one.

#define HB_GET_A(s, p) (HB_A_PATTERN ? (HB_A)HB_TRUE_A : ((const HB_A *)(s).val)[p])

HB_DEVICE void hb_where(const hb_store &s, hb_i64 p, hb_i32 vector, hb_i64 &i, hb_i64 &j) {
	if (hb_listed(s)) {
		i = HB_USES_I ? hb_row_of(s, p) : 0;
		j = s.idx[p];
	} else {
		i = p / s.ncols;
		j = p % s.ncols;
	}
	if (vector) { // stored as a row; its position is i
		i = j;
		j = 0;
	}
}

#ifdef HB_MAPS
HB_KERNEL hb_apply(hb_store s, hb_i64 n, hb_i32 vector, HB_Y y, HB_C *out) {
	HB_EACH(p, n) {
		if (s.format == HB_BITMAP && !s.present[p]) continue;
		hb_i64 i = 0, j = 0;
		if (HB_USES_POSITION) hb_where(s, p, vector, i, j);
		out[p] = hb_map(HB_GET_A(s, p), y, i, j);
	}
}
#else
HB_KERNEL hb_select(hb_store s, hb_i64 n, hb_i32 vector, HB_Y y, hb_u8 *flag) {
	HB_EACH(p, n) {
		hb_i64 i = 0, j = 0;
		bool in = s.format != HB_BITMAP || s.present[p];
		if (HB_USES_POSITION) hb_where(s, p, vector, i, j);
		flag[p] = in && hb_keep(HB_GET_A(s, p), y, i, j);
	}
}
#endif
