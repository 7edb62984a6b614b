package apps

import (
	"github.com/hiveblas/hiveblas/internal/longtest"
)

func init() { longtest.FewerChecks() }
