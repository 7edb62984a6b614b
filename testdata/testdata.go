// Package testdata holds small graphs for tests, examples and the demo.
package testdata

import _ "embed"

// Two graphs as Matrix Market files; their comments name the sources.
var (
	// Karate is the friendships of the 34 members of a karate club.
	//
	//go:embed karate.mtx
	Karate []byte

	// Chesapeake is the carbon exchange among 39 compartments of an ecosystem.
	//
	//go:embed chesapeake.mtx
	Chesapeake []byte
)
