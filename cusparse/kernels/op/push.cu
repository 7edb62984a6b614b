// w(u) ⊕= A(v, u) ⊗ x(v) over the edges of the frontier's rows v. HB_MASKED: positions that the
// mask excludes get nothing. HB_ENDS: ⊗ is hb_gather; see op/pull.cu. HB_APPEND: positions written
// for the first time are appended to a list, in any order.

#define HB_REDUCES 0

struct hb_op {
	hb_store x, mask;
	hb_i32 comp;
	hb_u8 *hit; // 4-byte aligned; zero before
	HB_C *out;  // the identity before
	hb_i32 *next;
	hb_u64 *count;
};

struct hb_acc {};

HB_DEVICE hb_acc hb_none() { return {}; }
HB_DEVICE hb_acc hb_join(hb_acc a, const hb_acc &b) { return a; }
HB_DEVICE bool hb_done(const hb_acc &a) { return false; }
HB_DEVICE bool hb_wanted(const hb_op &op, hb_i32 v) { return true; }
HB_DEVICE void hb_put(const hb_op &op, hb_i32 v, const hb_acc &a) {}

HB_DEVICE void hb_visit(const hb_topology &g, const hb_op &op, hb_i32 v, hb_i32 at, hb_i32 u, hb_i64 p, bool is, hb_acc &acc) {
	if (!is) return;
#if HB_MASKED
	hb_i64 q;
	if (hb_find(op.mask, 0, u, q) == (op.comp != 0)) return;
#endif
#if HB_ENDS
	const HB_X &src = ((const HB_X *)op.x.val)[v], &dst = ((const HB_X *)op.x.val)[u];
	if (!hb_sends(HB_GET_A(g, p), src, dst)) return;
	HB_C y = hb_gather(HB_GET_A(g, p), src, dst);
#else
	HB_C y = hb_mul(HB_GET_A(g, p), HB_GET_X(op.x, at), HB_FLIP ? 0 : u, v, HB_FLIP ? u : 0);
#endif
#if HB_ANY
	op.out[u] = y;
#else
	hb_atomic_add(op.out + u, y);
#endif
#if HB_APPEND
	if (!op.hit[u]) {
		hb_u32 bit = 1u << (u % 4 * 8);
		if (!(atomicOr((hb_u32 *)op.hit + u / 4, bit) & bit)) op.next[atomicAdd(op.count, 1ULL)] = u;
	}
#else
	op.hit[u] = 1;
#endif
}
