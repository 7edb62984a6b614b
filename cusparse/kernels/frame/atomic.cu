// The parts of a row that several threads have are added to its result, which is the identity
// before. The order of sums is not fixed.
HB_DEVICE void hb_part(const hb_op &op, hb_i64 slot, hb_i32 v, const hb_acc &a) {
#if HB_REDUCES
	const hb_i64 at = hb_at(op, v);
#if HB_HIT
	if (!a.any) return;
	op.hit[at] = 1;
#endif
#if HB_ANY
	op.out[at] = a.sum;
#else
	hb_atomic_add(op.out + at, a.sum);
#endif
#endif
}
HB_DEVICE void hb_no_part(const hb_op &op, hb_i64 slot) {}
