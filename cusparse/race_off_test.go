//go:build !race

package cusparse

const raceDetector = false
