// The graph of Communities as it comes: see louvain.cu. Source: prelude + graph.cu +
// louvain_common.cu + this file. Host: apps/communities/gpu.go, which defines
//     HB_T  elements of the graph
//
// In: ptr, idx, val, an n×n matrix as CSR; val is null for a pattern. Out: len hb_u32[n], weights
// and degrees, integers of 32 or 64 bits. Bound by reading the matrix.

// hb_louvain_check checks the rows of a CSR matrix with values val, null for ones: it counts loops
// and bad weights (negative, fractional, infinite, NaN or from 2⁵² on), sums weights, loops twice,
// in words of 26 bits and the rest, and sums the asymmetry of apps.levelGraph. A warp a row.
HB_KERNEL hb_louvain_check(hb_i32 n, const hb_i64 *ptr, const hb_i32 *idx, const HB_T *val, hb_u64 *state) {
	hb_u64 bad = 0, loops = 0, skew = 0, low = 0, high = 0;
	for (hb_i64 v = (hb_i64)blockIdx.x * HB_GRAPH_WARPS + threadIdx.x / HB_WARP; v < n; v += (hb_i64)gridDim.x * HB_GRAPH_WARPS)
		for (hb_i64 p = ptr[v] + HB_LANE; p < ptr[v + 1]; p += HB_WARP) {
			const hb_i32 u = idx[p];
			const double x = val ? (double)val[p] : 1;
			if (!(x >= 0 && x < 4503599627370496.0) || x != floor(x)) {
				bad++;
				continue;
			}
			hb_u64 w = (hb_u64)x;
			if (u == v) {
				w *= 2;
				loops++;
			}
			low += w & 0x3ffffff;
			high += w >> 26;
			const hb_u64 a = (hb_u64)v << 32 | (hb_u32)u, b = (hb_u64)(hb_u32)u << 32 | (hb_u64)v, g = w * 0x9E3779B97F4A7C15ull;
			skew += hb_mix(a + g) - hb_mix(b + g);
		}
	hb_block_sum(bad, state + HB_LV_BAD);
	hb_block_sum(loops, state + HB_LV_LOOPS);
	hb_block_sum(skew, state + HB_LV_SKEW);
	hb_block_sum(low, state + HB_LV_SUM);
	hb_block_sum(high, state + HB_LV_SUM_HIGH);
}

// hb_louvain_open writes the lengths of rows, and, if the weights are all 1, degrees.
HB_KERNEL hb_louvain_open(hb_i32 n, const hb_i64 *ptr, hb_u32 *len, hb_u32 *degree) {
	HB_EACH(v, n) {
		len[v] = (hb_u32)(ptr[v + 1] - ptr[v]);
		if (degree) degree[v] = len[v];
	}
}

// hb_weigh writes weights as integers, and degrees. A warp a row.
template <typename W>
HB_DEVICE void hb_weigh(hb_i32 n, const hb_i64 *ptr, const hb_i32 *idx, const HB_T *val, W *weight, W *degree) {
	for (hb_i64 v = (hb_i64)blockIdx.x * HB_GRAPH_WARPS + threadIdx.x / HB_WARP; v < n; v += (hb_i64)gridDim.x * HB_GRAPH_WARPS) {
		W sum = 0;
		for (hb_i64 p = ptr[v] + HB_LANE; p < ptr[v + 1]; p += HB_WARP) {
			W w = val ? (W)(double)val[p] : (W)1;
			if (idx[p] == v) w *= 2;
			weight[p] = w;
			sum += w;
		}
		sum = hb_total(sum);
		if (HB_LANE == 0) degree[v] = sum;
	}
}

HB_KERNEL hb_louvain_weigh32(hb_i32 n, const hb_i64 *ptr, const hb_i32 *idx, const HB_T *val, hb_u32 *weight, hb_u32 *degree) {
	hb_weigh(n, ptr, idx, val, weight, degree);
}
HB_KERNEL hb_louvain_weigh64(hb_i32 n, const hb_i64 *ptr, const hb_i32 *idx, const HB_T *val, hb_u64 *weight, hb_u64 *degree) {
	hb_weigh(n, ptr, idx, val, weight, degree);
}
