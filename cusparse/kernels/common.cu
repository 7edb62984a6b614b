// How a stored matrix is read, whatever its format. Host: struct descriptor.

#define HB_CSR 0
#define HB_HYPER 1
#define HB_BITMAP 2
#define HB_FULLFMT 3

struct hb_store {
	const hb_i64 *ptr;    // CSR: nrows+1 offsets; hypersparse: nvec+1
	const hb_i32 *idx;    // columns
	const hb_i32 *rowids; // hypersparse: row of each stored row
	const hb_u8 *present; // bitmap
	const void *val;      // null: a pattern
	hb_i64 nvals;         // listed formats: entries
	hb_i32 nrows, ncols, nvec, format;
};

HB_DEVICE bool hb_listed(const hb_store &s) { return s.format <= HB_HYPER; }

// hb_run_of returns which of n runs item t is in: the last l with at[l] ≤ t.
HB_DEVICE hb_i64 hb_run_of(const hb_i64 *at, hb_i64 n, hb_i64 t) {
	hb_i64 lo = 0, hi = n - 1;
	while (lo < hi) {
		hb_i64 mid = lo + (hi - lo + 1) / 2;
		if (at[mid] <= t) lo = mid;
		else hi = mid - 1;
	}
	return lo;
}

// hb_vec_of returns which stored row entry e belongs to.
HB_DEVICE hb_i32 hb_vec_of(const hb_store &s, hb_i64 e) { return (hb_i32)hb_run_of(s.ptr, s.nvec, e); }

HB_DEVICE hb_i32 hb_row_id(const hb_store &s, hb_i32 k) { return s.format == HB_HYPER ? s.rowids[k] : k; }

// hb_row_of returns the row of entry e.
HB_DEVICE hb_i32 hb_row_of(const hb_store &s, hb_i64 e) { return s.nrows == 1 ? 0 : hb_row_id(s, hb_vec_of(s, e)); }

HB_DEVICE hb_i64 hb_lower(const hb_i32 *a, hb_i64 lo, hb_i64 hi, hb_i32 x) {
	while (lo < hi) {
		hb_i64 mid = lo + (hi - lo) / 2;
		if (a[mid] < x) lo = mid + 1;
		else hi = mid;
	}
	return lo;
}

// hb_span returns the entries of row i; of a row that is not stored, an empty
// range at the place where they would be.
HB_DEVICE void hb_span(const hb_store &s, hb_i32 i, hb_i64 &lo, hb_i64 &hi) {
	if (s.format == HB_CSR) {
		lo = s.ptr[i];
		hi = s.ptr[i + 1];
		return;
	}
	hb_i64 k = hb_lower(s.rowids, 0, s.nvec, i);
	lo = s.ptr[k];
	hi = k < s.nvec && s.rowids[k] == i ? s.ptr[k + 1] : lo;
}

// hb_find returns where the entry (i, j) is, and through at where it is or
// would be; false if there is none. Dense formats: at is the position.
HB_DEVICE bool hb_find(const hb_store &s, hb_i32 i, hb_i32 j, hb_i64 &at) {
	if (s.format >= HB_BITMAP) {
		at = (hb_i64)i * s.ncols + j;
		return s.format == HB_FULLFMT || s.present[at] != 0;
	}
	hb_i64 lo, hi;
	hb_span(s, i, lo, hi);
	at = hb_lower(s.idx, lo, hi, j);
	return at < hi && s.idx[at] == j;
}

// hb_where returns the coordinates of value p; the row of a listed entry only
// if it is wanted, since it has to be searched.
HB_DEVICE void hb_where(const hb_store &s, hb_i64 p, bool wantRow, bool vector, hb_i64 &i, hb_i64 &j) {
	if (hb_listed(s)) {
		i = wantRow ? hb_row_of(s, p) : 0;
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
