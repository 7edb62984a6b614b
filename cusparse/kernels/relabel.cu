// Columns by descending number of entries: counts, and the matrix in the new
// numbering.

HB_KERNEL hb_col_counts(const hb_i32 *idx, hb_i64 n, hb_u32 *counts) { // zero before
	HB_EACH(e, n) atomicAdd(&counts[idx[e]], 1u);
}

// Keys that ascend as counts, at most `most`, descend; used counts the columns in use.
HB_KERNEL hb_degree_keys(const hb_u32 *counts, hb_i64 n, hb_u32 most, hb_u32 *keys, hb_u64 *used) {
	hb_u64 c = 0;
	HB_EACH(j, n) {
		keys[j] = most - counts[j];
		c += counts[j] != 0;
	}
	c = hb_total(c);
	if (threadIdx.x % 32 == 0 && c) atomicAdd(used, c);
}

// place[perm[i]] = i.
HB_KERNEL hb_invert(const hb_i32 *perm, hb_i64 n, hb_i32 *place) {
	HB_EACH(i, n) place[perm[i]] = (hb_i32)i;
}

// Columns in the new numbering; the entries of a row keep their order.
HB_KERNEL hb_relabel(const hb_i32 *idx, hb_i64 n, const hb_i32 *place, hb_i32 *out) {
	HB_EACH(e, n) out[e] = place[idx[e]];
}

// near counts the entries in columns below hot.
HB_KERNEL hb_hot_entries(const hb_i32 *idx, hb_i64 n, hb_i32 hot, hb_u64 *near) {
	hb_u64 c = 0;
	HB_EACH(e, n) c += idx[e] < hot;
	c = hb_total(c);
	if (threadIdx.x % 32 == 0 && c) atomicAdd(near, c);
}
