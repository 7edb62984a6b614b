// The Kronecker product: pairs of stored rows, then pairs of their entries.

HB_KERNEL hb_kron_lengths(hb_store a, hb_store b, hb_i64 *lengths) { // of stored row (ka, kb)
	HB_EACH(t, (hb_i64)a.nvec * b.nvec) {
		hb_i64 ka = t / b.nvec, kb = t % b.nvec;
		lengths[t] = (a.ptr[ka + 1] - a.ptr[ka]) * (b.ptr[kb + 1] - b.ptr[kb]);
	}
}

HB_KERNEL hb_kron(hb_store a, hb_store b, const hb_i64 *at, hb_i64 total, hb_i32 *rows, hb_i32 *cols, HB_C *out) {
	HB_EACH(t, total) {
		hb_i64 l = hb_run_of(at, (hb_i64)a.nvec * b.nvec, t);
		hb_i32 ka = (hb_i32)(l / b.nvec), kb = (hb_i32)(l % b.nvec);
		hb_i64 wide = b.ptr[kb + 1] - b.ptr[kb], r = t - at[l];
		hb_i64 ea = a.ptr[ka] + r / wide, eb = b.ptr[kb] + r % wide;
		rows[t] = hb_row_id(a, ka) * b.nrows + hb_row_id(b, kb);
		cols[t] = a.idx[ea] * b.ncols + b.idx[eb];
		out[t] = hb_both(HB_GET_A(a, ea), HB_GET_B(b, eb));
	}
}
