package cpu

import (
	"errors"
	"hash/crc32"
	"os"
	"path/filepath"

	"github.com/hiveblas/hiveblas/bench/internal/inputs"
	"github.com/hiveblas/hiveblas/graphio"
	"github.com/hiveblas/hiveblas/internal/fresh"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// conversionCases are changes of format and the other ways into and out of matrices. Most take no
// number of threads, so GOMAXPROCS limits them.
func conversionCases() []cpuCase {
	conversion := func(name, in string, run ours) cpuCase {
		return cpuCase{name: conversionGroup + name + " " + in, input: in, ours: run}
	}
	// formats changes the format of a copy, from the first, step by step.
	formats := func(steps ...matrix.Format) ours {
		return confined(func(b *cpuBench, in *input) (trial, error) {
			a := inputs.Bare(in.f64)
			err := a.SetFormat(steps[0])
			return trial{func() (err error) {
				for _, f := range steps[1:] {
					err = errors.Join(err, a.SetFormat(f))
				}
				return err
			}, func() (float64, error) { return entriesOf(a, in.f64.NVals()) }}, err
		})
	}
	return []cpuCase{
		conversion("csr to bitmap", "thick4096", formats(matrix.CSR, matrix.Bitmap)),
		conversion("bitmap to csr", "thick4096", formats(matrix.Bitmap, matrix.CSR)),
		conversion("csr to bitmap to csr", "thick4096", formats(matrix.CSR, matrix.Bitmap, matrix.CSR)),
		conversion("csr to slice of all positions", "thick4096", confined(func(b *cpuBench, in *input) (trial, error) {
			var list []inputs.F64
			return trial{func() (err error) {
				list, err = inputs.Bare(in.f64).Dense(-1)
				return err
			}, func() (float64, error) {
				sum := 0.0
				for p, x := range list {
					sum += x * float64(1+p%7)
				}
				return sum, fact("positions", int64(len(list)), int64(in.graph.NRows)*int64(in.graph.NCols))
			}}, nil
		})),
		conversion("full to csr", "uniform2000", formats(matrix.Full, matrix.CSR)),
		conversion("csr to full", "uniform2000", formats(matrix.CSR, matrix.Full)),
		conversion("full to bitmap", "uniform2000", formats(matrix.Full, matrix.Bitmap)),
		conversion("bitmap to full", "uniform2000", formats(matrix.Bitmap, matrix.Full)),
		conversion("csr to hypersparse to csr", "rmat20", formats(matrix.CSR, matrix.Hypersparse, matrix.CSR)),
		conversion("clone", "rmat18", confined(func(b *cpuBench, in *input) (trial, error) {
			var c *matrix.Matrix[inputs.F64]
			return trial{func() error { c = in.f64.Clone(); return nil },
				func() (float64, error) { return entriesOf(c, in.graph.NNZ()) }}, nil
		})),
		conversion("compare with an equal one", "rmat18", confined(func(b *cpuBench, in *input) (trial, error) {
			c := in.f64.Clone()
			var same bool
			return trial{func() error { same = c.Equal(in.f64); return nil }, func() (float64, error) {
				if !same {
					return 0, errors.New("a copy is not equal")
				}
				return 1, nil
			}}, nil
		})),
		conversion("test for symmetry", "rmat18", confined(func(b *cpuBench, in *input) (trial, error) {
			c := inputs.Bare(in.f64)
			var same bool
			return trial{func() error { same = c.IsSymmetric(); return nil }, func() (float64, error) {
				if !same {
					return 0, errors.New("the graph is not symmetric")
				}
				return 1, nil
			}}, nil
		})),
		conversion("slices to csr, with their check", "rmat18", confined(func(b *cpuBench, in *input) (trial, error) {
			var c *matrix.Matrix[inputs.F64]
			return trial{func() (err error) {
				g := in.graph
				c, err = matrix.FromCSR(g.NRows, g.NCols, g.Ptr, g.Idx, in.val)
				return err
			}, func() (float64, error) { return entriesOf(c, in.graph.NNZ()) }}, nil
		})),
		conversion("csr to csc", "rmat18", confined(func(b *cpuBench, in *input) (trial, error) {
			c := inputs.Bare(in.f64)
			var ptr []int64
			return trial{func() (err error) {
				ptr, _, _, err = c.CSC()
				return err
			}, func() (float64, error) {
				return float64(ptr[len(ptr)/2]), fact("entries", ptr[len(ptr)-1], in.graph.NNZ())
			}}, nil
		})),
		conversion("to tuples", "rmat18", confined(func(b *cpuBench, in *input) (trial, error) {
			c := inputs.Bare(in.f64)
			var rows []int32
			return trial{func() (err error) {
				rows, _, _, err = c.Tuples()
				return err
			}, func() (sum float64, err error) {
				for _, i := range rows {
					sum += float64(i)
				}
				return sum, fact("tuples", int64(len(rows)), in.graph.NNZ())
			}}, nil
		})),
		conversion("to tuples and back", "rmat18", confined(func(b *cpuBench, in *input) (trial, error) {
			var c *matrix.Matrix[inputs.F64]
			n := in.graph.NRows
			return trial{func() error {
				rows, cols, vals, err := inputs.Bare(in.f64).Tuples()
				if err != nil {
					return err
				}
				builder := matrix.NewBuilder[inputs.F64](n, n)
				builder.AddBlock(rows, copied(cols), copied(vals)) // it owns its blocks
				c, err = builder.Build(nil)
				return err
			}, func() (float64, error) { return entriesOf(c, in.graph.NNZ()) }}, nil
		})),
		conversion("from tuples of int", "rmat18", confined(func(b *cpuBench, in *input) (trial, error) {
			var c *matrix.Matrix[inputs.F64]
			lists, err := made(in, "tuples of int", func() (l [2][]int, err error) {
				r, c, _, err := in.f64.Tuples()
				for p, i := range r {
					l[0], l[1] = append(l[0], int(i)), append(l[1], int(c[p]))
				}
				return l, err
			})
			n := in.graph.NRows
			return trial{func() (err error) {
				c, err = matrix.FromTuples(n, n, lists[0], lists[1], in.val, semiring.Plus[inputs.F64]())
				return err
			}, func() (float64, error) { return entriesOf(c, in.graph.NNZ()) }}, err
		})),
		conversion("symmetrise", "directed18", trials(func(b *cpuBench, in, _ *input) (trial, error) {
			a, c := inputs.Bare(in.f64), matrix.New[inputs.F64](in.f64.Dims())
			return trial{func() error {
				return ops.EWiseAdd(c, semiring.Max[inputs.F64](), a, a.T(), ops.WithThreads(b.Threads))
			}, func() (float64, error) {
				if !c.IsSymmetric() {
					return 0, errors.New("the result is not symmetric")
				}
				return entriesOf(c, -1)
			}}, nil
		})),
		conversion("vector from tuples, an entry in 8", "vectors23", confined(func(b *cpuBench, in *input) (trial, error) {
			type tuples struct {
				idx []int
				val []inputs.F64
			}
			t := memo(in, "tuples of u", func() (t tuples) {
				for i, x := range in.vec("u").All() {
					t.idx, t.val = append(t.idx, i), append(t.val, x)
				}
				return t
			})
			var w *matrix.Vector[inputs.F64]
			return trial{func() (err error) {
				w, err = matrix.VectorFromTuples(in.vec("u").Size(), t.idx, t.val, nil)
				return err
			}, func() (float64, error) { return itemsOf(w, int64(len(t.idx))) }}, nil
		})),
	}
}

// copied returns a copy of a list, made by all threads.
func copied[T any](list []T) []T {
	c := fresh.Make[T](int64(len(list)))
	_ = parallel.Range(nil, 0, len(list), 1<<16, func(_, lo, hi int) { copy(c[lo:hi], list[lo:hi]) })
	return c
}

// fileCases read and write files of a temporary folder, from and to the page cache.
func fileCases() (cases []cpuCase) {
	for _, f := range []struct{ extension, input string }{
		{".mtx", "rmat18"}, {".mtx.gz", "rmat16"}, {".el", "rmat18"}, {".csv", "rmat18"}, {".npz", "rmat18"}, {".graph", "weighted16"},
		{".gr", "weighted16"}, {".graphml", "rmat16"}, {".gml", "rmat16"}, {".hgb", "rmat20"},
	} {
		cases = append(cases,
			cpuCase{name: fileGroup + "read " + f.extension + " " + f.input, input: f.input, ours: readCase(f.extension)},
			cpuCase{name: fileGroup + "write " + f.extension + " " + f.input, input: f.input, ours: writeCase(f.extension)})
	}
	return append(cases,
		cpuCase{name: fileGroup + "read .tsv of names rmat16", input: "rmat16", ours: readCase(".tsv", graphio.StringIDs())},
		cpuCase{name: fileGroup + "read .tsv, renumbered rmat16", input: "rmat16", ours: readCase(".tsv", graphio.RenumberIDs())},
		cpuCase{name: fileGroup + "read .mtx, pattern only rmat18", input: "rmat18", ours: readCase(".mtx", graphio.PatternOnly())},
		cpuCase{name: fileGroup + "map .hgb rmat20", input: "rmat20", ours: confined(func(b *cpuBench, in *input) (trial, error) {
			path, err := graphAs(b, in, ".hgb")
			return trial{func() error {
				m, err := graphio.OpenMapped[inputs.F64](path)
				if err != nil {
					return err
				}
				return errors.Join(fact("entries", m.Matrix.NVals(), in.graph.NNZ()), m.Close())
			}, func() (float64, error) { return 1, nil }}, err
		})},
		cpuCase{name: fileGroup + "read vector .tsv vectors20", input: "vectors20", ours: vectorFile(true)},
		cpuCase{name: fileGroup + "write vector .tsv vectors20", input: "vectors20", ours: vectorFile(false)},
	)
}

// graphAs writes an input in the format of an extension, once.
func graphAs(b *cpuBench, in *input, extension string) (string, error) {
	path := filepath.Join(b.dir, in.name+extension)
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	b.Log("writing " + in.name + extension)
	return path, graphio.WriteFile(path, in.f64)
}

func readCase(extension string, opts ...graphio.ReadOption) ours {
	return trials(func(b *cpuBench, in, _ *input) (trial, error) {
		path, err := graphAs(b, in, extension)
		var a *matrix.Matrix[inputs.F64]
		return trial{func() (err error) {
			a, _, err = graphio.ReadFile[inputs.F64](path, append(opts[:len(opts):len(opts)], graphio.Threads(b.Threads))...)
			return err
		}, func() (float64, error) { return entriesOf(a, in.graph.NNZ()) }}, err
	})
}

// writeCase compares the bytes of the file too.
func writeCase(extension string) ours {
	return trials(func(b *cpuBench, in, _ *input) (trial, error) {
		path := filepath.Join(b.dir, in.name+"-written"+extension)
		return trial{func() error { return graphio.WriteFile(path, in.f64, graphio.Threads(b.Threads)) },
			func() (float64, error) { return sumOfFile(path) }}, nil
	})
}

// sumOfFile removes a file and returns a checksum of its bytes.
func sumOfFile(path string) (float64, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	return float64(crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli))), os.Remove(path)
}

func vectorFile(read bool) ours {
	return trials(func(b *cpuBench, in, _ *input) (trial, error) {
		x, path := in.vec("x"), filepath.Join(b.dir, in.name+".tsv")
		write := func() error { return graphio.WriteVectorFile(path, x, graphio.Threads(b.Threads)) }
		if !read {
			return trial{write, func() (float64, error) { return sumOfFile(path) }}, nil
		}
		var w *matrix.Vector[inputs.F64]
		return trial{func() (err error) {
			w, err = graphio.ReadVectorFile[inputs.F64](path, graphio.Threads(b.Threads))
			return err
		}, func() (float64, error) { return itemsOf(w, x.NVals()) }}, write()
	})
}
