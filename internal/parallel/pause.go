//go:build amd64 || arm64

package parallel

// pause tells the processor that its thread waits in a loop, so that the other thread of its core
// has the units of both. It takes up to 150 cycles.
func pause()
