//go:build race

package driver

// raceDetector makes sync.Pool forget on purpose.
const raceDetector = true
