// w(v) = ⊕ A(v, u) ⊗ x(u) over the edges of row v. HB_MASKED: rows that the mask excludes have no
// result. HB_HIT: presence is written, a row has a result if it has a term; else every row that has
// edges has one, as with a full x. HB_X_BITMAP, HB_X_LISTED: x is a bitmap or a list, else full.
// HB_ENDS: ⊗ is hb_gather of the values of x at both ends of an edge, where hb_sends holds.
// HB_PLACED: results stand at the places of the rows. HB_ADDS: the columns are walked in ranges.

#define HB_REDUCES 1

struct hb_op {
	hb_store x, mask;
	hb_i32 comp, places;
	hb_u8 *hit;
	HB_C *out;
	// Frame segmented: two slots a tile, for the row open at its begin and at its end.
	hb_i32 *partRow;
	hb_u8 *partHit;
	HB_C *part;
	const hb_i32 *rows; // HB_PLACED: the row of each place
};

// hb_at returns where the result of row v stands.
HB_DEVICE hb_i64 hb_at(const hb_op &op, hb_i32 v) { return HB_PLACED ? hb_lower(op.rows, 0, op.places, v) : v; }

// hb_acc is the sum of a row.
struct hb_acc {
	HB_C sum;
#if HB_HIT
	hb_u32 any;
#endif
};

HB_DEVICE hb_acc hb_none() {
	hb_acc a;
	a.sum = HB_IDENTITY;
#if HB_HIT
	a.any = 0;
#endif
	return a;
}

HB_DEVICE hb_acc hb_join(hb_acc a, const hb_acc &b) {
#if HB_ANY // the identity is not one of the terms; HB_HIT is set
	if (!a.any) a.sum = b.sum;
#else
	a.sum = hb_add(a.sum, b.sum);
#endif
#if HB_HIT
	a.any |= b.any;
#endif
	return a;
}

HB_DEVICE bool hb_wanted(const hb_op &op, hb_i32 v) {
#if HB_MASKED
	hb_i64 q;
	return hb_find(op.mask, 0, v, q) != (op.comp != 0);
#else
	return true;
#endif
}

// hb_done reports that a sum cannot change any more.
HB_DEVICE bool hb_done(const hb_acc &a) {
#if HB_ANY && HB_HIT
	return a.any;
#else
	return false;
#endif
}

HB_DEVICE void hb_visit(const hb_topology &g, const hb_op &op, hb_i32 v, hb_i32 at, hb_i32 u, hb_i64 p, bool is, hb_acc &acc) {
	hb_i64 q = u;
#if HB_X_BITMAP
	is = is && op.x.present[u];
	if (!is) return;
#elif HB_X_LISTED
	is = is && hb_find(op.x, 0, u, q);
	if (!is) return;
#elif defined(HB_EMULATED)
	if (!is) return; // an absent slot may divide by zero, which a GPU does not mind
#endif
#if HB_ENDS
	if (!is) return;
	const HB_X &src = ((const HB_X *)op.x.val)[u], &dst = ((const HB_X *)op.x.val)[v];
	if (!hb_sends(HB_GET_A(g, p), src, dst)) return;
	HB_C y = hb_gather(HB_GET_A(g, p), src, dst);
#else
	HB_C y = hb_mul(HB_GET_A(g, p), HB_GET_X(op.x, q), HB_FLIP ? 0 : v, u, HB_FLIP ? v : 0);
#endif
#if HB_ANY
	HB_C sum = y;
#else
	HB_C sum = hb_add(acc.sum, y);
#endif
	if (is) acc.sum = sum;
#if HB_HIT
	acc.any |= is;
#endif
}

// hb_put writes the result of a row. HB_ADDS: a is the sum over a range of the columns, which
// joins the sum of the ranges before it, at first hb_none().
HB_DEVICE void hb_put(const hb_op &op, hb_i32 v, const hb_acc &a) {
	const hb_i64 at = hb_at(op, v);
#if HB_ADDS
	hb_acc sum;
	sum.sum = op.out[at];
#if HB_HIT
	sum.any = op.hit[at];
#endif
	sum = hb_join(sum, a);
#if HB_HIT
	op.hit[at] = sum.any != 0;
#endif
	op.out[at] = sum.sum;
#elif HB_HIT
	op.hit[at] = a.any != 0;
	op.out[at] = a.any ? a.sum : HB_C();
#else
	op.out[at] = a.sum;
#endif
}
