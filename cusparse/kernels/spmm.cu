// C = A ⊗ B over any semiring, A in CSR, B full with n columns, row-major.
//
// A row's entries are cut into tasks of HB_CHUNK at most, so that long rows spread over the device.
// A warp takes a task and HB_COLS·32 columns: it stages 32 entries in shared memory and then reads
// rows of B in one piece each, HB_DEEP at a time. The sums of a row of one task go to C; the sums
// of longer rows go to parts, task by task, which hb_spmm_join adds up in order. Task t is of row
// task_row[t] and begins with entry task_lo[t].
//
// once a matrix: hb_spmm_counts, a scan (at), hb_spmm_cut
// each call:     hb_spmm  grid (⌈tasks/8⌉, tiles), block 256, for each 65535 tiles of 32·HB_COLS
// columns, or for up to 16 columns hb_spmm_narrow  grid ⌈tasks·lanes/256⌉, block 256
//                hb_spmm_join, if a row has several tasks; hb_spmm_rows for present

struct __align__(16) hb_words4 { hb_u32 w[4]; };

#define HB_FEW 4
#define HB_DEEP 8 // 4: 0.96 ms for 64 columns, fp32, R-MAT 20 on an H200

// counts[i] = tasks of row i.
HB_KERNEL hb_spmm_counts(const hb_i64 *ptr, hb_i64 m, hb_i64 *counts) {
	HB_EACH(i, m) counts[i] = (ptr[i + 1] - ptr[i] + HB_CHUNK - 1) / HB_CHUNK;
}

// long_rows lists the rows of several tasks, nlong counts them (0 before).
HB_KERNEL hb_spmm_cut(const hb_i64 *ptr, hb_i64 m, const hb_i64 *at, hb_i32 *task_row, hb_i64 *task_lo, hb_i32 *long_rows, hb_u64 *nlong) {
	HB_EACH(i, m) {
		hb_i64 t = at[i], end = at[i + 1];
		if (end - t > 1) long_rows[atomicAdd(nlong, (hb_u64)1)] = (hb_i32)i;
		for (hb_i64 e = ptr[i]; t < end; t++, e += HB_CHUNK) {
			task_row[t] = (hb_i32)i;
			task_lo[t] = e;
		}
	}
}

HB_KERNEL __launch_bounds__(256) hb_spmm(hb_i64 tasks, const hb_i32 *task_row, const hb_i64 *task_lo, const hb_i64 *at,
		const hb_i64 *ptr, const hb_i32 *idx, const HB_A *val, const HB_X *b, hb_i64 n, hb_i64 first, HB_C *out, HB_C *parts) {
	__shared__ hb_i32 ks[8][32];
	__shared__ HB_A as[8][32];
	int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
	hb_i64 t = (hb_i64)blockIdx.x * 8 + warp;
	if (t >= tasks) return; // whole warps
	hb_i32 row = task_row[t];
	hb_i64 lo = task_lo[t], hi = ptr[row + 1] < lo + HB_CHUNK ? ptr[row + 1] : lo + HB_CHUNK;
	hb_i64 j0 = (first + blockIdx.y) * (32 * HB_COLS) + lane;
	HB_C sum[HB_COLS];
	for (int c = 0; c < HB_COLS; c++) sum[c] = HB_IDENTITY;
	for (hb_i64 e = lo; e < hi; e += 32) {
		int here = hi - e < 32 ? (int)(hi - e) : 32;
		__syncwarp();
		if (lane < here) {
			ks[warp][lane] = idx[e + lane];
			as[warp][lane] = HB_USES_A ? val[e + lane] : HB_A();
		}
		__syncwarp();
		int p = 0;
		for (; p + HB_DEEP <= here; p += HB_DEEP) {
			HB_X x[HB_DEEP][HB_COLS];
#pragma unroll
			for (int q = 0; q < HB_DEEP; q++) {
				const HB_X *from = b + (hb_i64)ks[warp][p + q] * n;
#pragma unroll
				for (int c = 0; c < HB_COLS; c++) x[q][c] = HB_USES_X && j0 + 32 * c < n ? from[j0 + 32 * c] : HB_X();
			}
#pragma unroll
			for (int q = 0; q < HB_DEEP; q++) {
#pragma unroll
				for (int c = 0; c < HB_COLS; c++) sum[c] = hb_add(sum[c], hb_mul(as[warp][p + q], x[q][c], row, ks[warp][p + q], (hb_i32)(j0 + 32 * c)));
			}
		}
		for (; p < here; p++) {
			const HB_X *from = b + (hb_i64)ks[warp][p] * n;
#pragma unroll
			for (int c = 0; c < HB_COLS; c++)
				if (j0 + 32 * c < n) sum[c] = hb_add(sum[c], hb_mul(as[warp][p], HB_USES_X ? from[j0 + 32 * c] : HB_X(), row, ks[warp][p], (hb_i32)(j0 + 32 * c)));
		}
	}
	HB_C *to = at[row + 1] - at[row] == 1 ? out + row * n : parts + t * n;
#pragma unroll
	for (int c = 0; c < HB_COLS; c++)
		if (j0 + 32 * c < n) to[j0 + 32 * c] = sum[c];
}

// hb_spmm_narrow is hb_spmm of few columns: so many lanes, a power of two from n on, take a task,
// and each takes a column. Sums have the order of hb_spmm.
HB_KERNEL __launch_bounds__(256) hb_spmm_narrow(hb_i64 tasks, const hb_i32 *task_row, const hb_i64 *task_lo, const hb_i64 *at,
		const hb_i64 *ptr, const hb_i32 *idx, const HB_A *val, const HB_X *b, hb_i64 n, hb_i32 lanes, HB_C *out, HB_C *parts) {
	const hb_i64 t = ((hb_i64)blockIdx.x * 256 + threadIdx.x) / lanes, j = threadIdx.x % lanes;
	if (t >= tasks || j >= n) return;
	const hb_i32 row = task_row[t];
	const hb_i64 lo = task_lo[t], hi = ptr[row + 1] < lo + HB_CHUNK ? ptr[row + 1] : lo + HB_CHUNK;
	HB_C sum = HB_IDENTITY;
	for (hb_i64 e = lo; e < hi; e += HB_FEW) {
		hb_i32 k[HB_FEW];
		HB_A a[HB_FEW];
		HB_X x[HB_FEW];
#pragma unroll
		for (int q = 0; q < HB_FEW; q++) { // past the end the last entry again, which is not added
			const hb_i64 p = e + q < hi ? e + q : hi - 1;
			k[q] = idx[p];
			a[q] = HB_USES_A ? val[p] : HB_A();
		}
#pragma unroll
		for (int q = 0; q < HB_FEW; q++) x[q] = HB_USES_X ? b[(hb_i64)k[q] * n + j] : HB_X();
#pragma unroll
		for (int q = 0; q < HB_FEW; q++)
			if (e + q < hi) sum = hb_add(sum, hb_mul(a[q], x[q], row, k[q], (hb_i32)j));
	}
	(at[row + 1] - at[row] == 1 ? out + row * n : parts + t * n)[j] = sum;
}

// Block y takes long row y; a thread a column.
HB_KERNEL hb_spmm_join(const hb_i32 *long_rows, const hb_i64 *at, const HB_C *parts, hb_i64 n, HB_C *out) {
	hb_i32 row = long_rows[blockIdx.y];
	for (hb_i64 j = (hb_i64)blockIdx.x * blockDim.x + threadIdx.x; j < n; j += (hb_i64)gridDim.x * blockDim.x) {
		HB_C sum = parts[at[row] * n + j];
		for (hb_i64 t = at[row] + 1; t < at[row + 1]; t++) sum = hb_add(sum, parts[t * n + j]);
		out[row * n + j] = sum;
	}
}

// present[i·n + j] = row i of A has entries; the values of other rows become zero. A warp takes 32
// rows. It writes their present bytes 16 at a time where n allows; bound by what it writes.
HB_KERNEL __launch_bounds__(256) hb_spmm_rows(const hb_i64 *ptr, hb_i64 m, hb_i64 n, hb_u8 *present, HB_C *out) {
	for (hb_i64 i0 = ((hb_i64)blockIdx.x * 256 + threadIdx.x) / HB_WARP * HB_WARP; i0 < m; i0 += (hb_i64)gridDim.x * 256) {
		const hb_i64 i = i0 + HB_LANE;
		const int rows = m - i0 < HB_WARP ? (int)(m - i0) : HB_WARP;
		const hb_u32 filled = __ballot_sync(HB_FULL, i < m && ptr[i + 1] > ptr[i]);
		hb_u8 *here = present + i0 * n;
		if (n % 16 == 0 && n <= 1 << 20) {
			const hb_u32 each = (hb_u32)(n / 16);
			for (hb_u32 w = HB_LANE; w < rows * each; w += HB_WARP) {
				const hb_u32 four = (filled >> (w / each) & 1) * 0x01010101u;
				((hb_words4 *)here)[w] = hb_words4{{four, four, four, four}};
			}
		} else
			for (int q = 0; q < rows; q++)
				for (hb_i64 j = HB_LANE; j < n; j += HB_WARP) here[q * n + j] = filled >> q & 1;
		for (hb_u32 left = ~filled & HB_FULL >> (HB_WARP - rows); left; left &= left - 1) {
			HB_C *row = out + (i0 + __ffs((int)left) - 1) * n;
			for (hb_i64 j = HB_LANE; j < n; j += HB_WARP) row[j] = HB_C{};
		}
	}
}
