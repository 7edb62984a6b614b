//go:build !linux

package chunked

func largePages([]byte) {}
