// Draws the edges of a random graph by their numbers and makes rows of its adjacency matrix.
// Source: prelude + element type + this file. Host: generate/device.go, which defines
//     HB_DRAW        the function that draws an edge: hb_draw_rmat, …
//     HB_CONSTANTS   the number of its constants in k
//     HB_SCRAMBLED   1 if the constants of a Feistel network for the vertices follow
//     HB_UNDIRECTED  1 to add the opposite direction of each edge, HB_SIMPLE 1 to leave out loops
//     HB_V           the type of the values
//
// A draw is the arithmetic of package generate, bit for bit. Rows are made in pieces: a launch
// draws every edge and keeps the edges of its rows as keys; the host sorts keys and drops equal
// keys. Launches: one thread an edge, key or row, in a grid-stride loop. Bound by integer
// arithmetic: an edge of R-MAT takes about 30 operations for each two of its levels.

HB_DEVICE hb_u64 hb_mix(hb_u64 z) {
	z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
	z = (z ^ z >> 27) * 0x94D049BB133111EBull;
	return z ^ z >> 31;
}
HB_DEVICE hb_u64 hb_random(hb_u64 x, hb_u64 state) { return hb_mix(state + (x + 1) * 0x9E3779B97F4A7C15ull); }
HB_DEVICE hb_u64 hb_below(hb_u64 word, hb_u64 n) { return __umul64hi(word, n); }

// k: scale, words an edge, state, a, a+b, a+b+c.
HB_DEVICE void hb_draw_rmat(hb_u64 e, const hb_u64 *k, hb_u32 *src, hb_u32 *dst) {
	hb_u32 row = 0, col = 0;
	hb_u64 word = 0, at = e * k[1], a = k[3], ab = k[4], abc = k[5];
	for (hb_i32 l = 0; l < (hb_i32)k[0]; l++) {
		if (l & 1) word >>= 32;
		else word = hb_random(at + l / 2, k[2]);
		hb_u64 r = word & 0xffffffffull;
		hb_u32 down = (hb_u32)((ab - 1 - r) >> 63), right = (hb_u32)((a - 1 - r) >> 63 ^ down ^ (abc - 1 - r) >> 63);
		row = row << 1 | down, col = col << 1 | right;
	}
	*src = row, *dst = col;
}

// k: n, state.
HB_DEVICE void hb_draw_uniform(hb_u64 e, const hb_u64 *k, hb_u32 *src, hb_u32 *dst) {
	*src = (hb_u32)hb_below(hb_random(2 * e, k[1]), k[0]);
	*dst = (hb_u32)hb_below(hb_random(2 * e + 1, k[1]), k[0]);
}

// k: height, width.
HB_DEVICE void hb_draw_grid(hb_u64 e, const hb_u64 *k, hb_u32 *src, hb_u32 *dst) {
	hb_u64 h = k[0], w = k[1], row = 2 * w - 1, y = e / row < h - 1 ? e / row : h - 1, at = e - y * row;
	hb_u64 x = at / 2;
	bool down = (at & 1) || at == row - 1;
	if (y == h - 1) x = at, down = false;
	*src = (hb_u32)(y * w + x);
	*dst = (hb_u32)(y * w + x + (down ? w : 1));
}

// k: n, neighbours, the limit of a moved edge, state.
HB_DEVICE void hb_draw_ring(hb_u64 e, const hb_u64 *k, hb_u32 *src, hb_u32 *dst) {
	hb_u64 i = e / k[1], j = (i + e % k[1] + 1) % k[0], word = hb_random(e, k[3]);
	if (word >> 32 < k[2]) j = hb_below(hb_mix(word), k[0]);
	*src = (hb_u32)i, *dst = (hb_u32)j;
}

// hb_renamed is a permutation of the numbers below k[0]; k[1] bits a half, four keys.
HB_DEVICE hb_u32 hb_renamed(hb_u32 x, const hb_u64 *k) {
	hb_u32 half = (hb_u32)k[1], mask = (1u << half) - 1;
	for (;;) {
		hb_u32 l = x >> half, r = x & mask;
		for (hb_i32 q = 2; q < 6; q++) {
			hb_u32 t = (l ^ (hb_u32)hb_mix(k[q] + r)) & mask;
			l = r, r = t;
		}
		x = l << half | r;
		if (x < (hb_u32)k[0]) return x;
	}
}

// hb_drawn draws edge e. Returns false for one that is left out.
HB_DEVICE bool hb_drawn(hb_u64 e, const hb_u64 *k, hb_u32 *src, hb_u32 *dst) {
	HB_DRAW(e, k, src, dst);
#if HB_SCRAMBLED
	*src = hb_renamed(*src, k + HB_CONSTANTS);
	*dst = hb_renamed(*dst, k + HB_CONSTANTS);
#endif
	return !HB_SIMPLE || *src != *dst;
}

// hb_draw_count adds the edges of each row, repeated ones too, to count.
HB_KERNEL hb_draw_count(hb_i64 edges, const hb_u64 *k, hb_u64 *count) {
	HB_EACH(e, edges) {
		hb_u32 src, dst;
		if (!hb_drawn(e, k, &src, &dst)) continue;
		atomicAdd(count + src, 1ull);
		if (HB_UNDIRECTED) atomicAdd(count + dst, 1ull);
	}
}

// hb_draw_keys writes the edges of rows lo … hi−1 as keys (row−lo)·2^bits + column, in any order,
// and counts them in used.
HB_KERNEL hb_draw_keys(hb_i64 edges, const hb_u64 *k, hb_i32 lo, hb_i32 hi, hb_i32 bits, hb_u64 *keys, hb_u64 *used) {
	HB_EACH(e, edges) {
		hb_u32 src, dst;
		if (!hb_drawn(e, k, &src, &dst)) continue;
		if (src >= (hb_u32)lo && src < (hb_u32)hi) keys[atomicAdd(used, 1ull)] = (hb_u64)(src - lo) << bits | dst;
		if (HB_UNDIRECTED && dst >= (hb_u32)lo && dst < (hb_u32)hi) keys[atomicAdd(used, 1ull)] = (hb_u64)(dst - lo) << bits | src;
	}
}

// hb_draw_heads flags the first of equal keys, which are sorted.
HB_KERNEL hb_draw_heads(hb_i64 n, const hb_u64 *keys, hb_u8 *head) {
	HB_EACH(i, n) head[i] = i == 0 || keys[i] != keys[i - 1];
}

// hb_draw_rows writes the columns of the n keys that head flags, from place base on, and the
// offsets of their rows, ptr[0 … rows]. at are the exclusive sums of head. One thread a key, and
// one more for the rows after the last key.
HB_KERNEL hb_draw_rows(hb_i64 n, const hb_u64 *keys, const hb_u8 *head, const hb_i64 *at, hb_i64 base, hb_i32 rows, hb_i32 bits,
	hb_i64 *ptr, hb_i32 *idx) {
	HB_EACH(i, n + 1) {
		hb_i64 before = i == 0 ? -1 : (hb_i64)(keys[i - 1] >> bits), row = i == n ? rows : (hb_i64)(keys[i] >> bits);
		for (hb_i64 r = before + 1; r <= row; r++) ptr[r] = base + at[i];
		if (i < n && head[i]) idx[base + at[i]] = (hb_i32)(keys[i] & ((1ull << bits) - 1));
	}
}

// hb_draw_ones gives each of n entries the value 1.
HB_KERNEL hb_draw_ones(hb_i64 n, HB_V *val) {
	HB_EACH(i, n) val[i] = (HB_V)1;
}
