// The layouts, made of compressed rows. HB_V is an element as bytes to be moved.

// hb_degree_facts adds up, over the rows: facts[0] the largest degree, facts[1] the sum of squares.
HB_KERNEL hb_degree_facts(hb_i64 n, const hb_i64 *ptr, hb_u64 *facts) {
	hb_u64 most = 0, squares = 0;
	HB_EACH(r, n) {
		hb_u64 d = (hb_u64)(ptr[r + 1] - ptr[r]);
		if (d > most) most = d;
		squares += d * d;
	}
	for (int d = HB_WARP / 2; d > 0; d /= 2) {
		hb_u64 m = __shfl_xor_sync(HB_FULL, most, d);
		if (m > most) most = m;
		squares += __shfl_xor_sync(HB_FULL, squares, d);
	}
	if (threadIdx.x % HB_WARP == 0) {
		atomicMax(&facts[0], most);
		atomicAdd(&facts[1], squares);
	}
}

// hb_diagonal_sample writes column − row for up to `width` entries of every stride-th row, and
// 2³¹−1 where a row has fewer.
HB_KERNEL hb_diagonal_sample(hb_i64 rows, hb_i64 stride, hb_i32 width, const hb_i64 *ptr, const hb_i32 *idx, hb_i32 *out) {
	HB_EACH(t, rows * width) {
		hb_i64 r = t / width * stride, e = ptr[r] + t % width;
		out[t] = e < ptr[r + 1] ? idx[e] - (hb_i32)r : 2147483647;
	}
}

// Keys that ascend as degrees descend. kind 1: exact; 2: by the logarithm; 3: by 64 equal parts of
// 0 … most.
HB_KERNEL hb_order_keys(hb_i64 n, const hb_i64 *ptr, hb_i32 kind, hb_i64 most, hb_u32 *keys) {
	HB_EACH(r, n) {
		hb_i64 d = ptr[r + 1] - ptr[r];
		hb_u32 key = (hb_u32)(most - d);
		if (kind == 2) key = (hb_u32)__clz((int)d);
		if (kind == 3) key = 63 - (hb_u32)(d * 64 / (most + 1));
		keys[r] = key;
	}
}

HB_KERNEL hb_narrow(hb_i64 n, const hb_i32 *idx, hb_u16 *out) {
	HB_EACH(e, n) out[e] = (hb_u16)idx[e];
}

// ELL. rest[r] is the number of entries beyond the first `width`.
HB_KERNEL hb_ell_rest(hb_i64 n, const hb_i64 *ptr, hb_i32 width, hb_i64 *rest) {
	HB_EACH(r, n) {
		hb_i64 d = ptr[r + 1] - ptr[r];
		rest[r] = d > width ? d - width : 0;
	}
}

HB_KERNEL hb_ell_fill(hb_i64 n, const hb_i64 *ptr, const hb_i32 *idx, const HB_V *val, hb_i32 width, hb_i64 pitch,
	const hb_i64 *at, hb_i32 *toIdx, HB_V *toVal) {
	HB_EACH(r, n) {
		hb_i64 lo = ptr[r], d = ptr[r + 1] - lo;
		for (hb_i64 k = 0; k < width || k < d; k++) {
			hb_i64 p = k < width ? pitch * k + r : pitch * width + at[r] + k - width;
			toIdx[p] = k < d ? idx[lo + k] : -1;
			if (val) toVal[p] = k < d ? val[lo + k] : HB_V();
		}
	}
}

// hb_diagonal_of returns which of `width` ascending diagonals d is, or −1.
HB_DEVICE hb_i32 hb_diagonal_of(const hb_i32 *diagonals, hb_i32 width, hb_i32 d) {
	hb_i64 k = hb_lower(diagonals, 0, width, d);
	return k < width && diagonals[k] == d ? (hb_i32)k : -1;
}

// DIA. present[r] has a bit for each diagonal that row r has an entry on, and bit `width` if it has
// others, which rest[r] counts.
HB_KERNEL hb_dia_rest(hb_i64 n, const hb_i64 *ptr, const hb_i32 *idx, const hb_i32 *diagonals, hb_i32 width, hb_i32 bytes, void *present, hb_i64 *rest) {
	HB_EACH(r, n) {
		hb_u64 bits = 0;
		hb_i64 others = 0;
		for (hb_i64 e = ptr[r]; e < ptr[r + 1]; e++) {
			hb_i32 k = hb_diagonal_of(diagonals, width, idx[e] - (hb_i32)r);
			if (k < 0) others++;
			else bits |= 1ULL << k;
		}
		rest[r] = others;
		if (others) bits |= 1ULL << width;
		if (bytes == 1) ((hb_u8 *)present)[r] = (hb_u8)bits;
		else if (bytes == 2) ((hb_u16 *)present)[r] = (hb_u16)bits;
		else if (bytes == 4) ((hb_u32 *)present)[r] = (hb_u32)bits;
		else ((hb_u64 *)present)[r] = bits;
	}
}

HB_KERNEL hb_dia_fill(hb_i64 n, const hb_i64 *ptr, const hb_i32 *idx, const HB_V *val, const hb_i32 *diagonals, hb_i32 width, hb_i64 pitch,
	const hb_i64 *at, hb_i32 *toIdx, HB_V *toVal) {
	HB_EACH(r, n) {
		hb_i64 to = at[r];
		for (hb_i64 e = ptr[r]; e < ptr[r + 1]; e++) {
			hb_i32 k = hb_diagonal_of(diagonals, width, idx[e] - (hb_i32)r);
			if (k < 0) toIdx[to] = idx[e];
			if (val) toVal[k < 0 ? pitch * width + to : pitch * k + r] = val[e];
			to += k < 0;
		}
	}
}

// SELL. perm is the row at each place, or null. slots[g] = 32 × the largest degree of group g.
HB_KERNEL hb_sell_groups(hb_i64 n, const hb_i64 *ptr, const hb_i32 *perm, hb_i32 *degrees, hb_i32 *places, hb_i64 *slots) {
	for (hb_i64 i = (hb_i64)blockIdx.x * blockDim.x + threadIdx.x; i - threadIdx.x % HB_WARP < n; i += (hb_i64)gridDim.x * blockDim.x) {
		hb_i32 d = 0;
		if (i < n) {
			hb_i32 r = perm ? perm[i] : (hb_i32)i;
			d = (hb_i32)(ptr[r + 1] - ptr[r]);
			degrees[i] = d;
			if (perm) places[r] = (hb_i32)i;
		}
		for (int s = HB_WARP / 2; s > 0; s /= 2) {
			hb_i32 other = __shfl_xor_sync(HB_FULL, d, s);
			d = other > d ? other : d;
		}
		if (threadIdx.x % HB_WARP == 0) slots[i / HB_WARP] = (hb_i64)d * HB_WARP;
	}
}

HB_KERNEL hb_sell_fill(hb_i64 n, const hb_i64 *ptr, const hb_i32 *idx, const HB_V *val, const hb_i32 *perm, const hb_i64 *at,
	hb_i32 *toIdx, HB_V *toVal) {
	HB_EACH(i, n) {
		hb_i32 r = perm ? perm[i] : (hb_i32)i;
		hb_i64 to = at[i / HB_WARP] + i % HB_WARP;
		for (hb_i64 e = ptr[r]; e < ptr[r + 1]; e++, to += HB_WARP) {
			toIdx[to] = idx[e];
			if (val) toVal[to] = val[e];
		}
	}
}

// hb_own_fill gives the slots of a layout of a user's own their values, by the numbers of their
// entries, and counts faults: columns outside the matrix, numbers that are no entries, entries in
// several slots. found counts the slots with an entry. seen has a bit for each entry; seen, found
// and faults are zero before.
HB_KERNEL hb_own_fill(hb_i64 slots, hb_i32 ncols, hb_i64 entries, const hb_i32 *idx, const hb_i64 *entry, const HB_V *val,
	HB_V *toVal, hb_u32 *seen, hb_u64 *found, hb_u64 *faults) {
	HB_EACH(p, slots) {
		const hb_i64 e = entry[p];
		if (idx[p] < -1 || idx[p] >= ncols || e < -1 || e >= entries || (idx[p] < 0) != (e < 0)) {
			atomicAdd(faults, 1ull);
			continue;
		}
		if (e < 0) continue;
		if (atomicOr(&seen[e / 32], 1u << (e % 32)) >> (e % 32) & 1) atomicAdd(faults, 1ull);
		atomicAdd(found, 1ull);
		if (val) toVal[p] = val[e];
	}
}
