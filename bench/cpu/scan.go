package cpu

import (
	"time"

	"github.com/hiveblas/hiveblas/apps"
)

// oursScan computes the scan statistics, with the orientation of the graph; the check is the
// triangles, which peers count.
func oursScan(b *cpuBench, in, _ *input) (time.Duration, float64, error) {
	in.f64.IsSymmetric()
	var res *apps.ScanResult
	d, err := timed(func() (err error) {
		res, err = apps.ScanStatistics(in.f64, apps.ScanOptions{Run: apps.Run{Threads: b.Threads}})
		return err
	})
	if err != nil {
		return 0, 0, err
	}
	return d, float64(res.Triangles), nil
}
