package conformance

import "testing"

func testErrors(t *testing.T, b Backend) {}
