// Exclusive prefix sum of 64-bit counts, in place: row counts become row
// offsets, data[n] becomes the total.
//
// Called by every operation that counts before it writes; data has n+1 places.
//   n ≤ 65536:  hb_scan_one<<<1, 1024>>>(n, data)
//   else:       hb_scan_blocks<<<nb, 1024>>>(n, data, sums)   nb = ⌈n/4096⌉, sums has nb+1 places
//               hb_scan_one   <<<1, 1024>>>(nb, sums)
//               hb_scan_spread<<<nb, 1024>>>(n, nb, data, sums)
// No dynamic shared memory. Three launches rather than one pass with look-back:
// no block ever waits for another.

// hb_scan_block returns the exclusive prefix of v over the block and its total.
HB_DEVICE hb_i64 hb_scan_block(hb_i64 v, hb_i64 *total) {
	__shared__ hb_i64 sums[HB_WARP];
	int lane = threadIdx.x % HB_WARP, warp = threadIdx.x / HB_WARP;
	hb_i64 s = v;
	for (int d = 1; d < HB_WARP; d *= 2) {
		hb_i64 t = __shfl_up_sync(HB_FULL, s, d);
		if (lane >= d) s += t;
	}
	if (lane == HB_WARP - 1) sums[warp] = s;
	__syncthreads();
	hb_i64 w = lane < (int)blockDim.x / HB_WARP ? sums[lane] : 0;
	for (int d = 1; d < HB_WARP; d *= 2) {
		hb_i64 t = __shfl_up_sync(HB_FULL, w, d);
		if (lane >= d) w += t;
	}
	*total = __shfl_sync(HB_FULL, w, HB_WARP - 1);
	hb_i64 before = __shfl_sync(HB_FULL, w, warp ? warp - 1 : 0);
	__syncthreads();
	return s - v + (warp ? before : 0);
}

// hb_scan_four scans the four places data[i..i+3] of each thread of a block and
// returns the block's total.
HB_DEVICE hb_i64 hb_scan_four(hb_i64 n, hb_i64 i, hb_i64 *data, hb_i64 offset) {
	hb_i64 v[4], sum = 0, total;
	for (int j = 0; j < 4; j++) {
		v[j] = i + j < n ? data[i + j] : 0;
		sum += v[j];
	}
	hb_i64 s = offset + hb_scan_block(sum, &total);
	for (int j = 0; j < 4; j++) {
		if (i + j < n) data[i + j] = s;
		s += v[j];
	}
	return total;
}

HB_KERNEL __launch_bounds__(1024) hb_scan_one(hb_i64 n, hb_i64 *data) {
	hb_i64 offset = 0;
	for (hb_i64 base = 0; base < n; base += 4 * blockDim.x)
		offset += hb_scan_four(n, base + 4 * threadIdx.x, data, offset);
	if (threadIdx.x == 0) data[n] = offset;
}

HB_KERNEL __launch_bounds__(1024) hb_scan_blocks(hb_i64 n, hb_i64 *data, hb_i64 *sums) {
	hb_i64 i = ((hb_i64)blockIdx.x * blockDim.x + threadIdx.x) * 4;
	hb_i64 total = hb_scan_four(n, i, data, 0);
	if (threadIdx.x == 0) sums[blockIdx.x] = total;
}

HB_KERNEL __launch_bounds__(1024) hb_scan_spread(hb_i64 n, hb_i64 nb, hb_i64 *data, const hb_i64 *sums) {
	hb_i64 i = ((hb_i64)blockIdx.x * blockDim.x + threadIdx.x) * 4;
	for (int j = 0; j < 4; j++)
		if (i + j < n) data[i + j] += sums[blockIdx.x];
	if (i == 0) data[n] = sums[nb];
}
