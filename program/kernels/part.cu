// The part of a graph that a rank of a group has on its device: its own vertices, copies of those
// around them, and the in-edges of the own ones and of some copies. HB_E is the type of the values
// of edges, which null in place of val leaves out. The rank owns vertices from … to−1 of the whole
// graph, which are lo … lo+to−from−1 of the part; the copies before them come before, the others
// after. Bound by memory traffic.

// hb_part_outside sets the bits of the columns that are no own vertices. bits is zero before.
HB_KERNEL hb_part_outside(hb_i64 entries, const hb_i32 *idx, hb_i32 from, hb_i32 to, hb_u32 *bits) {
	HB_EACH(p, entries) {
		const hb_i32 u = idx[p];
		if (u >= from && u < to) continue;
		const hb_u32 bit = 1u << (u & 31);
		if (!(bits[u >> 5] & bit)) atomicOr(bits + (u >> 5), bit);
	}
}

// hb_part_number writes the numbers in the part of columns idx. copies are the count copies,
// ascending, which have the columns that are no own vertices.
HB_KERNEL hb_part_number(hb_i64 entries, const hb_i32 *idx, hb_i32 from, hb_i32 to, hb_i32 lo, hb_i32 count, const hb_i32 *copies, hb_i32 *out) {
	HB_EACH(p, entries) {
		const hb_i32 u = idx[p];
		if (u >= from && u < to) {
			out[p] = u - from + lo;
			continue;
		}
		hb_i32 a = 0, b = count; // the position is in a … b−1
		while (b - a > 1) {
			const hb_i32 middle = a + (b - a) / 2;
			if (copies[middle] <= u) a = middle;
			else b = middle;
		}
		out[p] = a < lo ? a : a + (to - from);
	}
}

// hb_part_begins writes where the own rows begin, base entries later.
HB_KERNEL hb_part_begins(hb_i64 rows, const hb_i64 *ptr, hb_i64 base, hb_i64 *out) {
	HB_EACH(i, rows + 1) out[i] = ptr[i] + base;
}

// hb_part_degrees writes the entries of listed rows, which begin at row first; list null: of all.
HB_KERNEL hb_part_degrees(hb_i64 count, const hb_i32 *list, hb_i32 first, const hb_i64 *ptr, hb_i32 *out) {
	HB_EACH(i, count) {
		const hb_i64 row = list ? list[i] - first : i;
		out[i] = (hb_i32)(ptr[row + 1] - ptr[row]);
	}
}

// hb_part_rows copies listed rows to where at says. A warp takes a row.
HB_KERNEL hb_part_rows(hb_i64 count, const hb_i32 *list, hb_i32 first, const hb_i64 *ptr, const hb_i32 *idx, const HB_E *val, const hb_i64 *at,
	hb_i32 *outidx, HB_E *outval) {
	const hb_i64 warps = (hb_i64)gridDim.x * blockDim.x / HB_WARP;
	for (hb_i64 i = ((hb_i64)blockIdx.x * blockDim.x + threadIdx.x) / HB_WARP; i < count; i += warps) {
		const hb_i64 begin = ptr[list[i] - first], entries = ptr[list[i] - first + 1] - begin;
		for (hb_i64 k = HB_LANE; k < entries; k += HB_WARP) {
			outidx[at[i] + k] = idx[begin + k];
			if (val) outval[at[i] + k] = val[begin + k];
		}
	}
}
