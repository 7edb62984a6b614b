package plaingraph

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/hiveblas/hiveblas/graphio/internal/core"
	"github.com/hiveblas/hiveblas/graphio/internal/textout"
	"github.com/hiveblas/hiveblas/internal/rep"
)

// WriteMETIS is graphio.WriteMETIS.
func WriteMETIS(w io.Writer, a rep.Matrix, o *core.WriteOptions) error {
	g, err := textout.NewGraphOut("graphio.WriteMETIS", w, a, o)
	if err == nil {
		err = g.WantSimple("a METIS graph")
	}
	if err != nil {
		return err
	}
	format := ""
	if g.Weighted {
		format = " 001"
		for k := range g.St.Vecs() {
			for p := g.St.Ptr[k]; p < g.St.Ptr[k+1]; p++ {
				if v := g.E.At(g.St.Val, p); !g.Natural(v) {
					return &core.OptionError{Op: g.Op, Option: "a", Kind: core.RemedyLeaveValues,
						Reason: fmt.Sprintf("the edge from %s to %s has weight %v, and METIS wants positive integers",
							g.O.Labels.Name(g.St.RowID(k)), g.O.Labels.Name(int(g.St.Idx[p])), g.E.Text(v))}
				}
			}
		}
	}
	var comment strings.Builder
	textout.WriteComment(&comment, "%", g.O.Comment)
	if err := g.Head("%s%d %d%s\n", comment.String(), g.N, g.St.NVals/2, format); err != nil {
		return err
	}
	text := g.Weights()
	st := g.St.ToCSR()
	return g.EachVertex(func(buf []byte, v int) []byte {
		for p := st.Ptr[v]; p < st.Ptr[v+1]; p++ {
			if p > st.Ptr[v] {
				buf = append(buf, ' ')
			}
			buf = strconv.AppendInt(buf, int64(st.Idx[p])+1, 10)
			if g.Weighted {
				buf = text(append(buf, ' '), g.E.At(st.Val, p))
			}
		}
		return append(buf, '\n')
	})
}

// WriteDIMACS is graphio.WriteDIMACS.
func WriteDIMACS(w io.Writer, a rep.Matrix, o *core.WriteOptions) error {
	g, err := textout.NewGraphOut("graphio.WriteDIMACS", w, a, o)
	if err != nil {
		return err
	}
	var comment strings.Builder
	textout.WriteComment(&comment, "c", o.Comment)
	name := strings.ToLower(core.WithoutGz(o.Beside))
	if strings.HasSuffix(name, ".max") {
		return &core.OptionError{Op: g.Op, Option: "the file name", Reason: "a .max file has a source and a sink, which a matrix has not; write .gr"}
	}
	number := func(buf []byte, v int64) []byte { return strconv.AppendInt(append(buf, ' '), v+1, 10) }
	if strings.HasSuffix(name, ".col") {
		if err := g.WantSimple("a graph to colour"); err != nil {
			return err
		}
		if err := g.Head("%sp edge %d %d\n", comment.String(), g.N, g.St.NVals/2); err != nil {
			return err
		}
		return textout.WriteRows(g.W, g.St, o, func(buf []byte, i int, j int32, _ uint64) []byte {
			if int(j) < i {
				return buf
			}
			return append(number(number(append(buf, 'e'), int64(i)), int64(j)), '\n')
		})
	}
	if err := g.Head("%sp sp %d %d\n", comment.String(), g.N, g.St.NVals); err != nil {
		return err
	}
	text := g.Weights()
	return textout.WriteRows(g.W, g.St, o, func(buf []byte, i int, j int32, v uint64) []byte {
		buf = append(number(number(append(buf, 'a'), int64(i)), int64(j)), ' ')
		if g.Weighted {
			buf = text(buf, v)
		} else {
			buf = append(buf, '1')
		}
		return append(buf, '\n')
	})
}
