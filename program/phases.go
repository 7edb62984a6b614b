package program

import (
	"fmt"

	"github.com/hiveblas/hiveblas/semiring"
)

// Phase is one of several phases of an iteration: messages along edges, their sums, and a function
// of vertices, as in a superstep of a [Program] without phases (Medusa's Run of several EMV calls
// in one function; Zhong and He, IEEE TPDS 25(6), 2014, section 3.1). The fields without a comment
// are as of Program.
//
// The vertices that Apply leaves active send in the next phase, the vertices that the last phase
// leaves active in the next iteration. Vertices on which Apply does not run become inactive: a
// phase that keeps others active has Everywhere.
type Phase[V, E, M comparable] struct {
	Name string // for messages; "" means its number

	// Reverse sends messages against the edges: from the vertex at the end of an edge to the vertex
	// at its start. For functions, src is the vertex that sends and dst the vertex that receives,
	// and Vertex.Degree is the number of edges along which a vertex sends in the phase.
	Reverse bool
	All     bool // all vertices send, and not only the active ones

	Send   SendFunc[V, M]
	Gather GatherFunc[V, E, M]
	Edges  EdgesFunc[V, E, M] // an edge that it sets inactive is inactive in this phase

	Sum      semiring.Monoid[M]
	Messages MessagesFunc[V, M]

	Apply      ApplyFunc[V, M]
	Everywhere bool
	Skip       SkipFunc[V]
}

// ofPhase returns a phase as a program.
func (p *Program[V, E, M]) ofPhase(k int) *Program[V, E, M] {
	f := &p.Phases[k]
	name := f.Name
	if name == "" {
		name = fmt.Sprint(k)
	}
	return &Program[V, E, M]{Name: p.name() + ", phase " + name, Init: p.Init, Seeds: p.Seeds, Totals: p.Totals,
		Send: f.Send, Gather: f.Gather, Edges: f.Edges, Sum: f.Sum, Messages: f.Messages,
		Apply: f.Apply, Everywhere: f.Everywhere, Skip: f.Skip}
}

// Phase returns the functions as a phase of a program. It leaves out Init, Seeds, Halt, Totals and
// MaxIteration, which belong to the program.
func (f EdgeMessageVertex[V, E, M]) Phase() Phase[V, E, M] {
	p := f.Program()
	return Phase[V, E, M]{Name: f.Name, Edges: p.Edges, Sum: p.Sum, Messages: p.Messages, Apply: p.Apply, Everywhere: p.Everywhere}
}

// checkPhases is check of a program with phases.
func (o *outline) checkPhases(n int) error {
	bad := func(part, reason, remedy string) error { return &ProgramError{o.Name, part, reason, remedy} }
	if len(o.phases) == 0 {
		return bad("Phases", "has no phase", "give one, or leave it out")
	}
	for name, given := range map[string]bool{
		"Send": o.Sends, "Gather": o.gather.given || o.gatherIf.given, "Edges": o.Edges, "Sum": o.sums(), "Messages": o.Messages,
		"Apply": o.apply.given, "Everywhere": o.Everywhere, "Skip": o.Skips,
	} {
		if given {
			return bad(name, "is given with Phases", "give it to the phases")
		}
	}
	switch {
	case o.Priority:
		return bad("Priority", "is given with Phases, which run one after another", "leave it out")
	case o.Idempotent:
		return bad("Idempotent", "is given with Phases, whose messages differ", "leave it out")
	case o.supersteps < 0:
		return bad("Supersteps", fmt.Sprintf("is %d", o.supersteps), "use 0 for no limit")
	}
	for _, p := range o.phases {
		if err := p.check(n); err != nil {
			return err
		}
	}
	return nil
}
