package device

// Assigner is a Backend that also assigns rows to columns by auction. Package
// auction has checked shapes, costs and parameters, and picks the scale in which
// prices are integers.
type Assigner interface {
	Backend

	// Survey looks through the values of a matrix of numbers.
	Survey(c Call, a Operand) (Survey, error)
	// Auction runs auctions, each to its end, all in the same launches. They are
	// over costs of one type and one form: full, or listed.
	Auction(c Call, batch []Market) ([]Assigned, error)
}

// Survey is what a look through values tells.
type Survey struct {
	Lo, Hi   float64 // of the finite ones, 0 and 0 if there are none
	Integers bool    // all finite ones are integers up to 2⁵³
	Strange  int64   // how many are NaN or infinite
	Entries  int64
}

// Market is an auction of the columns of a matrix among its rows, no more of
// these than of those. Row i values column j at round(Scale·a(i,j)) − price(j),
// and a column that it has no entry for, if Implicit, at Default − price(j).
type Market struct {
	Costs    Operand
	Scale    float64 // an integer if the costs are
	Implicit bool
	Default  int64
	Missing  float64 // the cost that Default is worth
	Span     int64   // the greatest of the scaled costs less the least
	Prices   []int64 // to start from, of each column, from 0 up; nil for 0
	// First and Last are the ε to begin and to end with, integers of 1 or more.
	First, Last int64
	Seed        uint64
}

// Assigned is what came of a Market.
type Assigned struct {
	Col    []int32   // of each row
	Prices []int64   // of each column
	Worth  []int64   // round(Scale·a) of each row's pair
	Cost   []float64 // a of each row's pair
	Best   []int64   // the greatest value of each row at the prices
	Over   bool      // prices have exceeded what can be counted, and the rest means nothing
	Phases int64
	Rounds int64
	Bids   int64
	Ran    Ran
}
