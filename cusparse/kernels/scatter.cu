// Sums of the values of a vector at the positions of a dense one, by atomics: monoids whose sums
// are equal in any order, of 1, 2, 4 or 8 bytes. hb_add, HB_IDENTITY, HB_NATIVE as atomics.cu has
// it.

// hb_scatter_start makes the n sums of no values.
HB_KERNEL hb_scatter_start(hb_i64 n, HB_C *sum, hb_u8 *present) {
	HB_EACH(i, n) {
		sum[i] = HB_IDENTITY;
		present[i] = 0;
	}
}

// hb_scatter_add adds the value of entry k of u, full or listed, to the sum at cols[k], or k
// without cols. Values of a warp for one place are added up first: labels of components are equal
// for most. Blocks of whole warps.
HB_KERNEL hb_scatter_add(hb_store u, hb_i64 entries, const hb_i32 *cols, HB_C *sum, hb_u8 *present) {
	const hb_i64 step = (hb_i64)gridDim.x * blockDim.x;
	for (hb_i64 first = (hb_i64)blockIdx.x * blockDim.x + threadIdx.x - HB_LANE; first < entries; first += step) {
		const hb_i64 e = first + HB_LANE;
		hb_i32 to = -1;
		HB_C x = HB_IDENTITY;
		if (e < entries) {
			const hb_i32 k = u.format == HB_FULLFMT ? (hb_i32)e : u.idx[e];
			to = cols ? cols[k] : k;
			x = HB_GET_C(u, e);
		}
		const unsigned alike = __match_any_sync(HB_FULL, to);
		const bool leads = __ffs((int)alike) - 1 == HB_LANE;
		unsigned rest = leads ? alike & (alike - 1) : 0;
		while (__any_sync(HB_FULL, rest != 0)) {
			const HB_C other = hb_from(x, rest ? __ffs((int)rest) - 1 : HB_LANE);
			if (rest) x = hb_add(x, other);
			rest &= rest - 1;
		}
		if (leads && to >= 0) {
			hb_atomic_add(sum + to, x);
			present[to] = 1;
		}
	}
}
