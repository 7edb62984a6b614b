package main

import (
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/internal/sure"
)

// writePicture writes a picture and returns its path.
func writePicture(t *testing.T, img image.Image) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "in.png")
	f := sure.Get(os.Create(path))
	defer f.Close()
	if err := png.Encode(f, img); err != nil {
		t.Fatal(err)
	}
	return path
}

// Values are given by name, and a solution is read back.
func TestLassoByName(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for name, text := range map[string]string{"g.tsv": "bob\tann\ncid\tbob\n", "y.tsv": "cid\t30\nann\t1\nbob\t2\n", "few.tsv": "cid\t30\nann\t1\n"} {
		sure.Do(os.WriteFile(at(name), []byte(text), 0o666))
	}
	lasso := []string{"lasso", at("g.tsv"), "--ids", "renumber", "--lambda1"}
	report(t, append(lasso, "0", "--values", at("y.tsv"), "-o", at("x.tsv"))...)
	if got := contents(t, at("x.tsv")); got != "ann\t1\nbob\t2\ncid\t30\n" {
		t.Errorf("without differences the solution is %q", got)
	}
	report(t, append(lasso, "0", "--values", at("x.tsv"), "-o", at("again.tsv"))...)
	if contents(t, at("again.tsv")) != contents(t, at("x.tsv")) {
		t.Error("a solution is not read back")
	}
	if r := hiveblas(t, append(lasso, "0", "--values", at("few.tsv"))...); r.code != 1 || !strings.Contains(r.stderr, "vertex bob has no value") {
		t.Errorf("a vertex without a value: exit %d, %s", r.code, r.stderr)
	}
	top := report(t, "nominate", at("g.tsv"), "--ids", "renumber", "--seeds", "cid", "--content", at("y.tsv"), "--weight", "1", "--top", "1")
	if got := fmt.Sprint(top["top"]); !strings.Contains(got, "bob") {
		t.Errorf("nominated %s", got)
	}
}

// Each channel is denoised on its own: two pixels come nearer by λ₁ each, and alpha stays.
func TestLassoOfPictures(t *testing.T) {
	t.Parallel()
	grey, deep := image.NewGray(image.Rect(0, 0, 2, 1)), image.NewGray16(image.Rect(0, 0, 1, 2))
	grey.SetGray(1, 0, color.Gray{Y: 100})
	deep.SetGray16(0, 1, color.Gray16{Y: 100 * 257})
	colours := image.NewNRGBA(image.Rect(0, 0, 2, 1))
	colours.SetNRGBA(0, 0, color.NRGBA{R: 200, G: 10, B: 0, A: 255})
	colours.SetNRGBA(1, 0, color.NRGBA{R: 100, G: 10, B: 16, A: 128})
	for _, c := range []struct {
		reason string
		img    image.Image
		want   [2]color.NRGBA
	}{
		{"grey", grey, [2]color.NRGBA{{10, 10, 10, 255}, {90, 90, 90, 255}}},
		{"16 bits", deep, [2]color.NRGBA{{10, 10, 10, 255}, {90, 90, 90, 255}}},
		{"colours", colours, [2]color.NRGBA{{190, 10, 8, 255}, {110, 10, 8, 128}}},
	} {
		out := filepath.Join(t.TempDir(), "out.png")
		got := report(t, "lasso", "--grid", "--lambda1", "10", "-o", out, writePicture(t, c.img))
		if got["proven"] != true {
			t.Errorf("%s: %v", c.reason, got)
		}
		f := sure.Get(os.Open(out))
		img, err := png.Decode(f)
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		r := img.Bounds()
		if r != c.img.Bounds() {
			t.Fatalf("%s: the picture is %v", c.reason, r)
		}
		for k, want := range c.want {
			if p := color.NRGBAModel.Convert(img.At(k%r.Dx(), k/r.Dx())); p != want {
				t.Errorf("%s: pixel %d is %v, want %v", c.reason, k, p, want)
			}
		}
	}
}

func TestCut(t *testing.T) {
	t.Parallel()
	cut := filepath.Join(t.TempDir(), "cut.tsv")
	got := report(t, "maxflow", "--source", "0", "--sink", "4", "--cut", cut,
		write(t, "g.tsv", "0 1 1\n1 2 1\n2 3 9\n3 4 1\n"))
	if want := "0\tsource\n1\teither\n2\teither\n3\teither\n4\tsink\n"; contents(t, cut) != want || got["value"] != 1.0 {
		t.Errorf("value %v, cut\n%s", got["value"], contents(t, cut))
	}
}

// Capacities of a file may be infinite, in both of its forms.
func TestInfiniteCapacities(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"g.tsv": "0 1 inf\n1 2 3\n0 2 1\n",
		"g.mtx": "%%MatrixMarket matrix coordinate real general\n3 3 3\n1 2 inf\n2 3 3\n1 3 1\n",
	} {
		if got := report(t, "maxflow", "--source", "0", "--sink", "2", write(t, name, text)); got["value"] != 4.0 {
			t.Errorf("%s: value %v, want 4", name, got["value"])
		}
	}
}
