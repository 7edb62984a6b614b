package apps

import (
	"github.com/hiveblas/hiveblas/apps/sgm"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
)

// SGMStart is the point at which a search of SGM starts. See [sgm.SGMStart].
type SGMStart = sgm.SGMStart

// AutoStart is a value of SGMStart. See [sgm.AutoStart].
const AutoStart = sgm.AutoStart

// SparseStart is a value of SGMStart. See [sgm.SparseStart].
const SparseStart = sgm.SparseStart

// Barycentre is a value of SGMStart. See [sgm.Barycentre].
const Barycentre = sgm.Barycentre

// RandomStart is a value of SGMStart. See [sgm.RandomStart].
const RandomStart = sgm.RandomStart

// A SeedPair says that vertex A of the first graph is vertex B of the second. See [sgm.SeedPair].
type SeedPair = sgm.SeedPair

// FirstSeeds returns the pairs (0, 0), (1, 1), …, (n−1, n−1). See [sgm.FirstSeeds].
func FirstSeeds(n int) []SeedPair {
	return sgm.FirstSeeds(n)
}

// SGMOptions are the settings of SGM. See [sgm.SGMOptions].
type SGMOptions = sgm.SGMOptions

// SGMIteration is the record of one step. See [sgm.SGMIteration].
type SGMIteration = sgm.SGMIteration

// SGMResult is the result of SGM. See [sgm.SGMResult].
type SGMResult = sgm.SGMResult

// SGM looks for the matching of the vertices of two graphs of n vertices, given some pairs that
// correspond, under which their edges disagree least: the permutation matrix P that minimises ‖A
// − PBPᵀ‖². See [sgm.SGM].
func SGM[T semiring.Float](a matrix.Source[T], b matrix.Source[T], seeds []SeedPair, opts ...SGMOptions) (*SGMResult, error) {
	return sgm.SGM(a, b, seeds, opts...)
}
