//go:build !race

package warm

const raceDetector = false
