package idioms

import (
	"math"

	"github.com/hiveblas/hiveblas/bench/gen"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// Iterations as in the GraphBLAS user guide, each beside its plain loop.

// pageRankIdiom takes 20 iterations; the rank of vertices without edges is not passed on.
func pageRankIdiom(g *gen.Graph, a *matrix.View[bool]) (*idiomRun, error) {
	const damping, iterations = .85, 20
	n := g.NRows
	ones, err := matrix.NewFullVector(n, true)
	if err != nil {
		return nil, err
	}
	var rank *matrix.Vector[float64]
	ours := func() (err error) {
		var s ops.Steps
		degree, share := matrix.NewVector[float64](n), matrix.NewVector[float64](n)
		s.Do(ops.MxV(degree, semiring.PlusPair[float64](), a, ones.Pattern()))
		rank, err = matrix.NewFullVector(n, 1/float64(n))
		s.Do(err)
		for k := 0; s.OK() && k < iterations; k++ {
			s.Do(ops.EWiseMult(share, semiring.Div[float64](), rank, degree))
			s.Do(ops.ApplySecond(share, semiring.Times[float64](), share, damping))
			s.Do(ops.AssignVectorScalar(rank, (1-damping)/float64(n), ops.All()))
			s.Do(ops.VxM(rank.Accum(semiring.Plus[float64]()), semiring.PlusFirst[float64](), share, a))
		}
		return s.Err()
	}
	want, share := make([]float64, n), make([]float64, n)
	loop := func() {
		for v := range want {
			want[v] = 1 / float64(n)
		}
		for range iterations {
			for v, r := range want {
				share[v] = damping * r / float64(max(1, len(g.Row(v))))
			}
			for v := range want {
				sum := (1 - damping) / float64(n)
				for _, w := range g.Row(v) {
					sum += share[w]
				}
				want[v] = sum
			}
		}
	}
	return &idiomRun{ours: ours, loop: loop, agree: func() error {
		return agree("rank", rank, 1e-12, func(i int) (float64, bool) { return want[i], true })
	}}, nil
}

// kCoreIdiom finds the core numbers of all vertices with edges, by rounds that delete the vertices
// of degree at most k. The loop sorts vertices into buckets by degree (Batagelj, Zaversnik, "An
// O(m) algorithm for cores decomposition of networks", 2003, arXiv:cs/0310049).
func kCoreIdiom(g *gen.Graph, a *matrix.View[bool]) (*idiomRun, error) {
	n := g.NRows
	ones, err := matrix.NewFullVector(n, true)
	if err != nil {
		return nil, err
	}
	var core *matrix.Vector[int32]
	ours := func() error {
		var s ops.Steps
		core = matrix.NewVector[int32](n)
		degree, low := matrix.NewVector[int32](n), matrix.NewVector[int32](n)
		lost, left := matrix.NewVector[int32](n), matrix.NewVector[int32](n)
		s.Do(ops.MxV(degree, semiring.PlusPair[int32](), a, ones.Pattern()))
		for k := int32(1); s.NVals(degree) > 0; k++ {
			s.Do(ops.Select(low, semiring.ValueLE(k), degree))
			for s.NVals(low) > 0 {
				s.Do(ops.AssignVectorScalar(core.Masked(low.Structure()), k, ops.All()))
				s.Do(ops.Apply(degree.Masked(low.Structure().Not()).Replace(), semiring.Identity[int32](), degree))
				s.Do(ops.VxM(lost.Masked(degree.Structure()).Replace(), semiring.PlusPair[int32](), low.Pattern(), a))
				s.Do(ops.EWiseMult(left, semiring.Minus[int32](), degree, lost))
				s.Do(ops.Apply(degree.Masked(left.Structure()), semiring.Identity[int32](), left))
				s.Do(ops.Select(low, semiring.ValueLE(k), left))
			}
		}
		return s.Err()
	}
	want := make([]int32, n)
	loop := buckets(g, want)
	return &idiomRun{ours: ours, loop: loop, agree: func() error {
		return agree("core number", core, 0, func(i int) (int32, bool) { return want[i], want[i] > 0 })
	}}, nil
}

// buckets returns the bucket queue, which fills in core numbers.
func buckets(g *gen.Graph, core []int32) func() {
	n := g.NRows
	most := 0
	for v := range n {
		most = max(most, len(g.Row(v)))
	}
	first := make([]int32, most+2) // where the vertices of each degree begin in order
	order, place := make([]int32, n), make([]int32, n)
	return func() {
		clear(first)
		for v := range n {
			core[v] = int32(len(g.Row(v)))
			first[core[v]+1]++
		}
		for d := range most + 1 {
			first[d+1] += first[d]
		}
		for v := range n {
			d := core[v]
			place[v] = first[d]
			order[first[d]] = int32(v)
			first[d]++
		}
		copy(first[1:], first[:most+1])
		first[0] = 0
		for _, v := range order {
			for _, u := range g.Row(int(v)) {
				if core[u] <= core[v] {
					continue
				}
				// u moves to the front of its bucket, which then begins after it.
				at, start := place[u], first[core[u]]
				w := order[start]
				order[at], place[w] = w, at
				order[start], place[u] = u, start
				first[core[u]]++
				core[u]--
			}
		}
	}
}

// misIdiom is Luby's algorithm: the candidates with a random score above the scores of all
// neighbours join the set, and leave the candidates with their neighbours.
func misIdiom(g *gen.Graph, a *matrix.View[bool]) (*idiomRun, error) {
	n := g.NRows
	score := func(v, round int) int64 { return int64(gen.Hash(uint64(v), uint64(round)) >> 1) }
	var set *matrix.Vector[bool]
	ours := func() error {
		var s ops.Steps
		set = matrix.NewVector[bool](n)
		candidates, err := matrix.NewFullVector(n, true)
		s.Do(err)
		scores, above := matrix.NewVector[int64](n), matrix.NewVector[int64](n)
		winners, removed := matrix.NewVector[bool](n), matrix.NewVector[bool](n)
		for round := 0; s.NVals(candidates) > 0; round++ {
			draw := semiring.NewIndex("score", func(_ bool, v, _ int) int64 { return score(v, round) })
			s.Do(ops.ApplyIndex(scores, draw, candidates))
			s.Do(ops.VxM(above.Masked(candidates.Structure()).Replace(), semiring.MaxFirst[int64](), scores, a))
			s.Do(ops.EWiseUnion(winners, semiring.Gt[int64](), scores, -1, above, -1))
			s.Do(ops.Select(winners, semiring.ValueEQ(true), winners))
			s.Do(ops.AssignVectorScalar(set.Masked(winners.Structure()), true, ops.All()))
			s.Do(ops.Apply(candidates.Masked(winners.Structure().Not()).Replace(), semiring.Identity[bool](), candidates))
			s.Do(ops.VxM(removed.Masked(candidates.Structure()).Replace(), semiring.AnyPair[bool](), winners.Pattern(), a))
			s.Do(ops.Apply(candidates.Masked(removed.Structure().Not()).Replace(), semiring.Identity[bool](), candidates))
		}
		return s.Err()
	}
	const candidate, member, out = 0, 1, 2
	state, draws := make([]uint8, n), make([]int64, n)
	left := make([]int32, 0, n)
	loop := func() {
		clear(state)
		left = left[:0]
		for v := range n {
			left = append(left, int32(v))
		}
		for round := 0; len(left) > 0; round++ {
			for _, v := range left {
				draws[v] = score(int(v), round)
			}
			var joined []int32
			for _, v := range left {
				wins := true
				for _, w := range g.Row(int(v)) {
					wins = wins && (state[w] != candidate || draws[v] > draws[w])
				}
				if wins {
					joined = append(joined, v)
				}
			}
			for _, v := range joined {
				state[v] = member
				for _, w := range g.Row(int(v)) {
					state[w] = out
				}
			}
			rest := left[:0]
			for _, v := range left {
				if state[v] == candidate {
					rest = append(rest, v)
				}
			}
			left = rest
		}
	}
	return &idiomRun{ours: ours, loop: loop, agree: func() error {
		members := matrix.NewVector[int32](n)
		if err := ops.Apply(members, semiring.OneOp[bool, int32](), set); err != nil {
			return err
		}
		return agree("member", members, 0, func(i int) (int32, bool) { return 1, state[i] == member })
	}}, nil
}

// gradientsIdiom solves Poisson's equation on a k×k grid by 60 steps of conjugate gradients. The
// loop applies the stencil without a matrix.
func gradientsIdiom(k int) (*idiomRun, error) {
	const steps = 60
	n := k * k
	b := matrix.NewBuilder[float64](n, n)
	grid := gen.CSR(gen.Grid2D(k, k))
	rhs := make([]float64, n)
	for v := range n {
		b.Add(v, v, 4)
		for _, w := range grid.Row(v) {
			b.Add(v, int(w), -1)
		}
		rhs[v] = math.Sin(float64(v))
	}
	a, err := b.Build(nil)
	if err != nil {
		return nil, err
	}
	plus, times := semiring.Plus[float64](), semiring.Times[float64]()
	var x *matrix.Vector[float64]
	ours := func() (err error) {
		var s ops.Steps
		x, err = matrix.NewFullVector(n, 0.0)
		s.Do(err)
		r, err := matrix.VectorOf(append([]float64(nil), rhs...))
		s.Do(err)
		p, q, t := r.Clone(), matrix.NewVector[float64](n), matrix.NewVector[float64](n)
		dot := func(u, v *matrix.Vector[float64]) float64 {
			s.Do(ops.EWiseMult(t, times, u, v))
			sum, err := ops.ReduceScalar(plus, t)
			s.Do(err)
			return sum
		}
		square := dot(r, r)
		for step := 0; s.OK() && step < steps; step++ {
			s.Do(ops.MxV(q, semiring.PlusTimes[float64](), a, p))
			alpha := square / dot(p, q)
			s.Do(ops.ApplyFirst(x.Accum(plus), times, alpha, p))
			s.Do(ops.ApplyFirst(r.Accum(plus), times, -alpha, q))
			next := dot(r, r)
			s.Do(ops.ApplyFirst(p, times, next/square, p))
			s.Do(ops.EWiseAdd(p, plus, p, r))
			square = next
		}
		return s.Err()
	}
	want := make([]float64, n)
	loop := stencilGradients(k, steps, rhs, want)
	return &idiomRun{ours: ours, loop: loop, agree: func() error {
		return agree("x", x, 1e-9, func(i int) (float64, bool) { return want[i], true })
	}}, nil
}

// stencilGradients returns the plain loop of conjugate gradients, which fills in x.
func stencilGradients(k, steps int, rhs, x []float64) func() {
	n := k * k
	r, p, q := make([]float64, n), make([]float64, n), make([]float64, n)
	dot := func(u, v []float64) (sum float64) {
		for i, y := range u {
			sum += y * v[i]
		}
		return sum
	}
	return func() {
		clear(x)
		copy(r, rhs)
		copy(p, rhs)
		square := dot(r, r)
		for range steps {
			for i := range k {
				for j := range k {
					v := i*k + j
					sum := 4 * p[v]
					if i > 0 {
						sum -= p[v-k]
					}
					if j > 0 {
						sum -= p[v-1]
					}
					if j+1 < k {
						sum -= p[v+1]
					}
					if i+1 < k {
						sum -= p[v+k]
					}
					q[v] = sum
				}
			}
			alpha := square / dot(p, q)
			for v := range n {
				x[v] += alpha * p[v]
				r[v] -= alpha * q[v]
			}
			next := dot(r, r)
			for v := range n {
				p[v] = r[v] + next/square*p[v]
			}
			square = next
		}
	}
}
