// The rows that a kernel walks: all places of the layout (HB_FRONTIER 0), the places of a list of
// rows (1), or the places with their presence byte set (2).

struct hb_items {
	const hb_i32 *list;
	const hb_u8 *present;
	hb_i64 count; // of the list, or of the layout's places
};

// hb_task is a row that a thread has taken: its place, number, and the place of its value in the
// frontier, which is its place in the list unless x is dense (HB_X_AT). A task with r < 0 has no
// edges.
struct hb_task {
	hb_i32 r, v, at, deg;
	hb_i64 base;
};

HB_DEVICE hb_i32 hb_item(const hb_topology &g, const hb_items &items, hb_i64 i) {
#if HB_FRONTIER == 1
	return hb_place(g, items.list[i]);
#elif HB_FRONTIER == 2
	return items.present[hb_vertex(g, (hb_i32)i)] ? (hb_i32)i : -1;
#else
	return (hb_i32)i;
#endif
}

// hb_take takes item i. A row that the mask excludes has its result written here.
HB_DEVICE hb_task hb_take(const hb_topology &g, const hb_items &items, const hb_op &op, hb_i64 i) {
	hb_task t = {-1, -1, 0, 0, 0};
	if (i >= items.count) return t;
	t.r = hb_item(g, items, i);
	if (t.r < 0) return t;
	t.v = hb_vertex(g, t.r);
	t.at = HB_FRONTIER == 1 && !HB_X_AT ? (hb_i32)i : t.v;
	if (hb_wanted(op, t.v)) hb_row(g, t.r, t.base, t.deg);
	return t;
}
