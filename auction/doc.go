// Package auction solves the linear sum assignment problem: each row of a cost
// matrix gets a column of its own (with more rows than columns, each column a
// row), so that the costs of the chosen positions add up to the least, or with
// Options.Maximize to the most.
//
//	minimise Σ c(i, σ(i)) over one-to-one σ
//
// Costs come dense, sparse (a missing entry is a forbidden pair) or implicit (a
// missing entry has a default cost, and no n×n array is ever made), with row and
// column offsets on top. Two methods solve them: shortest augmenting paths,
// which are exact (Jonker and Volgenant, 1987), and Bertsekas' auction, in which
// rows bid for columns and prices rise by at least ε with each bid (Bertsekas,
// 1988). Every result carries a bound on how far from the optimum it can be.
package auction
