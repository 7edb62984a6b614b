package graphio_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/hiveblas/hiveblas/graphio"
	"github.com/hiveblas/hiveblas/matrix"
)

const triangle = `%%MatrixMarket matrix coordinate real symmetric
% a triangle
3 3 3
2 1 0.5
3 1 1.5
3 2 2
`

func ExampleReadMatrixMarket() {
	a, err := graphio.ReadMatrixMarket[float64](strings.NewReader(triangle))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(a.Text())
	// Output:
	// 3×3 csr matrix of float64, 6 entries
	//   0 │ 1:0.5 2:1.5
	//   1 │ 0:0.5 2:2
	//   2 │ 0:1.5 1:2
}

func ExampleReadMatrixMarket_errors() {
	_, err := graphio.ReadMatrixMarket[int](strings.NewReader(triangle), graphio.FileName("triangle.mtx"))
	fmt.Println(err)
	var parse *graphio.ParseError
	fmt.Println(errors.As(err, &parse), parse.Line)
	// Output:
	// triangle.mtx:4: the value "0.5" is not an integer, and the element type is int; read into float64
	// true 4
}

func ExampleReadMatrixMarketFile() {
	a, err := graphio.ReadMatrixMarketFile[bool](filepath.Join("..", "testdata", "karate.mtx"))
	fmt.Println(a, err)
	// Output: 34×34 csr matrix of bool, 156 entries <nil>
}

func ExampleReadMatrixMarketInfo() {
	info, err := graphio.ReadMatrixMarketInfo(strings.NewReader(triangle))
	fmt.Println(info, err)
	fmt.Println(info.Comments)
	// Output:
	// 3×3 coordinate real symmetric, 3 entries listed <nil>
	// [a triangle]
}

func ExampleDuplicates() {
	const text = "%%MatrixMarket matrix coordinate integer general\n2 2 3\n1 2 10\n2 1 5\n1 2 20\n"
	plus := matrix.CombineFunc[int](func(x, y int) int { return x + y })
	a, err := graphio.ReadMatrixMarket[int](strings.NewReader(text), graphio.Duplicates(plus))
	if err != nil {
		fmt.Println(err)
		return
	}
	for c, v := range a.All() {
		fmt.Println(c.Row, c.Col, v)
	}
	// Output:
	// 0 1 30
	// 1 0 5
}

func ExampleWriteMatrixMarket() {
	a, _ := matrix.FromTuples(2, 3, []int{0, 1}, []int{2, 0}, []float64{0.1, 4}, nil)
	_ = graphio.WriteMatrixMarket(os.Stdout, a, graphio.Comment("an example"))
	// Output:
	// %%MatrixMarket matrix coordinate real general
	// % an example
	// 2 3 2
	// 1 3 0.1
	// 2 1 4
}

func ExampleWriteVectorMatrixMarket() {
	v, _ := matrix.VectorFromTuples(4, []int{1}, []int{7}, nil)
	_ = graphio.WriteVectorMatrixMarket(os.Stdout, v)
	// Output:
	// %%MatrixMarket matrix coordinate integer general
	// 4 1 1
	// 2 1 7
}

func ExampleReadEdgeList() {
	const text = "# follower, followed\nzoe adam\nadam eve\nzoe eve\n"
	a, labels, err := graphio.ReadEdgeList[bool](strings.NewReader(text), graphio.RenumberIDs())
	if err != nil {
		fmt.Println(err)
		return
	}
	for c := range a.All() {
		fmt.Println(labels.Name(c.Row), "follows", labels.Name(c.Col))
	}
	// Output:
	// adam follows eve
	// zoe follows adam
	// zoe follows eve
}

func ExampleSymmetrise() {
	a, _, err := graphio.ReadEdgeList[int](strings.NewReader("0 1 5\n1 0 4\n1 2 9\n"), graphio.Symmetrise())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(a.Text())
	// Output:
	// 3×3 csr matrix of int, 4 entries
	//   0 │ 1:4
	//   1 │ 0:4 2:9
	//   2 │ 1:9
}

func ExampleReadBipartite() {
	a, users, films, err := graphio.ReadBipartite[int](strings.NewReader("user,film,rating\n7,100,5\n9,100,3\n7,200,4\n"),
		graphio.SourceColumn("user"), graphio.TargetColumn("film"), graphio.WeightColumn("rating"), graphio.RenumberIDs())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(a)
	fmt.Println(users.Name(1), "gave", films.Name(0), "a", first(a.At(1, 0)))
	// Output:
	// 2×2 csr matrix of int, 3 entries
	// 9 gave 100 a 3
}

func first[T any](x T, _ bool) T { return x }

func ExampleWriteEdgeList() {
	a, _ := matrix.FromTuples(2, 2, []int{0, 1}, []int{1, 0}, []float64{0.5, 2}, nil)
	_ = graphio.WriteEdgeList(os.Stdout, a, graphio.WithLabels(graphio.NewLabels([]string{"here", "there"})))
	// Output:
	// here	there	0.5
	// there	here	2
}

func ExampleWriteVectorTSV() {
	v, _ := matrix.VectorOf([]float64{0.25, 0.75})
	_ = graphio.WriteVectorTSV(os.Stdout, v)
	// Output:
	// 0	0.25
	// 1	0.75
}

func ExampleReadVectorTSV() {
	v, err := graphio.ReadVectorTSV[int](strings.NewReader("3\t10\n0\t20\n"))
	fmt.Println(v.Text(), err)
	// Output:
	// sparse vector of 4 int, 2 entries
	//   0:20 3:10 <nil>
}

func ExampleWriteBinary() {
	a, _ := matrix.FromTuples(2, 2, []int{0, 1}, []int{1, 0}, []float64{0.5, 2}, nil)
	var file bytes.Buffer
	if err := graphio.WriteBinary(&file, a); err != nil {
		fmt.Println(err)
		return
	}
	_, err := graphio.ReadBinary[int64](bytes.NewReader(file.Bytes()))
	fmt.Println(err)
	b, err := graphio.ReadBinary[float64](&file)
	fmt.Println(a.Equal(b), err)
	// Output:
	// graphio.ReadBinary: element type is float64, want int64; read it into the type of the file
	// true <nil>
}

func ExampleWriteFile() {
	dir, err := os.MkdirTemp("", "hiveblas")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	a, _ := matrix.FromTuples(2, 2, []int{0, 1}, []int{1, 0}, []float64{0.5, 2}, nil)
	for _, name := range []string{"a.mtx.gz", "a.hgb", "a.tsv"} {
		path := filepath.Join(dir, name)
		if err := graphio.WriteFile(path, a); err != nil {
			fmt.Println(err)
		}
		b, _, err := graphio.ReadFile[float64](path)
		fmt.Println(name, a.Equal(b), err)
	}
	// Output:
	// a.mtx.gz true <nil>
	// a.hgb true <nil>
	// a.tsv true <nil>
}

// The header of a file tells its size and the type to read it into; ReadFile converts other types.
func ExampleReadFileInfo() {
	dir, err := os.MkdirTemp("", "hiveblas")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "a.hgb")
	a, _ := matrix.FromTuples(2, 3, []int{0, 1}, []int{1, 2}, []float32{0.5, 2}, nil)
	if err := graphio.WriteFile(path, a); err != nil {
		fmt.Println(err)
	}
	info, err := graphio.ReadFileInfo(path)
	fmt.Println(info, err)
	b, _, err := graphio.ReadFile[float64](path)
	fmt.Println(b, err)
	// Output:
	// hgb 2×3 real float32 general 2 entries listed <nil>
	// 2×3 csr matrix of float64, 2 entries <nil>
}

// A dense file has a value at every position; zeros are no entries unless asked for.
func ExampleKeepZeros() {
	const text = "%%MatrixMarket matrix array real general\n2 2\n0\n1.5\n0\n2\n"
	graph, err := graphio.ReadMatrixMarket[float64](strings.NewReader(text))
	fmt.Println(graph.NVals(), err)
	costs, err := graphio.ReadMatrixMarket[float64](strings.NewReader(text), graphio.KeepZeros())
	fmt.Println(costs.NVals(), err)
	// Output:
	// 2 <nil>
	// 4 <nil>
}

func ExampleMatrix_Text() {
	a, _ := matrix.FromDense(2, 3, []float64{1, 2.5, 3, -4, 5, 6})
	fmt.Println(a)
	fmt.Println(a.Text())
	// Output:
	// 2×3 full matrix of float64, 6 entries
	// 2×3 full matrix of float64, 6 entries
	//   0 │  1 2.5 3
	//   1 │ -4   5 6
}

func ExampleReadAny() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "a.tsv")
	if err := os.WriteFile(path, []byte("0\t1\t3\n1\t2\t7\n"), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	a, _, _, err := graphio.ReadAny(path)
	fmt.Println(a, err)
	if g, ok := matrix.As[int64](a); ok {
		fmt.Println(g.At(1, 2))
	}
	f, err := graphio.Convert[float64](a)
	fmt.Println(f, err)
	// Output:
	// 3×3 csr matrix of int64, 2 entries <nil>
	// 7 true
	// 3×3 csr matrix of float64, 2 entries <nil>
}
