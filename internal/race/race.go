// Package race reports whether the race detector is on. It multiplies time by ten, takes more
// memory and makes sync.Pool drop items.
package race
