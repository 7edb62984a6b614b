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
// for most. For the place that most lanes of its first entries have, a warp adds up all its values:
// atomics at one place wait for each other. Blocks of whole warps.
HB_KERNEL hb_scatter_add(hb_store u, hb_i64 entries, const hb_i32 *cols, HB_C *sum, hb_u8 *present) {
	const hb_i64 step = (hb_i64)gridDim.x * blockDim.x, begin = (hb_i64)blockIdx.x * blockDim.x + threadIdx.x - HB_LANE;
	hb_i32 often = -1;
	HB_C all = HB_IDENTITY;
	bool some = false;
	for (hb_i64 first = begin; first < entries; first += step) {
		const hb_i64 e = first + HB_LANE;
		hb_i32 to = -1;
		HB_C x = HB_IDENTITY;
		if (e < entries) {
			const hb_i32 k = u.format == HB_FULLFMT ? (hb_i32)e : u.idx[e];
			to = cols ? cols[k] : k;
			x = HB_GET_C(u, e);
		}
		if (first != begin && to >= 0 && to == often) {
			all = hb_add(all, x);
			some = true;
			to = -1;
		}
		if (!__any_sync(HB_FULL, to >= 0)) continue;
		const unsigned alike = __match_any_sync(HB_FULL, to);
		const bool leads = __ffs((int)alike) - 1 == HB_LANE;
		unsigned rest = leads && to >= 0 ? alike & (alike - 1) : 0;
		while (__any_sync(HB_FULL, rest != 0)) {
			const HB_C other = hb_from(x, rest ? __ffs((int)rest) - 1 : HB_LANE);
			if (rest) x = hb_add(x, other);
			rest &= rest - 1;
		}
		if (first == begin) {
			unsigned most = to >= 0 ? (unsigned)__popc((int)alike) * HB_WARP + HB_LANE : 0;
			for (int d = HB_WARP / 2; d > 0; d /= 2) {
				const unsigned other = hb_from(most, HB_LANE ^ d);
				most = other > most ? other : most;
			}
			often = __shfl_sync(HB_FULL, to, (int)(most % HB_WARP));
		}
		if (leads && to >= 0) {
			hb_atomic_add(sum + to, x);
			present[to] = 1;
		}
	}
	const unsigned have = __ballot_sync(HB_FULL, some);
	if (have == 0) return;
	for (int d = HB_WARP / 2; d > 0; d /= 2) all = hb_add(all, hb_from(all, HB_LANE ^ d));
	if (HB_LANE == 0) {
		hb_atomic_add(sum + often, all);
		present[often] = 1;
	}
}
