package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

// TestFraud: the planted rings are found, and nothing else.
func TestFraud(t *testing.T) {
	t.Parallel()
	first := []int{50, 700, 1990}
	payments, err := made(2000, 8000, first, 9)
	if err != nil {
		t.Fatal(err)
	}
	rings, err := ringsOf(payments, 6)
	if err != nil {
		t.Fatal(err)
	}
	if len(rings) != len(first) {
		t.Fatalf("rings %v, want %d", rings, len(first))
	}
	for k, ring := range rings {
		var want []int
		for v := range 9 {
			want = append(want, first[k]+v)
		}
		if !slices.Equal(ring, want) {
			t.Errorf("ring %d is %v, want %v", k, ring, want)
		}
	}
	var out bytes.Buffer
	if err := run(&out, payments, 6); err != nil || !strings.HasPrefix(out.String(), "3 rings\n9 accounts: [50 51") {
		t.Errorf("%v\n%s", err, &out)
	}
}
