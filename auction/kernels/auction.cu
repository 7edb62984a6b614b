// The auction algorithm for assignment problems: rows bid for columns, all rows
// without one at once, until each has one that is within ε of its best; then
// with a smaller ε (Bertsekas, Annals of Operations Research 14, 1988).
// Source: prelude + common.cu + element type + this file. Host: auction/gpu.go,
// which defines
//     HB_T                     type of the costs
//     HB_INTEGERS              1 if it is an integer type, else 0
//     HB_AUCTION_BIDDERS       threads of hb_auction_bid and hb_auction_proof
//     HB_AUCTION_SETTLERS      threads of hb_auction_start and hb_auction_settle
//     HB_AUCTION_THETA         ratio of ε of one phase to ε of the next
//     HB_AUCTION_PLACES, HB_AUCTION_RESULTS, HB_AUCTION_MARKET_BYTES
//                              size of state, first result in it, size of hb_market
//
// In: markets[], with costs, first prices and scratch of each auction of a batch.
// All auctions go through the same launches, auction blockIdx.y of markets[]:
//   hb_auction_start<<<(1, batch), HB_AUCTION_SETTLERS>>>; each round
//   hb_auction_bid<<<(blocks, batch), HB_AUCTION_BIDDERS>>> and
//   hb_auction_settle<<<(1, batch), HB_AUCTION_SETTLERS>>>, until result[0], in
//   pinned host memory, is 1; then hb_auction_proof, launched like the bids.
// Out: price, item, worth, top, cost, and the results in state. The rounds at the
// end of a phase, in which a few rows take columns from one another, run inside
// hb_auction_settle. Prices are integers. A bid is packed with the row into 64
// bits, so that the winner of atomicMax does not depend on the order. Results are
// deterministic. Bound by the reads of costs and prices, and at the end of a
// phase by the latency of a round.
//
// The columns that a row has no entry for differ to it by their prices alone. The window lists
// columns with a price below the least price + ε when it was made. Any of them is within ε of the
// best of these columns: a hash spreads many rows over the window, and all bid least + ε. The
// window is made anew when half of it is sold.

#define HB_AUCTION_LONG 2048 // a block reads a row with more entries
#define HB_AUCTION_TAIL 32   // bidders that one block serves, a warp each,
#define HB_AUCTION_GROUP 3   // or one after the other if all rows are long
#define HB_AUCTION_INSIDE 256 // rounds of these inside one launch
#define HB_NOTHING (-(1ll << 62))
#define HB_AUCTION_LANE ((hb_i32)(threadIdx.x & 31))

enum { HB_A_MODE, HB_A_EPS, HB_A_LAST, HB_A_COUNT, HB_A_NEXT, HB_A_SIDE, HB_A_LEAST, HB_A_WINDOW, HB_A_USED, HB_A_MISSED,
	HB_A_ROUNDS, HB_A_BIDS, HB_A_PHASES, HB_A_OVER, HB_A_PLACES }; // in state
static_assert(HB_A_PLACES == HB_AUCTION_PLACES && HB_A_ROUNDS == HB_AUCTION_RESULTS, "the host reads the state");
enum { HB_A_STOP, HB_A_BID, HB_A_CHECK }; // modes

struct hb_market { // host: marketArg
	const hb_i64 *ptr; // null: dense
	const hb_i32 *idx;
	const HB_T *val;
	hb_i64 *price;  // n
	hb_i32 *owner;  // n: row of each column, −1 for none
	hb_i32 *item;   // m: column of each row
	hb_i32 *work;   // 2·m: rows without a column in this round, and in the next
	hb_i32 *choice; // m: column that each of them bids for
	hb_u64 *bid;    // m: its bid, packed
	hb_u64 *best;   // n: greatest bid so far, packed
	hb_i32 *window; // n
	hb_i64 *state;
	hb_i64 *worth, *top; // m: scaled cost of each row's pair, and its best value
	double *cost;        // m
	double scale, missing; // missing: cost of a pair without an entry
	hb_i64 integral, def, span, first, last; // integral: scale as an integer
	hb_u64 seed;
	hb_i32 m, n, implicit, bits, group, batch; // bits: of a row's number; group: all rows are long
};
static_assert(sizeof(hb_market) == HB_AUCTION_MARKET_BYTES, "the host fills markets");

struct hb_best {
	hb_i64 first, second;
	hb_i32 col;
};

HB_DEVICE hb_u64 hb_auction_tie(hb_i32 i, hb_i32 j, hb_u64 seed) {
	hb_u64 z = seed + 0x9E3779B97F4A7C15ull * ((hb_u64)(hb_u32)i << 32 | (hb_u64)((hb_u32)j + 1));
	z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
	z = (z ^ z >> 27) * 0x94D049BB133111EBull;
	return z ^ z >> 31;
}

HB_DEVICE hb_i64 hb_auction_scaled(const hb_market &a, HB_T x) {
#if HB_INTEGERS
	return (hb_i64)x * a.integral;
#else
	return (hb_i64)rint((double)x * a.scale);
#endif
}

// hb_auction_merge takes the better of two, and the best of the rest.
HB_DEVICE void hb_auction_merge(const hb_market &a, hb_i32 i, hb_best &b, hb_best o) {
	bool better = o.first > b.first;
	if (o.first == b.first && o.col >= 0) better = b.col < 0 || hb_auction_tie(i, o.col, a.seed) > hb_auction_tie(i, b.col, a.seed);
	hb_i64 loser = better ? b.first : o.first, second = better ? o.second : b.second;
	if (better) b.first = o.first, b.col = o.col;
	b.second = loser > second ? loser : second;
}

HB_DEVICE void hb_auction_take(const hb_market &a, hb_i32 i, hb_best &b, hb_i32 j, hb_i64 value) {
	if (value <= b.second) return;
	hb_best o = {value, HB_NOTHING, j};
	hb_auction_merge(a, i, b, o);
}

HB_DEVICE void hb_auction_warp(const hb_market &a, hb_i32 i, hb_best &b) {
#pragma unroll 1
	for (hb_i32 d = HB_WARP / 2; d > 0; d /= 2) { // unrolling is no faster
		hb_best o;
		o.first = __shfl_xor_sync(HB_FULL, b.first, d);
		o.second = __shfl_xor_sync(HB_FULL, b.second, d);
		o.col = __shfl_xor_sync(HB_FULL, b.col, d);
		hb_auction_merge(a, i, b, o);
	}
}

HB_DEVICE hb_i64 hb_auction_length(const hb_market &a, hb_i32 i) { return a.ptr ? a.ptr[i + 1] - a.ptr[i] : (hb_i64)a.n; }

// hb_auction_look finds the best of every step-th entry of row i.
HB_DEVICE hb_best hb_auction_look(const hb_market &a, hb_i32 i, hb_i32 start, hb_i32 step) {
	hb_best b = {HB_NOTHING, HB_NOTHING, -1};
	if (!a.ptr) {
		const HB_T *row = a.val + (hb_i64)i * a.n;
		for (hb_i32 j = start; j < a.n; j += step) hb_auction_take(a, i, b, j, hb_auction_scaled(a, row[j]) - a.price[j]);
		return b;
	}
	for (hb_i64 p = a.ptr[i] + start, end = a.ptr[i + 1]; p < end; p += step) {
		hb_i32 j = a.idx[p];
		hb_auction_take(a, i, b, j, hb_auction_scaled(a, a.val[p]) - a.price[j]);
	}
	return b;
}

// hb_auction_listed returns whether row i has an entry in column j, and where.
HB_DEVICE bool hb_auction_listed(const hb_market &a, hb_i32 i, hb_i32 j, hb_i64 &at) {
	at = hb_lower(a.idx, a.ptr[i], a.ptr[i + 1], j);
	return at < a.ptr[i + 1] && a.idx[at] == j;
}

// hb_auction_others takes all columns that row i has no entry for, a warp.
HB_DEVICE void hb_auction_others(const hb_market &a, hb_i32 i, hb_best &b) {
	hb_best o = {HB_NOTHING, HB_NOTHING, -1};
	hb_i64 at;
	for (hb_i32 j = HB_AUCTION_LANE; j < a.n; j += HB_WARP) {
		if (!hb_auction_listed(a, i, j, at)) hb_auction_take(a, i, o, j, a.def - a.price[j]);
	}
	hb_auction_warp(a, i, o);
	hb_auction_merge(a, i, b, o);
}

// hb_auction_free finds a column of the window that row i has no entry for, of
// a price below top; −1 if there is none. A warp.
HB_DEVICE hb_i32 hb_auction_free(const hb_market &a, hb_i32 i, hb_i64 top) {
	hb_i32 size = (hb_i32)a.state[HB_A_WINDOW];
	if (size == 0) return -1;
	hb_i32 start = (hb_i32)(hb_auction_tie(i, (hb_i32)a.state[HB_A_ROUNDS], a.seed) % (hb_u64)size);
	for (hb_i32 t0 = 0; t0 < size; t0 += HB_WARP) {
		hb_i32 t = t0 + HB_AUCTION_LANE, j = -1;
		hb_i64 at;
		if (t < size) j = a.window[t + start < size ? t + start : t + start - size];
		if (j >= 0 && (a.price[j] >= top || hb_auction_listed(a, i, j, at))) j = -1;
		hb_u32 found = __ballot_sync(HB_FULL, j >= 0);
		if (found) return __shfl_sync(HB_FULL, j, __ffs(found) - 1);
	}
	return -1;
}

// hb_auction_offer makes the bid of row i, number k in the list, with best entries b. A warp.
HB_DEVICE void hb_auction_offer(const hb_market &a, hb_i32 i, hb_i64 k, hb_best b) {
	hb_i64 eps = a.state[HB_A_EPS], bid = 0;
	hb_i32 j = -1;
	if (a.implicit) {
		hb_i64 least = a.state[HB_A_LEAST], value = a.def - least;
		if (b.first > value) {
			if (value > b.second) b.second = value;
		} else {
			j = hb_auction_free(a, i, least + eps);
			bid = least + eps;
			if (j < 0) {
				if (HB_AUCTION_LANE == 0) a.state[HB_A_MISSED] = 1;
				hb_auction_others(a, i, b);
			}
		}
	}
	if (j < 0) {
		j = b.col;
		bid = a.price[j] + (b.second == HB_NOTHING ? a.span : b.first - b.second) + eps;
	}
	if (HB_AUCTION_LANE != 0) return;
	if (bid >> (62 - a.bits)) a.state[HB_A_OVER] = 1;
	hb_u64 mask = ((hb_u64)1 << a.bits) - 1;
	hb_u64 packed = (hb_u64)bid << a.bits | (((hb_u64)i ^ hb_auction_tie(0, j, a.seed)) & mask);
	a.choice[k] = j;
	a.bid[k] = packed;
	atomicMax(&a.best[j], packed);
}

// hb_auction_check lets row i, with best entries b, go if it is not content with its column. A
// lane.
HB_DEVICE void hb_auction_check(const hb_market &a, hb_i32 i, hb_best b, hb_i32 *next) {
	hb_i32 j = a.item[i];
	hb_i64 at = (hb_i64)i * a.n + j, top = b.first;
	hb_i64 own = !a.ptr || hb_auction_listed(a, i, j, at) ? hb_auction_scaled(a, a.val[at]) : a.def;
	if (a.implicit && a.def - a.state[HB_A_LEAST] > top) top = a.def - a.state[HB_A_LEAST];
	if (own - a.price[j] >= top - a.state[HB_A_EPS]) return;
	a.owner[j] = -1;
	a.item[i] = -1;
	next[atomicAdd((hb_u64 *)&a.state[HB_A_NEXT], 1ull)] = i;
}

// hb_auction_proved notes what row i is worth, and could be.
HB_DEVICE void hb_auction_proved(const hb_market &a, hb_i32 i, hb_best b) {
	if (a.implicit) {
		hb_i64 value = a.def - a.state[HB_A_LEAST];
		if (value > b.first) {
			if (hb_auction_free(a, i, a.state[HB_A_LEAST] + 1) >= 0) b.first = value;
			else hb_auction_others(a, i, b);
		}
	}
	if (HB_AUCTION_LANE != 0) return;
	hb_i32 j = a.item[i];
	hb_i64 at = (hb_i64)i * a.n + j;
	bool listed = !a.ptr || hb_auction_listed(a, i, j, at);
	a.top[i] = b.first;
	a.worth[i] = listed ? hb_auction_scaled(a, a.val[at]) : a.def;
	a.cost[i] = listed ? (double)a.val[at] : a.missing;
}

enum { HB_A_OFFER, HB_A_CONTENT, HB_A_PROOF }; // what becomes of a row's best

HB_DEVICE void hb_auction_then(const hb_market &a, hb_i32 what, hb_i32 i, hb_i64 k, hb_best b, hb_i32 *next) {
	if (what == HB_A_OFFER) hb_auction_offer(a, i, k, b);
	else if (what == HB_A_PROOF) hb_auction_proved(a, i, b);
	else if (HB_AUCTION_LANE == 0) hb_auction_check(a, i, b, next);
}

// hb_auction_long does row i by all threads of the block.
HB_DEVICE void hb_auction_long(const hb_market &a, hb_i32 what, hb_i32 i, hb_i64 k, hb_i32 *next) {
	__shared__ hb_best part[HB_WARP];
	hb_best b = hb_auction_look(a, i, threadIdx.x, blockDim.x);
	hb_auction_warp(a, i, b);
	if (HB_AUCTION_LANE == 0) part[threadIdx.x / HB_WARP] = b;
	__syncthreads();
	if (threadIdx.x < HB_WARP) {
		hb_best none = {HB_NOTHING, HB_NOTHING, -1};
		b = threadIdx.x < blockDim.x / HB_WARP ? part[threadIdx.x] : none;
		hb_auction_warp(a, i, b);
		hb_auction_then(a, what, i, k, b, next);
	}
	__syncthreads();
}

// hb_auction_rows does the rows first, first + 1 … of a list (or all rows),
// as many as there are warps or one, and those blocks · as many further on.
HB_DEVICE void hb_auction_rows(const hb_market &a, hb_i32 what, const hb_i32 *list, hb_i64 count, hb_i64 block, hb_i64 blocks, hb_i32 *next) {
	__shared__ hb_i32 longs[HB_WARP];
	hb_i32 warps = blockDim.x / HB_WARP, warp = threadIdx.x / HB_WARP;
	if (a.group) {
		for (hb_i64 k = block; k < count; k += blocks) {
			hb_i32 i = list ? list[k] : (hb_i32)k;
			hb_auction_long(a, what, i, k, next);
		}
		return;
	}
	for (hb_i64 base = block * warps; base < count; base += blocks * warps) {
		hb_i64 k = base + warp;
		hb_i32 i = k < count ? (list ? list[k] : (hb_i32)k) : -1;
		bool big = i >= 0 && hb_auction_length(a, i) > HB_AUCTION_LONG;
		if (HB_AUCTION_LANE == 0) longs[warp] = big ? i : -1;
		if (i >= 0 && !big) {
			hb_best b = hb_auction_look(a, i, HB_AUCTION_LANE, HB_WARP);
			hb_auction_warp(a, i, b);
			hb_auction_then(a, what, i, k, b, next);
		}
		__syncthreads();
#pragma unroll 1
		for (hb_i32 w = 0; w < warps; w++) {
			if (longs[w] >= 0) hb_auction_long(a, what, longs[w], base + w, next);
		}
		__syncthreads();
	}
}

// hb_auction_window lists the columns of a price less than least + ε, in order.
// One block.
HB_DEVICE void hb_auction_window(const hb_market &a) {
	__shared__ hb_i64 mins[HB_WARP];
	__shared__ hb_i32 counts[HB_WARP + 1];
	hb_i32 warps = blockDim.x / HB_WARP, warp = threadIdx.x / HB_WARP;
	hb_i64 least = 0x7fffffffffffffffll;
	for (hb_i32 j = threadIdx.x; j < a.n; j += blockDim.x) least = min(least, a.price[j]);
	for (hb_i32 d = HB_WARP / 2; d > 0; d /= 2) least = min(least, __shfl_xor_sync(HB_FULL, least, d));
	if (HB_AUCTION_LANE == 0) mins[warp] = least;
	__syncthreads();
	for (hb_i32 w = 0; w < warps; w++) least = min(least, mins[w]);
	hb_i64 top = least + a.state[HB_A_EPS];
	hb_i32 share = (a.n + warps - 1) / warps, from = warp * share, to = min(from + share, a.n), count = 0;
	for (hb_i32 j0 = from; j0 < to; j0 += HB_WARP) {
		hb_i32 j = j0 + HB_AUCTION_LANE;
		count += __popc(__ballot_sync(HB_FULL, j < to && a.price[j] < top));
	}
	if (HB_AUCTION_LANE == 0) counts[warp] = count;
	__syncthreads();
	if (threadIdx.x == 0) {
		hb_i32 sum = 0;
		for (hb_i32 w = 0; w < warps; w++) {
			hb_i32 c = counts[w];
			counts[w] = sum;
			sum += c;
		}
		a.state[HB_A_LEAST] = least;
		a.state[HB_A_WINDOW] = sum;
		a.state[HB_A_USED] = a.state[HB_A_MISSED] = 0;
	}
	__syncthreads();
	count = counts[warp];
	for (hb_i32 j0 = from; j0 < to; j0 += HB_WARP) {
		hb_i32 j = j0 + HB_AUCTION_LANE;
		bool in = j < to && a.price[j] < top;
		hb_u32 all = __ballot_sync(HB_FULL, in);
		if (in) a.window[count + __popc(all & ((1u << HB_AUCTION_LANE) - 1))] = j;
		count += __popc(all);
	}
	__syncthreads();
}

// hb_auction_sell gives the columns to the best bidders, and lists the rows
// that are left. One block.
HB_DEVICE void hb_auction_sell(const hb_market &a, const hb_i32 *list, hb_i64 count, hb_i32 *next) {
	hb_i64 eps = a.state[HB_A_EPS], top = a.state[HB_A_LEAST] + eps;
	for (hb_i64 k = threadIdx.x; k < count; k += blockDim.x) {
		hb_i32 i = list[k], j = a.choice[k], left = i;
		if (*(volatile hb_u64 *)&a.best[j] == a.bid[k]) { // atomics pass the first cache by
			left = a.owner[j];
			if (a.implicit && a.price[j] < top) atomicAdd((hb_u64 *)&a.state[HB_A_USED], 1ull);
			a.owner[j] = i;
			a.item[i] = j;
			a.price[j] = (hb_i64)(a.bid[k] >> a.bits);
			if (left >= 0) a.item[left] = -1;
		}
		if (left >= 0) next[atomicAdd((hb_u64 *)&a.state[HB_A_NEXT], 1ull)] = left;
	}
	__syncthreads();
}

// hb_auction_start begins a batch: price is set, best and state are 0, owner
// and item −1. One block each.
HB_KERNEL __launch_bounds__(HB_AUCTION_SETTLERS) hb_auction_start(const hb_market *markets) {
	hb_market a = markets[blockIdx.y];
	for (hb_i32 i = threadIdx.x; i < a.m; i += blockDim.x) a.work[i] = i;
	if (threadIdx.x == 0) {
		a.state[HB_A_MODE] = HB_A_BID;
		a.state[HB_A_EPS] = a.first;
		a.state[HB_A_LAST] = a.last;
		a.state[HB_A_COUNT] = a.m;
		a.state[HB_A_PHASES] = 1;
	}
	__syncthreads();
	if (a.implicit) hb_auction_window(a);
}

// hb_auction_bid lets all rows of the list bid, or when ε has just fallen
// lets those go that are not content.
HB_KERNEL __launch_bounds__(HB_AUCTION_BIDDERS) hb_auction_bid(const hb_market *markets) {
	hb_market a = markets[blockIdx.y];
	hb_i64 mode = a.state[HB_A_MODE], side = a.state[HB_A_SIDE];
	if (mode == HB_A_STOP) return;
	hb_i32 *next = a.work + (hb_i64)(1 - side) * a.m;
	if (mode == HB_A_CHECK) hb_auction_rows(a, HB_A_CONTENT, 0, a.m, blockIdx.x, gridDim.x, next);
	else hb_auction_rows(a, HB_A_OFFER, a.work + side * a.m, a.state[HB_A_COUNT], blockIdx.x, gridDim.x, next);
}

// hb_auction_turn ends a round: the rows that are left become the list. True if
// there are none and ε is the last. Thread 0.
HB_DEVICE bool hb_auction_turn(const hb_market &a) {
	volatile hb_i64 *s = a.state;
	if (s[HB_A_MODE] == HB_A_BID) {
		s[HB_A_ROUNDS] = s[HB_A_ROUNDS] + 1;
		s[HB_A_BIDS] = s[HB_A_BIDS] + s[HB_A_COUNT];
	}
	s[HB_A_COUNT] = s[HB_A_NEXT];
	s[HB_A_NEXT] = 0;
	s[HB_A_SIDE] = 1 - s[HB_A_SIDE];
	s[HB_A_MODE] = HB_A_BID;
	if (s[HB_A_OVER]) return true;
	if (s[HB_A_COUNT] > 0) return false;
	if (s[HB_A_EPS] <= s[HB_A_LAST]) return true;
	hb_i64 less = s[HB_A_EPS] / HB_AUCTION_THETA, last = s[HB_A_LAST];
	s[HB_A_EPS] = less > last ? less : last;
	s[HB_A_MISSED] = 1;
	s[HB_A_PHASES] = s[HB_A_PHASES] + 1;
	s[HB_A_MODE] = HB_A_CHECK;
	return false;
}

// hb_auction_settle sells what was bid for, and goes on by itself while there
// are few bidders.
HB_KERNEL __launch_bounds__(HB_AUCTION_SETTLERS) hb_auction_settle(const hb_market *markets, hb_u64 *finished, hb_i64 *result) {
	__shared__ bool stop;
	hb_market a = markets[blockIdx.y];
	volatile hb_i64 *s = a.state;
	if (s[HB_A_MODE] == HB_A_STOP) return;
	for (hb_i32 inside = 0;; inside++) {
		hb_i64 count = s[HB_A_COUNT], side = s[HB_A_SIDE], mode = s[HB_A_MODE];
		hb_i32 *list = a.work + side * a.m, *next = a.work + (1 - side) * a.m;
		if (inside > 0) {
			hb_auction_rows(a, HB_A_OFFER, list, count, 0, 1, next);
			__syncthreads();
		}
		if (mode == HB_A_BID) hb_auction_sell(a, list, count, next);
		__syncthreads();
		if (threadIdx.x == 0) stop = hb_auction_turn(a);
		__syncthreads();
		if (stop) break;
		if (a.implicit && (s[HB_A_MISSED] || s[HB_A_USED] * 2 >= s[HB_A_WINDOW])) hb_auction_window(a);
		__syncthreads();
		if (s[HB_A_MODE] != HB_A_BID || s[HB_A_COUNT] > (a.group ? HB_AUCTION_GROUP : HB_AUCTION_TAIL) || inside >= HB_AUCTION_INSIDE) return;
	}
	if (a.implicit) hb_auction_window(a); // for the proof
	if (threadIdx.x == 0) {
		s[HB_A_MODE] = HB_A_STOP;
		if (atomicAdd(finished, 1ull) + 1 == (hb_u64)a.batch) result[0] = 1;
	}
}

// hb_auction_proof finds what each row has, and the best it could have.
HB_KERNEL __launch_bounds__(HB_AUCTION_BIDDERS) hb_auction_proof(const hb_market *markets) {
	hb_market a = markets[blockIdx.y];
	if (a.state[HB_A_OVER]) return;
	hb_auction_rows(a, HB_A_PROOF, 0, a.m, blockIdx.x, gridDim.x, 0);
}

HB_DEVICE hb_u64 hb_auction_key(double x) {
	hb_u64 bits = (hb_u64)__double_as_longlong(x);
	return bits >> 63 ? ~bits : bits | 1ull << 63;
}

// hb_auction_survey finds the least and greatest of n values as keys, how many
// are no integers, and how many are not finite: out is {~0, 0, 0, 0} before.
HB_KERNEL hb_auction_survey(const HB_T *val, hb_i64 n, hb_u64 *out) {
	hb_u64 lo = ~0ull, hi = 0, broken = 0, strange = 0;
	HB_EACH(k, n) {
		double x = (double)val[k];
		if (!(x - x == 0)) {
			strange++;
			continue;
		}
		if (!HB_INTEGERS && (rint(x) != x || x > 9007199254740992.0 || x < -9007199254740992.0)) broken++;
		hb_u64 key = hb_auction_key(x);
		lo = min(lo, key);
		hi = max(hi, key);
	}
	for (hb_i32 d = HB_WARP / 2; d > 0; d /= 2) {
		lo = min(lo, __shfl_xor_sync(HB_FULL, lo, d));
		hi = max(hi, __shfl_xor_sync(HB_FULL, hi, d));
	}
	broken = hb_total(broken);
	strange = hb_total(strange);
	if (HB_AUCTION_LANE != 0) return;
	atomicMin(&out[0], lo);
	atomicMax(&out[1], hi);
	if (broken) atomicAdd(&out[2], broken);
	if (strange) atomicAdd(&out[3], strange);
}
