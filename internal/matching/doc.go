// Package matching finds matchings of the vertices of two graphs, and improves them by local
// search.
//
// [Pair.Align] finds the matching under which two graphs are equal, by refinement of cells of
// vertices and by pairs that become cells of their own. [Pair.Grow] matches vertices by percolation
// from some pairs. Both see graphs without element types, as a [Pair].
//
// Two graphs A and B of n vertices disagree under a matching P at the entries of |A − PBPᵀ|. The
// Frank–Wolfe steps of apps.SGM move all vertices at once. Where few edges disagree, such a step
// gains little for its price. [Improve] takes the same steps for a few vertices at a time, with all
// others fixed: a search of large neighbourhoods (Shaw, "Using constraint programming and local
// search methods to solve vehicle routing problems", CP 1998). Its parts are
//
//	tally   the disagreements of each vertex, kept up to date while a few vertices move
//	patch   the gradient ÂPB̂ᵀ of a few vertices and their partners, from their edges alone
//	search  chooses the vertices of an attempt, assigns them and keeps what is no worse
//
// An attempt takes the time of the edges of its vertices and of an assignment problem of that size,
// plus O(n) to list the vertices at which edges disagree. Everything runs on the host: problems of
// so few vertices do not fill a device. Results depend on neither the clock nor the number of
// threads.
package matching
