// A superstep by way of a message buffer: each edge writes its message at a place that was computed
// once, and each vertex reads its messages, which stand together; no atomics, no sorting (Zhong and
// He, Medusa, IEEE TPDS 25(6), 2014, section 4.2). In rows, the messages of a vertex are
// neighbours. In columns, the messages of a group of 2^lg ≤ 32 vertices of similar in-degree are
// interleaved, so that a warp with a vertex a lane reads neighbours (Zhong et al., IEEE TPDS 28,
// 2017, section 4).
// Source: prelude + the sum + the program + this file. Host: buffer.go, which defines HB_SENDS.
//
// Once a matrix: idx are the targets of the m edges by source, sorted u32[m] the same in ascending
//   order, places u32[m] the edge of each; inptr hb_i64[n+1] the in-degrees.
//   hb_program_sources: from hb_i32[m], the source of each edge (a warp a vertex)
//   rows: hb_program_rows: place hb_u32[m]
//   columns: the order of the vertices, hb_program_widths, prefix sums of width << lg (base),
//     hb_program_columns
//   the order: hb_program_assign, prefix sums of the counts, hb_program_scatter, which is a sort into
//     buckets in one pass; or hb_program_degrees and an exact sort; or hb_program_number, none
// Each superstep: hb_program_post (a thread an edge), then hb_program_read_… (a warp or a thread a
//   vertex). HB_LIST_EDGES and HB_LIST_MESSAGES, of lists.cu, leave out post and the others. sent
//   may be null: every edge has a message.
// Bound by the scattered writes of post.

// hb_program_sources writes the source of each edge, a warp a vertex.
HB_KERNEL hb_program_sources(hb_i32 n, const hb_i64 *ptr, hb_i32 *from) {
	const hb_i64 warps = (hb_i64)gridDim.x * blockDim.x / HB_WARP;
	for (hb_i64 v = ((hb_i64)blockIdx.x * blockDim.x + threadIdx.x) / HB_WARP; v < n; v += warps)
		for (hb_i64 e = ptr[v] + HB_LANE; e < ptr[v + 1]; e += HB_WARP) from[e] = (hb_i32)v;
}

HB_KERNEL hb_program_rows(hb_i64 m, const hb_u32 *places, hb_u32 *place) {
	HB_EACH(k, m) place[places[k]] = (hb_u32)k;
}

// hb_program_assign maps in-degrees to buckets by linear projection, the greatest first, and counts
// them: counts hb_u64[buckets], zero before. at is the place of each vertex in its bucket, in any
// order.
HB_KERNEL hb_program_assign(hb_i32 n, const hb_i64 *inptr, hb_i64 most, hb_u32 buckets, hb_u32 *keys, hb_u32 *at, hb_u64 *counts) {
	HB_EACH(v, n) {
		const hb_u32 key = (hb_u32)(buckets - 1 - (hb_u64)(inptr[v + 1] - inptr[v]) * buckets / (hb_u64)(most + 1));
		keys[v] = key;
		at[v] = (hb_u32)atomicAdd(counts + key, (hb_u64)1);
	}
}

// hb_program_scatter writes the vertices in the order of their buckets.
HB_KERNEL hb_program_scatter(hb_i32 n, const hb_u32 *keys, const hb_u32 *at, const hb_i64 *first, hb_u32 *order) {
	HB_EACH(v, n) order[first[keys[v]] + at[v]] = (hb_u32)v;
}

// hb_program_degrees writes keys that ascend where in-degrees descend.
HB_KERNEL hb_program_degrees(hb_i32 n, const hb_i64 *inptr, hb_i64 most, hb_u32 *keys) {
	HB_EACH(v, n) keys[v] = (hb_u32)(most - (inptr[v + 1] - inptr[v]));
}

HB_KERNEL hb_program_number(hb_i32 n, hb_u32 *order) {
	HB_EACH(v, n) order[v] = (hb_u32)v;
}

// hb_program_most is the greatest in-degree.
HB_KERNEL hb_program_most(hb_i32 n, const hb_i64 *inptr, hb_u64 *most) {
	hb_u64 mine = 0;
	HB_EACH(v, n) {
		const hb_u64 d = (hb_u64)(inptr[v + 1] - inptr[v]);
		mine = d > mine ? d : mine;
	}
	for (int d = HB_WARP / 2; d > 0; d /= 2) {
		const hb_u64 other = __shfl_xor_sync(HB_FULL, mine, d);
		mine = other > mine ? other : mine;
	}
	if (HB_LANE == 0 && mine) atomicMax(most, mine);
}

// hb_program_widths writes the slots of each group, and the rank of each vertex. A warp takes 32
// vertices.
HB_KERNEL hb_program_widths(hb_i32 n, const hb_i64 *inptr, const hb_u32 *order, hb_i32 lg, hb_u32 *rank, hb_u64 *slots) {
	const hb_i64 blocks = ((hb_i64)n + HB_WARP - 1) / HB_WARP, warps = (hb_i64)gridDim.x * blockDim.x / HB_WARP;
	for (hb_i64 b = ((hb_i64)blockIdx.x * blockDim.x + threadIdx.x) / HB_WARP; b < blocks; b += warps) {
		const hb_i64 r = b * HB_WARP + HB_LANE;
		hb_u64 width = 0;
		if (r < n) {
			const hb_u32 v = order[r];
			rank[v] = (hb_u32)r;
			width = (hb_u64)(inptr[v + 1] - inptr[v]);
		}
		for (int d = (1 << lg) / 2; d > 0; d /= 2) {
			const hb_u64 other = __shfl_xor_sync(HB_FULL, width, d);
			width = other > width ? other : width;
		}
		if (r < n && (r & ((1 << lg) - 1)) == 0) slots[r >> lg] = width << lg;
	}
}

HB_KERNEL hb_program_columns(hb_i64 m, const hb_u32 *sorted, const hb_u32 *places, const hb_i64 *inptr, const hb_u32 *rank, const hb_i64 *base,
	hb_i32 lg, hb_u32 *place) {
	HB_EACH(k, m) {
		const hb_u32 v = sorted[k], r = rank[v];
		place[places[k]] = (hb_u32)(base[r >> lg] + ((k - inptr[v]) << lg) + (r & ((1u << lg) - 1)));
	}
}

#if !HB_LIST_EDGES
// hb_program_post writes the messages. active may be null: all vertices are.
HB_KERNEL hb_program_post(hb_i32 n, hb_i64 m, const hb_i64 *ptr, const hb_i32 *from, const hb_i32 *idx, const HB_E *weight, const HB_V *state,
	const hb_u8 *active, const HB_M *mail, const hb_u32 *place, HB_M *buffer, hb_u8 *sent) {
	HB_EACH(e, m) {
		const hb_i32 u = from[e];
		const hb_u32 at = place[e];
		bool has = !active || active[u];
#if HB_SENDS
		if (has) buffer[at] = mail[u];
#else
		if (has) {
			const HB_E w = weight ? weight[e] : (HB_E)HB_UNIT;
			const HB_V &src = state[u], &dst = state[idx[e]];
			has = hb_has(w, src, dst);
			if (has) buffer[at] = hb_edge(w, src, dst);
		}
#endif
		if (sent) sent[at] = has;
	}
}
#endif

#if !HB_LIST_MESSAGES
// hb_program_fold adds a message to the sum of a vertex.
HB_DEVICE void hb_program_fold(HB_M &sum, bool &some, const HB_M &m, bool is) {
	if (!is) return;
	sum = some ? hb_add(sum, m) : m;
	some = true;
}

// hb_program_read_warps: rows, a warp a vertex.
HB_KERNEL hb_program_read_warps(hb_i32 n, const hb_i64 *inptr, const HB_M *buffer, const hb_u8 *sent, HB_M *sums, hb_u8 *hit) {
	const hb_i64 warps = (hb_i64)gridDim.x * blockDim.x / HB_WARP;
	for (hb_i64 v = ((hb_i64)blockIdx.x * blockDim.x + threadIdx.x) / HB_WARP; v < n; v += warps) {
		HB_M sum = HB_IDENTITY;
		bool some = false;
		for (hb_i64 k = inptr[v] + HB_LANE; k < inptr[v + 1]; k += HB_WARP) hb_program_fold(sum, some, buffer[k], !sent || sent[k]);
#pragma unroll
		for (int d = HB_WARP / 2; d > 0; d /= 2) {
			const HB_M other = hb_from(sum, HB_LANE + d);
			const bool is = __shfl_sync(HB_FULL, (int)some, (HB_LANE + d) % HB_WARP);
			if (HB_LANE < d) hb_program_fold(sum, some, other, is);
		}
		if (HB_LANE == 0) {
			sums[v] = sum;
			hit[v] = some;
		}
	}
}

// hb_program_read_threads: rows, a thread a vertex.
HB_KERNEL hb_program_read_threads(hb_i32 n, const hb_i64 *inptr, const HB_M *buffer, const hb_u8 *sent, HB_M *sums, hb_u8 *hit) {
	HB_EACH(v, n) {
		HB_M sum = HB_IDENTITY;
		bool some = false;
		for (hb_i64 k = inptr[v]; k < inptr[v + 1]; k++) hb_program_fold(sum, some, buffer[k], !sent || sent[k]);
		sums[v] = sum;
		hit[v] = some;
	}
}

// hb_program_read_columns: columns, a thread a vertex.
HB_KERNEL hb_program_read_columns(hb_i32 n, const hb_i64 *inptr, const hb_u32 *order, const hb_i64 *base, hb_i32 lg, const HB_M *buffer,
	const hb_u8 *sent, HB_M *sums, hb_u8 *hit) {
	HB_EACH(r, n) {
		const hb_u32 v = order[r];
		const hb_i64 first = base[r >> lg] + (r & ((1 << lg) - 1)), degree = inptr[v + 1] - inptr[v];
		HB_M sum = HB_IDENTITY;
		bool some = false;
		for (hb_i64 j = 0; j < degree; j++) hb_program_fold(sum, some, buffer[first + (j << lg)], !sent || sent[first + (j << lg)]);
		sums[v] = sum;
		hit[v] = some;
	}
}
#endif
