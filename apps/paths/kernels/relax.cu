// Relaxing edges: what searches on one device (sssp.cu) and by rows (rows.cu) share.
// HB_T is the type of distances.

// hb_lower sets *p to the lesser of *p and x, and returns the old value.
// Floats that are not negative are in the order of their bits.
HB_DEVICE int hb_lower(int *p, int x) { return atomicMin(p, x); }
HB_DEVICE hb_u32 hb_lower(hb_u32 *p, hb_u32 x) { return atomicMin(p, x); }
HB_DEVICE hb_i64 hb_lower(hb_i64 *p, hb_i64 x) { return atomicMin(p, x); }
HB_DEVICE hb_u64 hb_lower(hb_u64 *p, hb_u64 x) { return atomicMin(p, x); }
HB_DEVICE float hb_lower(float *p, float x) { return __int_as_float(atomicMin((int *)p, __float_as_int(x))); }
HB_DEVICE double hb_lower(double *p, double x) {
	return __longlong_as_double(atomicMin((hb_i64 *)p, (hb_i64)__double_as_longlong(x)));
}

HB_DEVICE void hb_raise(int *p, int x) { atomicMax(p, x); }
HB_DEVICE void hb_raise(hb_u32 *p, hb_u32 x) { atomicMax(p, x); }
HB_DEVICE void hb_raise(hb_i64 *p, hb_i64 x) { atomicMax(p, x); }
HB_DEVICE void hb_raise(hb_u64 *p, hb_u64 x) { atomicMax(p, x); }
HB_DEVICE void hb_raise(float *p, float x) { atomicMax((int *)p, __float_as_int(x)); }
HB_DEVICE void hb_raise(double *p, double x) { atomicMax((hb_i64 *)p, (hb_i64)__double_as_longlong(x)); }

// hb_weights raises *most to the largest weight, below limit unless all count, and sets *bad if a
// weight is negative or NaN. *most and *bad are 0 before.
HB_KERNEL hb_weights(hb_i64 entries, const HB_T *val, HB_T limit, hb_i32 all, HB_T *most, hb_u64 *bad) {
	HB_T own = 0;
	bool wrong = false;
	HB_EACH(p, entries) {
		const HB_T x = val[p];
		if (!(x >= 0)) wrong = true;
		else if ((all || x < limit) && x > own) own = x;
	}
	for (hb_i32 d = HB_WARP / 2; d > 0; d /= 2) {
		const HB_T other = __shfl_xor_sync(HB_FULL, own, d);
		own = other > own ? other : own;
	}
	if (HB_LANE == 0 && own > 0) hb_raise(most, own);
	if (wrong) *bad = 1;
}

// hb_relax relaxes entries t0 … t0 + HB_WARP·HB_UNROLL − 1 of the rows of a warp's lanes, of total.
// sum is the number of entries up to the end of a lane's row, entry t of the warp is at begin + t
// of its lane, and d is the distance of the row. With unit, edges have length 1 and val is not
// read. Each lane gets for HB_UNROLL of the entries the column u, −1 past the end, the distance
// to_u over it, and whether that has lowered dist.
template <bool unit>
HB_DEVICE void hb_relax(hb_u32 t0, hb_u32 total, hb_u32 sum, hb_i64 begin, HB_T d, const hb_i32 *idx, const HB_T *val, HB_T *dist,
	hb_i32 *u, HB_T *to_u, bool *less) {
	for (hb_i32 k = 0; k < HB_UNROLL; k++) {
		hb_u32 t = t0 + k * HB_WARP + HB_LANE;
		hb_i32 lane = hb_owner(sum, t);
		hb_i64 p = __shfl_sync(HB_FULL, begin, lane) + t;
		to_u[k] = __shfl_sync(HB_FULL, d, lane);
		u[k] = t < total ? idx[p] : -1;
		if (t < total) to_u[k] += unit ? (HB_T)1 : val[p];
	}
	for (hb_i32 k = 0; k < HB_UNROLL; k++) less[k] = u[k] >= 0 && to_u[k] < dist[u[k]];
	for (hb_i32 k = 0; k < HB_UNROLL; k++) if (less[k]) less[k] = to_u[k] < hb_lower(&dist[u[k]], to_u[k]);
}

// hb_aside adds the lanes' vertices to a list, by way of room vertices in shared memory if they
// fit.
HB_DEVICE void hb_aside(bool some, hb_i32 v, hb_i32 *aside, hb_u32 *asides, hb_u32 room, hb_i32 *list, hb_u64 *size) {
	if (!__any_sync(HB_FULL, some)) return;
	hb_u32 place = hb_reserve(asides, some);
	if (some && place < room) aside[place] = v;
	bool over = some && place >= room;
	if (!__any_sync(HB_FULL, over)) return;
	hb_u64 at = hb_reserve(size, over);
	if (over) list[at] = v;
}

// hb_flush_aside appends to the list what a block has collected. All threads of the block call it.
HB_DEVICE void hb_flush_aside(const hb_i32 *aside, hb_u32 asides, hb_u32 room, hb_i32 *list, hb_u64 *size) {
	__shared__ hb_u64 first;
	hb_u32 count = asides < room ? asides : room;
	if (threadIdx.x == 0 && count > 0) first = atomicAdd(size, (hb_u64)count);
	__syncthreads();
	for (hb_u32 i = threadIdx.x; i < count; i += HB_GRAPH_BLOCK) list[first + i] = aside[i];
	__syncthreads();
}
