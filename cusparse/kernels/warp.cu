// What the lanes of a warp do together, for elements of any type. All lanes of the warp call.

#ifndef HB_LANE
#define HB_LANE ((hb_i32)(threadIdx.x % HB_WARP))
#endif

// hb_lane_words is a value as the words that a shuffle moves.
template <class T> union hb_lane_words {
	hb_u32 word[(sizeof(T) + 3) / 4];
	T t;
};

// hb_up returns the value of the lane d below, hb_from the value of lane l.
template <class T> HB_DEVICE T hb_up(const T &v, int d) {
	hb_lane_words<T> u;
	u.word[(sizeof(T) - 1) / 4] = 0;
	u.t = v;
#pragma unroll
	for (int j = 0; j < (int)(sizeof(T) + 3) / 4; j++) u.word[j] = __shfl_up_sync(HB_FULL, u.word[j], d);
	return u.t;
}
template <class T> HB_DEVICE T hb_from(const T &v, int l) {
	hb_lane_words<T> u;
	u.word[(sizeof(T) - 1) / 4] = 0;
	u.t = v;
#pragma unroll
	for (int j = 0; j < (int)(sizeof(T) + 3) / 4; j++) u.word[j] = __shfl_sync(HB_FULL, u.word[j], l % HB_WARP);
	return u.t;
}

// hb_sums returns the sum of x over this lane and the lanes before it.
template <class T> HB_DEVICE T hb_sums(T x) {
#pragma unroll
	for (int d = 1; d < HB_WARP; d *= 2) {
		T y = __shfl_up_sync(HB_FULL, x, d);
		if (HB_LANE >= d) x += y;
	}
	return x;
}

// hb_total returns the sum of x over the warp, in all lanes.
template <class T> HB_DEVICE T hb_total(T x) {
#pragma unroll
	for (int d = HB_WARP / 2; d > 0; d /= 2) x += __shfl_xor_sync(HB_FULL, x, d);
	return x;
}

// hb_owner returns the first lane with a sum, of hb_sums, above t: the lane that owns the t-th
// item. Every lane asks for a t of its own.
template <class T> HB_DEVICE int hb_owner(T sum, T t) {
	int lane = 0;
#pragma unroll
	for (int step = HB_WARP / 2; step > 0; step /= 2)
		if (__shfl_sync(HB_FULL, sum, lane + step - 1) <= t) lane += step;
	return lane;
}

// hb_run_start returns the lane at which the run of this lane begins; heads has a bit for each lane
// that begins a run, and bit 0.
HB_DEVICE int hb_run_start(hb_u32 heads) { return HB_WARP - 1 - __clz((int)(heads & (HB_FULL >> (HB_WARP - 1 - HB_LANE)))); }
