// Package spmd is what runs on a group of ranks have in common: a [Session] with one way to agree
// on errors, collectives over lists of any plain type, and the ways in which work is cut. The
// operations of package ops, graph programs and workflows are divided by it, and programs of a
// user's own can be.
//
// Every process of a group runs the same program (SPMD), and has one rank or several. Work is
// divided in one of two ways. By rows, a rank has the rows of its vertices and computes their new
// values; the ranks exchange values in every step, in [Session.Each]. By ranges, the work falls
// into independent parts, such as sources or walks; a rank has the whole graph and computes its
// range as one place does, in [Session.Apart], and the ranks exchange results.
//
//	s := spmd.Begin(ctx, group, "sum of squares")
//	cuts := spmd.CutEvenly(n, group.Size(), 1, 1)
//	own := make([][]float64, len(group.Ranks()))
//	err := s.Apart(func(_ context.Context, k int, c comm.Comm) error {
//		own[k] = []float64{squares(cuts[c.Rank()], cuts[c.Rank()+1])}
//		return nil
//	})
//	if err == nil {
//		err = spmd.ReduceAll(s, own, comm.Sum)
//	}
//
// # Errors
//
// A failure is one error, the same on all ranks. A failed collective ends the group, as package
// comm says. An error of local work does not: the ranks hear of it in the next [Agree], or at the
// end of an Apart, and return together. In a group of several processes, an error in Apart ends the
// group, because the other processes may wait in a collective already, and so does a context that
// ends.
package spmd
