// The sum of a warp, written by its first lane: hit says whether any lane has a
// term, out is the sum. By shared memory, since elements may be structs.
// Blocks of 256. HB_C; hb_add; HB_IDENTITY.
HB_DEVICE void hb_fold_warp(const HB_C &sum, bool any, hb_u8 *hit, HB_C *out) {
	__shared__ HB_C spot[256];
	__shared__ hb_u8 has[256];
	int lane = threadIdx.x % 32, t = threadIdx.x;
	spot[t] = sum;
	has[t] = any;
	__syncwarp();
	for (int d = 16; d > 0; d >>= 1) {
		if (lane < d && has[t + d]) {
			spot[t] = has[t] ? hb_add(spot[t], spot[t + d]) : spot[t + d];
			has[t] = 1;
		}
		__syncwarp();
	}
	if (lane == 0) {
		*hit = has[t];
		*out = has[t] ? hb_add(HB_IDENTITY, spot[t]) : HB_C(); // absent values are read too, as part of their array
	}
	__syncwarp();
}
