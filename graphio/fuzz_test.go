package graphio

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/hiveblas/hiveblas/internal/hgb"
	"github.com/hiveblas/hiveblas/internal/npy"
	"github.com/hiveblas/hiveblas/matrix"
)

// fuzzError fails on errors that bad input must not cause.
func fuzzError(t *testing.T, err error) {
	t.Helper()
	if !errors.Is(err, ErrParse) && !errors.Is(err, matrix.ErrType) && !errors.Is(err, io.ErrNoProgress) {
		t.Fatalf("untyped error %T: %v", err, err)
	}
}

// fuzzDims reports whether a matrix is small: large row offsets only slow the
// fuzzer down.
func fuzzDims(info Info) bool {
	return info.Rows <= 1<<16 && info.Cols <= 1<<16 && (info.Layout == "coordinate" || info.Rows*info.Cols <= 1<<16)
}

func fuzzMatrixMarket[T matrix.Element](t *testing.T, data []byte, opts ...ReadOption) {
	a, err := ReadMatrixMarket[T](bytes.NewReader(data), opts...)
	if err != nil {
		fuzzError(t, err)
		return
	}
	valid(t, a)
	// The number of threads and the size of reads do not change the result.
	b, err := ReadMatrixMarket[T](iotestOneByte{bytes.NewReader(data)}, append(opts, Threads(1))...)
	if err != nil || !sameEntries(a, b) {
		t.Fatalf("byte by byte: %v, %v; at once: %v", b, err, a)
	}
	roundTrip(t, a)
}

type iotestOneByte struct{ r io.Reader }

func (o iotestOneByte) Read(p []byte) (int, error) { return o.r.Read(p[:min(1, len(p))]) }

func FuzzReadMatrixMarket(f *testing.F) {
	for _, s := range []string{
		banner + "coordinate real general\n3 4 2\n1 4 1.5\n3 1 -2e3\n",
		banner + "coordinate integer symmetric\r\n%c\r\n2 2 2\r\n1 1 1\r\n2 1 -7",
		banner + "coordinate pattern symmetric\n3 3 2\n\n1 1\n2 1\n",
		banner + "coordinate real skew-symmetric\n2 2 1\n2 1 5D1\n",
		banner + "array real general\n2 2\n1\n2\n3\n4\n",
		banner + "array integer skew-symmetric\n3 3\n1 2 3\n",
		banner + "coordinate real general\n2 2 2\n1 1 nan\n1 2 -inf\n",
		"2 2 1\n1 2\n", "2 2 2\n1 2 6.000\n2 1 0.000\n\n",
		banner + "coordinate real general\n3 3 1152921504606846976\n1 1 1\n",
		banner + "coordinate integer general\n1 1 1\n1 1 9007199254740993\n",
		banner + "coordinate real general\n1 1 1\n1 1 \v\n",
	} {
		f.Add([]byte(s))
	}
	f.Add(gz(f, banner+"coordinate real general\n1 1 1\n1 1 5\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		info, err := ReadMatrixMarketInfo(bytes.NewReader(data))
		if err != nil {
			fuzzError(t, err)
			return
		}
		if !fuzzDims(info) {
			return
		}
		fuzzMatrixMarket[float64](t, data, AllowNaN())
		fuzzMatrixMarket[int16](t, data)
		fuzzMatrixMarket[bool](t, data, PatternOnly(), Symmetrise(), Duplicates(matrix.CombineFunc[bool](func(x, _ bool) bool { return x })))
	})
}

func FuzzReadEdgeList(f *testing.F) {
	for _, s := range []string{
		"# c\n1\t2\n2\t3\n", "1,2,0.5\n2;3;7\n", "a b\nb c\n", "007 7\n", "5 6 nan\n", "0 1 2 3\n", "-9223372036854775808 9223372036854775807\n",
		"source target\n1 2\n", "1 2\n1 2\n", "\ufeff1 2\n", "a,\"b \"\"c\"\",d\",2\n#x,%y,1\n", "x|y z|3\n", "New York\tBoston\t3\n", "9007199254740993,1,9007199254740993\n", "1,,2\n", "1 2 ,\n", ",\n", "x", "\"1 2\"\ta\n", "a\tb\n#c\td\n", "a;b;0x1p-1\n", "\xff\xfe1\x00 \x002\x00\n\x00",
	} {
		f.Add([]byte(s))
	}
	f.Add(gz(f, "1 2\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		first := Duplicates(matrix.CombineFunc[float32](func(x, _ float32) float32 { return x }))
		a, l, err := ReadEdgeList[float32](bytes.NewReader(data), AllowNaN(), first, RenumberIDs(), Header(HeaderNo))
		if err != nil {
			fuzzError(t, err)
			return
		}
		valid(t, a)
		m, n := a.Dims()
		if m != n || m != l.Len() {
			t.Fatalf("%d×%d with %d labels", m, n, l.Len())
		}
		for i := range l.Len() {
			if k, ok := l.Index(l.Name(i)); !ok || k != i {
				t.Fatalf("label %d is %q, which is label %d", i, l.Name(i), k)
			}
		}
		if a.NVals() == 0 {
			return
		}
		var b bytes.Buffer
		if err := WriteEdgeList(&b, a, WithLabels(l)); err != nil {
			t.Fatal(err)
		}
		opts := []ReadOption{AllowNaN(), RenumberIDs(), Header(HeaderNo)}
		if !l.Numeric() {
			opts = append(opts, StringIDs())
		}
		c, k, err := ReadEdgeList[float32](&b, opts...)
		if err != nil || !sameEntries(a, c) || namesOf(k) != namesOf(l) {
			t.Fatalf("read back %v %s %q, %v, wrote %v %s %q", c, entriesOf(c), namesOf(k), err, a, entriesOf(a), namesOf(l))
		}
		roundTrip(t, a)
	})
}

func FuzzReadVectorTSV(f *testing.F) {
	for _, s := range []string{"\"0\",\"1\"\n", "0|1\n", "0 1\n3 2.5\n", "1\n2\n", "# c\n0,nan\n", "2147483646 1\n", "x\n", "0 1\n0 2\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := ReadVectorTSV[int64](bytes.NewReader(data))
		if err != nil {
			fuzzError(t, err)
			return
		}
		if err := v.Inside().Stored().Check(int(v.NVals()), false); err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := WriteVectorTSV(&b, v); err != nil {
			t.Fatal(err)
		}
		if w, err := ReadVectorTSV[int64](&b, Dims(v.Size(), 1)); err != nil || !v.Equal(w) {
			t.Fatalf("read back %v, %v, wrote %v", w, err, v)
		}
	})
}

func FuzzReadBinary(f *testing.F) {
	for _, a := range everyFormat(f) {
		data, err := a.MarshalBinary()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
		f.Add(data[:len(data)-3])
		f.Add(gz(f, string(data)))
		for _, l := range someLabels(4) {
			var b bytes.Buffer
			if m, _ := a.Dims(); m > 4 || WriteBinary(&b, a, WithLabels(l)) != nil {
				continue
			}
			f.Add(b.Bytes())
		}
	}
	v, _ := matrix.VectorOf([]int32{1, 2})
	data, _ := v.MarshalBinary()
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		if w, err := ReadVectorBinary[int32](bytes.NewReader(data)); err != nil {
			fuzzError(t, err)
		} else if err := w.Inside().Stored().Check(w.Inside().Stored().Val.Len(), false); err != nil {
			t.Fatal(err)
		}
		for _, seal := range []bool{false, true} {
			if seal { // correct the checksum of the head, so that the fuzzer reaches the sections
				if len(data) < hgb.HeadBytes {
					return
				}
				data = reseal(bytes.Clone(data))
			}
			sameReadings[int32](t, "fuzz", data, FormatBinary, false, []int{16}, []int{3})
			a, err := ReadLabelled[int32](bytes.NewReader(data), InFormat(FormatBinary))
			if err != nil {
				fuzzError(t, err)
				continue
			}
			valid(t, a.Matrix)
			var out bytes.Buffer
			if err := a.Write(&out, InFormat(FormatBinary)); err != nil {
				t.Fatal(err)
			}
			b, err := ReadLabelled[int32](&out)
			if err != nil || !a.Matrix.Equal(b.Matrix) || a.Matrix.Format() != b.Matrix.Format() || !a.Rows.Equal(b.Rows) || !a.Cols.Equal(b.Cols) {
				t.Fatalf("read back %v, %v, wrote %v", b, err, a)
			}
		}
	})
}

func fuzzGraph(t *testing.T, format FileFormat, data []byte) {
	sameReadings[float32](t, "fuzz", data, format, true, []int{16}, []int{3})
	a, err := ReadLabelled[float32](bytes.NewReader(data), InFormat(format))
	if err != nil {
		fuzzError(t, err)
		return
	}
	if m, n := a.Matrix.Dims(); m > 1<<16 || n > 1<<16 {
		return
	}
	valid(t, a.Matrix)
	var b bytes.Buffer
	if err := a.Write(&b, InFormat(FormatNPZ)); err != nil {
		t.Fatal(err)
	}
	c, err := ReadLabelled[float32](&b)
	if err != nil || !a.Matrix.Equal(c.Matrix) || a.Rows.Len() != c.Rows.Len() {
		t.Fatalf("came back as %v, %v", c, err)
	}
}

func FuzzReadGraphText(f *testing.F) {
	formats := []FileFormat{FormatMETIS, FormatDIMACS, FormatGraphML, FormatGML, FormatGEXF}
	for k, texts := range [][]string{
		{"7 11\n5 3 2\n", "% c\n4 1 1\n2 2.5\n%\n1 2.5\n\n\n\n", "2 1 111 2\n9 8 8 2 3\r\n9 8 8 1 3", "3000000000 1\n"},
		{"c x\np sp 3 3\na 1 2 5\nc y\na 2 3 6\na 3 1 -7\n", "p max 3 2\nn 3 t\nn 1 s\na 1 2 4\na 2 3 2.5", "p edge 3 2\ne 2 1\ne 3 1\n"},
		{graphML, "<graphml><graph><node id='a'/><edge source='a' target='b'/></graph></graphml>"},
		{gml, "graph [ node [ id 1 ] edge [ source 1 target 1 weight 3 ] ]", "graph [ node [ id 1 label \"Zo\xeb\" ] ]"},
		{gexf("1.2", "", "<edge source='10' target='20' weight='2'/><edge source='20' target='10' type='directed'/>"), "\xff\xfe<\x00g\x00", `<?xml version="1.0" encoding="latin1"?><gexf><graph><nodes><node id="1" label="` + "\xeb" + `"/></nodes></graph></gexf>`},
	} {
		for _, text := range texts {
			f.Add(uint8(k), []byte(text))
		}
	}
	f.Fuzz(func(t *testing.T, kind uint8, data []byte) { fuzzGraph(t, formats[int(kind)%len(formats)], data) })
}

func FuzzReadGraphBinary(f *testing.F) {
	formats := []FileFormat{FormatNPZ, FormatNPY, FormatGraph500, FormatGraph500Packed}
	f.Add(uint8(0), npzOf(f, npzFormat, npzShape, npzPtr, npzIdx, npzData))
	f.Add(uint8(0), npzOf(f, [4]string{"format", "<U3", "()", "c\x00\x00\x00o\x00\x00\x00o\x00\x00\x00"}, npzShape, [4]string{"row", "|i1", "(1,)", "\x01"}, [4]string{"col", "|i1", "(1,)", "\x01"}, [4]string{"data", "<f2", "(1,)", "\x00\x3c"}))
	f.Add(uint8(1), append(npy.AppendHeader(nil, ">f4", "(1, 2)"), 0, 0, 0, 0, 0x3f, 0x80, 0, 0))
	f.Add(uint8(1), npy.AppendHeader(nil, "", "(1, 2)"))
	f.Add(uint8(2), graph500Bytes(false, 3, 1, 0, 0))
	f.Add(uint8(3), graph500Bytes(true, 3, 1, 0, 0))
	f.Fuzz(func(t *testing.T, kind uint8, data []byte) { fuzzGraph(t, formats[int(kind)%len(formats)], data) })
}
