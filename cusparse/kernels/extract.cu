// Extract: the rows listed (or all), the columns listed (or all), each column
// as often as it is listed. cols is sorted, place[c] its place in the list.

HB_DEVICE hb_i64 hb_upper(const hb_i32 *a, hb_i64 lo, hb_i64 hi, hb_i32 x) {
	while (lo < hi) {
		hb_i64 mid = lo + (hi - lo) / 2;
		if (a[mid] <= x) lo = mid + 1;
		else hi = mid;
	}
	return lo;
}

// Entries of the listed rows: lengths[p] of row rows[p].
HB_KERNEL hb_taken(hb_store a, const hb_i32 *rows, hb_i64 m, hb_i64 *lengths) {
	HB_EACH(p, m) {
		hb_i64 lo, hi;
		hb_span(a, rows[p], lo, hi);
		lengths[p] = hi - lo;
	}
}

// Taken entry t is entry from[t] of a, in row out[t] of the result, and is
// wanted copies[t] times.
HB_KERNEL hb_take(hb_store a, const hb_i32 *rows, hb_i64 m, const hb_i64 *at, hb_i64 total, const hb_i32 *cols, hb_i64 ncols,
		hb_i64 *from, hb_i32 *out, hb_i64 *copies) {
	HB_EACH(t, total) {
		hb_i64 e = t;
		hb_i32 p;
		if (rows) {
			hb_i64 l = hb_run_of(at, m, t);
			hb_i64 lo, hi;
			hb_span(a, rows[l], lo, hi);
			e = lo + t - at[l];
			p = (hb_i32)l;
		} else {
			p = hb_row_of(a, t);
		}
		from[t] = e;
		out[t] = p;
		copies[t] = cols ? hb_upper(cols, 0, ncols, a.idx[e]) - hb_lower(cols, 0, ncols, a.idx[e]) : 1;
	}
}

// Copy c of taken entry t goes to key (row, place of the column).
HB_KERNEL hb_copy(hb_store a, const hb_i64 *from, const hb_i32 *out, const hb_i64 *at, hb_i64 taken, hb_i64 total,
		const hb_i32 *cols, const hb_i32 *place, hb_i64 ncols, hb_u64 *keys, hb_u64 *source) {
	HB_EACH(t, total) {
		hb_i64 l = hb_run_of(at, taken, t);
		hb_i32 j = a.idx[from[l]];
		if (cols) j = place[hb_lower(cols, 0, ncols, j) + t - at[l]];
		keys[t] = (hb_u64)(hb_u32)out[l] << 32 | (hb_u32)j;
		source[t] = from[l];
	}
}

// Positions (rows[p], cols[q]) in order, both lists ascending (null: all).
HB_KERNEL hb_grid(const hb_i32 *rows, const hb_i32 *cols, hb_i64 m, hb_i64 n, hb_i32 *rowOut, hb_i32 *colOut) {
	HB_EACH(t, m * n) {
		hb_i64 p = t / n, q = t % n;
		rowOut[t] = rows ? rows[p] : (hb_i32)p;
		colOut[t] = cols ? cols[q] : (hb_i32)q;
	}
}

// Places of a list of entries in another numbering: rows and columns.
HB_KERNEL hb_renumber(hb_store a, const hb_i32 *rows, const hb_i32 *cols, hb_u64 *keys) {
	HB_EACH(e, a.nvals) {
		hb_i32 i = hb_row_of(a, e), j = a.idx[e];
		keys[e] = (hb_u64)(hb_u32)(rows ? rows[i] : i) << 32 | (hb_u32)(cols ? cols[j] : j);
	}
}

// first = the least position of a list at which an index is not in 0 … limit−1; all bits set
// before.
HB_KERNEL hb_outside(const hb_i32 *list, hb_i64 n, hb_i64 limit, hb_u64 *first) {
	HB_EACH(k, n) if (list[k] < 0 || list[k] >= limit) atomicMin(first, (hb_u64)k);
}

// hb_within counts an index from lo on. If it is not one of n rows or columns that are kept, it
// returns n. Without a part, n < 0, all are kept.
HB_DEVICE hb_i32 hb_within(hb_i32 i, hb_i64 lo, hb_i64 n) {
	if (n < 0) return i;
	return i < lo || i >= lo + n ? (hb_i32)n : (hb_i32)(i - lo);
}

// keys[e] = the position (rows[k], cols[k]) of the entry u(k) of a vector, full or listed (null:
// k), within m rows from rowLo on and n columns from colLo on. Positions beyond have the greatest
// row, positions of a vector the greatest column; inside, zero before, counts the others.
HB_KERNEL hb_places(hb_store u, hb_i64 entries, hb_i32 vector, const hb_i32 *rows, const hb_i32 *cols,
		hb_i64 rowLo, hb_i64 m, hb_i64 colLo, hb_i64 n, hb_u64 *keys, hb_u64 *inside) {
	hb_u64 c = 0;
	HB_EACH(e, entries) {
		hb_i32 k = u.format == HB_FULLFMT ? (hb_i32)e : u.idx[e];
		hb_i32 i = vector ? 0 : hb_within(rows ? rows[k] : k, rowLo, m), j = hb_within(cols ? cols[k] : k, colLo, n);
		keys[e] = (hb_u64)(hb_u32)i << 32 | (hb_u32)j;
		c += vector ? j != n : i != m;
	}
	if (!inside) return;
	c = hb_total(c);
	if (threadIdx.x % 32 == 0 && c) atomicAdd(inside, c);
}
