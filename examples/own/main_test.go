package main

import (
	"bytes"
	"regexp"
	"testing"

	"github.com/hiveblas/hiveblas/internal/emulate"
)

// TestOwn: the program finds the same on the host and on a device.
func TestOwn(t *testing.T) {
	t.Parallel()
	var want, got bytes.Buffer
	if err := run(&want, nil, 6); err != nil {
		t.Fatal(err)
	}
	lines := regexp.MustCompile(`^\d+ vertices within two hops\n\d+ vertices have a label\nthe largest solution is 1\.000\nclusters of \[.*\] vertices\n$`)
	if !lines.Match(want.Bytes()) {
		t.Errorf("on the host:\n%s", &want)
	}
	if err := run(&got, emulate.Shared(t), 6); err != nil || got.String() != want.String() {
		t.Errorf("%v\n%swant\n%s", err, &got, &want)
	}
}
