package train

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/apps/internal/lines"
	"github.com/hiveblas/hiveblas/graphio"
	"github.com/hiveblas/hiveblas/internal/sure"
)

func TestReadClasses(t *testing.T) {
	t.Parallel()
	o := lines.ScoreFileOptions{Name: "c.tsv"}
	classes, names, err := ReadClasses(strings.NewReader("b\na\n-1\nb\n"), 4, o)
	if err != nil || !slices.Equal(classes, []int32{1, 0, -1, 1}) || !slices.Equal(names, []string{"a", "b"}) {
		t.Errorf("%v %v, %v", classes, names, err)
	}
	classes, names, err = ReadClasses(strings.NewReader("3\t10\n0\t9\n"), 4, o)
	if err != nil || !slices.Equal(classes, []int32{0, -1, -1, 1}) || !slices.Equal(names, []string{"9", "10"}) {
		t.Errorf("%v %v, %v", classes, names, err)
	}
	split, err := ReadSplit(strings.NewReader("0 train\n2 test\n3 val\n1 none\n"), 4, o)
	if err != nil || !slices.Equal(split.Train, []int{0}) || !slices.Equal(split.Validate, []int{3}) || !slices.Equal(split.Test, []int{2}) {
		t.Errorf("%+v, %v", split, err)
	}
	var e *graphio.ParseError
	for _, text := range []string{"a\n", "a\nb\nc\nd\ne\n", "0 a\n0 b\n", "9 a\n", "0 a b\n", "0 a\nb\n"} {
		if _, _, err := ReadClasses(strings.NewReader(text), 4, o); !errors.As(err, &e) || e.File != "c.tsv" || e.Line == 0 {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, text := range []string{"class\nb\na\n-1\nb\n", "vertex,class\n0,b\n1,a\n3,b\n", "node class\n3 b\n1 a\n0 b\n"} {
		classes, names, err := ReadClasses(strings.NewReader(text), 4, o)
		if err != nil || !slices.Equal(classes, []int32{1, 0, -1, 1}) || !slices.Equal(names, []string{"a", "b"}) {
			t.Errorf("%q: %v %v, %v", text, classes, names, err)
		}
	}
	if classes, _, err := ReadClasses(strings.NewReader("class\nb\na\n"), 3, o); err != nil || !slices.Equal(classes, []int32{2, 1, 0}) {
		t.Errorf("a class with the name of a column: %v, %v", classes, err)
	}
	if split, err := ReadSplit(strings.NewReader("id;part\n0;train\n2;test\n"), 4, lines.ScoreFileOptions{TextOptions: lines.TextOptions{Decimal: ','}}); err != nil || !slices.Equal(split.Train, []int{0}) {
		t.Errorf("%+v, %v", split, err)
	}
	if _, err := ReadSplit(strings.NewReader("0 training\n"), 4, o); !errors.As(err, &e) {
		t.Errorf("an unknown part: %v", err)
	}
}

func FuzzReadClasses(f *testing.F) {
	f.Add("0 a\n1 b\n", 3)
	f.Fuzz(func(t *testing.T, text string, n int) {
		n &= 15
		classes, names, err := ReadClasses(strings.NewReader(text), n)
		for _, c := range classes {
			if err == nil && (c < -1 || int(c) >= len(names)) {
				t.Errorf("%q: class %d of %d", text, c, len(names))
			}
		}
	})
}

// The splits of ten seeds as files of sage train, in the folder HIVEBLAS_SAGE_SPLITS, for other
// programs (bench/peers/sage_accuracy.py).
func TestSAGESplitFiles(t *testing.T) {
	folder := os.Getenv("HIVEBLAS_SAGE_SPLITS")
	if folder == "" {
		t.Skip("HIVEBLAS_SAGE_SPLITS names no folder")
	}
	for name, size := range map[string]int{"cora": 7*20 + 1500, "citeseer": 6*20 + 1500} {
		_, _, classes := citations(t, name)
		for seed := range uint64(10) {
			var text strings.Builder
			s, lines := citationSplit(classes, seed), 0
			for part, list := range map[string][]int{"train": s.Train, "validate": s.Validate, "test": s.Test} {
				for _, v := range list {
					fmt.Fprintf(&text, "%d\t%s\n", v, part)
					lines++
				}
			}
			if lines != size {
				t.Errorf("%s, seed %d: %d vertices, want %d", name, seed, lines, size)
			}
			sure.Do(os.WriteFile(filepath.Join(folder, fmt.Sprintf("%s-%d.tsv", name, seed)), []byte(text.String()), 0o666))
		}
	}
}
