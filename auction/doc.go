// Package auction solves the linear sum assignment problem: assign a column of its own to each row
// of a cost matrix (with more rows than columns, a row to each column), so that the sum of the
// costs is least, or with Options.Maximize largest:
//
//	minimise Σ c(i, σ(i)) over one-to-one σ
//
// Costs are dense, sparse (a missing entry is a forbidden pair) or implicit (a missing entry has a
// default cost, and no n×n array is allocated), with offsets of rows and columns added. Two methods
// solve them: shortest augmenting paths, which are exact (Jonker and Volgenant, 1987), and
// Bertsekas' auction, in which rows bid for columns and prices rise by at least ε with each bid
// (Bertsekas, 1988). Every result carries a bound on its distance from the optimum.
//
//	res, err := auction.Solve(auction.Dense[int](costs), auction.Options{})
//	// res.Row[i] is the column of row i, res.Sum the sum of the costs
package auction
