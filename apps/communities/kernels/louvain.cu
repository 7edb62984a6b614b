// Communities by the methods of Louvain and Leiden; see apps.Communities, and
// apps/communities/move.go and apps/communities/refine.go for the same algorithm on the host.
// Source: prelude + graph.cu + louvain_common.cu + this file, of moves, + louvain_parts.cu +
// louvain_contract.cu. Host: apps/communities/gpu.go, which defines
//     HB_W             hb_u32 or hb_u64: weights and all sums of them, which are at most the total
//     HB_LV_CHUNK      entries of a row that a block takes at a time; a longer row belongs to a hub
//     HB_LV_SLOTS      slots of the table of a block, at least twice HB_LV_CHUNK
//     HB_LV_BATCHES    batches of a sweep, at most
//     HB_LV_LEAST      gain, as a share of the degree, from which a vertex moves
//     HB_LV_UNIT       2^56: gains of modularity are summed as integers in this unit
//
// A level has n vertices; row v is the len[v] entries from begin[v] on of idx and weight (null: all
// 1), in any order; degree[v] is the sum of its weights. label[v] is a community, a number below
// 2n, tot[c] the sum of its degrees. All sums are of integers, so that no result depends on the
// order of atomic operations.
//
// A sweep: hb_louvain_count and hb_louvain_scatter list the active vertices by batch and length of
// row; for each batch hb_louvain_decide (or _refine) and hb_louvain_grant (or _join);
// hb_louvain_wake and hb_louvain_active. Each batch decides by the state before it. Rows of up to
// 32 entries stay in registers, 8 lanes each; to 256 entries a warp has a table in shared memory;
// to HB_LV_CHUNK a block; a hub has blocks for its chunks, which add their tables to one in global
// memory, and a second kernel (_hubs) decides by that. Random reads of label and tot bound it.
//
// On a group of devices each has the whole level and decides for a share of the vertices, by
// hb_mine. hb_louvain_wishes lists the wishes of the share, the devices gather the lists, and
// hb_louvain_accept makes one list of all wishes for hb_louvain_grant.
//
// An item is a vertex, and the number of a chunk of its row in the upper half.

#define HB_LV_BINS 6
#define HB_LV_LANES 8 // that have a row of up to 32 entries
#define HB_LV_WARP_SLOTS (HB_LV_SLOTS / HB_GRAPH_WARPS)
#define HB_LV_LARGE (HB_LV_WARP_SLOTS / 2) // entries of a row that a warp has a table for

// hb_bin returns the bin of a row: 0 for hubs, then by descending length.
HB_DEVICE hb_i32 hb_bin(hb_u32 len) {
	return len > HB_LV_CHUNK ? 0 : len > HB_LV_LARGE ? 1 : len > 32 ? 2 : len > 16 ? 3 : len > 8 ? 4 : 5;
}
HB_DEVICE hb_u32 hb_pieces(hb_u32 len) { return len > HB_LV_CHUNK ? (len + HB_LV_CHUNK - 1) / HB_LV_CHUNK : 1; }

// hb_group_rows is the number of rows of a bin that a block takes at a time.
HB_DEVICE hb_i32 hb_group_rows(hb_i32 bin) { return bin < 2 ? 1 : bin == 2 ? HB_GRAPH_WARPS : HB_GRAPH_BLOCK / HB_LV_LANES; }

// hb_batch returns the batch of an active vertex.
HB_DEVICE hb_i32 hb_batch(hb_i64 v, hb_u64 state, hb_u32 batches) {
	return batches == 1 ? 0 : (hb_i32)__umul64hi(hb_at((hb_u64)v, state), batches);
}

// hb_mine reports whether a vertex is in the share of a rank of several.
HB_DEVICE bool hb_mine(hb_i64 v, hb_u32 rank, hb_u32 ranks) {
	return ranks == 1 || (hb_u32)__umul64hi(hb_mix((hb_u64)v), ranks) == rank;
}

// hb_louvain_count counts the items of active vertices (null: of all with a row) of a share by
// batch and bin, and turns counts into offsets offs, copied to next. counts is 0 before and after.
// It resets the numbers of a sweep. Resident blocks.
HB_KERNEL hb_louvain_count(hb_i32 n, const hb_u8 *active, const hb_u32 *len, hb_u64 seed, hb_u32 batches, hb_u32 rank, hb_u32 ranks,
	hb_u32 *counts, hb_u32 *offs, hb_u32 *next, hb_u64 *state) {
	__shared__ hb_u32 mine[HB_LV_BATCHES * HB_LV_BINS];
	__shared__ bool last;
	const hb_u32 bins = batches * HB_LV_BINS;
	for (hb_u32 k = threadIdx.x; k < bins; k += HB_GRAPH_BLOCK) mine[k] = 0;
	__syncthreads();
	HB_EACH(v, n) {
		if (active ? !active[v] : !len[v]) continue;
		if (!hb_mine(v, rank, ranks)) continue;
		atomicAdd(mine + hb_batch(v, seed, batches) * HB_LV_BINS + hb_bin(len[v]), hb_pieces(len[v]));
	}
	__syncthreads();
	for (hb_u32 k = threadIdx.x; k < bins; k += HB_GRAPH_BLOCK)
		if (mine[k]) atomicAdd(counts + k, mine[k]);
	const bool end = hb_last(state + HB_LV_DONE, gridDim.x);
	if (threadIdx.x == 0) last = end;
	__syncthreads();
	if (!last) return;
	for (hb_u32 k = threadIdx.x; k < bins; k += HB_GRAPH_BLOCK) {
		mine[k] = __ldcg(counts + k);
		counts[k] = 0;
	}
	__syncthreads();
	if (threadIdx.x < HB_WARP) {
		hb_u32 sum = 0;
		for (hb_u32 k = HB_LANE; k - HB_LANE < bins; k += HB_WARP) {
			const hb_u32 x = k < bins ? mine[k] : 0, up = hb_sums(x);
			if (k < bins) next[k] = offs[k] = sum + up - x;
			sum += __shfl_sync(HB_FULL, up, HB_WARP - 1);
		}
		if (HB_LANE == 0) {
			offs[bins] = sum;
			state[HB_LV_GAIN] = state[HB_LV_MOVES] = state[HB_LV_ACTIVE] = state[HB_LV_MOVED] = state[HB_LV_LARGE_MOVED] = 0;
		}
	}
}

// hb_louvain_scatter lists the items. With active it marks the vertices as drawn, with their batch
// + 1, the others with 0, and makes all inactive, the vertices of other shares too.
HB_KERNEL hb_louvain_scatter(hb_i32 n, hb_u8 *active, const hb_u32 *len, hb_u64 seed, hb_u32 batches, hb_u32 rank, hb_u32 ranks,
	hb_u32 *next, hb_u64 *items, hb_u8 *drawn) {
	__shared__ hb_u32 mine[HB_LV_BATCHES * HB_LV_BINS], base[HB_LV_BATCHES * HB_LV_BINS];
	const hb_u32 bins = batches * HB_LV_BINS;
	const hb_i32 each = 4;
	for (hb_i64 first = (hb_i64)blockIdx.x * HB_GRAPH_BLOCK * each; first < n; first += (hb_i64)gridDim.x * HB_GRAPH_BLOCK * each) {
		for (hb_u32 k = threadIdx.x; k < bins; k += HB_GRAPH_BLOCK) mine[k] = 0;
		__syncthreads();
		hb_i32 bin[each];
		hb_u32 place[each], pieces[each];
#pragma unroll
		for (hb_i32 j = 0; j < each; j++) {
			const hb_i64 v = first + j * HB_GRAPH_BLOCK + threadIdx.x;
			bin[j] = -1;
			if (v >= n) continue;
			const bool on = active ? active[v] : len[v] > 0;
			const hb_i32 b = on ? hb_batch(v, seed, batches) : -1;
			if (on && hb_mine(v, rank, ranks)) {
				bin[j] = b * HB_LV_BINS + hb_bin(len[v]);
				pieces[j] = hb_pieces(len[v]);
				place[j] = atomicAdd(mine + bin[j], pieces[j]);
			}
			if (active) {
				drawn[v] = (hb_u8)(b + 1);
				if (on) active[v] = 0;
			}
		}
		__syncthreads();
		for (hb_u32 k = threadIdx.x; k < bins; k += HB_GRAPH_BLOCK)
			if (mine[k]) base[k] = atomicAdd(next + k, mine[k]);
		__syncthreads();
#pragma unroll
		for (hb_i32 j = 0; j < each; j++) {
			const hb_u64 v = (hb_u64)(first + j * HB_GRAPH_BLOCK + threadIdx.x);
			if (bin[j] < 0) continue;
			hb_u64 *to = items + base[bin[j]] + place[j];
			for (hb_u32 k = 0; k < pieces[j]; k++) to[k] = (hb_u64)k << 32 | v;
		}
		__syncthreads();
	}
}

// ---- Tables ----

HB_DEVICE hb_u32 hb_hash(hb_i32 key) {
	const hb_u32 x = (hb_u32)key * 0x9E3779B1u;
	return x ^ x >> 15;
}

// hb_add adds w to the sum of a key in a table; free slots have the key −1. It returns the slot if
// the key is new, else −1.
HB_DEVICE hb_i32 hb_add(hb_i32 *keys, HB_W *sums, hb_u32 mask, hb_i32 key, HB_W w) {
	hb_u32 slot = hb_hash(key) & mask;
	hb_i32 fresh = -1;
	for (;; slot = (slot + 1) & mask) {
		hb_i32 k = *(volatile hb_i32 *)(keys + slot);
		if (k == -1) {
			k = atomicCAS(keys + slot, -1, key);
			if (k == -1) {
				fresh = (hb_i32)slot;
				break;
			}
		}
		if (k == key) break;
	}
	atomicAdd(sums + slot, w);
	return fresh;
}

// hb_mask_for returns the mask of a table of twice as many slots as entries, at most most.
HB_DEVICE hb_u32 hb_mask_for(hb_u32 entries, hb_u32 most) {
	hb_u32 slots = 32;
	while (slots < 2 * entries && slots < most) slots *= 2;
	return slots - 1;
}

// A hb_choice is a community and what a vertex gains in it.
struct hb_choice {
	double y;
	hb_i32 to;
	HB_W own, joint; // weight to the own community, and to this one
};

HB_DEVICE hb_choice hb_no_choice() {
	hb_choice c;
	c.y = -1e300;
	c.to = 0x7fffffff;
	c.own = c.joint = 0;
	return c;
}

// hb_better keeps the larger gain, and of equal gains the lower community.
HB_DEVICE void hb_better(hb_choice &c, const hb_choice &d) {
	if (d.y > c.y || (d.y == c.y && d.to < c.to)) {
		c.y = d.y;
		c.to = d.to;
		c.joint = d.joint;
	}
	if (d.own > c.own) c.own = d.own;
}

// hb_best is the best choice among groups of lanes.
HB_DEVICE hb_choice hb_best(hb_choice c, hb_i32 lanes) {
	for (hb_i32 d = lanes / 2; d > 0; d /= 2) {
		hb_choice o;
		o.y = __shfl_xor_sync(HB_FULL, c.y, d);
		o.to = __shfl_xor_sync(HB_FULL, c.to, d);
		o.own = __shfl_xor_sync(HB_FULL, c.own, d);
		o.joint = __shfl_xor_sync(HB_FULL, c.joint, d);
		hb_better(c, o);
	}
	return c;
}

// ---- Decisions ----

struct hb_mover {
	hb_i32 n, now;
	const hb_i64 *begin;
	const hb_u32 *len;
	const hb_i32 *idx;
	const HB_W *weight, *degree;
	hb_i32 *label;
	HB_W *tot;
	double total, resolution;
	hb_i32 *to;
	double *gain;
	HB_W *want;
	hb_u64 *best;
	// of refinement
	const hb_i32 *part;
	const HB_W *size, *out;
	const hb_u8 *joined, *drawn;
	HB_W *joint;
	// of moves at once
	hb_u64 *moved, *state;
	hb_i64 room;
};

HB_DEVICE double hb_factor(const hb_mover &m, HB_W degree) {
	return __ddiv_rn(__dmul_rn(m.resolution, (double)degree), m.total);
}

// hb_well reports whether a part of a community c is well connected to the rest of it.
HB_DEVICE bool hb_well(const hb_mover &m, HB_W size, HB_W out, hb_i32 c) {
	return (double)out >= __dmul_rn(hb_factor(m, size), (double)(m.tot[c] - size));
}

// hb_rank is wish.rank.
HB_DEVICE hb_u64 hb_rank(double gain, hb_i32 v) {
	return (hb_u64)__float_as_uint((float)gain) << 32 | (hb_u32)~v;
}

enum { HB_LV_MOVE, HB_LV_REFINE, HB_LV_AT_ONCE };

// hb_louvain_row is the row of a vertex that decides.
template <int HOW>
struct hb_louvain_row {
	hb_i32 v, own;
	HB_W degree;
	double factor;

	__device__ __forceinline__ void open(const hb_mover &m, hb_i32 vertex) {
		v = vertex;
		own = m.label[v];
		degree = m.degree[v];
		factor = hb_factor(m, degree);
	}

	// skips reports whether the vertex stays where it is.
	__device__ __forceinline__ bool skips(const hb_mover &m) const {
		return HOW == HB_LV_REFINE && (m.joined[v] || !hb_well(m, degree, m.out[v], own));
	}

	// key returns the community of entry p, or the part, −1 if the entry does not count.
	__device__ __forceinline__ hb_i32 key(const hb_mover &m, hb_i64 p, HB_W &w) const {
		const hb_i32 u = m.idx[p];
		w = m.weight ? m.weight[p] : (HB_W)1;
		if (m.weight && (w == 0 || u == v)) return -1;
		if (HOW == HB_LV_REFINE) return m.label[u] == own && u != v ? m.part[u] : -1;
		return m.label[u];
	}

	// choice returns what a sum of weights is worth.
	__device__ __forceinline__ hb_choice choice(const hb_mover &m, hb_i32 key, HB_W sum) const {
		hb_choice c = hb_no_choice();
		if (key < 0) return c;
		if (HOW == HB_LV_REFINE) {
			if ((m.drawn[key] == m.now && !m.joined[key]) || !hb_well(m, m.size[key], m.out[key], own)) return c;
			c.y = __dsub_rn((double)sum, __dmul_rn(factor, (double)m.size[key]));
			c.to = key;
			c.joint = sum;
			return c;
		}
		if (key == own) {
			c.own = sum;
			return c;
		}
		c.y = __dsub_rn((double)sum, __dmul_rn(factor, (double)m.tot[key]));
		c.to = key;
		return c;
	}

	// close writes the wish of the item at a position, or moves at once. One thread calls it.
	__device__ __forceinline__ void close(const hb_mover &m, hb_u32 at, const hb_choice &c) const {
		double stay = 0, most = 0;
		hb_i32 to = v;
		if (HOW != HB_LV_REFINE) {
			stay = __dsub_rn((double)c.own, __dmul_rn(factor, (double)(m.tot[own] - degree)));
			most = stay;
			to = own;
			if (most < 0) {
				if (m.tot[v] == 0) {
					to = v;
					most = 0;
				} else if (m.tot[v + m.n] == 0) {
					to = v + m.n;
					most = 0;
				}
			}
		}
		const hb_i32 here = HOW == HB_LV_REFINE ? v : own;
		if (c.to != 0x7fffffff && (c.y > most || (c.y == most && c.to < to && to != here))) {
			to = c.to;
			most = c.y;
		}
		const double gain = __dsub_rn(most, stay);
		const bool goes = to != here && gain > __dmul_rn(HB_LV_LEAST, (double)degree);
		if (HOW == HB_LV_AT_ONCE) {
			if (!goes) return;
			atomicAdd(m.tot + own, (HB_W)0 - degree);
			atomicAdd(m.tot + to, degree);
			m.label[v] = to;
			const hb_u32 len = m.len[v], pieces = hb_pieces(len);
			if (len <= 32) {
				m.moved[atomicAdd(m.state + HB_LV_MOVED, (hb_u64)1)] = (hb_u32)v;
			} else {
				const hb_u64 first = atomicAdd(m.state + HB_LV_LARGE_MOVED, (hb_u64)pieces);
				for (hb_u32 k = 0; k < pieces; k++) m.moved[m.room - 1 - (hb_i64)(first + k)] = (hb_u64)k << 32 | (hb_u32)v;
			}
			atomicAdd(m.state + HB_LV_MOVES, (hb_u64)1);
			atomicAdd(m.state + HB_LV_GAIN, (hb_u64)(hb_i64)(gain * (2 * HB_LV_UNIT / m.total)));
			return;
		}
		m.to[at] = goes ? to : -1;
		if (!goes) return;
		m.gain[at] = gain;
		if (HOW == HB_LV_REFINE) m.joint[at] = c.joint;
		atomicAdd(m.want + to, degree);
		atomicMax(m.best + to, hb_rank(gain, v));
	}
};

// hb_decide_lanes decides for rows of at most HB_LV_LANES·EACH entries, a group of lanes each. All
// pairs of entries are compared in registers.
template <int HOW, int EACH>
HB_DEVICE void hb_decide_lanes(const hb_mover &m, const hb_u64 *items, hb_u32 first, hb_u32 end) {
	const hb_u32 at = first + threadIdx.x / HB_LV_LANES;
	const hb_i32 lane = threadIdx.x % HB_LV_LANES;
	hb_louvain_row<HOW> r;
	hb_i32 key[EACH];
	HB_W w[EACH], sum[EACH];
	bool skips = true;
#pragma unroll
	for (hb_i32 e = 0; e < EACH; e++) {
		key[e] = -1;
		w[e] = sum[e] = 0;
	}
	if (at < end) {
		r.open(m, (hb_i32)(hb_u32)items[at]);
		skips = r.skips(m);
		const hb_u32 len = skips ? 0 : m.len[r.v];
		const hb_i64 begin = m.begin[r.v];
#pragma unroll
		for (hb_i32 e = 0; e < EACH; e++) {
			const hb_u32 k = e * HB_LV_LANES + lane;
			if (k < len) key[e] = r.key(m, begin + k, w[e]);
		}
	}
	hb_u32 lead = 0; // bit e: no entry before has the key of e
#pragma unroll
	for (hb_i32 e = 0; e < EACH; e++) lead |= (key[e] >= 0) << e;
#pragma unroll
	for (hb_i32 g = 0; g < EACH; g++)
#pragma unroll
		for (hb_i32 j = 0; j < HB_LV_LANES; j++) {
			const hb_i32 other = __shfl_sync(HB_FULL, key[g], j, HB_LV_LANES);
			const HB_W x = m.weight ? __shfl_sync(HB_FULL, w[g], j, HB_LV_LANES) : (HB_W)1;
#pragma unroll
			for (hb_i32 e = 0; e < EACH; e++)
				if (other == key[e]) {
					sum[e] += x;
					if (g < e || (g == e && j < lane)) lead &= ~(1u << e);
				}
		}
	hb_choice c = hb_no_choice();
#pragma unroll
	for (hb_i32 e = 0; e < EACH; e++)
		if (lead >> e & 1) hb_better(c, r.choice(m, key[e], sum[e]));
	c = hb_best(c, HB_LV_LANES);
	if (at < end && lane == 0) {
		if (!skips) r.close(m, at, c);
		else if (HOW != HB_LV_AT_ONCE) m.to[at] = -1;
	}
}

// hb_decide_warp decides for a row by a table of the warp.
template <int HOW>
HB_DEVICE void hb_decide_warp(const hb_mover &m, const hb_u64 *items, hb_u32 at, hb_u32 end, hb_i32 *keys, HB_W *sums) {
	if (at >= end) return; // the whole warp
	hb_louvain_row<HOW> r;
	r.open(m, (hb_i32)(hb_u32)items[at]);
	const hb_u32 len = m.len[r.v], mask = hb_mask_for(len, HB_LV_WARP_SLOTS);
	for (hb_u32 k = HB_LANE; k <= mask; k += HB_WARP) {
		keys[k] = -1;
		sums[k] = 0;
	}
	__syncwarp();
	const bool skips = r.skips(m);
	const hb_i64 begin = m.begin[r.v];
	for (hb_u32 k = HB_LANE; !skips && k < len; k += HB_WARP) {
		HB_W w;
		const hb_i32 key = r.key(m, begin + k, w);
		if (key >= 0) hb_add(keys, sums, mask, key, w);
	}
	__syncwarp();
	hb_choice c = hb_no_choice();
	for (hb_u32 k = HB_LANE; !skips && k <= mask; k += HB_WARP) hb_better(c, r.choice(m, keys[k], sums[k]));
	c = hb_best(c, HB_WARP);
	if (HB_LANE == 0) {
		if (!skips) r.close(m, at, c);
		else if (HOW != HB_LV_AT_ONCE) m.to[at] = -1;
	}
	__syncwarp();
}

// A hb_hubs has the tables of hubs: v has the slots table[v] to table[v+1], a power of two.
struct hb_hubs {
	const hb_i64 *table;
	hb_i32 *keys;
	HB_W *sums;
	hb_i32 *list;  // the slots in use, in the first count[2v] places
	hb_u32 *count; // count[2v+1]: blocks that are done
};

// hb_flush_table adds the table of a block to the table of v.
HB_DEVICE void hb_flush_table(const hb_hubs &h, hb_i32 v, const hb_i32 *keys, const HB_W *sums, hb_u32 mask) {
	const hb_i64 base = h.table[v];
	const hb_u32 wide = (hb_u32)(h.table[v + 1] - base) - 1;
	for (hb_u32 k = threadIdx.x; k <= mask; k += HB_GRAPH_BLOCK) { // whole warps
		const hb_i32 slot = keys[k] < 0 ? -1 : hb_add(h.keys + base, h.sums + base, wide, keys[k], sums[k]);
		const hb_u32 place = hb_reserve(h.count + 2 * (hb_i64)v, slot >= 0);
		if (slot >= 0) h.list[base + place] = slot;
	}
}

// hb_last_piece returns true in all threads of the last block of the pieces of v.
HB_DEVICE bool hb_last_piece(const hb_hubs &h, hb_i32 v, hb_u32 pieces) {
	__shared__ bool last;
	__threadfence();
	__syncthreads();
	if (threadIdx.x == 0) {
		last = atomicAdd(h.count + 2 * (hb_i64)v + 1, 1u) + 1 == pieces;
		__threadfence();
	}
	__syncthreads();
	const bool mine = last;
	__syncthreads();
	return mine;
}

// hb_share_of returns the part of the slots in use of v that a piece has.
HB_DEVICE void hb_share_of(const hb_hubs &h, hb_i32 v, hb_u32 piece, hb_u32 pieces, hb_u32 &from, hb_u32 &until) {
	const hb_u64 used = h.count[2 * (hb_i64)v];
	from = (hb_u32)(used * piece / pieces);
	until = (hb_u32)(used * (piece + 1) / pieces);
}

// hb_block_best is the best choice of a block, in thread 0.
HB_DEVICE hb_choice hb_block_best(hb_choice c) {
	__shared__ hb_choice all[HB_GRAPH_WARPS];
	c = hb_best(c, HB_WARP);
	if (HB_LANE == 0) all[threadIdx.x / HB_WARP] = c;
	__syncthreads();
	if (threadIdx.x == 0)
		for (hb_i32 k = 1; k < HB_GRAPH_WARPS; k++) hb_better(c, all[k]);
	__syncthreads();
	return c;
}

// hb_decide_block decides for a row by a table of the block, or adds a chunk of a hub.
template <int HOW>
HB_DEVICE void hb_decide_block(const hb_mover &m, const hb_hubs &h, const hb_u64 *items, hb_u32 at, hb_i32 *keys, HB_W *sums) {
	hb_louvain_row<HOW> r;
	const hb_u64 item = items[at];
	r.open(m, (hb_i32)(hb_u32)item);
	const hb_u32 len = m.len[r.v], piece = (hb_u32)(item >> 32), pieces = hb_pieces(len);
	if (HOW != HB_LV_AT_ONCE && threadIdx.x == 0 && piece > 0) m.to[at] = -1;
	if (r.skips(m)) {
		if (HOW != HB_LV_AT_ONCE && threadIdx.x == 0) m.to[at] = -1;
		return;
	}
	const hb_u32 from = piece * HB_LV_CHUNK, until = len - from < HB_LV_CHUNK ? len : from + HB_LV_CHUNK;
	const hb_u32 mask = hb_mask_for(until - from, HB_LV_SLOTS);
	__syncthreads();
	for (hb_u32 k = threadIdx.x; k <= mask; k += HB_GRAPH_BLOCK) {
		keys[k] = -1;
		sums[k] = 0;
	}
	__syncthreads();
	const hb_i64 begin = m.begin[r.v];
	for (hb_u32 k = from + threadIdx.x; k < until; k += HB_GRAPH_BLOCK) {
		HB_W w;
		const hb_i32 key = r.key(m, begin + k, w);
		if (key >= 0) hb_add(keys, sums, mask, key, w);
	}
	__syncthreads();
	hb_choice c = hb_no_choice();
	if (pieces == 1) {
		for (hb_u32 k = threadIdx.x; k <= mask; k += HB_GRAPH_BLOCK) hb_better(c, r.choice(m, keys[k], sums[k]));
		c = hb_block_best(c);
		if (threadIdx.x == 0) r.close(m, at, c);
		return;
	}
	hb_flush_table(h, r.v, keys, sums, mask);
}

// hb_decide_hubs decides for the hubs of a batch, once all their pieces are in their tables, and
// empties these. A block a piece; the last one of a hub compares what they found, in found.
template <int HOW>
HB_DEVICE void hb_decide_hubs(const hb_mover &m, const hb_hubs &h, const hb_u32 *offs, const hb_u64 *items, hb_choice *found) {
	for (hb_u32 at = offs[0] + blockIdx.x; at < offs[1]; at += gridDim.x) {
		const hb_u64 item = items[at];
		hb_louvain_row<HOW> r;
		r.open(m, (hb_i32)(hb_u32)item);
		if (r.skips(m)) continue;
		const hb_u32 piece = (hb_u32)(item >> 32), pieces = hb_pieces(m.len[r.v]);
		const hb_i64 base = h.table[r.v];
		hb_u32 from, until;
		hb_share_of(h, r.v, piece, pieces, from, until);
		hb_choice c = hb_no_choice();
#pragma unroll 4
		for (hb_u32 k = from + threadIdx.x; k < until; k += HB_GRAPH_BLOCK) {
			const hb_i64 slot = base + h.list[base + k];
			hb_better(c, r.choice(m, h.keys[slot], h.sums[slot]));
			h.keys[slot] = -1;
			h.sums[slot] = 0;
		}
		c = hb_block_best(c);
		const hb_u32 first = at - piece - offs[0];
		if (threadIdx.x == 0) found[first + piece] = c;
		if (!hb_last_piece(h, r.v, pieces)) continue;
		c = hb_no_choice();
		for (hb_u32 k = threadIdx.x; k < pieces; k += HB_GRAPH_BLOCK) {
			const volatile hb_choice *f = found + first + k;
			hb_choice d;
			d.y = f->y;
			d.to = f->to;
			d.own = f->own;
			d.joint = f->joint;
			hb_better(c, d);
		}
		c = hb_block_best(c);
		if (threadIdx.x == 0) {
			r.close(m, at - piece, c);
			h.count[2 * (hb_i64)r.v] = h.count[2 * (hb_i64)r.v + 1] = 0;
		}
	}
}

// hb_decide decides for the items of a batch. Dynamic shared memory: HB_LV_SLOTS keys and sums.
template <int HOW>
HB_DEVICE void hb_decide(const hb_mover &m, const hb_hubs &h, const hb_u32 *offs, const hb_u64 *items) {
	HB_DYNAMIC_SHARED(hb_u64, shared);
	HB_W *sums = (HB_W *)shared;
	hb_i32 *keys = (hb_i32 *)(sums + HB_LV_SLOTS);
	const hb_i32 warp = threadIdx.x / HB_WARP;
	hb_u32 ends[HB_LV_BINS], tasks = 0;
#pragma unroll
	for (hb_i32 b = 0; b < HB_LV_BINS; b++) {
		const hb_u32 rows = hb_group_rows(b);
		tasks += (offs[b + 1] - offs[b] + rows - 1) / rows;
		ends[b] = tasks;
	}
	for (hb_u32 t = blockIdx.x; t < tasks; t += gridDim.x) {
		hb_i32 b = 0;
		hb_u32 before = 0;
#pragma unroll
		for (hb_i32 k = 0; k < HB_LV_BINS - 1; k++)
			if (t >= ends[k]) {
				b = k + 1;
				before = ends[k];
			}
		const hb_u32 first = offs[b] + (t - before) * hb_group_rows(b), end = offs[b + 1];
		switch (b) {
		case 0:
		case 1:
			hb_decide_block<HOW>(m, h, items, first, keys, sums);
			__syncthreads();
			break;
		case 2:
			hb_decide_warp<HOW>(m, items, first + warp, end, keys + warp * HB_LV_WARP_SLOTS, sums + warp * HB_LV_WARP_SLOTS);
			break;
		case 3: hb_decide_lanes<HOW, 4>(m, items, first, end); break;
		case 4: hb_decide_lanes<HOW, 2>(m, items, first, end); break;
		default: hb_decide_lanes<HOW, 1>(m, items, first, end);
		}
		if (b >= 2) __syncthreads(); // a block with a table may be next
	}
}

// The arguments of decisions; see hb_mover and hb_hubs. batch is the number of the batch, offs has
// the offsets of all.
#define HB_LV_ARGUMENTS \
	hb_i32 n, hb_i32 batch, const hb_u32 *offs, const hb_u64 *items, const hb_i64 *begin, const hb_u32 *len, \
		const hb_i32 *idx, const HB_W *weight, const HB_W *degree, hb_i32 *label, HB_W *tot, double total, double resolution, \
		hb_i32 *to, double *gain, HB_W *want, hb_u64 *best, const hb_i64 *table, hb_i32 *keys, HB_W *sums, hb_i32 *list, \
		hb_u32 *count, const hb_i32 *part, const HB_W *size, const HB_W *out, const hb_u8 *joined, const hb_u8 *drawn, \
		HB_W *joint, hb_u64 *moved, hb_u64 *state, hb_i64 room, hb_choice *found
#define HB_LV_DECIDE(decide) \
	const hb_mover m = {n, batch + 1, begin, len, idx, weight, degree, label, tot, total, resolution, to, gain, want, best, \
		part, size, out, joined, drawn, joint, moved, state, room}; \
	const hb_hubs h = {table, keys, sums, list, count}; \
	decide

HB_KERNEL hb_louvain_decide(HB_LV_ARGUMENTS) { HB_LV_DECIDE(hb_decide<HB_LV_MOVE>(m, h, offs + batch * HB_LV_BINS, items)); }
HB_KERNEL hb_louvain_refine(HB_LV_ARGUMENTS) { HB_LV_DECIDE(hb_decide<HB_LV_REFINE>(m, h, offs + batch * HB_LV_BINS, items)); }
HB_KERNEL hb_louvain_at_once(HB_LV_ARGUMENTS) { HB_LV_DECIDE(hb_decide<HB_LV_AT_ONCE>(m, h, offs + batch * HB_LV_BINS, items)); }
HB_KERNEL hb_louvain_decide_hubs(HB_LV_ARGUMENTS) { HB_LV_DECIDE(hb_decide_hubs<HB_LV_MOVE>(m, h, offs + batch * HB_LV_BINS, items, found)); }
HB_KERNEL hb_louvain_refine_hubs(HB_LV_ARGUMENTS) { HB_LV_DECIDE(hb_decide_hubs<HB_LV_REFINE>(m, h, offs + batch * HB_LV_BINS, items, found)); }
HB_KERNEL hb_louvain_at_once_hubs(HB_LV_ARGUMENTS) { HB_LV_DECIDE(hb_decide_hubs<HB_LV_AT_ONCE>(m, h, offs + batch * HB_LV_BINS, items, found)); }

// A hb_wish is where a vertex wishes to go, and what it gains there.
struct __align__(16) hb_wish {
	hb_i32 v, to;
	double gain;
};

// hb_louvain_wishes lists the wishes of a batch in out, from count on, which is 0 before.
HB_KERNEL hb_louvain_wishes(hb_i32 batch, const hb_u32 *offs, const hb_u64 *items, const hb_i32 *to, const double *gain,
	hb_wish *out, hb_u64 *count) {
	const hb_u32 first = offs[batch * HB_LV_BINS], end = offs[(batch + 1) * HB_LV_BINS];
	for (hb_u32 base = first + blockIdx.x * HB_GRAPH_BLOCK; base < end; base += gridDim.x * HB_GRAPH_BLOCK) {
		const hb_u32 at = base + threadIdx.x;
		const bool some = at < end && to[at] >= 0;
		const hb_u64 place = hb_reserve(count, some);
		if (some) {
			hb_wish w;
			w.v = (hb_i32)(hb_u32)items[at];
			w.to = to[at];
			w.gain = gain[at];
			out[place] = w;
		}
	}
}

// hb_louvain_accept makes the n wishes of a batch of all ranks the items of the batch from first
// on. The wishes own … after−1 are this rank's; it counts the wishes of the others in want and
// best. offs[batch·HB_LV_BINS] is first.
HB_KERNEL hb_louvain_accept(hb_i32 n, hb_i32 batch, hb_i32 own, hb_i32 after, hb_u32 first, const hb_wish *all, const HB_W *degree,
	hb_u32 *offs, hb_u64 *items, hb_i32 *to, double *gain, HB_W *want, hb_u64 *best) {
	if (blockIdx.x == 0 && threadIdx.x == 0) {
		offs[batch * HB_LV_BINS] = first;
		offs[(batch + 1) * HB_LV_BINS] = first + (hb_u32)n;
	}
	HB_EACH(k, n) {
		const hb_wish w = all[k];
		items[first + k] = (hb_u32)w.v;
		to[first + k] = w.to;
		gain[first + k] = w.gain;
		if (k >= own && k < after) continue;
		atomicAdd(want + w.to, degree[w.v]);
		atomicMax(best + w.to, hb_rank(w.gain, w.v));
	}
}

// hb_granted reports whether a wish comes true.
HB_DEVICE bool hb_granted(double gain, hb_i32 v, hb_i32 to, HB_W degree, const HB_W *want, const hb_u64 *best, double total, double resolution) {
	if (best[to] == hb_rank(gain, v)) return true;
	const double factor = __ddiv_rn(__dmul_rn(resolution, (double)degree), total);
	const double others = __dmul_rn(factor, (double)(want[to] - degree));
	return __dsub_rn(gain, others) > __dmul_rn(HB_LV_LEAST, (double)degree);
}

// hb_list_moved lists the items of vertices that moved, with pieces above 0: items of up to 32
// entries from the beginning of moved, the others from its end, room. All lanes of the warp call
// it.
HB_DEVICE void hb_list_moved(hb_i32 v, hb_u32 pieces, bool small, hb_u64 *moved, hb_i64 room, hb_u64 *state) {
	const hb_u64 place = hb_reserve(state + HB_LV_MOVED, small);
	if (small) moved[place] = (hb_u32)v;
	else if (pieces > 0) {
		const hb_u64 first = atomicAdd(state + HB_LV_LARGE_MOVED, (hb_u64)pieces);
		for (hb_u32 k = 0; k < pieces; k++) moved[room - 1 - (hb_i64)(first + k)] = (hb_u64)k << 32 | (hb_u32)v;
	}
}

// hb_louvain_grant makes the moves of a batch that come true and lists them in moved. It clears the
// counts (want_before, best_before) of the batch before.
HB_KERNEL hb_louvain_grant(hb_i32 batch, const hb_u32 *offs, const hb_u64 *items, const hb_u32 *len, const HB_W *degree, const hb_i32 *to,
	const double *gain, hb_i32 *label, HB_W *tot, const HB_W *want, const hb_u64 *best, HB_W *want_before, hb_u64 *best_before,
	hb_u8 *active, hb_u64 *moved, hb_i64 room, double total, double resolution, hb_u64 *state) {
	const hb_u32 first = offs[batch * HB_LV_BINS], end = offs[(batch + 1) * HB_LV_BINS];
	const hb_u32 old = batch > 0 ? offs[(batch - 1) * HB_LV_BINS] : first;
	hb_u64 sum = 0, moves = 0;
	const double unit = 2 * HB_LV_UNIT / total;
	for (hb_u32 base = old + blockIdx.x * HB_GRAPH_BLOCK; base < end; base += gridDim.x * HB_GRAPH_BLOCK) {
		const hb_u32 at = base + threadIdx.x;
		hb_u32 pieces = 0;
		hb_i32 v = 0;
		if (at < end && to[at] >= 0) {
			const hb_i32 c = to[at];
			if (at < first) {
				want_before[c] = 0;
				best_before[c] = 0;
			} else {
				v = (hb_i32)(hb_u32)items[at];
				const HB_W k = degree[v];
				if (hb_granted(gain[at], v, c, k, want, best, total, resolution)) {
					const hb_i32 from = label[v];
					label[v] = c;
					atomicAdd(tot + from, (HB_W)0 - k);
					atomicAdd(tot + c, k);
					sum += (hb_u64)(hb_i64)__dmul_rn(gain[at], unit);
					moves++;
					pieces = hb_pieces(len[v]);
				} else {
					active[v] = 1;
				}
			}
		}
		hb_list_moved(v, pieces, pieces == 1 && len[v] <= 32, moved, room, state);
	}
	hb_block_sum(sum, state + HB_LV_GAIN);
	hb_block_sum(moves, state + HB_LV_MOVES);
}

// hb_louvain_wake makes the neighbours active of vertices that moved, if they are in other
// communities and have not decided since; all vertices with edges, if 1/HB_LV_MANY of the edged
// vertices moved. Of several ranks each does so for the moved vertices of its share. HB_LV_LANES
// lanes have a row of up to 32 entries, a warp another item. It clears the counts of the last
// batch.
HB_KERNEL hb_louvain_wake(hb_i32 n, hb_i32 edged, hb_i32 last, hb_u32 rank, hb_u32 ranks, const hb_u32 *offs, const hb_i32 *to, HB_W *want, hb_u64 *best,
	const hb_i64 *begin, const hb_u32 *len, const hb_i32 *idx, const HB_W *degree, const hb_i32 *label, const hb_u8 *drawn,
	hb_u8 *active, const hb_u64 *moved, hb_i64 room, const hb_u64 *state) {
	const hb_u32 first = last < 0 ? 0 : offs[last * HB_LV_BINS], end = last < 0 ? 0 : offs[(last + 1) * HB_LV_BINS];
	for (hb_u32 at = first + blockIdx.x * HB_GRAPH_BLOCK + threadIdx.x; at < end; at += gridDim.x * HB_GRAPH_BLOCK)
		if (to[at] >= 0) {
			want[to[at]] = 0;
			best[to[at]] = 0;
		}
	if (state[HB_LV_MOVES] * HB_LV_MANY >= (hb_u64)edged) {
		HB_EACH(v, n) active[v] = degree[v] > 0;
		return;
	}
	const hb_u64 large = state[HB_LV_LARGE_MOVED], small = state[HB_LV_MOVED], rows = HB_WARP / HB_LV_LANES;
	const hb_u64 tasks = large + (small + rows - 1) / rows;
	for (hb_u64 t = (hb_u64)blockIdx.x * HB_GRAPH_WARPS + threadIdx.x / HB_WARP; t < tasks; t += (hb_u64)gridDim.x * HB_GRAPH_WARPS) {
		const hb_u32 width = t < large ? HB_WARP : HB_LV_LANES;
		const hb_u64 k = (t - large) * rows + HB_LANE / HB_LV_LANES;
		if (t >= large && k >= small) continue;
		const hb_u64 item = t < large ? moved[room - 1 - (hb_i64)t] : moved[k];
		const hb_i32 v = (hb_i32)(hb_u32)item;
		if (!hb_mine(v, rank, ranks)) continue;
		const hb_u32 from = (hb_u32)(item >> 32) * HB_LV_CHUNK;
		const hb_u32 until = len[v] - from < HB_LV_CHUNK ? len[v] : from + HB_LV_CHUNK;
		const hb_i32 c = label[v];
		const hb_u8 batch = drawn[v];
		const hb_i64 row = begin[v];
#pragma unroll 4
		for (hb_u32 p = from + HB_LANE % width; p < until; p += width) {
			const hb_i32 u = idx[row + p];
			if (label[u] != c && drawn[u] <= batch && !active[u]) active[u] = 1;
		}
	}
}

// hb_louvain_active counts the active vertices.
HB_KERNEL hb_louvain_active(hb_i32 n, const hb_u8 *active, hb_u64 *state) {
	hb_u64 sum = 0;
	HB_EACH(v, n) sum += active[v];
	hb_block_sum(sum, state + HB_LV_ACTIVE);
}
