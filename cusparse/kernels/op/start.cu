// hb_start fills the results of a kernel that does not write each of them.
HB_KERNEL hb_start(hb_i64 n, hb_u8 *hit, HB_C *out) {
	HB_EACH(i, n) {
		out[i] = HB_IDENTITY;
		if (hit) hit[i] = 0;
	}
}
