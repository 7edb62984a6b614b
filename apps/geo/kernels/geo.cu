// Geolocation with medians in degrees; see apps.Geolocate and apps.MedianDegrees for the method.
// Source: prelude + queue.cu + this file. Host: apps/geo/gpu.go, which defines
//     HB_F                 float or double, the arithmetic of medians
//     HB_GEO_COEFFICIENTS  of √u/atan √u, lowest degree first
//     HB_GEO_EARTH         the radius in km
//     HB_GEO_LARGE         degree, and number of points, from which a block has a vertex
//     HB_GEO_SMALL         degree, and number of points, to which HB_GEO_LANES threads have a
//                          vertex
//     HB_GEO_LANES         a power of two, at most 16
//     HB_GEO_FEW           number of points to which HB_GEO_LANES/2 threads have a median
//
// In: ptr, idx, the rows of an n×n matrix; the known places. For n vertices: located hb_u8[n],
// lat, lon, spread double[n], pass hb_i32[n], point hb_point[n], tried hb_u32[n] (limits only),
// state hb_u64[HB_GEO_STATES], 0 at the beginning. Blocks of HB_GRAPH_BLOCK threads.
//
// open hb_i32[2·3·room] are lists of the `room` vertices without a place, by degree: HB_GEO_LANES
// threads, a warp or a block each. lists hb_i32[4·room] are the lists of a pass, by their number of
// points.
//
// once:       hb_geo_start, hb_geo_open (one thread a vertex), of counts hb_u32[n] zeroed;
//             hb_geo_points before the first gather
// each pass:  hb_geo_count (resident blocks); with more than 0 points: prefix sums `at` of counts,
//             hb_geo_gather, hb_geo_lists, hb_geo_hubs, hb_geo_medians_…, hb_geo_commit, all of
//             resident blocks
//
// A pass reads places of located vertices alone and marks new ones at its end. The points of a
// vertex are in the order of its row; thread t of a group sums points t, t + threads, …, and a tree
// adds up the threads: the order is fixed. hb_geo_count is bound by random reads of located,
// medians by arithmetic.

struct hb_point { HB_F lat, lon, x, y, z; };

enum { HB_GEO_KNOWN, HB_GEO_BAD, HB_GEO_LOCATED, HB_GEO_UNFINISHED, HB_GEO_LISTS, HB_GEO_POINTS = HB_GEO_LISTS + 4,
	HB_GEO_OPEN, HB_GEO_STATES = HB_GEO_OPEN + 6 }; // POINTS: the sum of counts; OPEN: the sizes of both halves of open
enum { HB_GEO_BY_PART, HB_GEO_BY_WARP, HB_GEO_BY_BLOCK };

#define HB_GEO_RADIAN 0.017453292519943295

// hb_sincos is the sine and the cosine of degrees.
HB_DEVICE void hb_sincos(double degrees, HB_F &sin, HB_F &cos) {
#if HB_GEO_SINGLE
	sincosf((float)(degrees * HB_GEO_RADIAN), &sin, &cos);
#else
	sincos(degrees * HB_GEO_RADIAN, &sin, &cos);
#endif
}

HB_DEVICE hb_point hb_point_by(double lat, double lon, HB_F sin1, HB_F cos1, HB_F sin2, HB_F cos2) {
	if (lat == 90 || lat == -90) { // a pole is one point
		sin1 = lat > 0 ? 1 : -1;
		cos1 = 0;
	}
	hb_point p;
	p.lat = (HB_F)lat;
	p.lon = (HB_F)lon;
	p.x = cos1 * cos2;
	p.y = cos1 * sin2;
	p.z = sin1;
	return p;
}

HB_DEVICE hb_point hb_point_of(double lat, double lon) {
	HB_F sin1, cos1, sin2, cos2;
	hb_sincos(lat, sin1, cos1);
	hb_sincos(lon, sin2, cos2);
	return hb_point_by(lat, lon, sin1, cos1, sin2, cos2);
}

// hb_point_shared is hb_point_of for pairs of lanes with the same coordinates: each has an angle.
// All lanes of the warp call it.
HB_DEVICE hb_point hb_point_shared(double lat, double lon) {
	const bool second = threadIdx.x & 1;
	HB_F sin1, cos1;
	hb_sincos(second ? lon : lat, sin1, cos1);
	const HB_F sin2 = __shfl_xor_sync(HB_FULL, sin1, 1), cos2 = __shfl_xor_sync(HB_FULL, cos1, 1);
	return second ? hb_point_by(lat, lon, sin2, cos2, sin1, cos1) : hb_point_by(lat, lon, sin1, cos1, sin2, cos2);
}

HB_DEVICE HB_F hb_root(HB_F x) {
#if HB_GEO_SINGLE
	return sqrtf(x);
#else
	return sqrt(x);
#endif
}

// hb_apart is sin² θ/2 of the angle θ between two points.
HB_DEVICE HB_F hb_apart(const hb_point &p, const hb_point &q) {
	const HB_F x = p.x - q.x, y = p.y - q.y, z = p.z - q.z;
	const HB_F s = (x * x + y * y + z * z) * (HB_F)0.25;
	return s > 1 ? (HB_F)1 : s;
}

// hb_per_angle is 1/θ, of s = sin² θ/2 above 0.
HB_DEVICE HB_F hb_per_angle(HB_F s) {
	const HB_F c[] = {HB_GEO_COEFFICIENTS};
	const HB_F b = 1 + hb_root(1 - s), r = 1 / (b * hb_root(s)), t = s * r, u = t * t;
	HB_F p = c[sizeof(c) / sizeof(c[0]) - 1];
#pragma unroll
	for (int k = (int)(sizeof(c) / sizeof(c[0])) - 2; k >= 0; k--) p = p * u + c[k];
	return p * (b * b * r) * (HB_F)0.25;
}

HB_DEVICE double hb_km(const hb_point &p, const hb_point &q) {
	const HB_F s = hb_apart(p, q);
	return s > 0 ? HB_GEO_EARTH / (double)hb_per_angle(s) : 0;
}

// hb_geo_start copies the known places, and counts them and the unusable ones. Present is null if
// all are there.
HB_KERNEL hb_geo_start(hb_i32 n, const hb_u8 *has_lat, const double *known_lat, const hb_u8 *has_lon, const double *known_lon,
	hb_u8 *located, double *lat, double *lon, double *spread, hb_i32 *pass, hb_u32 *tried, hb_u64 *state) {
	hb_u64 known = 0;
	HB_EACH(v, n) {
		const bool has = !has_lat || has_lat[v], both = has && (!has_lon || has_lon[v]);
		if (has != (!has_lon || has_lon[v])) atomicAdd(state + HB_GEO_BAD, (hb_u64)1);
		located[v] = both;
		pass[v] = 0;
		spread[v] = 0;
		if (tried) tried[v] = 0;
		lat[v] = both ? known_lat[v] : 0;
		lon[v] = both ? known_lon[v] : 0;
		if (!both) continue;
		if (!(fabs(lat[v]) <= 90) || !(fabs(lon[v]) <= 180)) atomicAdd(state + HB_GEO_BAD, (hb_u64)1);
		known++;
	}
	known = hb_total(known);
	if (HB_LANE == 0 && known) atomicAdd(state + HB_GEO_KNOWN, known);
}

// hb_geo_present writes located to four others, 16 vertices a thread. The arrays are 16-byte
// aligned.
HB_KERNEL hb_geo_present(hb_i64 n, const hb_u8 *located, hb_u8 *a, hb_u8 *b, hb_u8 *c, hb_u8 *d) {
	HB_EACH(i, (n + 15) / 16) {
		if (16 * i + 16 <= n) {
			const uint4 x = ((const uint4 *)located)[i];
			((uint4 *)a)[i] = ((uint4 *)b)[i] = ((uint4 *)c)[i] = ((uint4 *)d)[i] = x;
			continue;
		}
		for (hb_i64 v = 16 * i; v < n; v++) a[v] = b[v] = c[v] = d[v] = located[v];
	}
}

// hb_geo_points computes the points of the known places.
HB_KERNEL hb_geo_points(hb_i32 n, const hb_u8 *located, const double *lat, const double *lon, hb_point *point) {
	HB_EACH(v, n) {
		if (located[v]) point[v] = hb_point_of(lat[v], lon[v]);
	}
}

// hb_block_total returns the sum over the block, in all threads, added up in a fixed order.
template <typename T>
HB_DEVICE T hb_block_total(T x, T *shared) {
	for (hb_i32 d = HB_WARP / 2; d > 0; d /= 2) x += __shfl_xor_sync(HB_FULL, x, d);
	__syncthreads();
	if (HB_LANE == 0) shared[threadIdx.x / HB_WARP] = x;
	__syncthreads();
	T sum = shared[0];
	for (hb_i32 w = 1; w < HB_GRAPH_WARPS; w++) sum += shared[w];
	return sum;
}

// hb_geo_put appends the lanes' vertices to the list of their kind, 0 … kinds−1, lists of n places;
// −1: none. A block has an atomic for each list. All threads of the block call it.
template <int KINDS>
HB_DEVICE void hb_geo_put(hb_i32 kind, hb_i32 v, hb_i32 *lists, hb_i32 n, hb_u64 *sizes) {
	__shared__ hb_u32 counts[KINDS];
	__shared__ hb_u64 first[KINDS];
	if (threadIdx.x < KINDS) counts[threadIdx.x] = 0;
	__syncthreads();
	hb_u32 place = 0;
#pragma unroll
	for (hb_i32 k = 0; k < KINDS; k++) {
		if (!__any_sync(HB_FULL, kind == k)) continue;
		const hb_u32 p = hb_reserve(counts + k, kind == k);
		if (kind == k) place = p;
	}
	__syncthreads();
	if (threadIdx.x < KINDS && counts[threadIdx.x]) first[threadIdx.x] = atomicAdd(sizes + threadIdx.x, (hb_u64)counts[threadIdx.x]);
	__syncthreads();
	if (kind >= 0) lists[(hb_i64)kind * n + (hb_i64)first[kind] + place] = v;
	__syncthreads();
}

// hb_geo_open lists the vertices without a place that have edges.
HB_KERNEL hb_geo_open(hb_i32 n, hb_i32 room, const hb_i64 *ptr, const hb_u8 *located, hb_i32 *open, hb_u64 *state) {
	for (hb_i64 i = (hb_i64)blockIdx.x * HB_GRAPH_BLOCK; i < n; i += (hb_i64)gridDim.x * HB_GRAPH_BLOCK) {
		const hb_i64 v = i + threadIdx.x, degree = v < n && !located[v] ? ptr[v + 1] - ptr[v] : 0;
		const hb_i32 kind = degree == 0 ? -1 : degree <= HB_GEO_SMALL ? HB_GEO_BY_PART : degree < HB_GEO_LARGE ? HB_GEO_BY_WARP : HB_GEO_BY_BLOCK;
		hb_geo_put<3>(kind, (hb_i32)v, open, room, state + HB_GEO_OPEN);
	}
}

// hb_geo_counted stores a count and returns it: 0 with fewer than least, or with as many as when
// the vertex was beyond the limits.
HB_DEVICE hb_u32 hb_geo_counted(hb_i32 v, hb_u32 found, hb_u32 least, const hb_u32 *tried, hb_u32 *counts) {
	return counts[v] = found < least || (tried && tried[v] >= found) ? 0 : found;
}

// hb_geo_counts counts the located neighbours of the vertices of a list, LANES threads each. It
// returns the sum of what this thread stored.
template <int LANES>
HB_DEVICE hb_u64 hb_geo_counts(const hb_i64 *ptr, const hb_i32 *idx, const hb_u8 *located, const hb_i32 *list, hb_i64 size, hb_u32 least,
	const hb_u32 *tried, hb_u32 *counts) {
	const hb_i64 groups = (hb_i64)gridDim.x * HB_GRAPH_BLOCK / LANES;
	const hb_i32 lane = threadIdx.x % LANES;
	hb_u64 sum = 0;
	for (hb_i64 i = ((hb_i64)blockIdx.x * HB_GRAPH_BLOCK + threadIdx.x) / LANES; i - HB_LANE / LANES < size; i += groups) {
		const hb_i32 v = i < size ? list[i] : -1;
		const hb_i64 begin = v >= 0 ? ptr[v] : 0, end = v >= 0 ? ptr[v + 1] : 0;
		hb_u32 found = 0;
#pragma unroll 4
		for (hb_i64 p = begin + lane; p < end; p += LANES) found += located[idx[p]];
#pragma unroll
		for (hb_i32 d = LANES / 2; d > 0; d /= 2) found += __shfl_xor_sync(HB_FULL, found, d);
		if (lane == 0 && v >= 0) sum += hb_geo_counted(v, found, least, tried, counts);
	}
	return sum;
}

HB_KERNEL hb_geo_count(hb_i32 room, const hb_i64 *ptr, const hb_i32 *idx, const hb_u8 *located, const hb_i32 *open, hb_i32 half, hb_u32 least,
	const hb_u32 *tried, hb_u32 *counts, hb_u64 *state) {
	__shared__ hb_u32 sums[HB_GRAPH_WARPS];
	__shared__ hb_u64 totals[HB_GRAPH_WARPS];
	hb_u64 all = 0;
	const hb_u64 *sizes = state + HB_GEO_OPEN + 3 * half;
	const hb_i32 *list = open + 3 * (hb_i64)half * room;
	for (hb_u64 i = blockIdx.x; i < sizes[HB_GEO_BY_BLOCK]; i += gridDim.x) {
		const hb_i32 v = list[2 * (hb_i64)room + (hb_i64)i];
		hb_u32 mine = 0;
#pragma unroll 4
		for (hb_i64 p = ptr[v] + threadIdx.x; p < ptr[v + 1]; p += HB_GRAPH_BLOCK) mine += located[idx[p]];
		mine = hb_block_total(mine, sums);
		if (threadIdx.x == 0) all += hb_geo_counted(v, mine, least, tried, counts);
		__syncthreads();
	}
	all += hb_geo_counts<HB_WARP>(ptr, idx, located, list + room, (hb_i64)sizes[HB_GEO_BY_WARP], least, tried, counts);
	all += hb_geo_counts<HB_GEO_LANES>(ptr, idx, located, list, (hb_i64)sizes[HB_GEO_BY_PART], least, tried, counts);
	all = hb_block_total(all, totals);
	if (threadIdx.x == 0 && all) atomicAdd(state + HB_GEO_POINTS, all);
}

// hb_geo_single gives a vertex the place of its only located neighbour.
HB_DEVICE void hb_geo_single(hb_i32 v, hb_i32 u, hb_i32 now, hb_point *point, double *lat, double *lon, double *spread, hb_i32 *pass) {
	lat[v] = lat[u];
	lon[v] = lon[u];
	point[v] = point[u];
	spread[v] = 0;
	pass[v] = now;
}

// hb_geo_gathers copies the points of the vertices of a list with counts above 0 to near, from
// at[v] on, in the order of their rows, LANES threads a vertex. A single neighbour's place is
// copied at once.
template <int LANES>
HB_DEVICE void hb_geo_gathers(const hb_i64 *ptr, const hb_i32 *idx, const hb_u8 *located, const hb_i32 *list, hb_i64 size, const hb_u32 *counts,
	const hb_i64 *at, hb_i32 now, hb_point *point, double *lat, double *lon, double *spread, hb_i32 *pass, hb_point *near) {
	const hb_i64 groups = (hb_i64)gridDim.x * HB_GRAPH_BLOCK / LANES;
	const hb_i32 lane = threadIdx.x % LANES, leader = HB_LANE - lane;
	const hb_u32 group = (LANES == HB_WARP ? HB_FULL : (1u << LANES % HB_WARP) - 1) << leader, below = group & ((1u << HB_LANE) - 1);
	for (hb_i64 i = ((hb_i64)blockIdx.x * HB_GRAPH_BLOCK + threadIdx.x) / LANES; i - HB_LANE / LANES < size; i += groups) {
		const hb_i32 v = i < size ? list[i] : -1;
		const hb_u32 count = v >= 0 ? counts[v] : 0;
		const hb_i64 begin = count ? ptr[v] : 0, end = count ? ptr[v + 1] : 0;
		hb_i64 to = count ? at[v] : 0;
		for (hb_i64 p = begin + lane; __any_sync(HB_FULL, p - lane < end); p += LANES) {
			const hb_i32 u = p < end ? idx[p] : -1;
			const bool hit = u >= 0 && located[u];
			const hb_u32 hits = __ballot_sync(HB_FULL, hit);
			if (hit && count > 1) near[to + __popc(hits & below)] = point[u];
			if (hit && count == 1) hb_geo_single(v, u, now, point, lat, lon, spread, pass);
			to += __popc(hits & group);
		}
	}
}

HB_KERNEL hb_geo_gather(hb_i32 room, const hb_i64 *ptr, const hb_i32 *idx, const hb_u8 *located, const hb_i32 *open, hb_i32 half,
	const hb_u32 *counts, const hb_i64 *at, hb_i32 now, hb_point *point, double *lat, double *lon, double *spread, hb_i32 *pass, hb_point *near,
	const hb_u64 *state) {
	__shared__ hb_u32 sums[HB_GRAPH_WARPS];
	const hb_u64 *sizes = state + HB_GEO_OPEN + 3 * half;
	const hb_i32 *list = open + 3 * (hb_i64)half * room;
	const hb_i32 warp = threadIdx.x / HB_WARP;
	const hb_u32 below = (1u << HB_LANE) - 1;
	for (hb_u64 i = blockIdx.x; i < sizes[HB_GEO_BY_BLOCK]; i += gridDim.x) {
		const hb_i32 v = list[2 * (hb_i64)room + (hb_i64)i];
		if (counts[v] == 0) continue; // the same in all threads
		// Each warp has a part of the row: it counts, and then copies behind the warps before it.
		const hb_i64 length = ptr[v + 1] - ptr[v], share = (length + HB_GRAPH_WARPS - 1) / HB_GRAPH_WARPS;
		const hb_i64 from = ptr[v] + warp * share, upto = from + share < ptr[v + 1] ? from + share : ptr[v + 1];
		hb_u32 mine = 0;
		for (hb_i64 p = from + HB_LANE; p < upto; p += HB_WARP) mine += located[idx[p]];
		mine = (hb_u32)hb_total(mine);
		if (HB_LANE == 0) sums[warp] = mine;
		__syncthreads();
		hb_i64 place = at[v];
		for (hb_i32 k = 0; k < warp; k++) place += sums[k];
		for (hb_i64 p = from + HB_LANE; p - HB_LANE < upto; p += HB_WARP) {
			const hb_i32 u = p < upto ? idx[p] : -1;
			const bool hit = u >= 0 && located[u];
			const hb_u32 hits = __ballot_sync(HB_FULL, hit);
			if (hit && counts[v] > 1) near[place + __popc(hits & below)] = point[u];
			if (hit && counts[v] == 1) hb_geo_single(v, u, now, point, lat, lon, spread, pass);
			place += __popc(hits);
		}
		__syncthreads();
	}
	hb_geo_gathers<HB_WARP>(ptr, idx, located, list + room, (hb_i64)sizes[HB_GEO_BY_WARP], counts, at, now, point, lat, lon, spread, pass, near);
	hb_geo_gathers<HB_GEO_LANES>(ptr, idx, located, list, (hb_i64)sizes[HB_GEO_BY_PART], counts, at, now, point, lat, lon, spread, pass, near);
}

// hb_geo_lists lists the vertices with several points, by their number.
HB_KERNEL hb_geo_lists(hb_i32 room, const hb_i32 *open, hb_i32 half, const hb_u32 *counts, hb_i32 *lists, hb_u64 *state) {
	for (hb_i32 k = 0; k < 3; k++) {
		const hb_i64 size = (hb_i64)state[HB_GEO_OPEN + 3 * half + k];
		const hb_i32 *list = open + (3 * (hb_i64)half + k) * room;
		for (hb_i64 i = (hb_i64)blockIdx.x * HB_GRAPH_BLOCK; i < size; i += (hb_i64)gridDim.x * HB_GRAPH_BLOCK) {
			const hb_i32 v = i + threadIdx.x < size ? list[i + threadIdx.x] : -1;
			const hb_u32 points = v >= 0 ? counts[v] : 0;
			const hb_i32 kind = points < 2 ? -1 : points <= HB_GEO_FEW ? 0 : points <= HB_GEO_SMALL ? 1 : points <= HB_GEO_LARGE ? 2 : 3;
			hb_geo_put<4>(kind, v, lists, room, state + HB_GEO_LISTS);
		}
	}
}

// hb_midpoint is the midpoint of the great circle, in double; see midpoint of apps/geo/median.go.
HB_DEVICE void hb_midpoint(const hb_point &p, const hb_point &q, double &lat, double &lon) {
	double u[3], v[3];
	for (int k = 0; k < 2; k++) {
		const double a = (double)(k ? q.lat : p.lat), b = (double)(k ? q.lon : p.lon);
		double sin1, cos1, sin2, cos2, *w = k ? v : u;
		sincos(a * HB_GEO_RADIAN, &sin1, &cos1);
		sincos(b * HB_GEO_RADIAN, &sin2, &cos2);
		if (a == 90 || a == -90) {
			sin1 = a > 0 ? 1 : -1;
			cos1 = 0;
		}
		w[0] = cos1 * cos2;
		w[1] = cos1 * sin2;
		w[2] = sin1;
	}
	double x = u[0] + v[0], y = u[1] + v[1], z = u[2] + v[2];
	if (!(sqrt(x * x + y * y + z * z) > 1e-12)) {
		if (hypot(u[0], u[1]) < 1e-12) {
			lat = lon = 0;
			return;
		}
		x = -u[2] * u[0];
		y = -u[2] * u[1];
		z = 1 - u[2] * u[2];
	}
	lat = atan2(z, hypot(x, y)) / HB_GEO_RADIAN;
	lon = x == 0 && y == 0 ? 0 : atan2(y, x) / HB_GEO_RADIAN;
}

// The state of a median.
struct hb_median {
	HB_F lat, lon;
	hb_i32 iterations;
	bool done, converged;
};

// hb_step makes a step of a median from the sums over its points. All threads of a group do the
// same.
HB_DEVICE void hb_step(hb_median &m, hb_u32 count, HB_F sum, HB_F lat, HB_F lon, hb_u32 zeros, HB_F tolerance, hb_i32 most) {
	if (zeros == count) {
		m.done = m.converged = true;
		return;
	}
	lat /= sum;
	lon /= sum;
	if (zeros > 0) {
		sum /= (HB_F)HB_GEO_EARTH;
		const HB_F a = (lat - m.lat) * sum, b = (lon - m.lon) * sum, r = hb_root(a * a + b * b);
		const HB_F stay = r > (HB_F)zeros ? (HB_F)zeros / r : (HB_F)1;
		lat = (1 - stay) * lat + stay * m.lat;
		lon = (1 - stay) * lon + stay * m.lon;
	}
	const HB_F a = m.lat - lat, b = m.lon - lon;
	m.lat = lat;
	m.lon = lon;
	m.iterations++;
	m.converged = hb_root(a * a + b * b) < tolerance;
	m.done = m.converged || m.iterations >= most;
}

// hb_geo_settle stores the end of a median, unless it is beyond the limits. One thread calls it.
HB_DEVICE void hb_geo_settle(hb_i32 v, hb_u32 count, double la, double lo, double mean, double farthest, double spread_limit,
	double distance_limit, bool converged, hb_i32 now, hb_point *point, double *lat, double *lon, double *spread, hb_i32 *pass, hb_u32 *tried,
	hb_u64 *state) {
	if ((spread_limit > 0 && !(mean <= spread_limit)) || (distance_limit > 0 && !(farthest <= distance_limit))) {
		tried[v] = count;
		return;
	}
	if (!converged) atomicAdd(state + HB_GEO_UNFINISHED, (hb_u64)1);
	lat[v] = la;
	lon[v] = lo;
	point[v] = hb_point_of(la, lo);
	spread[v] = mean;
	pass[v] = now;
}

// hb_group returns the sum over a group of lanes, in all of them. All lanes of the warp call it.
template <int LANES, typename T>
HB_DEVICE T hb_group(T x) {
#pragma unroll
	for (hb_i32 d = LANES / 2; d > 0; d /= 2) x += __shfl_xor_sync(HB_FULL, x, d);
	return x;
}

// hb_medians computes the medians of a list. LANES threads have a vertex; those that are done take
// the next, so that a warp stays together.
template <int LANES>
HB_DEVICE void hb_medians(hb_i32 list, hb_i32 room, const hb_u32 *counts, const hb_i64 *at, const hb_point *near, const hb_i32 *lists, double tolerance,
	hb_i32 most, double spread_limit, double distance_limit, hb_i32 now, hb_point *point, double *lat, double *lon, double *spread, hb_i32 *pass,
	hb_u32 *tried, hb_u64 *state) {
	const hb_u64 size = state[HB_GEO_LISTS + list];
	const hb_i32 lane = HB_LANE % LANES, leader = HB_LANE - lane;
	const hb_u32 group = (LANES == HB_WARP ? HB_FULL : (1u << LANES) - 1) << leader;
	const hb_u64 groups = (hb_u64)gridDim.x * HB_GRAPH_BLOCK / LANES;
	hb_u64 next = ((hb_u64)blockIdx.x * HB_GRAPH_BLOCK + threadIdx.x) / LANES; // of this group: then each groups-th
	hb_i32 v = -1;
	hb_u32 count = 0;
	const hb_point *pts = near;
	hb_median m;
	m.lat = m.lon = 0;
	m.iterations = 0;
	m.done = m.converged = true;
	bool drained = false;
	for (;;) {
		bool fresh = m.done && !drained;
		const hb_u64 ticket = next;
		if (fresh) next += groups;
		if (fresh && ticket >= size) {
			drained = true;
			fresh = false;
			v = -1;
			count = 0;
		}
		if (!__any_sync(HB_FULL, !drained)) return;
		HB_F sum = 0, a = 0, b = 0;
		bool same = true;
		if (fresh) {
			v = lists[(hb_i64)list * room + (hb_i64)ticket];
			count = counts[v];
			pts = near + at[v];
			const hb_point p = pts[0];
			for (hb_u32 k = lane; k < count; k += LANES) {
				const hb_point q = pts[k];
				same = same && p.lat == q.lat && p.lon == q.lon;
				a += q.lat;
				b += q.lon;
			}
		}
		const hb_u32 alike = __ballot_sync(HB_FULL, same);
		a = hb_group<LANES>(a);
		b = hb_group<LANES>(b);
		bool pair = false;
		double la = 0, lo = 0;
		if (fresh) {
			m.iterations = 0;
			m.done = m.converged = false;
			m.lat = a / (HB_F)count;
			m.lon = b / (HB_F)count;
			if ((alike & group) == group) {
				m.lat = pts[0].lat;
				m.lon = pts[0].lon;
				m.done = m.converged = true;
			} else if (count == 2) {
				hb_midpoint(pts[0], pts[1], la, lo);
				pair = m.done = m.converged = true;
			}
		}
		const bool walks = count > 0 && !m.done;
		hb_u32 zeros = 0;
		a = b = 0;
		const hb_point iterate = hb_point_shared((double)m.lat, (double)m.lon);
		if (walks) {
			const hb_point &y = iterate;
			for (hb_u32 k = lane; k < count; k += LANES) {
				const hb_point p = pts[k];
				const HB_F s = hb_apart(p, y);
				if (s == 0) {
					zeros++;
					continue;
				}
				const HB_F w = hb_per_angle(s);
				sum += w;
				a += w * p.lat;
				b += w * p.lon;
			}
		}
		sum = hb_group<LANES>(sum);
		a = hb_group<LANES>(a);
		b = hb_group<LANES>(b);
		zeros = hb_group<LANES>(zeros);
		if (walks) hb_step(m, count, sum, a, b, zeros, (HB_F)tolerance, most);
		const bool ends = count > 0 && m.done;
		if (ends && !pair) {
			la = (double)m.lat;
			lo = (double)m.lon;
		}
		double mean = 0, farthest = 0;
		if (ends) {
			const hb_point y = hb_point_of(la, lo);
			for (hb_u32 k = lane; k < count; k += LANES) {
				const double d = hb_km(pts[k], y);
				mean += d;
				farthest = d > farthest ? d : farthest;
			}
		}
		mean = hb_group<LANES>(mean) / (double)(count ? count : 1);
#pragma unroll
		for (hb_i32 d = LANES / 2; d > 0; d /= 2) {
			const double x = __shfl_xor_sync(HB_FULL, farthest, d);
			farthest = x > farthest ? x : farthest;
		}
		if (ends && lane == 0) {
			hb_geo_settle(v, count, la, lo, mean, farthest, spread_limit, distance_limit, m.converged, now, point, lat, lon, spread, pass, tried, state);
		}
		if (ends) count = 0;
	}
}

// hb_geo_medians_few: the medians of few points.
HB_KERNEL hb_geo_medians_few(hb_i32 room, const hb_u32 *counts, const hb_i64 *at, const hb_point *near, const hb_i32 *lists, double tolerance,
	hb_i32 most, double spread_limit, double distance_limit, hb_i32 now, hb_point *point, double *lat, double *lon, double *spread, hb_i32 *pass,
	hb_u32 *tried, hb_u64 *state) {
	hb_medians<HB_GEO_LANES / 2>(0, room, counts, at, near, lists, tolerance, most, spread_limit, distance_limit, now, point, lat, lon, spread, pass, tried,
		state);
}

// hb_geo_medians_small: the medians of more points.
HB_KERNEL hb_geo_medians_small(hb_i32 room, const hb_u32 *counts, const hb_i64 *at, const hb_point *near, const hb_i32 *lists, double tolerance,
	hb_i32 most, double spread_limit, double distance_limit, hb_i32 now, hb_point *point, double *lat, double *lon, double *spread, hb_i32 *pass,
	hb_u32 *tried, hb_u64 *state) {
	hb_medians<HB_GEO_LANES>(1, room, counts, at, near, lists, tolerance, most, spread_limit, distance_limit, now, point, lat, lon, spread, pass, tried,
		state);
}

// hb_geo_medians_warp: the medians of up to HB_GEO_LARGE points.
HB_KERNEL hb_geo_medians_warp(hb_i32 room, const hb_u32 *counts, const hb_i64 *at, const hb_point *near, const hb_i32 *lists, double tolerance,
	hb_i32 most, double spread_limit, double distance_limit, hb_i32 now, hb_point *point, double *lat, double *lon, double *spread, hb_i32 *pass,
	hb_u32 *tried, hb_u64 *state) {
	hb_medians<HB_WARP>(2, room, counts, at, near, lists, tolerance, most, spread_limit, distance_limit, now, point, lat, lon, spread, pass, tried,
		state);
}

// hb_geo_hubs computes the medians of many points, a block each.
HB_KERNEL hb_geo_hubs(hb_i32 room, const hb_u32 *counts, const hb_i64 *at, const hb_point *near, const hb_i32 *lists, double tolerance, hb_i32 most,
	double spread_limit, double distance_limit, hb_i32 now, hb_point *point, double *lat, double *lon, double *spread, hb_i32 *pass, hb_u32 *tried,
	hb_u64 *state) {
	__shared__ HB_F parts[HB_GRAPH_WARPS];
	__shared__ hb_u32 tallies[HB_GRAPH_WARPS];
	__shared__ double wide[HB_GRAPH_WARPS];
	for (hb_u64 t = blockIdx.x; t < state[HB_GEO_LISTS + 3]; t += gridDim.x) {
		const hb_i32 v = lists[3 * (hb_i64)room + (hb_i64)t];
		const hb_u32 count = counts[v];
		const hb_point *pts = near + at[v];
		const HB_F lat0 = pts[0].lat, lon0 = pts[0].lon;
		HB_F a = 0, b = 0;
		hb_u32 others = 0;
		for (hb_u32 k = threadIdx.x; k < count; k += HB_GRAPH_BLOCK) {
			a += pts[k].lat;
			b += pts[k].lon;
			others += pts[k].lat != lat0 || pts[k].lon != lon0;
		}
		hb_median m;
		m.lat = hb_block_total(a, parts) / (HB_F)count;
		m.lon = hb_block_total(b, parts) / (HB_F)count;
		m.iterations = 0;
		m.done = m.converged = hb_block_total(others, tallies) == 0;
		if (m.done) {
			m.lat = lat0;
			m.lon = lon0;
		}
		while (!m.done) { // the same in all threads
			const hb_point y = hb_point_shared((double)m.lat, (double)m.lon);
			HB_F sum = 0;
			hb_u32 zeros = 0;
			a = b = 0;
			for (hb_u32 k = threadIdx.x; k < count; k += HB_GRAPH_BLOCK) {
				const hb_point p = pts[k];
				const HB_F s = hb_apart(p, y);
				if (s == 0) {
					zeros++;
					continue;
				}
				const HB_F w = hb_per_angle(s);
				sum += w;
				a += w * p.lat;
				b += w * p.lon;
			}
			sum = hb_block_total(sum, parts);
			a = hb_block_total(a, parts);
			b = hb_block_total(b, parts);
			zeros = hb_block_total(zeros, tallies);
			hb_step(m, count, sum, a, b, zeros, (HB_F)tolerance, most);
		}
		const hb_point y = hb_point_of((double)m.lat, (double)m.lon);
		double mean = 0, farthest = 0;
		for (hb_u32 k = threadIdx.x; k < count; k += HB_GRAPH_BLOCK) {
			const double d = hb_km(pts[k], y);
			mean += d;
			farthest = d > farthest ? d : farthest;
		}
		mean = hb_block_total(mean, wide) / (double)count;
		for (hb_i32 d = HB_WARP / 2; d > 0; d /= 2) {
			const double x = __shfl_xor_sync(HB_FULL, farthest, d);
			farthest = x > farthest ? x : farthest;
		}
		__syncthreads();
		if (HB_LANE == 0) wide[threadIdx.x / HB_WARP] = farthest;
		__syncthreads();
		if (threadIdx.x == 0) {
			for (hb_i32 w = 1; w < HB_GRAPH_WARPS; w++) farthest = wide[w] > farthest ? wide[w] : farthest;
			hb_geo_settle(v, count, (double)m.lat, (double)m.lon, mean, farthest, spread_limit, distance_limit, m.converged, now, point, lat, lon,
				spread, pass, tried, state);
		}
		__syncthreads();
	}
}

// hb_geo_commit marks the vertices that this pass located, counts them, and lists the others in the
// other half of open.
HB_KERNEL hb_geo_commit(hb_i32 room, hb_i32 now, const hb_i32 *pass, hb_u8 *located, hb_i32 *open, hb_i32 half, hb_u32 *counts, hb_u64 *state) {
	hb_u64 found = 0;
	for (hb_i32 k = 0; k < 3; k++) {
		const hb_i64 size = (hb_i64)state[HB_GEO_OPEN + 3 * half + k];
		const hb_i32 *list = open + (3 * (hb_i64)half + k) * room;
		for (hb_i64 i = (hb_i64)blockIdx.x * HB_GRAPH_BLOCK; i < size; i += (hb_i64)gridDim.x * HB_GRAPH_BLOCK) {
			const hb_i32 v = i + threadIdx.x < size ? list[i + threadIdx.x] : -1;
			const bool is = v >= 0 && pass[v] == now;
			if (is) {
				located[v] = 1;
				counts[v] = 0;
				found++;
			}
			hb_geo_put<3>(v >= 0 && !is ? k : -1, v, open + 3 * (hb_i64)(1 - half) * room, room, state + HB_GEO_OPEN + 3 * (1 - half));
		}
	}
	found = hb_total(found);
	if (HB_LANE == 0 && found) atomicAdd(state + HB_GEO_LOCATED, found);
}
