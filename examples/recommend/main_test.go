package main

import (
	"bytes"
	"strings"
	"testing"
)

// TestRecommend: everyone is offered films of their own group that they have not rated.
func TestRecommend(t *testing.T) {
	t.Parallel()
	ratings, err := made(200, 60, 8)
	if err != nil {
		t.Fatal(err)
	}
	best, err := recommend(ratings, 3)
	if err != nil {
		t.Fatal(err)
	}
	if best.NVals() != 600 {
		t.Errorf("%d suggestions, want 3 for each of 200", best.NVals())
	}
	for at := range best.All() {
		if _, rated := ratings.At(at.Row, at.Col); rated || (at.Row < 100) != (at.Col < 30) {
			t.Errorf("person %d is offered film %d (rated: %v)", at.Row, at.Col, rated)
		}
	}
	var out bytes.Buffer
	if err := run(&out, ratings, 3); err != nil || strings.Count(out.String(), "film ") != 6 {
		t.Errorf("%v\n%s", err, &out)
	}
}
