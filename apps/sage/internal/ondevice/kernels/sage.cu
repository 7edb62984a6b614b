// GraphSAGE; see apps.GraphSAGE for the layers. Source: prelude, queue.cu, philox.cu, this file.
// Host: apps/sage/internal/ondevice, which defines
//     HB_SAGE_ITEM   what panels hold: 0 float, 1 float16, 2 bfloat16; sums are in float
//     HB_SAGE_LANES  threads that share a row of a panel, a power of two to HB_WARP
//     HB_SAGE_PIECE  neighbours from which a row is cut into pieces
//     HB_SAGE_PIECES pieces of a row, at most
//
// A panel is rows of items, step items apart. Kernels read 16 bytes of a row a thread, so that rows
// begin at multiples of 16 bytes; the columns between are 0. The neighbours of a vertex are its row
// of the graph (ptr, list), or with a null ptr the choices of hb_sage_choose (samples of list each,
// −1 after the last). A vertex without neighbours is its own.
//
// hb_sage_choose     a thread a vertex, or with replacement a thread two draws
// hb_sage_pieces     a warp a piece of a long row: writes float partial[piece][columns]
// hb_sage_gather     HB_SAGE_LANES threads a row: sum, mean or maximum over neighbours
// hb_sage_layer      HB_SAGE_LANES threads a row: mean over neighbours, relu, norm; a layer after
//                    its products
// hb_sage_norm       a warp a row: relu and norm of rows of floats
// hb_sage_norm_items HB_SAGE_LANES threads a row: relu and norm of rows of items
// the others         a thread an item
//
// Gathers are bound by random reads of rows of a panel, of 32 bytes or more each. The sum over
// neighbours is in the order of the row, of long rows by pieces: it is the same in each run.

#if HB_SAGE_ITEM == 0
typedef float hb_item;
#define HB_SAGE_PER 4
#else
typedef hb_u16 hb_item;
#define HB_SAGE_PER 8
#endif
#define HB_SAGE_UNROLL 8
#define HB_SAGE_GROUPS (HB_WARP / HB_SAGE_LANES)

struct __align__(16) hb_items { hb_item x[HB_SAGE_PER]; };
struct __align__(16) hb_floats { float x[4]; };

HB_DEVICE float hb_float_of(hb_item x) {
#if HB_SAGE_ITEM == 0
	return x;
#elif HB_SAGE_ITEM == 2
	return __int_as_float((int)x << 16);
#elif defined(__CUDA_ARCH__)
	float y;
	asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x));
	return y;
#else
	const hb_u32 exponent = x >> 10 & 31, fraction = x & 1023;
	const float y = exponent == 0 ? (float)fraction / 16777216 : exponent == 31 ? (fraction ? NAN : INFINITY)
		: __int_as_float((int)((exponent + 112) << 23 | fraction << 13));
	return x & 0x8000 ? -y : y;
#endif
}

HB_DEVICE hb_item hb_item_of(float x) {
#if HB_SAGE_ITEM == 0
	return x;
#elif HB_SAGE_ITEM == 2
	const hb_u32 b = (hb_u32)__float_as_int(x);
	return (hb_item)((b + 0x7FFF + (b >> 16 & 1)) >> 16);
#elif defined(__CUDA_ARCH__)
	hb_item y;
	asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y) : "f"(x));
	return y;
#else
	const hb_u32 b = (hb_u32)__float_as_int(x), sign = b >> 16 & 0x8000;
	const float y = fabsf(x);
	if (!(y < 65520)) return (hb_item)(sign | (y > 0 ? 0x7C00 : 0x7E00));
	if (y < 6.103515625e-05f) return (hb_item)(sign | (hb_u32)rint((double)y * 16777216));
	const hb_u32 m = (b & 0x7FFFFFFF) - (112u << 23);
	return (hb_item)(sign | ((m + 0xFFF + (m >> 13 & 1)) >> 13));
#endif
}

HB_DEVICE void hb_load_items(const hb_item *p, float *x) {
	const hb_items w = *(const hb_items *)p;
#pragma unroll
	for (int i = 0; i < HB_SAGE_PER; i++) x[i] = hb_float_of(w.x[i]);
}

HB_DEVICE void hb_store_items(hb_item *p, const float *x) {
	hb_items w;
#pragma unroll
	for (int i = 0; i < HB_SAGE_PER; i++) w.x[i] = hb_item_of(x[i]);
	*(hb_items *)p = w;
}

// hb_store_floats writes the columns of x from column on; x has columns columns.
HB_DEVICE void hb_store_floats(float *row, hb_i32 column, hb_i32 columns, hb_i64 step, const float *x) {
#pragma unroll
	for (int i = 0; i < HB_SAGE_PER; i += 4) {
		if (column + i + 4 <= columns && (step | (hb_i64)(hb_u64)row / 4) % 4 == 0) {
			const hb_floats w = {{x[i], x[i + 1], x[i + 2], x[i + 3]}};
			*(hb_floats *)(row + column + i) = w;
		} else {
			for (int j = i; j < i + 4; j++)
				if (column + j < columns) row[column + j] = x[j];
		}
	}
}

// How neighbours are summed up.
enum { HB_SAGE_SUM, HB_SAGE_MEAN, HB_SAGE_MAX };
// Whether the vertex itself counts: if it has no neighbours, always, or never.
enum { HB_SAGE_LONELY, HB_SAGE_SELF, HB_SAGE_OTHERS };

// hb_sage_scan adds list[begin], list[begin + stride], … below end to sum, times val if that is not
// null, and returns their number. It skips entries of val that are 0.
HB_DEVICE hb_i32 hb_sage_scan(hb_i64 begin, hb_i64 end, hb_i32 stride, const hb_i32 *list, const float *val, const hb_item *x,
	hb_i64 step, bool inside, hb_i32 how, float *sum) {
	hb_i32 count = 0;
	for (hb_i64 p = begin; p < end; p += HB_SAGE_UNROLL * stride) {
		hb_i32 u[HB_SAGE_UNROLL];
#pragma unroll
		for (int j = 0; j < HB_SAGE_UNROLL; j++) u[j] = p + j * stride < end ? list[p + j * stride] : -1;
		if (val) {
#pragma unroll
			for (int j = 0; j < HB_SAGE_UNROLL; j++)
				if (u[j] >= 0 && val[p + j * stride] == 0) u[j] = -1;
		}
		hb_items w[HB_SAGE_UNROLL];
#pragma unroll
		for (int j = 0; j < HB_SAGE_UNROLL; j++)
			if (u[j] >= 0 && inside) w[j] = *(const hb_items *)(x + u[j] * step);
#pragma unroll
		for (int j = 0; j < HB_SAGE_UNROLL; j++) {
			if (u[j] < 0) continue;
			count++;
			if (!inside) continue;
			const float weight = val ? val[p + j * stride] : 1;
#pragma unroll
			for (int i = 0; i < HB_SAGE_PER; i++) {
				const float y = hb_float_of(w[j].x[i]);
				sum[i] = how == HB_SAGE_MAX ? fmaxf(sum[i], y) : sum[i] + weight * y;
			}
		}
	}
	return count;
}

// hb_sage_piece is the length of the pieces of a row, and hb_sage_cuts their number.
HB_DEVICE hb_i64 hb_sage_piece(hb_i64 length) {
	const hb_i64 least = (length + HB_SAGE_PIECES - 1) / HB_SAGE_PIECES;
	return least > HB_SAGE_PIECE ? least : HB_SAGE_PIECE;
}

HB_KERNEL hb_sage_cuts(hb_i32 n, const hb_i64 *ptr, hb_u32 *cuts) {
	HB_EACH(v, n) {
		const hb_i64 length = ptr[v + 1] - ptr[v], piece = hb_sage_piece(length);
		cuts[v] = length > HB_SAGE_PIECE ? (hb_u32)((length + piece - 1) / piece) : 0;
	}
}

// hb_sage_owners writes the vertex of each piece; first has the prefix sums of cuts.
HB_KERNEL hb_sage_owners(hb_i32 n, const hb_i64 *first, hb_i32 *owner) {
	HB_EACH(v, n) {
		for (hb_i64 k = first[v]; k < first[v + 1]; k++) owner[k] = (hb_i32)v;
	}
}

// hb_sage_padded is the step of rows of partial sums.
HB_DEVICE hb_i64 hb_sage_padded(hb_i32 columns) { return (columns + HB_SAGE_PER - 1) / HB_SAGE_PER * HB_SAGE_PER; }

// hb_sage_pieces sums up pieces begin to begin + pieces; blockIdx.y has the columns of
// HB_SAGE_LANES threads.
HB_KERNEL hb_sage_pieces(hb_i64 begin, hb_i64 pieces, const hb_i64 *first, const hb_i32 *owner, const hb_i64 *ptr, const hb_i32 *list,
	const float *val, const hb_item *x, hb_i64 step, hb_i32 columns, hb_i32 how, float *partial) {
	const hb_i32 lane = threadIdx.x % HB_SAGE_LANES, group = threadIdx.x % HB_WARP / HB_SAGE_LANES;
	const hb_i32 column = (blockIdx.y * HB_SAGE_LANES + lane) * HB_SAGE_PER;
	const bool inside = column < columns;
	for (hb_i64 k = begin + ((hb_i64)blockIdx.x * HB_GRAPH_BLOCK + threadIdx.x) / HB_WARP; k < begin + pieces;
		k += (hb_i64)gridDim.x * HB_GRAPH_WARPS) {
		const hb_i32 v = owner[k];
		const hb_i64 piece = hb_sage_piece(ptr[v + 1] - ptr[v]), from = ptr[v] + (k - first[v]) * piece;
		const hb_i64 end = from + piece < ptr[v + 1] ? from + piece : ptr[v + 1];
		float sum[HB_SAGE_PER];
#pragma unroll
		for (int i = 0; i < HB_SAGE_PER; i++) sum[i] = how == HB_SAGE_MAX ? -INFINITY : 0;
		hb_sage_scan(from + group, end, HB_SAGE_GROUPS, list, val, x + column, step, inside, how, sum);
		for (hb_i32 d = HB_SAGE_LANES; d < HB_WARP; d *= 2) {
#pragma unroll
			for (int i = 0; i < HB_SAGE_PER; i++) {
				const float y = __shfl_xor_sync(HB_FULL, sum[i], d);
				sum[i] = how == HB_SAGE_MAX ? fmaxf(sum[i], y) : sum[i] + y;
			}
		}
		if (group == 0 && inside) {
#pragma unroll
			for (int i = 0; i < HB_SAGE_PER; i++) partial[k * hb_sage_padded(columns) + column + i] = sum[i];
		}
	}
}

// hb_sage_near sums up the neighbours of row v in the columns of this thread, and returns their
// number. own_row is the row of the vertex itself in x.
HB_DEVICE hb_i32 hb_sage_near(hb_i64 v, hb_i64 own_row, const hb_i64 *ptr, const hb_i32 *list, hb_i32 samples, const float *val, const hb_item *x,
	hb_i64 step, hb_i32 column, hb_i32 columns, hb_i32 how, hb_i32 self, const hb_i64 *first, const float *partial, float *sum) {
	const hb_i64 begin = ptr ? ptr[v] : v * samples, end = ptr ? ptr[v + 1] : begin + samples;
	const bool inside = column < columns;
#pragma unroll
	for (int i = 0; i < HB_SAGE_PER; i++) sum[i] = how == HB_SAGE_MAX ? -INFINITY : 0;
	hb_i32 count = 0;
	if (ptr && first && end - begin > HB_SAGE_PIECE) {
		count = (hb_i32)(end - begin);
		for (hb_i64 k = first[v]; k < first[v + 1] && inside; k++) {
#pragma unroll
			for (int i = 0; i < HB_SAGE_PER; i++) {
				const float y = partial[k * hb_sage_padded(columns) + column + i];
				sum[i] = how == HB_SAGE_MAX ? fmaxf(sum[i], y) : sum[i] + y;
			}
		}
	} else {
		count = hb_sage_scan(begin, end, 1, list, val, x + column, step, inside, how, sum);
	}
	if (self == HB_SAGE_SELF || (self == HB_SAGE_LONELY && count == 0)) {
		count++;
		float own[HB_SAGE_PER];
		if (inside) hb_load_items(x + own_row * step + column, own);
#pragma unroll
		for (int i = 0; i < HB_SAGE_PER; i++)
			if (inside) sum[i] = how == HB_SAGE_MAX ? fmaxf(sum[i], own[i]) : sum[i] + own[i];
	}
	if (how == HB_SAGE_MEAN && count > 0) {
#pragma unroll
		for (int i = 0; i < HB_SAGE_PER; i++) sum[i] /= count;
	}
	return count;
}

// hb_sage_gather writes the sums of rows begin to begin + rows, as items or as floats; one is null.
HB_KERNEL hb_sage_gather(hb_i64 begin, hb_i64 rows, const hb_i64 *ptr, const hb_i32 *list, hb_i32 samples, const float *val,
	const hb_item *x, hb_i64 step, hb_i32 columns, hb_i32 how, hb_i32 self, const hb_i64 *first, const float *partial,
	hb_item *items, float *floats, hb_i64 to_step) {
	const hb_i32 lane = threadIdx.x % HB_SAGE_LANES, column = (blockIdx.y * HB_SAGE_LANES + lane) * HB_SAGE_PER;
	for (hb_i64 r = ((hb_i64)blockIdx.x * HB_GRAPH_BLOCK + threadIdx.x) / HB_SAGE_LANES; r < rows;
		r += (hb_i64)gridDim.x * (HB_GRAPH_BLOCK / HB_SAGE_LANES)) {
		float sum[HB_SAGE_PER];
		hb_sage_near(begin + r, begin + r, ptr, list, samples, val, x, step, column, columns, how, self, first, partial, sum);
		if (column >= columns) continue;
		if (items) hb_store_items(items + r * to_step + column, sum);
		else hb_store_floats(floats + r * to_step, column, columns, to_step, sum);
	}
}

// hb_sage_layer writes norm(relu([own, mean of neighbours' rows of x])), with a null own
// norm(relu(mean)), where the vertex counts too. Both have columns. The result is items with these
// columns twice, or floats with width of them for each part. length, of rows before norm, may be
// null; zeros counts the rows of 0. who, if not null, is the row of each vertex in mine and x, −1
// for a row that nothing reads.
HB_KERNEL hb_sage_layer(hb_i64 rows, const hb_i64 *ptr, const hb_i32 *list, hb_i32 samples, const hb_item *mine, hb_i64 mine_step,
	const hb_item *x, hb_i64 step, hb_i32 columns, const hb_i64 *first, const float *partial, hb_i32 width, hb_item *items, float *floats,
	hb_i64 to_step, float *length, hb_u64 *zeros, const hb_i32 *who) {
	const hb_i32 lane = threadIdx.x % HB_SAGE_LANES, column = lane * HB_SAGE_PER;
	const hb_i64 groups = (hb_i64)gridDim.x * (HB_GRAPH_BLOCK / HB_SAGE_LANES);
	const bool gcn = !mine;
	for (hb_i64 v = ((hb_i64)blockIdx.x * HB_GRAPH_BLOCK + threadIdx.x) / HB_SAGE_LANES; v - v % HB_SAGE_GROUPS < rows; v += groups) {
		float own[HB_SAGE_PER], near[HB_SAGE_PER];
		const hb_i64 u = v >= rows ? -1 : who ? who[v] : v;
		const bool here = u >= 0 && column < columns;
#pragma unroll
		for (int i = 0; i < HB_SAGE_PER; i++) own[i] = near[i] = 0;
		if (u >= 0) {
			if (here && !gcn) hb_load_items(mine + u * mine_step + column, own);
			hb_sage_near(v, u, ptr, list, samples, 0, x, step, column, columns, HB_SAGE_MEAN,
				gcn ? HB_SAGE_SELF : HB_SAGE_LONELY, first, partial, near);
		}
		float square = 0;
#pragma unroll
		for (int i = 0; i < HB_SAGE_PER; i++) {
			own[i] = fmaxf(own[i], 0);
			near[i] = here ? fmaxf(near[i], 0) : 0;
			square += own[i] * own[i] + near[i] * near[i];
		}
#pragma unroll
		for (hb_i32 d = HB_SAGE_LANES / 2; d > 0; d /= 2) square += __shfl_xor_sync(HB_FULL, square, d);
		if (u < 0) continue;
		const float norm = sqrtf(square), factor = square > 0 ? 1 / norm : 0;
#pragma unroll
		for (int i = 0; i < HB_SAGE_PER; i++) {
			own[i] *= factor;
			near[i] *= factor;
		}
		if (lane == 0 && length) length[v] = norm;
		if (lane == 0 && zeros && !(square > 0)) atomicAdd(zeros, (hb_u64)1);
		if (!here) continue;
		if (items) {
			if (!gcn) hb_store_items(items + v * to_step + column, own);
			hb_store_items(items + v * to_step + (gcn ? 0 : columns) + column, near);
		} else {
			if (!gcn) hb_store_floats(floats + v * to_step, column, width, to_step, own);
			hb_store_floats(floats + v * to_step + (gcn ? 0 : width), column, width, to_step, near);
		}
	}
}

// hb_sage_norm is norm(relu(row)) of floats, in place or to items, which have the same columns.
HB_KERNEL hb_sage_norm(hb_i64 rows, hb_i32 columns, float *x, hb_i64 step, hb_item *items, hb_i64 to_step, float *length, hb_u64 *zeros) {
	const bool even = (columns | step | (hb_i64)(hb_u64)x / 4) % 4 == 0;
	for (hb_i64 v = ((hb_i64)blockIdx.x * HB_GRAPH_BLOCK + threadIdx.x) / HB_WARP; v < rows; v += (hb_i64)gridDim.x * HB_GRAPH_WARPS) {
		float *row = x + v * step;
		hb_floats w = {{0, 0, 0, 0}}; // the first columns of this thread
		float square = 0;
		for (hb_i32 c = HB_LANE * 4; c < columns; c += HB_WARP * 4) {
			hb_floats y = {{0, 0, 0, 0}};
			if (even) y = *(hb_floats *)(row + c);
			else for (int i = 0; i < 4; i++) y.x[i] = c + i < columns ? row[c + i] : 0;
#pragma unroll
			for (int i = 0; i < 4; i++) {
				y.x[i] = fmaxf(y.x[i], 0);
				square += y.x[i] * y.x[i];
			}
			if (c == HB_LANE * 4) w = y;
		}
		for (hb_i32 d = HB_WARP / 2; d > 0; d /= 2) square += __shfl_xor_sync(HB_FULL, square, d);
		const float norm = sqrtf(square), factor = square > 0 ? 1 / norm : 0;
		for (hb_i32 c = HB_LANE * 4; c < columns; c += HB_WARP * 4) {
			hb_floats y = w;
			if (c != HB_LANE * 4)
				for (int i = 0; i < 4; i++) y.x[i] = c + i < columns ? fmaxf(row[c + i], 0) : 0;
#pragma unroll
			for (int i = 0; i < 4; i++) y.x[i] *= factor;
			if (items) {
				for (int i = 0; i < 4; i++)
					if (c + i < columns) items[v * to_step + c + i] = hb_item_of(y.x[i]);
			} else if (even) {
				*(hb_floats *)(row + c) = y;
			} else {
				for (int i = 0; i < 4; i++)
					if (c + i < columns) row[c + i] = y.x[i];
			}
		}
		if (HB_LANE == 0 && length) length[v] = norm;
		if (HB_LANE == 0 && zeros && !(square > 0)) atomicAdd(zeros, (hb_u64)1);
	}
}

// hb_sage_norm_items is norm(relu(row)) of items, in place or, if floats is not null, to floats:
// own columns, and the near columns that begin at column behind of x. The other columns are 0.
HB_KERNEL hb_sage_norm_items(hb_i64 rows, hb_i32 columns, hb_i32 behind, hb_item *x, hb_i64 step, float *floats, hb_i32 own, hb_i32 near,
	hb_i64 to_step, hb_u64 *zeros) {
	const hb_i32 lane = threadIdx.x % HB_SAGE_LANES, across = HB_SAGE_LANES * HB_SAGE_PER;
	const hb_i64 groups = (hb_i64)gridDim.x * (HB_GRAPH_BLOCK / HB_SAGE_LANES);
	for (hb_i64 v = ((hb_i64)blockIdx.x * HB_GRAPH_BLOCK + threadIdx.x) / HB_SAGE_LANES; v - v % HB_SAGE_GROUPS < rows; v += groups) {
		const bool here = v < rows;
		hb_item *row = x + v * step;
		float first[HB_SAGE_PER], square = 0; // the first columns of this thread
#pragma unroll
		for (int i = 0; i < HB_SAGE_PER; i++) first[i] = 0;
		for (hb_i32 c = lane * HB_SAGE_PER; here && c < columns; c += across) {
			float y[HB_SAGE_PER];
			hb_load_items(row + c, y);
#pragma unroll
			for (int i = 0; i < HB_SAGE_PER; i++) {
				y[i] = fmaxf(y[i], 0);
				square += y[i] * y[i];
				if (c < across) first[i] = y[i];
			}
		}
#pragma unroll
		for (hb_i32 d = HB_SAGE_LANES / 2; d > 0; d /= 2) square += __shfl_xor_sync(HB_FULL, square, d);
		if (!here) continue;
		const float factor = square > 0 ? 1 / sqrtf(square) : 0;
		if (lane == 0 && zeros && !(square > 0)) atomicAdd(zeros, (hb_u64)1);
		for (hb_i32 c = lane * HB_SAGE_PER; c < columns; c += across) {
			float y[HB_SAGE_PER];
			if (c >= across) hb_load_items(row + c, y);
#pragma unroll
			for (int i = 0; i < HB_SAGE_PER; i++) y[i] = (c < across ? first[i] : fmaxf(y[i], 0)) * factor;
			if (!floats) hb_store_items(row + c, y);
			else if (c < behind) hb_store_floats(floats + v * to_step, c, own, to_step, y);
			else hb_store_floats(floats + v * to_step + own, c - behind, near, to_step, y);
		}
	}
}

// hb_sage_draw is random number k of a vertex and a layer; see sageGraph.random.
HB_DEVICE hb_u64 hb_sage_draw(hb_i64 v, hb_i32 k, hb_i64 seed, hb_i64 round, hb_i32 layer) {
	hb_u64 even, odd;
	hb_philox((hb_u64)v | (hb_u64)layer << 32, (hb_u64)(k >> 1) | (hb_u64)round << 32, (hb_u64)seed, even, odd);
	return k & 1 ? odd : even;
}

// hb_sage_choose draws samples neighbours of each vertex, without repeats: the choices of
// sageGraph.choose, in the order of the draws. at has samples places a vertex, −1 after the last.
// The round is *rounds if rounds is not null, and else 0.
HB_KERNEL hb_sage_choose(hb_i32 n, const hb_i64 *ptr, const hb_i32 *idx, hb_i64 seed, const hb_i64 *rounds, hb_i32 layer, hb_i32 samples,
	hb_i32 *at) {
	const hb_i64 round = rounds ? *rounds : 0;
	HB_EACH(v, n) {
		const hb_i64 begin = ptr[v], length = ptr[v + 1] - begin;
		hb_i32 *mine = at + v * samples;
		if (length <= samples) {
			for (hb_i32 k = 0; k < samples; k++) mine[k] = k < length ? idx[begin + k] : length == 0 && k == 0 ? (hb_i32)v : -1;
			continue;
		}
		hb_u64 even = 0, odd = 0;
		for (hb_i32 k = 0; k < samples; k++) { // Floyd: j is new, or the last of those that may be drawn is
			if (k % 2 == 0) hb_philox((hb_u64)v | (hb_u64)layer << 32, (hb_u64)(k >> 1) | (hb_u64)round << 32, (hb_u64)seed, even, odd);
			const hb_i64 last = length - samples + k;
			hb_i32 j = (hb_i32)__umul64hi(k % 2 ? odd : even, (hb_u64)(last + 1));
			bool again = false;
			for (hb_i32 i = 0; i < k; i++) again |= mine[i] == j;
			mine[k] = again ? (hb_i32)last : j;
		}
		for (hb_i32 k = 0; k < samples; k++) mine[k] = idx[begin + mine[k]];
	}
}

// hb_sage_choose_again is hb_sage_choose with replacement.
HB_KERNEL hb_sage_choose_again(hb_i32 n, const hb_i64 *ptr, const hb_i32 *idx, hb_i64 seed, const hb_i64 *rounds, hb_i32 layer,
	hb_i32 samples, hb_i32 *at) {
	const hb_i64 round = rounds ? *rounds : 0;
	const hb_i32 pairs = (samples + 1) / 2;
	HB_EACH(item, (hb_i64)n * pairs) {
		const hb_i64 v = item / pairs, begin = ptr[v], length = ptr[v + 1] - begin;
		const hb_i32 k = (hb_i32)(item % pairs) * 2;
		hb_u64 even, odd;
		hb_philox((hb_u64)v | (hb_u64)layer << 32, (hb_u64)(k >> 1) | (hb_u64)round << 32, (hb_u64)seed, even, odd);
		hb_i32 *to = at + v * samples + k;
		to[0] = length > 0 ? idx[begin + (hb_i64)__umul64hi(even, (hb_u64)length)] : k == 0 ? (hb_i32)v : -1;
		if (k + 1 < samples) to[1] = length > 0 ? idx[begin + (hb_i64)__umul64hi(odd, (hb_u64)length)] : -1;
	}
}

// hb_sage_choose_own draws samples neighbours for each of count vertices of trees of their own:
// node[i], of the tree of owner[i], −1 for none. The choices of sageGraph.choose in the round
// owner + 1, with again with replacement; at as above, and at_owner has their trees. With a null
// owner the round of all is *rounds.
HB_KERNEL hb_sage_choose_own(hb_i64 count, const hb_i32 *node, const hb_i32 *owner, const hb_i64 *ptr, const hb_i32 *idx, hb_i64 seed,
	hb_i32 layer, hb_i32 samples, hb_i32 again, hb_i32 *at, hb_i32 *at_owner, const hb_i64 *rounds) {
	HB_EACH(i, count) {
		const hb_i32 v = node[i], tree = owner ? owner[i] : 0;
		const hb_u64 round = owner ? (hb_u64)(tree + 1) : (hb_u64)*rounds;
		hb_i32 *mine = at + i * samples;
		for (hb_i32 k = 0; at_owner && k < samples; k++) at_owner[i * samples + k] = tree;
		const hb_i64 begin = v < 0 ? 0 : ptr[v], length = v < 0 ? 0 : ptr[v + 1] - begin;
		if (length == 0 || (!again && length <= samples)) {
			for (hb_i32 k = 0; k < samples; k++) mine[k] = k < length ? idx[begin + k] : length == 0 && k == 0 ? v : -1;
			continue;
		}
		hb_u64 even = 0, odd = 0;
		for (hb_i32 k = 0; k < samples; k++) {
			if (k % 2 == 0) hb_philox((hb_u64)v | (hb_u64)layer << 32, (hb_u64)(k >> 1) | round << 32, (hb_u64)seed, even, odd);
			const hb_u64 x = k % 2 ? odd : even;
			if (again) {
				mine[k] = (hb_i32)__umul64hi(x, (hb_u64)length);
				continue;
			}
			const hb_i64 last = length - samples + k; // Floyd, as in hb_sage_choose
			const hb_i32 j = (hb_i32)__umul64hi(x, (hb_u64)(last + 1));
			bool repeated = false;
			for (hb_i32 m = 0; m < k; m++) repeated |= mine[m] == j;
			mine[k] = repeated ? (hb_i32)last : j;
		}
		for (hb_i32 k = 0; k < samples; k++) mine[k] = idx[begin + mine[k]];
	}
}

// hb_sage_places writes first + j for the choice at[j], −1 where there is none.
HB_KERNEL hb_sage_places(hb_i64 count, const hb_i32 *at, hb_i32 first, hb_i32 *place) {
	HB_EACH(j, count) place[j] = at[j] < 0 ? -1 : first + (hb_i32)j;
}

// hb_sage_convert writes rows of floats, 0 where present is not null and 0, as items; columns
// behind are 0.
HB_KERNEL hb_sage_convert(hb_i64 rows, hb_i32 columns, const float *x, const hb_u8 *present, hb_item *to, hb_i32 step) {
	HB_EACH(i, rows * step) {
		const hb_i64 r = i / step;
		const hb_i32 c = (hb_i32)(i % step);
		const hb_i64 from = r * columns + c;
		to[i] = hb_item_of(c < columns && (!present || present[from]) ? x[from] : 0);
	}
}

// hb_sage_bias adds a bias to rows of items, and takes relu of them.
HB_KERNEL hb_sage_bias(hb_i64 rows, hb_i32 columns, hb_item *x, const float *bias) {
	HB_EACH(i, rows * columns) {
		x[i] = hb_item_of(fmaxf(hb_float_of(x[i]) + bias[i % columns], 0));
	}
}

// hb_sage_add adds a bias to rows of floats.
HB_KERNEL hb_sage_add(hb_i64 rows, hb_i32 columns, float *x, const float *bias) {
	HB_EACH(i, rows * columns) x[i] += bias[i % columns];
}

// hb_sage_numbers lists n numbers from first on.
HB_KERNEL hb_sage_numbers(hb_i64 n, hb_i32 first, hb_i32 *list) { HB_EACH(k, n) list[k] = first + (hb_i32)k; }

// hb_sage_pick copies the listed rows.
HB_KERNEL hb_sage_pick(hb_i64 rows, hb_i32 columns, const hb_i32 *list, const float *x, float *to) {
	HB_EACH(i, rows * columns) to[i] = x[(hb_i64)list[i / columns] * columns + i % columns];
}

// hb_sage_copy copies rows of items to rows of floats.
HB_KERNEL hb_sage_copy(hb_i64 rows, hb_i32 columns, const hb_item *x, hb_i64 step, float *to, hb_i64 to_step) {
	HB_EACH(i, rows * columns) to[i / columns * to_step + i % columns] = hb_float_of(x[i / columns * step + i % columns]);
}

// hb_sage_count counts the rows of 0, a warp a row.
HB_KERNEL hb_sage_count(hb_i64 rows, hb_i32 columns, const float *x, hb_u64 *zeros) {
	for (hb_i64 v = ((hb_i64)blockIdx.x * HB_GRAPH_BLOCK + threadIdx.x) / HB_WARP; v < rows; v += (hb_i64)gridDim.x * HB_GRAPH_WARPS) {
		bool some = false;
		for (hb_i32 c = HB_LANE; c < columns; c += HB_WARP) some |= x[v * columns + c] != 0;
		if (!__any_sync(HB_FULL, some) && HB_LANE == 0) atomicAdd(zeros, (hb_u64)1);
	}
}
