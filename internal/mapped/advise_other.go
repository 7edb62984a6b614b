//go:build !linux

package mapped

const random, needed = 0, 0

func advise([]byte, int) {}
