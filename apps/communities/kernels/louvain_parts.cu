// Partitions of the vertices of a level: their names and numbers, their modularity, the refinement
// of Leiden, connected pieces. Continues louvain.cu, which says what a level is.

// ---- Rows ----

// A hb_part_row is a row, or a piece of one, that a group of width lanes visits: of a warp, or of
// HB_LV_LANES for rows of up to 32 entries. v is −1 for a group without a row.
struct hb_part_row {
	hb_i32 v, lane, width;
	hb_i64 row;
	hb_u32 from, until;
};

// hb_each_row calls f for the items of all rows.
template <class F>
HB_DEVICE void hb_each_row(const hb_u32 *offs, const hb_u64 *items, const hb_i64 *begin, const hb_u32 *len, F f) {
	const hb_u32 large = offs[3], all = offs[HB_LV_BINS], rows = HB_WARP / HB_LV_LANES;
	const hb_u32 tasks = large + (all - large + rows - 1) / rows;
	for (hb_u32 t = blockIdx.x * HB_GRAPH_WARPS + threadIdx.x / HB_WARP; t < tasks; t += gridDim.x * HB_GRAPH_WARPS) {
		hb_part_row r;
		r.width = t < large ? HB_WARP : HB_LV_LANES;
		r.lane = HB_LANE % r.width;
		const hb_u32 at = t < large ? t : large + (t - large) * rows + HB_LANE / HB_LV_LANES;
		r.v = -1;
		r.from = r.until = 0;
		r.row = 0;
		if (at < all) {
			const hb_u64 item = items[at];
			r.v = (hb_i32)(hb_u32)item;
			const hb_u32 n = len[r.v];
			r.from = (hb_u32)(item >> 32) * HB_LV_CHUNK;
			r.until = n - r.from < HB_LV_CHUNK ? n : r.from + HB_LV_CHUNK;
			r.row = begin[r.v];
		}
		f(r);
	}
}

// ---- Communities ----

// hb_louvain_least finds the least vertex of each part (null: single vertices). least is large
// before.
HB_KERNEL hb_louvain_least(hb_i32 n, const HB_W *degree, const hb_i32 *part, hb_i32 *least) {
	HB_EACH(v, n) if (degree[v] > 0) atomicMin(least + part[v], (hb_i32)v);
}

// hb_louvain_begin names the communities by these, and makes all vertices active. tot is 0 before.
// part may be label.
HB_KERNEL hb_louvain_begin(hb_i32 n, const HB_W *degree, const hb_i32 *part, const hb_i32 *least, hb_i32 *label, HB_W *tot, hb_u8 *active) {
	HB_EACH(v, n) {
		const HB_W k = degree[v];
		active[v] = k > 0;
		const hb_i32 c = part && k > 0 ? least[part[v]] : (hb_i32)v;
		label[v] = c;
		if (!part) tot[v] = k;
		else if (k > 0) atomicAdd(tot + c, k);
	}
}

// hb_louvain_names marks the names of communities.
HB_KERNEL hb_louvain_names(hb_i32 n, const HB_W *degree, const hb_i32 *name, hb_u8 *used) {
	HB_EACH(v, n) if (degree[v] > 0) used[name[v]] = 1;
}

// hb_louvain_numbers replaces names by their numbers, −1 for vertices without edges.
HB_KERNEL hb_louvain_numbers(hb_i32 n, const HB_W *degree, const hb_i32 *name, const hb_i64 *number, hb_i32 *part) {
	HB_EACH(v, n) part[v] = degree[v] > 0 ? (hb_i32)number[name[v]] : -1;
}

// hb_louvain_singles gives each vertex with edges its own number.
HB_KERNEL hb_louvain_singles(hb_i32 n, const HB_W *degree, hb_i32 *part) {
	HB_EACH(v, n) part[v] = degree[v] > 0 ? (hb_i32)v : -1;
}

HB_KERNEL hb_louvain_compose(hb_i32 n, const hb_i32 *member, const hb_i32 *of, hb_i32 *out) {
	HB_EACH(v, n) out[v] = member[v] >= 0 ? of[member[v]] : -1;
}

// hb_louvain_project gives each part the community of its vertices.
HB_KERNEL hb_louvain_project(hb_i32 n, const hb_i32 *part, const hb_i32 *community, hb_i32 *level) {
	HB_EACH(v, n) if (part[v] >= 0) level[part[v]] = community[v];
}

// hb_louvain_inside sums the weights inside parts. With out it writes the sum of each vertex,
// without loops, to *out; it adds the sums of hubs, so that out is 0 before. A warp an item of all
// rows.
HB_KERNEL hb_louvain_inside(const hb_u32 *offs, const hb_u64 *items, const hb_i64 *begin, const hb_u32 *len, const hb_i32 *idx,
	const HB_W *weight, const hb_i32 *part, HB_W *out, hb_u64 *state) {
	hb_u64 all = 0;
	hb_each_row(offs, items, begin, len, [&](const hb_part_row &r) {
		const hb_i32 c = r.v < 0 ? -1 : part[r.v];
		HB_W sum = 0;
#pragma unroll 4
		for (hb_u32 p = r.from + r.lane; p < r.until; p += r.width) {
			const hb_i32 u = idx[r.row + p];
			if (part[u] == c && !(out && u == r.v)) sum += weight ? weight[r.row + p] : (HB_W)1;
		}
		if (out) {
			for (hb_i32 d = r.width / 2; d > 0; d /= 2) sum += __shfl_xor_sync(HB_FULL, sum, d);
			if (r.lane == 0 && sum) atomicAdd(out + r.v, sum);
		}
		all += sum;
	});
	if (!out) hb_block_sum(all, state + HB_LV_INSIDE);
}

// hb_louvain_degrees sums degrees by part. tot is 0 before.
HB_KERNEL hb_louvain_degrees(hb_i32 n, const HB_W *degree, const hb_i32 *part, HB_W *tot) {
	HB_EACH(v, n) if (part[v] >= 0) atomicAdd(tot + part[v], degree[v]);
}

// hb_louvain_squares sums squares of n numbers in three words of 32, 32 and 64 bits with carries to
// come.
HB_KERNEL hb_louvain_squares(hb_i32 n, const HB_W *tot, hb_u64 *state) {
	hb_u64 low = 0, mid = 0, high = 0;
	HB_EACH(c, n) {
		const hb_u64 t = tot[c], x = t * t;
		low += x & 0xffffffffu;
		mid += x >> 32;
		high += __umul64hi(t, t);
	}
	hb_block_sum(low, state + HB_LV_LOW);
	hb_block_sum(mid, state + HB_LV_MID);
	hb_block_sum(high, state + HB_LV_HIGH);
}

// ---- Refinement ----

// hb_louvain_parts makes each vertex a part, active if it has edges to the rest of its community.
HB_KERNEL hb_louvain_parts(hb_i32 n, const HB_W *degree, const HB_W *out, hb_i32 *part, HB_W *size, hb_u8 *joined, hb_u8 *active) {
	HB_EACH(v, n) {
		part[v] = (hb_i32)v;
		size[v] = degree[v];
		joined[v] = 0;
		active[v] = out[v] > 0;
	}
}

// hb_louvain_join is hb_louvain_grant of parts.
HB_KERNEL hb_louvain_join(hb_i32 batch, const hb_u32 *offs, const hb_u64 *items, const HB_W *degree, const hb_i32 *to, const double *gain,
	const HB_W *joint, hb_i32 *part, HB_W *size, HB_W *out, hb_u8 *joined, const HB_W *want, const hb_u64 *best, HB_W *want_before,
	hb_u64 *best_before, hb_u8 *active, double total, double resolution) {
	const hb_u32 first = offs[batch * HB_LV_BINS], end = offs[(batch + 1) * HB_LV_BINS];
	const hb_u32 old = batch > 0 ? offs[(batch - 1) * HB_LV_BINS] : first;
	for (hb_u32 at = old + blockIdx.x * HB_GRAPH_BLOCK + threadIdx.x; at < end; at += gridDim.x * HB_GRAPH_BLOCK) {
		const hb_i32 s = to[at];
		if (s < 0) continue;
		if (at < first) {
			want_before[s] = 0;
			best_before[s] = 0;
			continue;
		}
		const hb_i32 v = (hb_i32)(hb_u32)items[at];
		const HB_W k = degree[v];
		if (!hb_granted(gain[at], v, s, k, want, best, total, resolution)) {
			active[v] = 1;
			continue;
		}
		part[v] = s;
		joined[s] = 1;
		atomicAdd(size + s, k);
		atomicAdd(out + s, out[v] - joint[at] - joint[at]);
	}
}

// hb_find returns the root of a vertex, and shortens its path.
HB_DEVICE hb_i32 hb_find(hb_i32 *root, hb_i32 v) {
	volatile hb_i32 *r = root;
	hb_i32 up = r[v];
	while (up != v) {
		const hb_i32 next = r[up];
		if (next != up) r[v] = next;
		v = up;
		up = next;
	}
	return v;
}

// hb_louvain_unite joins the trees of vertices of the same part with an edge of positive weight:
// roots are least vertices. A warp an item of all rows. root[v] is v before.
HB_KERNEL hb_louvain_unite(const hb_u32 *offs, const hb_u64 *items, const hb_i64 *begin, const hb_u32 *len, const hb_i32 *idx,
	const HB_W *weight, const hb_i32 *part, hb_i32 *root) {
	hb_each_row(offs, items, begin, len, [&](const hb_part_row &r) {
		for (hb_u32 p = r.from + r.lane; p < r.until; p += r.width) {
			const hb_i32 u = idx[r.row + p];
			if (u >= r.v || part[u] != part[r.v] || (weight && weight[r.row + p] == 0)) continue;
			hb_i32 a = hb_find(root, r.v), b = hb_find(root, u);
			while (a != b) {
				if (a < b) {
					const hb_i32 c = a;
					a = b;
					b = c;
				}
				const hb_i32 was = atomicCAS(root + a, a, b);
				if (was == a) break;
				a = hb_find(root, was);
				b = hb_find(root, b);
			}
		}
	});
}

HB_KERNEL hb_louvain_roots(hb_i32 n, hb_i32 *root) {
	HB_EACH(v, n) {
		hb_i32 r = *(volatile hb_i32 *)(root + v);
		for (hb_i32 up; (up = *(volatile hb_i32 *)(root + r)) != r;) r = up;
		*(volatile hb_i32 *)(root + v) = r;
	}
}

HB_KERNEL hb_louvain_own(hb_i32 n, hb_i32 *root) { HB_EACH(v, n) root[v] = (hb_i32)v; }
