// Blocks of a matrix on a group of devices, before and after they travel.
// Source: prelude + common.cu + this file. Host: internal/spread/gpu.go,
// which defines HB_V, the type of a value. All kernels take one item a thread (HB_EACH) and are
// bound by memory. A pair is the number of a row and its entries.

// bits = presence bytes of n positions, 8 a byte, the first in the lowest bit. Without present all
// positions are present. Items: bytes of bits.
HB_KERNEL hb_pack_bits(const hb_u8 *present, hb_i64 n, hb_u8 *bits) {
	HB_EACH(b, (n + 7) / 8) {
		hb_u32 word = 0;
		for (hb_i32 k = 0; k < 8 && 8 * b + k < n; k++) word |= (hb_u32)(!present || present[8 * b + k]) << k;
		bits[b] = (hb_u8)word;
	}
}

HB_KERNEL hb_unpack_bits(const hb_u8 *bits, hb_i64 n, hb_u8 *present) {
	HB_EACH(p, n) present[p] = bits[p / 8] >> (p % 8) & 1;
}

// out[e] = idx[e] + by.
HB_KERNEL hb_shift(const hb_i32 *idx, hb_i64 n, hb_i32 by, hb_i32 *out) {
	HB_EACH(e, n) out[e] = idx[e] + by;
}

// The offsets of one row.
HB_KERNEL hb_one_row(hb_i64 total, hb_i64 *ptr) {
	HB_EACH(k, 2) ptr[k] = k == 0 ? 0 : total;
}

HB_KERNEL hb_lengths(const hb_i64 *ptr, hb_i64 m, hb_i32 *len) {
	HB_EACH(i, m) len[i] = (hb_i32)(ptr[i + 1] - ptr[i]);
}

// filled[i] = row i has entries.
HB_KERNEL hb_filled(const hb_i64 *ptr, hb_i64 m, hb_u8 *filled) {
	HB_EACH(i, m) filled[i] = ptr[i + 1] > ptr[i];
}

// The pairs of the rows with entries; the numbers of rows begin at lo. at = exclusive sums of
// filled.
HB_KERNEL hb_pairs(const hb_i64 *ptr, const hb_i64 *at, hb_i64 m, hb_i32 lo, hb_i32 *pairs) {
	HB_EACH(i, m) {
		hb_i64 n = ptr[i + 1] - ptr[i];
		if (n == 0) continue;
		pairs[2 * at[i]] = (hb_i32)i + lo;
		pairs[2 * at[i] + 1] = (hb_i32)n;
	}
}

// Lengths of listed rows.
HB_KERNEL hb_listed_lengths(const hb_i32 *rows, const hb_i64 *ptr, hb_i64 n, hb_i32 *len) {
	HB_EACH(k, n) len[k] = (hb_i32)(ptr[rows[k] + 1] - ptr[rows[k]]);
}

// The entries of n listed rows, one row after another. start = exclusive sums of their lengths.
HB_KERNEL hb_listed_entries(const hb_i32 *rows, const hb_i64 *start, hb_i64 n, const hb_i64 *ptr, hb_i64 entries,
		const hb_i32 *idx, const HB_V *val, hb_i32 *idxOut, HB_V *out) {
	HB_EACH(e, entries) {
		hb_i64 k = hb_run_of(start, n, e);
		hb_i64 from = ptr[rows[k]] + e - start[k];
		idxOut[e] = idx[from];
		out[e] = val[from];
	}
}

#if HB_EQUAL
// *differ = 1 if two m-row matrices of as many entries are not equal. Items: max(m + 1, entries).
HB_KERNEL hb_differ(const hb_i64 *ptr, const hb_i32 *idx, const HB_V *val, const hb_i64 *ptrB, const hb_i32 *idxB,
		const HB_V *valB, hb_i64 m, hb_i64 entries, hb_u8 *differ) {
	HB_EACH(e, max(m + 1, entries)) {
		if ((e <= m && ptr[e] != ptrB[e]) || (e < entries && (idx[e] != idxB[e] || val[e] != valB[e]))) *differ = 1;
	}
}
#endif

// The pairs of the entries of a vector, as rows of one entry in column 0.
HB_KERNEL hb_entry_pairs(const hb_i32 *idx, hb_i64 n, hb_i32 lo, hb_i32 *pairs) {
	HB_EACH(e, n) {
		pairs[2 * e] = idx[e] + lo;
		pairs[2 * e + 1] = 1;
	}
}

// idx[e] = row of pair e − lo: back to the entries of a vector.
HB_KERNEL hb_pair_entries(const hb_i32 *pairs, hb_i64 n, hb_i32 lo, hb_i32 *idx) {
	HB_EACH(e, n) idx[e] = pairs[2 * e] - lo;
}

// counts = {rows with entries, entries} before each of the bounds of rows.
HB_KERNEL hb_before(const hb_i64 *ptr, const hb_i64 *at, const hb_i64 *bounds, hb_i64 n, hb_i64 *counts) {
	HB_EACH(r, n) {
		counts[2 * r] = at[bounds[r]];
		counts[2 * r + 1] = ptr[bounds[r]];
	}
}

// The same of a vector: its entries before each of the bounds of positions.
HB_KERNEL hb_entries_before(const hb_i32 *idx, hb_i64 entries, const hb_i64 *bounds, hb_i64 n, hb_i64 *counts) {
	HB_EACH(r, n) {
		hb_i64 e = bounds[r] > 2147483647 ? entries : hb_lower(idx, 0, entries, (hb_i32)bounds[r]);
		counts[2 * r] = counts[2 * r + 1] = e;
	}
}

HB_KERNEL hb_pair_lengths(const hb_i32 *pairs, hb_i64 n, hb_i32 *len) {
	HB_EACH(k, n) len[k] = pairs[2 * k + 1];
}

// Appends the pieces of rows that one rank sent: base[k] = entries of the row before piece k, and
// used += its length. Rows begin at lo. A rank sends a row at most once, so there are no races.
HB_KERNEL hb_append(const hb_i32 *pairs, hb_i64 n, hb_i32 lo, hb_i32 *used, hb_i32 *base) {
	HB_EACH(k, n) {
		hb_i32 i = pairs[2 * k] - lo;
		base[k] = used[i];
		used[i] += pairs[2 * k + 1];
	}
}

// Entry e of the pieces goes to its place in its row. start = exclusive sums of the lengths of the
// n pieces. val and out may be null.
HB_KERNEL hb_stack(const hb_i32 *pairs, const hb_i64 *start, const hb_i32 *base, hb_i64 n, hb_i32 lo, const hb_i64 *ptr,
		hb_i64 entries, const hb_i32 *idx, const HB_V *val, hb_i32 *idxOut, HB_V *out) {
	HB_EACH(e, entries) {
		hb_i64 k = hb_run_of(start, n, e);
		hb_i64 to = ptr[pairs[2 * k] - lo] + base[k] + e - start[k];
		idxOut[to] = idx[e];
		if (out) out[to] = val[e];
	}
}
