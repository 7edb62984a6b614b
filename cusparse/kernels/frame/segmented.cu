// The parts of a row that several tiles have are written to slots, and hb_parts adds them up: all
// sums have a fixed order. A tile has two slots, for the row that is open where the tile begins and
// for the row that is open where it ends; slots of one row are neighbours.
HB_DEVICE void hb_part(const hb_op &op, hb_i64 slot, hb_i32 v, const hb_acc &a) {
#if HB_REDUCES
	op.partRow[slot] = v;
	op.part[slot] = a.sum;
#if HB_HIT
	op.partHit[slot] = a.any != 0;
#endif
#endif
}
HB_DEVICE void hb_no_part(const hb_op &op, hb_i64 slot) {
#if HB_REDUCES
	op.partRow[slot] = -1;
#endif
}

#if HB_REDUCES
HB_DEVICE hb_acc hb_slot_sum(const hb_op &op, hb_i64 s) {
	hb_acc a;
	a.sum = op.part[s];
#if HB_HIT
	a.any = op.partHit[s];
#endif
	return a;
}

HB_KERNEL hb_parts(hb_i64 slots, hb_op op) {
	hb_i64 s = (hb_i64)blockIdx.x * blockDim.x + threadIdx.x, at = s + 1;
	hb_i32 v = s < slots ? op.partRow[s] : -1;
	bool mine = v >= 0 && (s == 0 || op.partRow[s - 1] != v), more = mine;
	hb_acc sum = hb_none();
	if (mine) sum = hb_slot_sum(op, s);
	for (; more && at < s + 16; at++) {
		more = at < slots && op.partRow[at] == v;
		if (more) sum = hb_join(sum, hb_slot_sum(op, at));
	}
	if (mine && !more) hb_put(op, v, sum);
	// A row of many tiles is the work of the whole warp.
	for (hb_u32 left = __ballot_sync(HB_FULL, more); left; left &= left - 1) {
		int who = __ffs(left) - 1;
		hb_i32 row = __shfl_sync(HB_FULL, v, who);
		hb_i64 first = __shfl_sync(HB_FULL, at, who);
		hb_acc part = hb_none();
		for (;; first += HB_WARP) {
			bool is = first + HB_LANE < slots && op.partRow[first + HB_LANE] == row;
			if (is) part = hb_join(part, hb_slot_sum(op, first + HB_LANE));
			if (!__all_sync(HB_FULL, is)) break;
		}
		for (int d = HB_WARP / 2; d > 0; d /= 2) {
			hb_acc other = hb_from(part, HB_LANE + d);
			if (HB_LANE < d) part = hb_join(part, other);
		}
		part = hb_from(part, 0);
		if (HB_LANE == who) hb_put(op, v, hb_join(sum, part));
	}
}
#endif
