// x = T⁻¹·b for a triangular T and one or several right sides, without synchronisation between
// levels (Liu, Li, Hogg, Duff, Vinter: A synchronization-free algorithm for parallel sparse
// triangular solves, Euro-Par 2016).
// Source: prelude + warp.cu + this file. Host: internal/substitution/device.go, which defines
//     HB_UNROLL_ROW  entries that a lane reads at once
//     HB_BITS        the unsigned integer of the size of HB_T
//
// The rows are sorted by their level: 0 without entries beside the diagonal, else 1 more than the
// largest level of the rows that the row reads. Warps take the rows in this order by a ticket, so
// that a row waits only for rows of warps that run, whatever the order of the blocks. A value that
// is not known yet has all bits set: a row polls the values themselves and needs no flags. A group
// of lanes solves one row for some right sides; its lanes divide the entries of the row.
//
// In: ptr, idx, val, the rows of T in the order of levels without the diagonal, columns numbered in
//   that order too, ascending; diagonal HB_T[n] in that order, or 0 for ones; order hb_i32[n], the
//   rows before they were sorted; b HB_T[n·columns] by rows, with presence bytes or 0.
// Scratch: solved HB_BITS[n·columns], all bits set; ticket hb_u64[1], 0.
// Out: x HB_T[n·columns] by rows, in the order before.
// Launch: any grid, blocks of a multiple of 32 threads. group is the number of lanes of a row, and
//   wide the number of them with right sides of their own; both are powers of two, wide ≤ group ≤ 32.
// Deterministic: a lane adds its entries in order, and lanes are added as a tree. Bound by the
// latency of the memory times the number of levels, else by the bytes of T.

HB_DEVICE hb_u32 hb_bits(float x) { return __float_as_uint(x); }
HB_DEVICE hb_u64 hb_bits(double x) { return (hb_u64)__double_as_longlong(x); }
HB_DEVICE float hb_number(hb_u32 x) { return __uint_as_float(x); }
HB_DEVICE double hb_number(hb_u64 x) { return __longlong_as_double((hb_i64)x); }

#define HB_UNKNOWN (~(HB_BITS)0)

// hb_share is what a lane knows of the next entries of its row.
struct hb_share {
	const volatile HB_BITS *at[HB_UNROLL_ROW]; // 0 after the last entry
	HB_T factor[HB_UNROLL_ROW];
};

HB_DEVICE void hb_read(hb_share &s, hb_i64 p, hb_i64 end, hb_i32 step, hb_i32 columns, hb_i32 column, const hb_i32 *idx, const HB_T *val, const HB_BITS *solved) {
#pragma unroll
	for (hb_i32 k = 0; k < HB_UNROLL_ROW; k++, p += step) {
		s.at[k] = p < end ? solved + (hb_i64)idx[p] * columns + column : 0;
		s.factor[k] = p < end ? val[p] : (HB_T)0;
	}
}

// hb_add adds the products of a share to sum, and returns false if a value is not known yet.
HB_DEVICE bool hb_add(const hb_share &s, HB_T &sum) {
	HB_BITS x[HB_UNROLL_ROW];
	bool known = true;
#pragma unroll
	for (hb_i32 k = 0; k < HB_UNROLL_ROW; k++) x[k] = s.at[k] ? *s.at[k] : (HB_BITS)0;
#pragma unroll
	for (hb_i32 k = 0; k < HB_UNROLL_ROW; k++) known = known && x[k] != HB_UNKNOWN;
	if (!known) return false;
#pragma unroll
	for (hb_i32 k = 0; k < HB_UNROLL_ROW; k++) if (s.at[k]) sum += s.factor[k] * hb_number(x[k]);
	return true;
}

HB_KERNEL hb_substitute(hb_i32 n, hb_i32 columns, hb_i32 group, hb_i32 wide, const hb_i64 *ptr, const hb_i32 *idx, const HB_T *val, const HB_T *diagonal, const hb_i32 *order, const HB_T *b, const hb_u8 *present, HB_BITS *solved, HB_T *x, hb_u64 *ticket) {
	hb_i32 at_once = HB_WARP / group, step = group / wide, lane = HB_LANE % group;
	hb_i64 chunks = (columns + wide - 1) / wide, items = n * chunks;
	hb_u32 mine = (group < HB_WARP ? (1u << group) - 1 : HB_FULL) << (HB_LANE - lane);
	for (;;) {
		hb_u64 first = 0;
		if (HB_LANE == 0) first = atomicAdd(ticket, (hb_u64)at_once);
		first = __shfl_sync(HB_FULL, first, 0);
		if (first >= (hb_u64)items) return;
		hb_i64 item = (hb_i64)first + HB_LANE / group, row = item / chunks;
		hb_i32 column = (hb_i32)(item - row * chunks) * wide + lane % wide;
		bool live = item < items && column < columns, done = false;
		hb_i64 p = 0, end = 0, to = 0;
		HB_T sum = 0, right = 0, pivot = 1;
		hb_share share;
		if (live) {
			p = ptr[row] + lane / wide, end = ptr[row + 1];
			hb_read(share, p, end, step, columns, column, idx, val, solved);
			to = (hb_i64)order[row] * columns + column;
			if (!present || present[to]) right = b[to];
			if (diagonal) pivot = diagonal[row];
		}
		for (;;) {
			while (p < end && hb_add(share, sum)) {
				p += (hb_i64)HB_UNROLL_ROW * step;
				hb_read(share, p, end, step, columns, column, idx, val, solved);
			}
			bool ready = !(__ballot_sync(HB_FULL, p < end) & mine);
			if (__any_sync(HB_FULL, ready && !done)) {
				HB_T total = sum;
				for (hb_i32 d = wide; d < group; d *= 2) total += __shfl_xor_sync(HB_FULL, total, d);
				if (ready && !done && live && lane < wide) {
					HB_T result = (right - total) / pivot;
					HB_BITS bits = hb_bits(result);
					if (bits == HB_UNKNOWN) bits = hb_bits((HB_T)NAN);
					*(volatile HB_BITS *)(solved + row * columns + column) = bits;
					x[to] = result;
				}
				done = done || ready;
			}
			if (__all_sync(HB_FULL, done)) break;
		}
	}
}
