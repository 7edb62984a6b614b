// A layout of a user's own: rows stand as they are, and the text that follows reads them.
HB_DEVICE hb_i32 hb_vertex(const hb_topology &g, hb_i32 r) { return r; }
HB_DEVICE hb_i32 hb_place(const hb_topology &g, hb_i32 v) { return v; }
HB_DEVICE hb_i64 hb_slots(const hb_topology &g) { return g.nvals; }
