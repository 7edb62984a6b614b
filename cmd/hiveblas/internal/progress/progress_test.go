package progress

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/hiveblas/hiveblas/internal/sure"
)

func TestProgressBar(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for _, c := range []struct {
		reason string
		lasts  time.Duration
		total  int64
		want   string
	}{
		{"a quick stage", patience / 2, 100, ""},
		{"a long stage of known length", patience * 3 / 2, 100, "50%"},
		{"a long stage of unknown length", patience * 3 / 2, 0, "shortest paths"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			var b bytes.Buffer
			p := Recording(&b, nil)
			p.Begin("compute")
			p.Update("shortest paths", 50, c.total)
			time.Sleep(c.lasts)
			p.End()
			if c.want == "" && b.Len() > 0 || !strings.Contains(b.String(), c.want) {
				t.Errorf("printed %q", b.String())
			}
			if strings.Contains(b.String(), "\n") {
				t.Errorf("a bar takes one line and leaves none: %q", b.String())
			}
		})
	}
}

func TestNoProgressBarWithoutTerminal(t *testing.T) {
	f := sure.Get(os.Create(t.TempDir() + "/stderr"))
	defer f.Close()
	if New(f, true).enabled || New(&bytes.Buffer{}, true).enabled {
		t.Error("enabled for a file")
	}
}
