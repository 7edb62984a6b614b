package core

import "testing"

func TestRemedies(t *testing.T) {
	t.Parallel()
	if s := RemedyKind(200).String(); s != "RemedyKind(200)" {
		t.Error(s)
	}
	for k := RemedyText + 1; k < remedyKinds; k++ {
		if k.String() == "" {
			t.Errorf("kind %d has no text", k)
		}
	}
}
