//go:build race

package warm

// raceDetector is on: what one goroutine does over and over is left out.
const raceDetector = true
