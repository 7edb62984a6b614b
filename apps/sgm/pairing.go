package sgm

import (
	"fmt"
	"slices"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/matching"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// A pairing is two graphs of one order n, and which of their vertices may be matched.
type pairing[T semiring.Float] struct {
	candidates
	sums[T]
	a, b      *matrix.View[T]    // n×n
	host      [2]*matrix.View[T] // the graphs on the host, nil before they are needed
	pair      *matching.Pair     // the graphs without element types, nil before it is needed
	like      *matrix.Matrix[T]  // similarities at the free positions, nil without
	likeHost  *matrix.View[T]    // of all vertices, on the host
	mostLike  float64            // a bound of ⟨like, P⟩
	rounds    []matching.Colours // of the first rounds of refinement
	symmetric bool               // A and B are
}

// candidates are the vertices of two graphs of one order n that may be matched.
type candidates struct {
	opts         SGMOptions
	n            int
	realA, realB int // vertices before padding
	seeds        []SeedPair
	// rows and cols are the free vertices of a and b, the vertices of a label together: class c is
	// positions ends[c−1] … ends[c]−1 of both. A matching of positions maps rows to cols.
	rows, cols []int
	ends       []int
	soft       []SeedPair  // seeds as positions
	known      map[int]int // the seeds given, by vertex of A
	small      int64       // smallRepair
}

func newPairing[T semiring.Float](a, b *matrix.View[T], seeds []SeedPair, opts SGMOptions) (*pairing[T], error) {
	p := &pairing[T]{candidates: candidates{opts: opts, seeds: seeds, known: map[int]int{}, small: smallRepair}}
	for _, s := range seeds {
		p.known[s.A] = s.B
	}
	var err error
	if p.realA, err = workflow.Square("SGM", a); err != nil {
		return nil, err
	}
	if p.realB, err = workflow.Square("SGM", b); err != nil {
		return nil, err
	}
	if p.realA != p.realB && !opts.Pad {
		return nil, &matrix.DimensionError{Op: "SGM", Arg: "b", Got: fmt.Sprintf("%d×%d", p.realB, p.realB), Want: fmt.Sprintf("%d×%d", p.realA, p.realA),
			Remedy: "set Pad to add isolated vertices to the smaller graph"}
	}
	if err := p.checkSeeds(); err != nil {
		return nil, err
	}
	for _, g := range []*matrix.View[T]{a, b} {
		if err := checkFinite("SGM", g, opts.Run); err != nil {
			return nil, err
		}
	}
	if err := p.arrange(); err != nil {
		return nil, err
	}
	if p.a, err = padded(a, p.n, opts.Run); err != nil {
		return nil, err
	}
	if p.b, err = padded(b, p.n, opts.Run); err != nil {
		return nil, err
	}
	p.sums = sums[T]{p.a.Place(), workflow.With(opts.Run)}
	if err := p.compare(); err != nil {
		return nil, err
	}
	return p, p.resemble()
}

// compare sets symmetric.
func (p *pairing[T]) compare() error {
	var s ops.Steps
	skew := func(a *matrix.View[T]) float64 {
		if access.Symmetric(a) {
			return 0
		}
		d, err := p.distance(a, a.T())
		s.Do(err)
		return d
	}
	p.symmetric = skew(p.a)+skew(p.b) == 0
	return s.Err()
}

// onHost returns the graphs on the host.
func (p *pairing[T]) onHost() (a, b *matrix.View[T], err error) {
	for k, g := range []*matrix.View[T]{p.a, p.b} {
		if p.host[k] == nil && p.place == nil {
			p.host[k] = g
		}
		if p.host[k] != nil {
			continue
		}
		var s ops.Steps
		copied := p.matrix(p.n, p.n)
		s.Do(ops.Apply(copied, semiring.Identity[T](), g, p.with))
		s.Do(copied.Move(nil))
		if !s.OK() {
			return nil, nil, s.Err()
		}
		p.host[k] = copied.View()
	}
	return p.host[0], p.host[1], nil
}

// cost is what a matching of positions leaves to gain: its disagreements, and how far its
// similarity is from an upper bound. It is 0 only where no matching is better.
func (p *pairing[T]) cost(t []int32) (float64, error) {
	apart, err := p.disagreements(t)
	if err != nil || p.like == nil {
		return apart, err
	}
	like, err := p.likeness(t)
	return apart + p.mostLike - like, err
}

// disagreements returns Σ|A − PBPᵀ|; with adopted padding the sum is over the vertices of both
// graphs alone.
func (p *pairing[T]) disagreements(t []int32) (float64, error) { return p.apart(p.whole(t)) }

// before returns the disagreements of vertices matched by number.
func (p *pairing[T]) before() (float64, error) {
	if !p.adopts() {
		return p.distance(p.a, p.b)
	}
	same := make([]int, p.n)
	for v := range same {
		same[v] = v
	}
	return p.apart(same)
}

func (p *pairing[T]) apart(match []int) (float64, error) {
	a := p.a
	if p.adopts() {
		var some, to []int
		for v, w := range match[:p.realA] {
			if w < p.realB {
				some, to = append(some, v), append(to, w)
			}
		}
		part := p.matrix(len(some), len(some))
		if err := ops.Extract(part, a, ops.Of(some...), ops.Of(some...), p.with); err != nil {
			return 0, err
		}
		a, match = part.View(), to
	}
	b := p.matrix(len(match), len(match))
	if err := ops.Extract(b, p.b, ops.Of(match...), ops.Of(match...), p.with); err != nil {
		return 0, err
	}
	return p.distance(a, b)
}

// adopts reports whether there is padding, and it is adopted.
func (p *candidates) adopts() bool {
	return p.opts.Adopted && (p.realA < p.n || p.realB < p.n)
}

func (p *candidates) checkSeeds() error {
	usedA, usedB := map[int]bool{}, map[int]bool{}
	for k, s := range p.seeds {
		if err := workflow.Vertex("SGM", fmt.Sprintf("seeds[%d].A", k), s.A, p.realA); err != nil {
			return err
		}
		if err := workflow.Vertex("SGM", fmt.Sprintf("seeds[%d].B", k), s.B, p.realB); err != nil {
			return err
		}
		if usedA[s.A] || usedB[s.B] {
			return workflow.AboutPairs("SGM", fmt.Sprintf("seeds[%d]", k), "({0}, {other}), a vertex of which was given before", "each vertex once", []int{s.A}, []int{s.B})
		}
		usedA[s.A], usedB[s.B] = true, true
	}
	return nil
}

// checkFinite returns a *WeightError if a weight is NaN or infinite.
func checkFinite[T semiring.Float](app string, a *matrix.View[T], run workflow.Run) error {
	m, n := a.Dims()
	bad := matrix.New[T](m, n, matrix.On(a.Place()))
	infinite := semiring.NewSelect("infinite", func(x T, _, _ int) bool { return x-x != 0 }, "x - x != 0")
	var s ops.Steps
	s.Do(ops.Select(bad, infinite, a, workflow.With(run)))
	if s.NVals(bad) == 0 {
		return s.Err()
	}
	for at, x := range bad.All() {
		return &workflow.WeightError{App: app, Row: at.Row, Col: at.Col, Got: fmt.Sprint(x), Want: "a finite number"}
	}
	return bad.Err()
}

// padded returns a with isolated vertices added up to n.
func padded[T semiring.Float](a *matrix.View[T], n int, run workflow.Run) (*matrix.View[T], error) {
	m, _ := a.Dims()
	if m == n {
		return a, nil
	}
	p := matrix.New[T](n, n, matrix.On(a.Place()))
	err := ops.Assign(p, a, ops.Span(0, m), ops.Span(0, m), workflow.With(run))
	return p.View(), err
}

// arrange lists the free vertices, class by class, with padding where the
// graphs have different numbers of a label.
func (p *candidates) arrange() error {
	labelsA, err := p.labels("LabelsA", p.opts.LabelsA, p.realA)
	if err != nil {
		return err
	}
	labelsB, err := p.labels("LabelsB", p.opts.LabelsB, p.realB)
	if err != nil {
		return err
	}
	if (labelsA == nil) != (labelsB == nil) {
		return &workflow.ParameterError{App: "SGM", Arg: "LabelsA or LabelsB", Got: "nil", Want: "labels of both graphs, or of neither"}
	}
	if labelsA == nil {
		labelsA, labelsB = make([]int32, p.realA), make([]int32, p.realB)
	}
	for k, s := range p.seeds {
		if labelsA[s.A] != labelsB[s.B] {
			return &workflow.ParameterError{App: "SGM", Arg: fmt.Sprintf("seeds[%d]", k), Got: fmt.Sprintf("a vertex of label %d and one of %d", labelsA[s.A], labelsB[s.B]), Want: "vertices of one label"}
		}
	}
	if labelsA, labelsB, err = p.level(labelsA, labelsB); err != nil {
		return err
	}
	p.n = len(labelsA)
	fixedA, fixedB := make([]bool, p.n), make([]bool, p.n)
	if p.opts.HardSeeds {
		for _, s := range p.seeds {
			fixedA[s.A], fixedB[s.B] = true, true
		}
	}
	p.rows, p.cols = byLabel(labelsA, fixedA), byLabel(labelsB, fixedB)
	for k := range p.rows {
		if k > 0 && labelsA[p.rows[k]] != labelsA[p.rows[k-1]] {
			p.ends = append(p.ends, k)
		}
	}
	p.ends = append(p.ends, len(p.rows))
	if !p.opts.HardSeeds {
		atA, atB := inverse(p.rows, p.n), inverse(p.cols, p.n)
		for _, s := range p.seeds {
			p.soft = append(p.soft, SeedPair{atA[s.A], atB[s.B]})
		}
	}
	return nil
}

func (p *candidates) labels(arg string, labels []int32, n int) ([]int32, error) {
	if labels != nil && len(labels) != n {
		return nil, &matrix.DimensionError{Op: "SGM", Arg: arg, Got: fmt.Sprint(len(labels)), Want: fmt.Sprint(n), Remedy: "give a label for each vertex"}
	}
	return labels, nil
}

// level appends the labels of padding, so that each label has as many vertices
// in one graph as in the other.
func (p *candidates) level(a, b []int32) (_, _ []int32, err error) {
	more := map[int32]int{} // in a than in b
	for _, l := range a {
		more[l]++
	}
	for _, l := range b {
		more[l]--
	}
	a, b = slices.Clone(a), slices.Clone(b)
	for l, d := range more {
		if d != 0 && !p.opts.Pad {
			return nil, nil, &workflow.ParameterError{App: "SGM", Arg: fmt.Sprintf("the number of vertices of label %d", l), Got: fmt.Sprintf("larger by %d in A", d), Want: "equal in both graphs, or Pad"}
		}
		a = append(a, slices.Repeat([]int32{l}, max(-d, 0))...)
		b = append(b, slices.Repeat([]int32{l}, max(d, 0))...)
	}
	return a, b, nil
}

// byLabel lists the vertices that are not fixed, by label and number.
func byLabel(labels []int32, fixed []bool) []int {
	list := make([]int, 0, len(labels))
	for v := range labels {
		if !fixed[v] {
			list = append(list, v)
		}
	}
	slices.SortStableFunc(list, func(u, v int) int { return int(labels[u]) - int(labels[v]) })
	return list
}

// inverse returns the position of each vertex in a list of some of n.
func inverse(list []int, n int) []int {
	at := make([]int, n)
	for k, v := range list {
		at[v] = k
	}
	return at
}

// whole returns the matching of all vertices that t, a matching of positions, and the fixed seeds
// make.
func (p *candidates) whole(t []int32) []int {
	match := make([]int, p.n)
	for _, s := range p.seeds {
		match[s.A] = s.B
	}
	for k, q := range t {
		match[p.rows[k]] = p.cols[q]
	}
	return match
}

// positions is the inverse of whole.
func (p *candidates) positions(match []int) []int32 {
	at := inverse(p.cols, p.n)
	t := make([]int32, len(p.rows))
	for k, v := range p.rows {
		t[k] = int32(at[match[v]])
	}
	return t
}

// inOrder reports whether a list is all n vertices in order.
func inOrder(list []int, n int) bool {
	for k, v := range list {
		if k != v {
			return false
		}
	}
	return len(list) == n
}
