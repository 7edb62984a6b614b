// Package race tells tests whether the race detector watches them: it takes ten
// times the time, more memory, and makes pools forget what they hold.
package race
