// Sums of runs of equal keys, in order: values val[num[t]] (num null: val[t])
// for t in sorted order of keys. A thread per run for short runs; runs longer
// than HB_LONG by a block each, which look for them.

#define HB_LONG 512

HB_DEVICE HB_C hb_at(const HB_C *val, const HB_NUM *num, hb_i64 t) { return val[num ? (hb_i64)num[t] : t]; }

HB_KERNEL hb_sum_runs(const hb_i64 *starts, hb_i64 runs, const HB_NUM *num, const HB_C *val, HB_C *out) {
	HB_EACH(r, runs) {
		hb_i64 lo = starts[r], hi = starts[r + 1];
		if (HB_SPLIT && hi - lo > HB_LONG) continue;
		HB_C sum = hb_at(val, num, lo);
		for (hb_i64 t = lo + 1; t < hi; t++) sum = hb_add(sum, hb_at(val, num, t));
		out[r] = HB_SPLIT ? hb_add(HB_IDENTITY, sum) : sum;
	}
}

// The long runs: every block looks for those among its share of runs.
HB_KERNEL hb_sum_long(const hb_i64 *starts, hb_i64 runs, const HB_NUM *num, const HB_C *val, HB_C *out) {
	__shared__ HB_C spot[256];
	for (hb_i64 r = blockIdx.x; r < runs; r += gridDim.x) {
		hb_i64 lo = starts[r], hi = starts[r + 1];
		if (hi - lo <= HB_LONG) continue; // the same for the whole block
		hb_i64 share = (hi - lo + 255) / 256, from = lo + share * threadIdx.x, to = from + share < hi ? from + share : hi;
		bool any = from < hi;
		HB_C sum = HB_IDENTITY;
		if (any) {
			sum = hb_at(val, num, from);
			for (hb_i64 t = from + 1; t < to; t++) sum = hb_add(sum, hb_at(val, num, t));
		}
		spot[threadIdx.x] = sum;
		__syncthreads();
		if (threadIdx.x == 0) {
			hb_i64 parts = (hi - lo + share - 1) / share;
			for (hb_i64 w = 1; w < parts; w++) sum = hb_add(sum, spot[w]);
			out[r] = hb_add(HB_IDENTITY, sum);
		}
		__syncthreads();
	}
}
