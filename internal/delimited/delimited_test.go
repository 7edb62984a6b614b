package delimited

import (
	"math"
	"slices"
	"strings"
	"testing"
)

func TestNumber(t *testing.T) {
	for _, c := range []struct {
		text    string
		comma   bool
		want    float64
		fault   string
		decimal bool
	}{
		{"1.5", false, 1.5, "", false},
		{"-2e3", false, -2e3, "", false},
		{"0x1.8p+1", false, 3, "", false},
		{"1,5", true, 1.5, "", false},
		{"-1,5e1", true, -15, "", false},
		{"7", true, 7, "", false},
		{"0,5", false, 0, "a decimal comma", true},
		{"1,25", false, 0, "a decimal comma", true},
		{"2,000", false, 0, "either before decimals or between thousands", true},
		{"1,234.5", false, 0, "commas between thousands", false},
		{"1,234,567", false, 0, "commas between thousands", false},
		{"1.234,5", false, 0, "points between thousands and a decimal comma", true},
		{"1.234.567,5", true, 0, "points between thousands", false},
		{"1.5", true, 0, "a decimal point, and decimal commas are announced", false},
		{"1,5,7", true, 0, "not a finite number", false},
		{"x", false, 0, `"x" is not a finite number`, false},
		{"nan", false, 0, "not a finite number", false},
		{"-inf", true, 0, "not a finite number", false},
		{"1e999", false, 0, "not a finite number", false},
		{"", false, 0, "not a finite number", false},
	} {
		x, fault, decimal := Format{Comma: c.comma}.Number(c.text)
		if x != c.want || (fault == "") != (c.fault == "") || !strings.Contains(fault, c.fault) || decimal != c.decimal {
			t.Errorf("%q, comma %v: %v, %q, %v", c.text, c.comma, x, fault, decimal)
		}
	}
	if k := NotFinite([]float32{1, float32(math.Inf(1)), float32(math.NaN())}); k != 1 {
		t.Errorf("the first number that is not finite is %d", k)
	}
	if k := NotFinite([]float64{1, math.MaxFloat64}); k != -1 {
		t.Errorf("a finite number: %d", k)
	}
}

func TestFields(t *testing.T) {
	for _, c := range []struct {
		line  string
		comma bool
		want  []string
	}{
		{"a b,c\td", false, []string{"a b,c", "d"}},
		{"a b, c", false, []string{"a b", "c"}},
		{" a  b ", false, []string{"a", "b"}},
		{"1;0,5", false, []string{"1", "0,5"}},
		{"a;b,5", false, []string{"a;b", "5"}},
		{"1;2", true, []string{"1", "2"}},
		{"1 0,5", true, []string{"1", "0,5"}},
		{"1,,", false, []string{"1", "", ""}},
	} {
		if got := (Format{Comma: c.comma}).Fields([]byte(c.line)); !slices.Equal(got, c.want) {
			t.Errorf("%q, comma %v: %q, want %q", c.line, c.comma, got, c.want)
		}
	}
	for _, c := range []struct {
		format Format
		begins string
	}{{Format{}, "#%"}, {Format{Comments: None}, ""}, {Format{Comments: "!;"}, "!;"}} {
		for _, b := range []byte("#%!;n1") {
			if got := c.format.IsComment(b); got != (strings.IndexByte(c.begins, b) >= 0) {
				t.Errorf("%+v, %q: %v", c.format, b, got)
			}
		}
	}
}

func TestNames(t *testing.T) {
	for field, want := range map[string][2]bool{ // IsName, IsWord
		"vertex": {true, true}, `"Latitude"`: {true, true}, "": {true, false}, "nan": {false, false}, "Infinity": {false, false},
		"12": {false, false}, "alice": {false, true}, "_x": {false, true}, "é": {false, true}, "-1": {false, false}, "@a": {false, false},
	} {
		if got := [2]bool{IsName(field), IsWord(field)}; got != want {
			t.Errorf("%q: %v, want %v", field, got, want)
		}
	}
}
