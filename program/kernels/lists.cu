// Supersteps of programs with functions of whole lists: Edges (Medusa's ELIST) and Messages (MLIST;
// Zhong and He, Medusa, IEEE TPDS 25(6), 2014, table 1). Source: prelude + the sum + the program +
// program.cu + buffer.cu + this file. The host puts the functions of the user in the middle of this
// file (HB_USER). Host: lists_gpu.go, which defines
//   HB_LIST_EDGES     1 if the program has Edges, by the text hb_walk(edges, state, …)
//   HB_LIST_MESSAGES  1 if it has Messages, by the text hb_list(messages, state, …)
//   HB_CHANGES        1 if hb_change(message) changes each message that Edges sends
//
// With Edges, a superstep is: hb_program_walk to count the messages of each vertex, prefix sums,
//   hb_program_walk to write them in the order of their sources, a stable sort by destination,
//   hb_program_bounds, hb_program_group, and a kernel that reads the messages of each vertex.
// With Messages and no Edges, hb_program_post of buffer.cu writes them.
// hb_program_read_list reads them for Messages, hb_program_read_warps of buffer.cu for Sum.
//
// A thread walks the list of a vertex. Bound by its longest list, and else by scattered access.

#if HB_LIST_EDGES
// hb_edges is the out-edges of an active vertex, in ascending order of their ends. It has the
// functions of program.EdgeList under names of C.
struct hb_edges {
	hb_i32 hb_count, hb_n;
	const hb_i32 *hb_idx;
	const HB_E *hb_weights; // null: a pattern
	const HB_V *hb_states;
	hb_u8 *hb_idle;         // 1 where an edge is not active; null: all are
	hb_u64 hb_sent, hb_room;
	hb_u32 *hb_to;          // null: messages are counted
	HB_M *hb_mail;
	bool hb_failed;         // a message to no vertex; hb_lost holds the first
	hb_i64 hb_lost;

	__device__ __forceinline__ bool hb_has(hb_i64 k) const { return k >= 0 && k < hb_count; }
	__device__ __forceinline__ void hb_put(hb_i32 v, const HB_M &message) {
		if (hb_to && hb_sent < hb_room) {
			hb_to[hb_sent] = (hb_u32)v;
#if HB_CHANGES
			hb_mail[hb_sent] = hb_change(message);
#else
			hb_mail[hb_sent] = message;
#endif
		}
		hb_sent++;
	}

	// The number of edges.
	__device__ __forceinline__ hb_i32 len() const { return hb_count; }
	// The vertex at the end of edge k, −1 if there is no such edge; its state; the value of the
	// edge.
	__device__ __forceinline__ hb_i32 to(hb_i64 k) const { return hb_has(k) ? hb_idx[k] : -1; }
	__device__ __forceinline__ HB_V dst(hb_i64 k) const { return hb_has(k) ? hb_states[hb_idx[k]] : HB_V(); }
	__device__ __forceinline__ HB_E weight(hb_i64 k) const {
		return !hb_has(k) ? HB_E() : hb_weights ? hb_weights[k] : (HB_E)HB_UNIT;
	}
	// Whether edge k is active, as all are at the start of a run.
	__device__ __forceinline__ bool active(hb_i64 k) const { return hb_has(k) && (!hb_idle || hb_idle[k] == 0); }
	__device__ __forceinline__ void set_active(hb_i64 k, bool on) {
		if (hb_has(k) && hb_idle) hb_idle[k] = !on;
	}
	// A message along edge k, if it is active; along every active edge; to any vertex.
	__device__ __forceinline__ void send(hb_i64 k, const HB_M &message) {
		if (active(k)) hb_put(hb_idx[k], message);
	}
	__device__ __forceinline__ void send_all(const HB_M &message) {
		for (hb_i32 k = 0; k < hb_count; k++) send(k, message);
	}
	__device__ __forceinline__ void send_to(hb_i64 v, const HB_M &message) {
		if (v >= 0 && v < hb_n) {
			hb_put((hb_i32)v, message);
		} else if (!hb_failed) {
			hb_failed = true;
			hb_lost = v;
		}
	}
};

// hb_edge_of is one edge of a list, with the functions of program.Edge under names of C.
struct hb_edge_of {
	hb_edges &hb_list;
	const HB_V &hb_state;
	hb_i32 hb_k;

	__device__ __forceinline__ const HB_V &src() const { return hb_state; }
	__device__ __forceinline__ HB_V dst() const { return hb_list.dst(hb_k); }
	__device__ __forceinline__ HB_E weight() const { return hb_list.weight(hb_k); }
	__device__ __forceinline__ void send(const HB_M &message) { hb_list.send(hb_k, message); }
	__device__ __forceinline__ void set_active(bool on) { hb_list.set_active(hb_k, on); }
};
#endif

#if HB_LIST_MESSAGES
// hb_messages is the messages to a vertex, in ascending order of their sources. The function may
// change them.
struct hb_messages {
	HB_M *hb_first;
	hb_i64 hb_count;
	HB_M hb_none;

	__device__ __forceinline__ hb_i64 len() const { return hb_count; }
	// Message k; one that does not exist is zero.
	__device__ __forceinline__ HB_M &operator[](hb_i64 k) {
		if (k >= 0 && k < hb_count) return hb_first[k];
		hb_none = HB_M();
		return hb_none;
	}
	// sort sorts the messages by <, ascending (heapsort: O(n log n), no scratch). It is a template
	// so that messages without < have none.
	template <class T = HB_M> __device__ void sort() {
		T *const m = hb_first;
		hb_i64 root = hb_count / 2;
		for (hb_i64 end = hb_count; end > 1;) {
			T x;
			if (root > 0) {
				x = m[--root];
			} else {
				x = m[--end];
				m[end] = m[0];
			}
			hb_i64 at = root;
			for (hb_i64 child = 2 * at + 1; child < end; child = 2 * at + 1) {
				if (child + 1 < end && m[child] < m[child + 1]) child++;
				if (!(x < m[child])) break;
				m[at] = m[child];
				at = child;
			}
			m[at] = x;
		}
	}
};
#endif

HB_USER

#if HB_LIST_EDGES
// hb_program_walk runs Edges on the active vertices, a thread a vertex; active may be null: all
// are. Without to it writes the number of messages of each vertex to counts, hb_u64[n]. Of vertices
// that send a message to no vertex it writes the first to lost and that message's target to counts.
// With to, hb_u32[total], it writes targets and messages from offsets, hb_i64[n+1], on. Both calls
// find the same marks in idle, hb_u8[entries].
HB_KERNEL hb_program_walk(hb_i32 n, const hb_i64 *ptr, const hb_i32 *idx, const HB_E *weight, const HB_V *state, const hb_u8 *active, hb_u8 *idle,
	hb_i32 superstep, const double *total, hb_u64 *counts, hb_u64 *lost, const hb_i64 *offsets, hb_u32 *to, HB_M *mail) {
	HB_EACH(v, n) {
		const hb_i64 lo = ptr[v];
		const bool on = !active || active[v];
		if (!on || to && offsets[v] == offsets[v + 1] && !idle) {
			if (!to) counts[v] = 0;
			continue;
		}
		hb_edges edges = {(hb_i32)(ptr[v + 1] - lo), n, idx + lo, weight ? weight + lo : weight, state, idle ? idle + lo : idle,
			0, to ? (hb_u64)(offsets[v + 1] - offsets[v]) : 0, to ? to + offsets[v] : to, to ? mail + offsets[v] : mail, false, 0};
		hb_walk(edges, state[v], (hb_i32)v, HB_DEGREE(v), n, superstep, total);
		if (to) continue;
		counts[v] = edges.hb_sent;
		if (edges.hb_failed) {
			counts[v] = (hb_u64)edges.hb_lost;
			atomicMin(lost, (hb_u64)v);
		}
	}
}

// hb_program_bounds writes where the messages to each vertex begin, bounds hb_i64[n+1], given the
// sorted targets of m messages. A thread a vertex.
HB_KERNEL hb_program_bounds(hb_i32 n, hb_i64 m, const hb_u32 *sorted, hb_i64 *bounds) {
	HB_EACH(v, (hb_i64)n + 1) {
		hb_i64 lo = 0, hi = m;
		while (lo < hi) {
			const hb_i64 middle = lo + (hi - lo) / 2;
			if (sorted[middle] < (hb_u64)v) lo = middle + 1;
			else hi = middle;
		}
		bounds[v] = lo;
	}
}

// hb_program_group writes the messages in the order of their targets. A thread a message.
HB_KERNEL hb_program_group(hb_i64 m, const hb_u32 *places, const HB_M *mail, HB_M *buffer) {
	HB_EACH(k, m) buffer[k] = mail[places[k]];
}
#endif

#if HB_LIST_MESSAGES
// hb_program_read_list runs Messages on each vertex that has a message, with every on all; a thread
// a vertex. The messages to v stand in buffer from bounds[v] to bounds[v+1]; sent may be null: each
// place has one. Those that exist are moved to the front, in their order.
HB_KERNEL hb_program_read_list(hb_i32 n, const hb_i64 *ptr, const HB_V *state, const hb_u8 *closed, const hb_i64 *bounds, HB_M *buffer, const hb_u8 *sent,
	hb_i32 every, hb_i32 superstep, const double *total, HB_M *sums, hb_u8 *hit) {
	HB_EACH(v, n) {
		const hb_i64 lo = bounds[v], end = bounds[v + 1];
		hb_i64 m = end - lo;
		const bool shut = closed && closed[v];
		if (sent && !shut) {
			m = 0;
			for (hb_i64 k = lo; k < end; k++)
				if (sent[k]) {
					if (lo + m < k) buffer[lo + m] = buffer[k];
					m++;
				}
		}
		const bool go = !shut && (m > 0 || every);
		hit[v] = go;
		if (!go) continue;
		hb_messages messages = {buffer + lo, m, HB_M()};
		sums[v] = hb_list(messages, state[v], (hb_i32)v, HB_DEGREE(v), n, superstep, total);
	}
}
#endif
