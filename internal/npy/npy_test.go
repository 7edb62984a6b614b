package npy

import (
	"bytes"
	"math"
	"reflect"
	"strings"
	"testing"
)

// numpy is np.save of np.arange(6, dtype="<i2").reshape(2, 3, order="F"), by the format's document.
const numpy = "\x93NUMPY\x01\x00\x38\x00{'descr': '<i2', 'fortran_order': True, 'shape': (2, 3)}\x00\x00\x01\x00\x02\x00\x03\x00\xfc\xff\x05\x00"

func TestRead(t *testing.T) {
	t.Parallel()
	a, err := Read(strings.NewReader(numpy))
	if err != nil || !reflect.DeepEqual(a, &Array{2, 3, 2, []float64{0, 2, -4, 1, 3, 5}}) {
		t.Errorf("got %+v, %v", a, err)
	}
	for reason, text := range map[string]string{
		"empty": "", "another file": "PK\x03\x04....", "cut header": numpy[:30], "cut data": numpy[:len(numpy)-1],
		"objects":          strings.Replace(numpy, "<i2", "|O8", 1),
		"big-endian":       strings.Replace(numpy, "<i2", ">i2", 1),
		"no shape":         strings.Replace(numpy, "shape", "shope", 1),
		"a negative shape": strings.Replace(numpy, "(2, 3)", "(-2,3)", 1),
		"no type":          strings.Replace(numpy, "<i2", "", 1),
		"an order alone":   strings.Replace(numpy, "<i2", "<", 1),
		"no order":         strings.Replace(numpy, "True", "true", 1),
		"version 9":        strings.Replace(numpy, "\x01\x00\x38", "\x09\x00\x36", 1),
	} {
		if a, err := Read(strings.NewReader(text)); err == nil {
			t.Errorf("%s: read as %+v", reason, a)
		}
	}
	for _, kind := range []string{"", "<", "i", "<i0", "<i3", "<x4", "<U", "|S-1", "<i99999999999999999999"} {
		if s, err := Open(strings.NewReader(string(AppendHeader(nil, kind, "(2, 3)")))); err == nil {
			t.Errorf("elements %q are opened as %+v", kind, s)
		}
	}
}

func TestHalf(t *testing.T) {
	t.Parallel()
	for h, want := range map[uint16]float32{0x3C00: 1, 0xC000: -2, 0x7BFF: 65504, 0x0001: 1.0 / (1 << 24), 0x8000: 0, 0x3555: 0.333251953125} {
		if got := fromHalf(h); got != want {
			t.Errorf("%#x is %v, want %v", h, got, want)
		}
	}
	if !math.IsInf(float64(fromHalf(0xFC00)), -1) || !math.IsNaN(float64(fromHalf(0x7E00))) {
		t.Error("an infinity or NaN is lost")
	}
}

func TestZip(t *testing.T) {
	t.Parallel()
	all := &Zip{map[string]*Array{
		"w":     {2, 3, 2, []float64{1, 2, 3, 4, 5, .1}},
		"list":  {1, 2, 1, []float64{1e300, -.1}},
		"empty": {0, 4, 2, []float64{}},
	}, map[string][]string{"words": {"neural", "", "théorie 🙂"}}}
	var b bytes.Buffer
	if err := all.Write(&b, func(name string) bool { return name == "list" }); err != nil {
		t.Fatal(err)
	}
	got, err := ReadZip(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	all.Arrays["w"].Val[5] = float64(float32(.1))
	if !reflect.DeepEqual(got, all) {
		t.Errorf("got %+v, want %+v", got, all)
	}
	if _, err := ReadZip(b.Bytes()[:20]); err == nil {
		t.Error("a cut file is read")
	}
	for _, text := range []string{"\xff", "a\x00"} {
		if err := (&Zip{Texts: map[string][]string{"t": {text}}}).Write(&b, nil); err == nil {
			t.Errorf("the text %q is written", text)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(numpy))
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := Read(bytes.NewReader(data))
		if err == nil && len(a.Val) != a.Rows*a.Cols {
			t.Errorf("%d×%d array of %d numbers", a.Rows, a.Cols, len(a.Val))
		}
	})
}
