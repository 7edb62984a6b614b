// Conversions between formats, and values moved by place. HB_V is an element
// as a lump of bytes of its size.

// rows[e] = the row of entry e, a thread per entry.
HB_KERNEL hb_rows(hb_store s, hb_i32 *rows) {
	HB_EACH(e, s.nvals) rows[e] = hb_row_of(s, e);
}

// ptr[i] = the first entry of rows ≥ i, for i = 0 … m, from ascending rows.
HB_KERNEL hb_offsets(const hb_i32 *rows, hb_i64 n, hb_i64 m, hb_i64 *ptr) {
	HB_EACH(i, m + 1) ptr[i] = i == m ? n : hb_lower(rows, 0, n, (hb_i32)i);
}

// flag[e] = 1 where a new row begins.
HB_KERNEL hb_heads(const hb_i32 *rows, hb_i64 n, hb_u8 *flag) {
	HB_EACH(e, n) flag[e] = e == 0 || rows[e] != rows[e - 1];
}

HB_KERNEL hb_row_list(const hb_i32 *rows, hb_i64 n, const hb_u8 *flag, const hb_i64 *at, hb_i32 *ids, hb_i64 *ptr) {
	HB_EACH(e, n) {
		if (flag[e]) {
			ids[at[e]] = rows[e];
			ptr[at[e]] = e;
		}
		if (e == n - 1) ptr[at[n]] = n;
	}
}

// The offsets of every row, from hypersparse ones.
HB_KERNEL hb_spread_rows(hb_store s, hb_i64 *ptr) {
	HB_EACH(i, (hb_i64)s.nrows + 1) ptr[i] = s.ptr[i == s.nrows ? s.nvec : hb_lower(s.rowids, 0, s.nvec, (hb_i32)i)];
}

// Entries to positions. present is zero before; val too.
HB_KERNEL hb_scatter(hb_store s, hb_u8 *present, HB_V *val) {
	HB_EACH(e, s.nvals) {
		hb_i64 p = (hb_i64)hb_row_of(s, e) * s.ncols + s.idx[e];
		if (present) present[p] = 1;
		if (val) val[p] = ((const HB_V *)s.val)[e];
	}
}

// counts[i] = entries of row i of a dense matrix, a warp per row.
HB_KERNEL hb_row_counts(hb_store s, hb_i64 *counts) {
	hb_i64 warps = (hb_i64)gridDim.x * blockDim.x / 32;
	for (hb_i64 i = ((hb_i64)blockIdx.x * blockDim.x + threadIdx.x) / 32; i < s.nrows; i += warps) {
		hb_i64 c = 0;
		for (hb_i64 j = threadIdx.x % 32; j < s.ncols; j += 32) c += s.format == HB_FULLFMT || s.present[i * s.ncols + j];
		c = hb_total(c);
		if (threadIdx.x % 32 == 0) counts[i] = c;
	}
}

// Positions to entries: at[p] counts the entries before position p.
HB_KERNEL hb_list(hb_store s, const hb_i64 *at, hb_i32 *idx, HB_V *val) {
	HB_EACH(p, (hb_i64)s.nrows * s.ncols) {
		if (s.format == HB_BITMAP && !s.present[p]) continue;
		hb_i64 e = at ? at[p] : p;
		idx[e] = (hb_i32)(p % s.ncols);
		if (val) val[e] = ((const HB_V *)s.val)[p];
	}
}

// ptr[i] = at[i·n], the entries before row i.
HB_KERNEL hb_row_starts(const hb_i64 *at, hb_i64 m, hb_i64 n, hb_i64 *ptr) {
	HB_EACH(i, m + 1) ptr[i] = at ? at[i * n] : i * n;
}

HB_KERNEL hb_gather(const HB_V *from, const HB_NUM *at, hb_i64 n, HB_V *to) {
	HB_EACH(e, n) to[e] = from[at[e]];
}

HB_KERNEL hb_gather32(const hb_i32 *from, const HB_NUM *at, hb_i64 n, hb_i32 *to) {
	HB_EACH(e, n) to[e] = from[at[e]];
}

HB_KERNEL hb_set(HB_V *to, hb_i64 n, HB_V x) {
	HB_EACH(e, n) to[e] = x;
}

// ptr[k] = at[old[k]].
HB_KERNEL hb_moved(const hb_i64 *old, const hb_i64 *at, hb_i64 n, hb_i64 *ptr) {
	HB_EACH(k, n) ptr[k] = at[old[k]];
}

// hb_count counts the entries of a bitmap, and the last block writes the number. room is zero
// before and after. Blocks of whole warps.
HB_KERNEL hb_count(const hb_u8 *present, hb_i64 n, hb_u64 *room, hb_u64 *out) {
	const hb_i64 words = (hb_u64)present % 8 == 0 ? n / 8 : 0;
	hb_u64 c = 0;
	HB_EACH(w, words) c += (((const hb_u64 *)present)[w] * 0x0101010101010101ULL) >> 56; // bytes are 0 or 1
	HB_EACH(p, n - 8 * words) c += present[8 * words + p];
	c = hb_total(c);
	if (threadIdx.x % 32 == 0 && c) atomicAdd(room, c);
	__syncthreads();
	if (threadIdx.x != 0) return;
	__threadfence();
	if (atomicAdd(room + 1, 1ull) + 1 != gridDim.x) return;
	*(volatile hb_u64 *)out = atomicExch(room, 0ull);
	room[1] = 0;
}

// Column keys of entries, for transposing: with rows, row-major keys.
HB_KERNEL hb_col_keys(const hb_i32 *idx, hb_i64 n, hb_u32 *keys) {
	HB_EACH(e, n) keys[e] = (hb_u32)idx[e];
}

HB_KERNEL hb_split(const hb_u64 *keys, hb_i64 n, hb_i32 *rows, hb_i32 *cols) {
	HB_EACH(e, n) {
		if (rows) rows[e] = (hb_i32)(keys[e] >> 32);
		cols[e] = (hb_i32)(keys[e] & 0xffffffffu);
	}
}

HB_KERNEL hb_join(const hb_i32 *rows, const hb_i32 *cols, hb_i64 n, hb_u64 *keys) {
	HB_EACH(e, n) keys[e] = (hb_u64)(hb_u32)rows[e] << 32 | (hb_u32)cols[e];
}

// The transpose of a dense matrix.
HB_KERNEL hb_turn(hb_store s, hb_u8 *present, HB_V *val) {
	HB_EACH(p, (hb_i64)s.nrows * s.ncols) {
		hb_i64 q = p % s.nrows * s.ncols + p / s.nrows; // p is a position of the result
		if (present) present[p] = s.present[q];
		if (val) val[p] = ((const HB_V *)s.val)[q];
	}
}

// row_present[i] = 1 if row i has an entry; total counts these rows, zero before.
HB_KERNEL hb_row_present(const hb_i64 *ptr, hb_i64 m, hb_u8 *present, hb_u64 *total) {
	hb_u64 c = 0;
	HB_EACH(i, m) {
		hb_u8 b = ptr[i + 1] > ptr[i];
		present[i] = b;
		c += b;
	}
	c = hb_total(c);
	if (threadIdx.x % 32 == 0 && c) atomicAdd(total, c);
}

// Offsets of 32 bits, for libraries that want them.
HB_KERNEL hb_narrow(const hb_i64 *ptr, hb_i64 n, hb_i32 *out) {
	HB_EACH(i, n) out[i] = (hb_i32)ptr[i];
}

// And back.
HB_KERNEL hb_widen(const hb_i32 *ptr, hb_i64 n, hb_i64 *out) {
	HB_EACH(i, n) out[i] = ptr[i];
}

// hb_long_rows lists the parts of size entries of the rows of more than most entries, as
// part << 32 | row, in any order.
HB_KERNEL hb_long_rows(const hb_i64 *ptr, hb_i64 m, hb_i64 most, hb_i64 size, hb_u64 *count, hb_u64 *list) {
	HB_EACH(i, m) {
		const hb_i64 d = ptr[i + 1] - ptr[i];
		if (d <= most) continue;
		const hb_u64 parts = (hb_u64)((d + size - 1) / size), first = atomicAdd(count, parts);
		for (hb_u64 c = 0; c < parts; c++) list[first + c] = c << 32 | (hb_u32)i;
	}
}

// hb_row_heads sets the bit of the first entry of each row. heads is zero before.
HB_KERNEL hb_row_heads(const hb_i64 *ptr, hb_i64 m, hb_u32 *heads) {
	HB_EACH(i, m) if (ptr[i] < ptr[i + 1]) atomicOr(&heads[ptr[i] / 32], 1u << (ptr[i] % 32));
}

// counts[t] = the bits of so many words.
HB_KERNEL hb_head_counts(const hb_u32 *heads, hb_i64 tiles, hb_i32 words, hb_i32 *counts) {
	HB_EACH(t, tiles) {
		hb_i32 c = 0;
		for (hb_i32 w = 0; w < words; w++) c += __popc((int)heads[t * words + w]);
		counts[t] = c;
	}
}

// rows[k] = the k-th row with entries. at has the rows that begin before each tile.
HB_KERNEL hb_head_rows(const hb_i64 *ptr, hb_i64 m, const hb_u32 *heads, hb_i32 words, const hb_i64 *at, hb_i32 *rows) {
	HB_EACH(i, m) {
		if (ptr[i] == ptr[i + 1]) continue;
		const hb_i64 word = ptr[i] / 32, tile = word / words;
		hb_i64 k = at[tile] + __popc((int)(heads[word] & ((1u << (ptr[i] % 32)) - 1)));
		for (hb_i64 w = tile * words; w < word; w++) k += __popc((int)heads[w]);
		rows[k] = (hb_i32)i;
	}
}
