// Package program runs graph programs: a user writes a few small functions of edges, messages and
// vertices, and the package does the rest.
//
// A [Program] is bulk-synchronous. In a superstep every active vertex sends a message along its
// out-edges; the messages to a vertex are summed by a monoid; Apply takes the state of a vertex and
// the sum to its new state, and says whether the vertex is active in the next superstep. A run ends
// when no vertex is active, when Halt says so, or at a limit of supersteps. Every function of a
// superstep reads the states from before it.
//
//	levels := program.Program[int32, bool, int32]{
//		Init:  program.Value(int32(-1)),
//		Seeds: program.At(source, int32(0)),
//		Send:  program.Send(func(_ program.Vertex, l int32) int32 { return l + 1 }, "state + 1"),
//		Sum:   semiring.Any[int32](),
//		Apply: program.Apply(func(_ program.Vertex, _, sum int32) (int32, bool) {
//			return sum, true
//		}, "state = sum"),
//		Skip:  program.Skip(func(level int32) bool { return level >= 0 }, "state >= 0"),
//	}
//	res, err := program.Run(ctx, graph.Pattern(), levels)
//
// The messages of a superstep are pushed by their sources or pulled by their destinations, and
// results do not depend on this choice or on the number of threads. Floating-point sums are the
// exception: a pull and a push may round differently, though each of them always rounds alike.
//
// A program runs where its graph lives. On a device it needs the CUDA text of each function, and a
// superstep runs by any plan of package cusparse/space.
//
// Three other ways to write a program are thin faces of Program: [GatherSumApply] (GRAssembler:
// Jeong et al., 2022), [EdgeMessageVertex] (Medusa: Zhong and He, IEEE TPDS 25(6), 2014) and
// [EdgeVertex] (Zhong et al., IEEE TPDS 28(4), 2017). Package examples holds the programs of these
// papers.
//
// docs/programs.md introduces the package to users of Pregel and Medusa.
package program
