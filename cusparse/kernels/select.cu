// Select: flag[p] = 1 where entry p (of a dense store: position p) is kept.

HB_KERNEL hb_select(hb_store s, hb_i64 n, hb_i32 vector, HB_Y y, hb_u8 *flag) {
	HB_EACH(p, n) {
		hb_i64 i = 0, j = 0;
		bool in = s.format != HB_BITMAP || s.present[p];
		if (HB_USES_POSITION) hb_where(s, p, HB_USES_I, vector, i, j);
		flag[p] = in && hb_keep(HB_GET_A(s, p), y, i, j);
	}
}
