// The next level, and the numbering of the result by size. Continues louvain_parts.cu; louvain.cu
// says what a level is.

// ---- Contraction ----

// hb_louvain_bounds sums entries and degrees by part. bound and degrees are 0 before.
HB_KERNEL hb_louvain_bounds(hb_i32 n, const hb_u32 *len, const HB_W *degree, const hb_i32 *part, hb_u64 *bound, HB_W *degrees) {
	HB_EACH(v, n) {
		if (part[v] < 0) continue;
		atomicAdd(bound + part[v], (hb_u64)len[v]);
		atomicAdd(degrees + part[v], degree[v]);
	}
}

// hb_louvain_lengths copies the sums of entries, which are below 2³², of the parts from lo on
// before hi. Others get 0.
HB_KERNEL hb_louvain_lengths(hb_i32 parts, hb_i32 lo, hb_i32 hi, const hb_u64 *bound, hb_u32 *len) {
	HB_EACH(c, parts) len[c] = c >= lo && c < hi ? (hb_u32)bound[c] : 0;
}

// hb_louvain_cuts cuts the parts for ranks by the entries of their rows, which begin at row: rank r
// has those from cut[r] on before cut[r+1].
HB_KERNEL hb_louvain_cuts(hb_i32 ranks, hb_i32 parts, const hb_i64 *row, hb_i64 *cut) {
	HB_EACH(r, ranks + 1) {
		const hb_i64 want = row[parts] / ranks * r;
		hb_i64 lo = 0, hi = parts;
		while (lo < hi) {
			const hb_i64 mid = (lo + hi) / 2;
			if (row[mid] < want) lo = mid + 1;
			else hi = mid;
		}
		cut[r] = r == ranks ? parts : lo;
	}
}

// hb_louvain_pack copies the merged rows of items to where the rows begin without gaps; length
// counts the entries of a row before the merge, got after it. A warp an item.
HB_KERNEL hb_louvain_pack(const hb_u32 *offs, const hb_u64 *items, const hb_i64 *begin, const hb_u32 *length, const hb_u32 *got,
	const hb_i32 *idx, const HB_W *weight, const hb_i64 *to, hb_i32 *to_idx, HB_W *to_weight) {
	hb_each_row(offs, items, begin, length, [&](const hb_part_row &r) {
		if (r.v < 0) return;
		const hb_u32 until = r.until < got[r.v] ? r.until : got[r.v];
		const hb_i64 first = to[r.v];
#pragma unroll 4
		for (hb_u32 p = r.from + r.lane; p < until; p += r.width) {
			to_idx[first + p] = idx[r.row + p];
			to_weight[first + p] = weight[r.row + p];
		}
	});
}

// hb_louvain_copy writes the entries of the rows, columns replaced by parts, part by part from next
// on, for the parts from lo on before hi. A warp an item of all rows.
HB_KERNEL hb_louvain_copy(hb_i32 lo, hb_i32 hi, const hb_u32 *offs, const hb_u64 *items, const hb_i64 *begin, const hb_u32 *len, const hb_i32 *idx,
	const HB_W *weight, const hb_i32 *part, hb_u64 *next, hb_i32 *to_idx, HB_W *to_weight) {
	hb_each_row(offs, items, begin, len, [&](const hb_part_row &r) {
		hb_i32 c = r.v < 0 ? -1 : part[r.v];
		if (c < lo || c >= hi) c = -1;
		hb_u64 first = 0;
		if (r.lane == 0 && c >= 0) first = atomicAdd(next + c, (hb_u64)(r.until - r.from));
		first = __shfl_sync(HB_FULL, first, 0, r.width);
		if (c < 0) return;
#pragma unroll 4
		for (hb_u32 p = r.from + r.lane; p < r.until; p += r.width) {
			to_idx[first + (p - r.from)] = part[idx[r.row + p]];
			to_weight[first + (p - r.from)] = weight ? weight[r.row + p] : (HB_W)1;
		}
	});
}

// hb_louvain_merge adds up the entries of each row with the same column, in place; entries of
// column −1 are left out. len becomes the number of columns in got. Items of rows by bins, as in
// decisions.
HB_KERNEL hb_louvain_merge(const hb_u32 *offs, const hb_u64 *items, const hb_i64 *begin, const hb_u32 *len, hb_i32 *idx, HB_W *weight,
	hb_u32 *got, const hb_i64 *table, hb_i32 *wide_keys, HB_W *wide_sums, hb_i32 *list, hb_u32 *hub) {
	HB_DYNAMIC_SHARED(hb_u64, shared);
	__shared__ hb_u32 used[HB_GRAPH_WARPS];
	HB_W *sums = (HB_W *)shared;
	hb_i32 *keys = (hb_i32 *)(sums + HB_LV_SLOTS);
	const hb_hubs h = {table, wide_keys, wide_sums, list, hub};
	const hb_i32 warp = threadIdx.x / HB_WARP;
	const hb_u32 large = offs[2] - offs[0], small = offs[HB_LV_BINS] - offs[2];
	const hb_u32 tasks = large + (small + HB_GRAPH_WARPS - 1) / HB_GRAPH_WARPS;
	for (hb_u32 t = blockIdx.x; t < tasks; t += gridDim.x) {
		const bool alone = t >= large; // a warp has the row
		const hb_u32 at = alone ? offs[2] + (t - large) * HB_GRAPH_WARPS + warp : offs[0] + t;
		const bool some = at < offs[HB_LV_BINS];
		const hb_u64 item = some ? items[at] : 0;
		const hb_i32 c = (hb_i32)(hb_u32)item;
		const hb_u32 all = some ? len[c] : 0, piece = (hb_u32)(item >> 32), pieces = hb_pieces(all);
		const hb_u32 from = piece * HB_LV_CHUNK, until = all - from < HB_LV_CHUNK ? all : from + HB_LV_CHUNK;
		const hb_u32 mask = hb_mask_for(until - from, alone ? HB_LV_WARP_SLOTS : HB_LV_SLOTS);
		hb_i32 *k_table = keys + (alone ? warp * HB_LV_WARP_SLOTS : 0);
		HB_W *s_table = sums + (alone ? warp * HB_LV_WARP_SLOTS : 0);
		const hb_u32 me = alone ? HB_LANE : threadIdx.x, step = alone ? HB_WARP : HB_GRAPH_BLOCK;
		for (hb_u32 k = me; k <= mask; k += step) {
			k_table[k] = -1;
			s_table[k] = 0;
		}
		if (HB_LANE == 0) used[warp] = 0;
		__syncthreads();
		const hb_i64 row = some ? begin[c] : 0;
		for (hb_u32 k = from + me; k < until; k += step) {
			const hb_i32 key = idx[row + k];
			if (key >= 0) hb_add(k_table, s_table, mask, key, weight[row + k]);
		}
		__syncthreads();
		if (!alone && pieces > 1) {
			hb_flush_table(h, c, k_table, s_table, mask);
		} else {
			hb_u32 *end = used + (alone ? warp : 0);
			for (hb_u32 k = me; k <= mask; k += step) {
				if (k_table[k] < 0) continue;
				const hb_u32 p = atomicAdd(end, 1u);
				idx[row + p] = k_table[k];
				weight[row + p] = s_table[k];
			}
			__syncthreads();
			if (some && me == 0) got[c] = *end;
		}
		__syncthreads();
	}
}

// hb_louvain_merge_hubs writes the rows of hubs from their tables. A block a piece.
HB_KERNEL hb_louvain_merge_hubs(const hb_u32 *offs, const hb_u64 *items, const hb_i64 *begin, const hb_u32 *len, hb_i32 *idx, HB_W *weight,
	hb_u32 *got, const hb_i64 *table, const hb_i32 *wide_keys, const HB_W *wide_sums, const hb_i32 *list, hb_u32 *hub) {
	const hb_hubs h = {table, (hb_i32 *)wide_keys, (HB_W *)wide_sums, (hb_i32 *)list, hub};
	for (hb_u32 at = offs[0] + blockIdx.x; at < offs[1]; at += gridDim.x) {
		const hb_i32 c = (hb_i32)(hb_u32)items[at];
		const hb_u32 piece = (hb_u32)(items[at] >> 32), pieces = hb_pieces(len[c]);
		const hb_i64 base = table[c], row = begin[c];
		hb_u32 from, until;
		hb_share_of(h, c, piece, pieces, from, until);
#pragma unroll 4
		for (hb_u32 k = from + threadIdx.x; k < until; k += HB_GRAPH_BLOCK) {
			const hb_i64 slot = base + list[base + k];
			idx[row + k] = wide_keys[slot];
			weight[row + k] = wide_sums[slot];
		}
		if (piece == 0 && threadIdx.x == 0) got[c] = hub[2 * (hb_i64)c];
	}
}

// hb_louvain_slots writes the size of the table of each row: of a hub, a power of two above 1.5
// times its columns, which are fewer than limit.
HB_KERNEL hb_louvain_slots(hb_i32 n, const hb_u32 *len, hb_u32 limit, hb_u32 *slots) {
	HB_EACH(v, n) {
		hb_u32 most = len[v] < limit ? len[v] : limit, s = 0;
		if (len[v] > HB_LV_CHUNK)
			for (s = 64; s < most + most / 2; s *= 2) {
			}
		slots[v] = s;
	}
}

// ---- The result ----

// hb_louvain_sizes counts the vertices of parts and marks the least vertex of each; a vertex v
// without a part is part parts + v. least is large before, size 0.
HB_KERNEL hb_louvain_sizes(hb_i32 n, hb_i32 parts, hb_i32 *part, hb_u32 *size, hb_i32 *least) {
	HB_EACH(v, n) {
		if (part[v] < 0) part[v] = parts + (hb_i32)v;
		atomicAdd(size + part[v], 1u);
		atomicMin(least + part[v], (hb_i32)v);
	}
}

// hb_louvain_firsts marks the least vertices, and finds the size of the largest part.
HB_KERNEL hb_louvain_firsts(hb_i32 n, const hb_i32 *part, const hb_i32 *least, const hb_u32 *size, hb_u8 *first, hb_u64 *state) {
	__shared__ hb_u32 most;
	if (threadIdx.x == 0) most = 0;
	__syncthreads();
	hb_u32 mine = 0;
	HB_EACH(v, n) {
		first[v] = least[part[v]] == (hb_i32)v;
		if (first[v] && size[part[v]] > mine) mine = size[part[v]];
	}
	atomicMax(&most, mine);
	__syncthreads();
	if (threadIdx.x == 0) atomicMax(state + HB_LV_LARGEST, (hb_u64)most);
}

// hb_louvain_keys lists the parts by their least vertices: their names, and the complements of
// their sizes, which ascend as sizes descend.
HB_KERNEL hb_louvain_keys(hb_i32 n, const hb_i32 *part, const hb_u8 *first, const hb_i64 *number, const hb_u32 *size, hb_i32 *name, hb_u32 *key, const hb_u64 *state) {
	HB_EACH(v, n) {
		if (!first[v]) continue;
		name[number[v]] = part[v];
		key[number[v]] = (hb_u32)state[HB_LV_LARGEST] - size[part[v]];
	}
}

// hb_louvain_order numbers the parts in the order of places.
HB_KERNEL hb_louvain_order(hb_i32 count, const hb_u32 *places, const hb_i32 *name, hb_i32 *number) {
	HB_EACH(k, count) number[name[places[k]]] = (hb_i32)k;
}

HB_KERNEL hb_louvain_final(hb_i32 n, const hb_i32 *part, const hb_i32 *number, hb_i32 *out) {
	HB_EACH(v, n) out[v] = number[part[v]];
}
