package matrix_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/matrix"
)

// Errors name the function and the argument.
func TestErrorsNameArguments(t *testing.T) {
	t.Parallel()
	if _, err := matrix.Diag[int](nil, 0); !errors.Is(err, matrix.ErrInvalid) || !strings.Contains(err.Error(), "matrix.Diag: v is nil") {
		t.Errorf("Diag of nil: %v", err)
	}
	var b matrix.Builder[int]
	b.Add(0, 0, 1)
	if _, err := b.Build(nil); !errors.Is(err, matrix.ErrIndex) || !strings.HasPrefix(err.Error(), "Builder.Add: row 0") {
		t.Errorf("a zero builder: %v", err)
	}
}
