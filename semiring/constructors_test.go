package semiring

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// operator is the common interface of the constructors' results.
type operator interface {
	Name() string
	Valid() bool
}

// constructors lists every exported constructor of a built-in operator, monoid or semiring.
// TestConstructorsAreListed keeps it complete.
var constructors = map[string]operator{
	"Plus": Plus[float64](), "Times": Times[int8](), "Min": Min[uint64](), "Max": Max[float32](),
	"MinNaN": MinNaN[float64](), "MaxNaN": MaxNaN[float32](),
	"Lor": Lor(), "Land": Land(), "Lxor": Lxor(), "Lxnor": Lxnor(), "Any": Any[float64](),
	"Bor": Bor[int32](), "Band": Band[uint8](), "Bxor": Bxor[int64](),
	"First": First[float64, bool](), "Second": Second[bool, int32](), "Pair": Pair[bool, bool, int64](),
	"Minus": Minus[float64](), "Rminus": Rminus[int32](), "Div": Div[int64](), "Rdiv": Rdiv[float32](),
	"Pow": Pow[float64](), "Hypot": Hypot[float64](), "Atan2": Atan2[float32](),
	"Eq": Eq[int32](), "Ne": Ne[bool](), "Lt": Lt[float64](), "Le": Le[uint8](), "Gt": Gt[int64](), "Ge": Ge[float32](),
	"Identity": Identity[float64](), "Ainv": Ainv[float64](), "Minv": Minv[int32](), "Abs": Abs[int8](), "OneOp": OneOp[float64, int32](),
	"Lnot": Lnot(), "Sqrt": Sqrt[float64](), "Exp": Exp[float32](), "Log": Log[float64](), "Convert": Convert[float64, int32](),
	"RowIndex": RowIndex[bool](int64(1)), "ColIndex": ColIndex[float64](int32(0)), "DiagIndex": DiagIndex[int8](int64(-3)),
	"Tril": Tril[float64](-1), "Triu": Triu[bool](2), "DiagSelect": DiagSelect[int32](0), "Offdiag": Offdiag[int32](0),
	"RowLE": RowLE[float64](3), "RowGT": RowGT[float64](3), "ColLE": ColLE[float64](3), "ColGT": ColGT[float64](3),
	"ValueEQ": ValueEQ(3), "ValueNE": ValueNE(false), "ValueLT": ValueLT(3.5), "ValueLE": ValueLE(int64(3)),
	"ValueGT": ValueGT(uint8(3)), "ValueGE": ValueGE(float32(3)),

	"PlusTimes": PlusTimes[float64](), "MinPlus": MinPlus[float64](), "MaxPlus": MaxPlus[int32](), "MinTimes": MinTimes[float64](),
	"MaxTimes": MaxTimes[float64](), "MinMax": MinMax[int64](), "MaxMin": MaxMin[int64](), "PlusMin": PlusMin[float32](),
	"PlusMax": PlusMax[float32](), "PlusPlus": PlusPlus[int8](), "PlusMinus": PlusMinus[float64](), "PlusPair": PlusPair[int64](),
	"PlusFirst": PlusFirst[float64](), "PlusSecond": PlusSecond[float64](), "MinFirst": MinFirst[float64](), "MinSecond": MinSecond[float64](),
	"MaxFirst": MaxFirst[int32](), "MaxSecond": MaxSecond[int32](), "TimesFirst": TimesFirst[float64](), "TimesSecond": TimesSecond[float64](),
	"LorLand": LorLand(), "LandLor": LandLor(), "LxorLand": LxorLand(), "LxnorLor": LxnorLor(),
	"AnyPair": AnyPair[bool](), "AnyFirst": AnyFirst[float64](), "AnySecond": AnySecond[int32](),
	"AnyFirsti": AnyFirsti[int64](0), "AnyFirstj": AnyFirstj[int64](1), "AnySecondi": AnySecondi[int32](0), "AnySecondj": AnySecondj[float64](0),
	"MinFirsti": MinFirsti[int64](0), "MinFirstj": MinFirstj[int64](0), "MinSecondi": MinSecondi[int32](1), "MinSecondj": MinSecondj[int64](0),
	"MaxSecondi": MaxSecondi[int64](0), "MaxFirstj": MaxFirstj[int64](0),
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
	if s, ok := op.(interface{ cuda() [2]string }); ok {
		parts := s.cuda()
		texts["sum"], texts["product"] = parts[0], parts[1]
	}
	if len(texts) == 0 {
		texts["everything"] = ""
	}
	return texts
}

func (s Semiring[A, B, C]) cuda() [2]string {
	return [2]string{s.Add().CUDA(), s.Mul().CUDA()}
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

func TestScalarCUDA(t *testing.T) {
	type celsius float32
	type level int8
	for _, c := range []struct {
		x      any
		want   string
		reason string
	}{
		{3, "3", "an integer"},
		{-3, "-3", "a negative one"},
		{int64(-1 << 63), "(-9223372036854775807LL - 1)", "C has no such literal"},
		{int64(1 << 40), "1099511627776LL", "beyond int"},
		{^uint64(0), "18446744073709551615ULL", "beyond any signed type"},
		{level(7), "7", "a named integer"},
		{celsius(-0.5), "-0.5", "a named float"},
		{true, "true", "a bool"},
		{struct{ X int }{1}, "", "no CUDA form"},
		{"x", "", "no CUDA form"},
	} {
		if got := scalarCUDA(c.x); got != c.want {
			t.Errorf("scalarCUDA(%v) = %q, want %q: %s", c.x, got, c.want, c.reason)
		}
	}
	if op := ValueEQ(struct{ X int }{1}); op.CUDA() != "" {
		t.Errorf("ValueEQ of a struct claims the CUDA text %q", op.CUDA())
	}
}
