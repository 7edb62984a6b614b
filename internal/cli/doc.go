// Package cli is what the command lines of this module have in common: a run of a command with its
// streams, signals and exit code, errors with their remedy, flags, help and man pages.
package cli
