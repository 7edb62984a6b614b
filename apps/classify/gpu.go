package classify

import (
	_ "embed"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
)

//go:embed kernels/match.cu
var matchText string

// Constants of kernels/match.cu.
const (
	matchBlock    = 512 // threads of kernels that sum columns
	matchChunk    = 256 // edges of a task
	matchLevels   = 4   // sums over all messages of a pattern edge
	matchSumBytes = 16  // hb_sum
)

func init() { device.Describe("ac", device.AnyType(matchProgram)) }

func matchProgram() device.Program {
	return workflow.GraphProgram("match", "a pattern", matchText, map[string]any{
		"HB_MATCH_BLOCK": matchBlock, "HB_MATCH_CHUNK": matchChunk,
		"HB_MATCH_LEVELS": matchLevels, "HB_MATCH_SUM_BYTES": matchSumBytes,
	})
}

// attributedAt is a graph with features on a device.
type attributedAt struct{ vertices, edges, source, target device.Operand }

func (a *Attributed) at(s *ops.Steps, at device.Backend) attributedAt {
	return attributedAt{
		vertices: workflow.OperandAt(s, at, a.Vertices), edges: workflow.OperandAt(s, at, a.Edges),
		source: workflow.OperandAt(s, at, a.Source), target: workflow.OperandAt(s, at, a.Target),
	}
}

// fusedClassify is Classify on a device.
func fusedClassify(
	at device.Runner, data, pattern *Attributed, rounds int, o ClassifyOptions,
) (*matrix.Matrix[float32], error) {
	var steps ops.Steps
	d, p := data.at(&steps, at), pattern.at(&steps, at)
	if !steps.OK() {
		return nil, steps.Err()
	}
	var found device.Store
	ran := device.Ran{Method: "messages"}
	err := at.Run(workflow.Call(o.Run, "Classify"), func(s *device.Session) {
		m := newClassifier(s, d, p, o.Memory)
		if m == nil {
			return
		}
		ran.Work = int64(rounds) * m.edges * int64(m.q)
		found = s.Result(m.match(d, p, rounds, o.CorrectedGather), -1)
	})
	if err != nil {
		return nil, err
	}
	workflow.Report(o.Run, "messages", int64(rounds), int64(rounds))
	n, _ := data.Dims()
	np, _ := pattern.Dims()
	mu := matrix.New[float32](n, np, matrix.On(at.Place()))
	access.SetRemote(mu, found)
	workflow.TraceRan(o.Run, at, "Classify", ran, int64(n)*int64(np))
	return mu, nil
}

// classifier is the state of fusedClassify. kernels/match.cu uses the same names.
type classifier struct {
	*device.Session
	code          device.Code
	n, np, q      int // vertices of the data and of the pattern, edges of the pattern
	edges         int64
	width         int           // pattern edges with distances in near at a time
	from, to      device.Buffer // source and target of each edge of the data
	out, in       device.View   // rows of edges out of and into each vertex of the data
	outTasks      *edgeTasks    // of out
	inTasks       *edgeTasks    // of in
	near          device.Buffer // −distance of data edges to pattern edges
	edge, pattern device.View   // features of edges
	partial, done device.Buffer // of sums of columns
}

// newClassifier makes what all kernels share, nil after an error.
func newClassifier(s *device.Session, d, p attributedAt, memory int64) *classifier {
	from, to, src := s.Rows(d.source), s.Rows(d.target), s.Rows(p.source)
	m := &classifier{
		Session: s, code: s.Program("apps: match", matchProgram),
		n: from.Cols, np: src.Cols, q: src.Rows, edges: int64(from.Rows),
		from: from.Idx, to: to.Idx, out: s.Cols(d.source), in: s.Cols(d.target),
	}
	m.width = m.q
	if row := 4 * max(m.edges, 1); memory > 0 && memory/row < int64(m.q) {
		m.width = int(max(memory/row, 1))
	}
	m.near = s.Alloc(4 * m.edges * int64(m.width))
	m.edge, m.pattern = s.Dense(d.edges), s.Dense(p.edges)
	m.outTasks, m.inTasks = m.tasksOf(d.source, m.out), m.tasksOf(d.target, m.in)
	if s.Err() != nil {
		return nil
	}
	most := int64(max(m.q, m.np))
	m.partial = s.Alloc(matchSumBytes * matchLevels * most * m.grid())
	m.done = s.Zeros(8 * ((most+matchBlock-1)/matchBlock + 1))
	return m
}

func (m *classifier) kernel(name string) device.Kernel { return m.Kernel(m.code, name) }

// grid is the number of blocks of kernels that sum columns.
func (m *classifier) grid() int64 { return 2 * int64(m.Multiprocessors()) }

// edgeTasks is the rows of an incidence matrix in pieces of at most matchChunk
// edges, kept with the matrix.
type edgeTasks struct {
	count   int64
	row, lo device.Buffer
}

// Drop frees the buffers.
func (t *edgeTasks) Drop() {
	t.row.Release()
	t.lo.Release()
}

// tasksOf cuts the rows of the transpose of an incidence matrix.
func (m *classifier) tasksOf(o device.Operand, rows device.View) *edgeTasks {
	t, _ := m.Kept(o, "apps: tasks of edges", func() device.Dropper {
		n := int64(rows.Rows)
		counts := m.Alloc(8 * n)
		m.Each(m.kernel("hb_match_counts"), n, rows.Ptr, n, counts)
		at := m.Scan(counts, n, 8)
		t := &edgeTasks{count: m.Read(at, n)}
		row, lo := m.Alloc(4*max(t.count, 1)), m.Alloc(8*max(t.count, 1))
		m.Each(m.kernel("hb_match_cut"), n, rows.Ptr, n, at, row, lo)
		if m.Err() == nil {
			t.row, t.lo = m.Retain(row), m.Retain(lo)
		}
		return t
	}).(*edgeTasks)
	return t
}

// columns launches a kernel that sums columns, over n rows.
func (m *classifier) columns(name string, columns int, args ...any) {
	width := min(columns, matchBlock)
	rows := int64(matchBlock / width)
	x := min(m.grid(), (int64(m.n)+rows-1)/rows)
	grid := [3]uint32{uint32(x), uint32((columns + width - 1) / width), 1}
	m.Launch(m.kernel(name), grid, [3]uint32{matchBlock, 1, 1}, 0, append(args, m.partial, m.done)...)
}

// tiles calls use for each tile of pattern edges, with their distances in near.
// A single tile is computed once.
func (m *classifier) tiles(made *bool, use func(first, width int32)) {
	for first := 0; first < m.q && m.Err() == nil; first += m.width {
		width := min(m.width, m.q-first)
		if !*made || m.width < m.q {
			m.Each(m.kernel("hb_match_near"), m.edges*int64(width), m.edge.Val, m.edges, m.pattern.Val,
				int32(m.q), int32(m.edge.Rows), int32(first), int32(width), m.near)
			*made = true
		}
		use(int32(first), int32(width))
	}
}

// pass finds the best message at each vertex over the edges of its row.
func (m *classifier) pass(
	rows device.View, tasks *edgeTasks, other, sent device.Buffer, first, width int32, into device.Buffer,
) {
	m.Blocks(m.kernel("hb_match_pass"), (tasks.count+7)/8, workflow.GraphBlock,
		tasks.count, tasks.row, tasks.lo, rows.Ptr, rows.Idx, other,
		m.near, width, sent, int32(m.q), first, into)
}

// mass adds up the shares of the edges of each row.
func (m *classifier) mass(
	rows device.View, tasks *edgeTasks, peak, shares device.Buffer, first, width int32,
) {
	m.Blocks(m.kernel("hb_match_mass"), (tasks.count+7)/8, workflow.GraphBlock,
		tasks.count, tasks.row, tasks.lo, rows.Ptr, rows.Idx,
		m.near, width, peak, int32(m.q), first, shares)
}

// match returns the beliefs, n×np.
func (m *classifier) match(d, p attributedAt, rounds int, corrected bool) device.View {
	belief := m.NewFull(m.n, m.np, workflow.FloatType)
	cells := int64(m.n) * int64(m.np)
	if cells == 0 {
		return belief
	}
	x, y := m.Dense(d.vertices), m.Dense(p.vertices)
	norm, peak, cost := m.Alloc(4*int64(m.np)), m.Alloc(4*int64(m.np)), m.Alloc(4*cells)
	m.Each(m.kernel("hb_match_near"), cells, x.Val, int64(m.n), y.Val, int32(m.np),
		int32(x.Rows), int32(0), int32(m.np), belief.Val)
	m.columns("hb_match_columns", m.np, belief.Val, int32(m.n), int32(m.np), norm, peak)
	m.Copy(cost, belief.Val, 4*cells)
	if m.n > 0 && m.q > 0 && rounds > 0 {
		m.rounds(p, rounds, corrected, norm, peak, cost, belief.Val)
	}
	m.Each(m.kernel("hb_match_end"), cells, cells, int32(m.np), norm, belief.Val)
	return belief
}

// rounds sends messages in both directions. On entry belief equals cost.
func (m *classifier) rounds(
	p attributedAt, rounds int, corrected bool, norm, peak, cost, belief device.Buffer,
) {
	links := int64(m.n) * int64(m.q)
	n, np, q := int32(m.n), int32(m.np), int32(m.q)
	src, dst, pout, pin := m.Rows(p.source), m.Rows(p.target), m.Cols(p.source), m.Cols(p.target)
	into, out, mass := m.Alloc(4*links), m.Alloc(4*links), m.Alloc(4*links)
	level := m.Alloc(matchSumBytes * matchLevels * int64(m.q))
	for _, x := range []device.Buffer{into, out} {
		m.Each(m.kernel("hb_match_clear"), links, x, links)
	}
	shares, made, none := m.Zeros(8*links), false, device.Buffer{}
	m.tiles(&made, func(first, width int32) {
		m.pass(m.in, m.inTasks, none, none, first, width, into)
		m.pass(m.out, m.outTasks, none, none, first, width, out)
		m.mass(m.out, m.outTasks, out, shares, first, width)
	})
	start := func(peaks, mass, level device.Buffer) {
		m.columns("hb_match_first", m.q,
			n, q, peaks, shares, mass, src.Idx, dst.Idx, norm, peak, level)
	}
	start(out, mass, level)
	back := mass
	if corrected {
		back = m.Alloc(4 * links)
		m.Fill(shares, 0, 8*links)
		m.tiles(&made, func(first, width int32) {
			m.mass(m.in, m.inTasks, into, shares, first, width)
		})
		start(into, back, none)
	}
	// The messages sent take the memory of shares, which is free now.
	vf, vr := shares, shares.At(4*links)
	m.Fill(shares, 0, 4*links)
	for range rounds {
		m.columns("hb_match_send", m.q, n, np, q, src.Idx, dst.Idx, belief, norm, vf, vr, into,
			out, corrected, back, mass, level)
		m.tiles(&made, func(first, width int32) {
			m.pass(m.in, m.inTasks, m.from, vr, first, width, into)
			if corrected {
				m.pass(m.out, m.outTasks, m.to, vf, first, width, out)
			}
		})
		m.columns("hb_match_believe", m.np, n, np, q, pin.Ptr, pin.Idx, pout.Ptr, pout.Idx, cost,
			vf, into, out, corrected, level, belief, norm)
		m.Check()
		if m.Err() != nil {
			return
		}
	}
}
