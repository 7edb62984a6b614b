// Everything that decides position by position: union, intersection, masks,
// accumulators, replace, assignment. For each position the action that table
// names for (in the region?, allowed by the mask?, in B?, in A?) is taken:
// nothing, A's value, B's, or hb_both. A position is looked at once:
//   - listed domains: every entry of A, every entry of B that A has not, or
//     every entry of the mask; mark decides, a scan gives places, fill writes;
//   - else every position of the result, which becomes a bitmap.
// Types HB_A, HB_B, HB_C; hb_both(a, b), and where one is missing hb_left(a,
// beta), hb_right(b, alpha) → HB_C.

#define HB_SKIP 0
#define HB_LEFT 1
#define HB_RIGHT 2
#define HB_BOTH 3

struct hb_mask {
	hb_store s;
	hb_i32 on, comp;
};

// A region is a set of rows and columns, each an ascending list, or all (null).
struct hb_region {
	const hb_i32 *rows, *cols;
	hb_i64 nrows, ncols;
	hb_i32 on, scalar; // scalar: B is everywhere in the region, with the value at 0
};

HB_DEVICE bool hb_allowed(const hb_mask &m, hb_i32 i, hb_i32 j) {
	if (!m.on) return true;
	hb_i64 at;
	return hb_find(m.s, i, j, at) != (m.comp != 0);
}

HB_DEVICE bool hb_member(const hb_i32 *list, hb_i64 n, hb_i32 x) {
	if (!list) return true;
	hb_i64 at = hb_lower(list, 0, n, x);
	return at < n && list[at] == x;
}


// Where A and B have a position, or in a list would have it, and what is done.
struct hb_spot {
	hb_i64 pa, pb;
	int act;
	bool inA;
};

// origin names the operand with entry (i, j) at e: A, B, or neither.
#define HB_OF_A 0
#define HB_OF_B 1
#define HB_OF_NONE 2

HB_DEVICE hb_spot hb_decide(hb_i32 origin, hb_i64 e, const hb_store &a, const hb_store &b, const hb_mask &m, const hb_region &r, hb_u32 table, hb_i32 i, hb_i32 j) {
	hb_spot s;
	s.pa = s.pb = e;
	s.inA = origin == HB_OF_A || hb_find(a, i, j, s.pa);
	bool inB, in = !r.on || hb_member(r.rows, r.nrows, i) && hb_member(r.cols, r.ncols, j);
	if (r.scalar) {
		inB = in;
		s.pb = 0;
	} else {
		inB = origin == HB_OF_B || hb_find(b, i, j, s.pb);
	}
	int state = (in ? 8 : 0) | (hb_allowed(m, i, j) ? 4 : 0) | (inB ? 2 : 0) | (s.inA ? 1 : 0);
	s.act = table >> 2 * state & 3;
	return s;
}

HB_DEVICE HB_C hb_value(const hb_store &a, const hb_store &b, const hb_spot &s, const HB_A &alpha, const HB_B &beta) {
	if (s.act == HB_LEFT) return hb_left(HB_GET_A(a, s.pa), beta);
	if (s.act == HB_RIGHT) return hb_right(HB_GET_B(b, s.pb), alpha);
	return hb_both(HB_GET_A(a, s.pa), HB_GET_B(b, s.pb));
}

// d: the domain, with the entries of the operand that origin names. notA: entries that A has are
// left to another domain. flag[e] = 1 if entry e of d is in the result.
HB_KERNEL hb_mark(hb_store d, hb_i32 origin, hb_i32 notA, hb_store a, hb_store b, hb_mask m, hb_region r, hb_u32 table, hb_u8 *flag) {
	HB_EACH(e, d.nvals) {
		const hb_spot s = hb_decide(origin, e, a, b, m, r, table, hb_row_of(d, e), d.idx[e]);
		flag[e] = !(notA && s.inA) && s.act != HB_SKIP;
	}
}

// at: places of d's entries. atOther: places of the entries of the other domain; its entries before
// (i, j) come before; null if there is none. The first domain is A then, the second B or, where its
// origin is HB_OF_NONE, other. rows: null, or the row of each entry of the result.
HB_KERNEL hb_fill(hb_store d, hb_i32 origin, hb_i32 notA, hb_store a, hb_store b, hb_mask m, hb_region r, hb_u32 table, const hb_u8 *flag, const hb_i64 *at,
		hb_i32 search, hb_store other, const hb_i64 *atOther, hb_i32 *rows, hb_i32 *idx, HB_C *val, HB_A alpha, HB_B beta) {
	HB_EACH(e, d.nvals) {
		if (!flag[e]) continue;
		hb_i32 i = hb_row_of(d, e), j = d.idx[e];
		hb_spot s = hb_decide(origin, e, a, b, m, r, table, i, j);
		hb_i64 to = at[e];
		if (atOther) {
			hb_i64 q = notA ? s.pa : s.pb;
			if (search) hb_find(other, i, j, q);
			to += atOther[q];
		}
		if (rows) rows[to] = i;
		idx[to] = j;
		val[to] = hb_value(a, b, s, alpha, beta);
	}
}

// ptr[k] = places of both domains before row k, for CSR of m rows.
HB_KERNEL hb_fill_offsets(const hb_i64 *pa, const hb_i64 *atA, const hb_i64 *pb, const hb_i64 *atB, hb_i64 m, hb_i64 *ptr) {
	HB_EACH(k, m + 1) ptr[k] = atA[pa[k]] + (pb ? atB[pb[k]] : 0);
}

HB_KERNEL hb_dense(hb_store a, hb_store b, hb_mask m, hb_region r, hb_u32 table, hb_i32 nrows, hb_i32 ncols, hb_u8 *present, HB_C *val, HB_A alpha, HB_B beta) {
	HB_EACH(p, (hb_i64)nrows * ncols) {
		hb_spot s = hb_decide(HB_OF_NONE, 0, a, b, m, r, table, nrows == 1 ? 0 : (hb_i32)(p / ncols), nrows == 1 ? (hb_i32)p : (hb_i32)(p % ncols));
		if (present) present[p] = s.act != HB_SKIP;
		val[p] = s.act != HB_SKIP ? hb_value(a, b, s, alpha, beta) : HB_C();
	}
}
