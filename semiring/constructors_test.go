package semiring_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/internal/cpu"
	"github.com/hiveblas/hiveblas/semiring"
)

// operator is the common interface of the constructors' results.
type operator interface {
	Name() string
	Valid() bool
}

// constructors lists every exported constructor of a built-in operator, monoid or semiring.
// TestConstructorsAreListed keeps it complete.
var constructors = map[string]operator{
	"Plus": semiring.Plus[float64](), "Times": semiring.Times[int8](), "Min": semiring.Min[uint64](), "Max": semiring.Max[float32](),
	"MinNaN": semiring.MinNaN[float64](), "MaxNaN": semiring.MaxNaN[float32](),
	"Lor": semiring.Lor(), "Land": semiring.Land(), "Lxor": semiring.Lxor(), "Lxnor": semiring.Lxnor(), "Any": semiring.Any[float64](),
	"Bor": semiring.Bor[int32](), "Band": semiring.Band[uint8](), "Bxor": semiring.Bxor[int64](),
	"First": semiring.First[float64, bool](), "Second": semiring.Second[bool, int32](), "Pair": semiring.Pair[bool, bool, int64](),
	"Minus": semiring.Minus[float64](), "Rminus": semiring.Rminus[int32](), "Div": semiring.Div[int64](), "Rdiv": semiring.Rdiv[float32](),
	"Pow": semiring.Pow[float64](), "Hypot": semiring.Hypot[float64](), "Atan2": semiring.Atan2[float32](),
	"Eq": semiring.Eq[int32](), "Ne": semiring.Ne[bool](), "Lt": semiring.Lt[float64](), "Le": semiring.Le[uint8](), "Gt": semiring.Gt[int64](), "Ge": semiring.Ge[float32](),
	"Identity": semiring.Identity[float64](), "Ainv": semiring.Ainv[float64](), "Minv": semiring.Minv[int32](), "Abs": semiring.Abs[int8](), "OneOp": semiring.OneOp[float64, int32](),
	"Lnot": semiring.Lnot(), "Sqrt": semiring.Sqrt[float64](), "Exp": semiring.Exp[float32](), "Log": semiring.Log[float64](), "Convert": semiring.Convert[float64, int32](),
	"RowIndex": semiring.RowIndex[bool](int64(1)), "ColIndex": semiring.ColIndex[float64](int32(0)), "DiagIndex": semiring.DiagIndex[int8](int64(-3)),
	"Tril": semiring.Tril[float64](-1), "Triu": semiring.Triu[bool](2), "DiagSelect": semiring.DiagSelect[int32](0), "Offdiag": semiring.Offdiag[int32](0),
	"RowLE": semiring.RowLE[float64](3), "RowGT": semiring.RowGT[float64](3), "ColLE": semiring.ColLE[float64](3), "ColGT": semiring.ColGT[float64](3),
	"ValueEQ": semiring.ValueEQ(3), "ValueNE": semiring.ValueNE(false), "ValueLT": semiring.ValueLT(3.5), "ValueLE": semiring.ValueLE(int64(3)),
	"ValueGT": semiring.ValueGT(uint8(3)), "ValueGE": semiring.ValueGE(float32(3)),

	"PlusTimes": semiring.PlusTimes[float64](), "MinPlus": semiring.MinPlus[float64](), "MaxPlus": semiring.MaxPlus[int32](), "MinTimes": semiring.MinTimes[float64](),
	"MaxTimes": semiring.MaxTimes[float64](), "MinMax": semiring.MinMax[int64](), "MaxMin": semiring.MaxMin[int64](), "PlusMin": semiring.PlusMin[float32](),
	"PlusMax": semiring.PlusMax[float32](), "PlusPlus": semiring.PlusPlus[int8](), "PlusMinus": semiring.PlusMinus[float64](), "PlusPair": semiring.PlusPair[int64](),
	"PlusFirst": semiring.PlusFirst[float64](), "PlusSecond": semiring.PlusSecond[float64](), "MinFirst": semiring.MinFirst[float64](), "MinSecond": semiring.MinSecond[float64](),
	"MaxFirst": semiring.MaxFirst[int32](), "MaxSecond": semiring.MaxSecond[int32](), "TimesFirst": semiring.TimesFirst[float64](), "TimesSecond": semiring.TimesSecond[float64](),
	"LorLand": semiring.LorLand(), "LandLor": semiring.LandLor(), "LxorLand": semiring.LxorLand(), "LxnorLor": semiring.LxnorLor(),
	"AnyPair": semiring.AnyPair[bool](), "AnyFirst": semiring.AnyFirst[float64](), "AnySecond": semiring.AnySecond[int32](),
	"AnyFirsti": semiring.AnyFirsti[int64](0), "AnyFirstj": semiring.AnyFirstj[int64](1), "AnySecondi": semiring.AnySecondi[int32](0), "AnySecondj": semiring.AnySecondj[float64](0),
	"MinFirsti": semiring.MinFirsti[int64](0), "MinFirstj": semiring.MinFirstj[int64](0), "MinSecondi": semiring.MinSecondi[int32](1), "MinSecondj": semiring.MinSecondj[int64](0),
	"MaxSecondi": semiring.MaxSecondi[int64](0), "MaxFirstj": semiring.MaxFirstj[int64](0),
}

// TestConstructorsHaveCUDA: every built-in runs on the GPU.
func TestConstructorsHaveCUDA(t *testing.T) {
	for name, op := range constructors {
		if !op.Valid() || op.Name() == "" {
			t.Errorf("%s: valid %v, name %q", name, op.Valid(), op.Name())
		}
		for part, text := range cudaOf(op) {
			if text == "" {
				t.Errorf("%s has no CUDA text for its %s", name, part)
			}
		}
	}
}

// cudaOf returns the CUDA texts of an operator by purpose.
func cudaOf(op operator) map[string]string {
	texts := map[string]string{}
	if o, ok := op.(interface{ CUDA() string }); ok {
		texts["operator"] = o.CUDA()
	}
	if s, ok := op.(interface{ Inside() *cpu.Ring }); ok {
		texts["sum"], texts["product"] = s.Inside().Sum.Op.CUDA, s.Inside().Mul.CUDA
	}
	if len(texts) == 0 {
		texts["everything"] = ""
	}
	return texts
}

// TestConstructorsAreListed reads the package's source: every exported function that returns an
// operator is in constructors, except the New ones.
func TestConstructorsAreListed(t *testing.T) {
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv != nil || !f.Name.IsExported() || strings.HasPrefix(f.Name.Name, "New") || !returnsOperator(f) {
				continue
			}
			seen[f.Name.Name] = true
			if constructors[f.Name.Name] == nil {
				t.Errorf("%s is missing from the list of constructors", f.Name.Name)
			}
		}
	}
	for name := range constructors {
		if !seen[name] {
			t.Errorf("%s is listed and not in the source", name)
		}
	}
}

func returnsOperator(f *ast.FuncDecl) bool {
	if f.Type.Results == nil || len(f.Type.Results.List) != 1 {
		return false
	}
	x := f.Type.Results.List[0].Type
	switch e := x.(type) {
	case *ast.IndexExpr:
		x = e.X
	case *ast.IndexListExpr:
		x = e.X
	}
	id, ok := x.(*ast.Ident)
	if !ok {
		return false
	}
	switch id.Name {
	case "BinaryOp", "Monoid", "Semiring", "UnaryOp", "IndexOp", "SelectOp":
		return true
	}
	return false
}

// TestNumbersInCUDA: a number in the text of an operator is a C literal of its value.
func TestNumbersInCUDA(t *testing.T) {
	type celsius float32
	type level int8
	for _, c := range []struct{ got, want, reason string }{
		{semiring.RowIndex[bool](3).CUDA(), "3", "an integer"},
		{semiring.RowIndex[bool](-3).CUDA(), "-3", "a negative one"},
		{semiring.RowIndex[bool](int64(-1 << 63)).CUDA(), "(-9223372036854775807LL - 1)", "C has no such literal"},
		{semiring.RowIndex[bool](int64(1 << 40)).CUDA(), "1099511627776LL", "beyond int"},
		{semiring.RowIndex[bool](^uint64(0)).CUDA(), "18446744073709551615ULL", "beyond any signed type"},
		{semiring.RowIndex[bool](level(7)).CUDA(), "7", "a named integer"},
	} {
		if c.got != "i + "+c.want {
			t.Errorf("%q, want i + %s: %s", c.got, c.want, c.reason)
		}
	}
	if got, want := semiring.AnySecondi(celsius(-0.5)).Mul().CUDA(), "(C)k + (C)-0.5"; got != want {
		t.Errorf("%q, want %q: a named float", got, want)
	}
	if op := semiring.ValueEQ(struct{ X int }{1}); op.CUDA() != "" {
		t.Errorf("ValueEQ of a struct claims the CUDA text %q", op.CUDA())
	}
}
