// The graph of Communities as it comes: see louvain.cu. Source: prelude + graph.cu +
// louvain_common.cu + this file. Host: apps/communities/gpu.go, which defines
//     HB_T  elements of the graph
//
// In: ptr, idx, val, an n×n matrix as CSR; val is null for a pattern. Out: len hb_u32[n], weights
// and degrees, integers of 32 or 64 bits. Bound by reading the matrix.

// hb_scaled returns a weight times 2^shift as an integer, rounded up or to the nearest one, half to
// even; 2^53 if it is larger.
HB_DEVICE hb_u64 hb_scaled(double x, hb_i32 shift, bool up) {
	const double y = ldexp(x, shift), most = 9007199254740992.0;
	return (hb_u64)(y < most ? up ? ceil(y) : rint(y) : most);
}

// hb_louvain_check checks the rows of a CSR matrix with values val, null for ones: it counts loops,
// bad weights (negative, infinite, NaN) and weights that are no integers below 2⁵², finds the
// largest weight, sums weights times 2^shift as integers, loops twice, in words of 26 bits and the
// rest, and sums the asymmetry of apps.levelGraph of these integers. A warp a row.
HB_KERNEL hb_louvain_check(hb_i32 n, const hb_i64 *ptr, const hb_i32 *idx, const HB_T *val, hb_i32 shift, hb_i32 up, hb_u64 *state) {
	hb_u64 bad = 0, loops = 0, skew = 0, low = 0, high = 0, fractions = 0, most = 0;
	for (hb_i64 v = (hb_i64)blockIdx.x * HB_GRAPH_WARPS + threadIdx.x / HB_WARP; v < n; v += (hb_i64)gridDim.x * HB_GRAPH_WARPS)
		for (hb_i64 p = ptr[v] + HB_LANE; p < ptr[v + 1]; p += HB_WARP) {
			const hb_i32 u = idx[p];
			const double x = val ? (double)val[p] : 1;
			if (!(x >= 0 && x <= 1.7976931348623157e308)) {
				bad++;
				continue;
			}
			fractions += x >= 4503599627370496.0 || x != floor(x);
			if (x > 0 && (hb_u64)__double_as_longlong(x) > most) most = (hb_u64)__double_as_longlong(x);
			hb_u64 w = hb_scaled(x, shift, up);
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
	hb_block_sum(fractions, state + HB_LV_FRACTIONS);
	for (hb_i32 d = HB_WARP / 2; d > 0; d /= 2) {
		const hb_u64 other = __shfl_xor_sync(HB_FULL, most, d);
		if (other > most) most = other;
	}
	if (HB_LANE == 0 && most) atomicMax(state + HB_LV_MOST, most);
}

// hb_louvain_open writes the lengths of rows, and, if the weights are all 1, degrees.
HB_KERNEL hb_louvain_open(hb_i32 n, const hb_i64 *ptr, hb_u32 *len, hb_u32 *degree) {
	HB_EACH(v, n) {
		len[v] = (hb_u32)(ptr[v + 1] - ptr[v]);
		if (degree) degree[v] = len[v];
	}
}

// hb_weigh writes weights times 2^shift as integers, and degrees. A warp a row.
template <typename W>
HB_DEVICE void hb_weigh(hb_i32 n, const hb_i64 *ptr, const hb_i32 *idx, const HB_T *val, hb_i32 shift, W *weight, W *degree) {
	for (hb_i64 v = (hb_i64)blockIdx.x * HB_GRAPH_WARPS + threadIdx.x / HB_WARP; v < n; v += (hb_i64)gridDim.x * HB_GRAPH_WARPS) {
		W sum = 0;
		for (hb_i64 p = ptr[v] + HB_LANE; p < ptr[v + 1]; p += HB_WARP) {
			W w = val ? (W)hb_scaled((double)val[p], shift, false) : (W)1;
			if (idx[p] == v) w *= 2;
			weight[p] = w;
			sum += w;
		}
		sum = hb_total(sum);
		if (HB_LANE == 0) degree[v] = sum;
	}
}

HB_KERNEL hb_louvain_weigh32(hb_i32 n, const hb_i64 *ptr, const hb_i32 *idx, const HB_T *val, hb_i32 shift, hb_u32 *weight, hb_u32 *degree) {
	hb_weigh(n, ptr, idx, val, shift, weight, degree);
}
HB_KERNEL hb_louvain_weigh64(hb_i32 n, const hb_i64 *ptr, const hb_i32 *idx, const HB_T *val, hb_i32 shift, hb_u64 *weight, hb_u64 *degree) {
	hb_weigh(n, ptr, idx, val, shift, weight, degree);
}
