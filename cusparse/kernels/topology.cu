// The edges of a matrix in one of the layouts. Host: struct topologyArg.
//
// A layout offers, for a row at place r:
//   hb_vertex(g, r)            the row's number
//   hb_place(g, v)             the place of row v, −1 if it has none
//   hb_row(g, r, base, deg)    where its edges begin and how many slots it has
//   hb_edge(g, r, base, k, u, p)  slot k: the column u and the place p of the value; false if the
//                              slot holds no edge, and then u and p may be read all the same
// and for all slots in a row, e = 0 … hb_slots(g)−1:
//   hb_slot(g, e, r, u, p)     likewise, with the place r of the row

struct hb_topology {
	const hb_i64 *ptr;    // offsets of rows; sell: of groups; ell, dia: of the rest
	const void *idx;      // columns, 32-bit or with csr16 16-bit
	const hb_i32 *rows;   // coo: the row of each entry; hyper, sell: the row at each place
	const hb_i32 *places; // sell: the place of each row
	const hb_i32 *extra;  // dia: the diagonals; sell: the entries of each place
	const void *present;  // dia: a word for each row, bit d: it has an entry on diagonal d
	const void *val;
	hb_i64 nvals; // entries; ell, dia: entries of the rest
	hb_i64 pitch; // ell, dia: places of a column of slots; sell: all slots
	hb_i32 nrows, ncols, nplaces, width;
};
