// Package jsonvalues makes matrices and vectors of all types that encoding/json knows, such as
// structs without methods, readable from JSON and writable to it: import it for this effect alone.
// Without it the elements are numbers, bools, strings, types with the methods MarshalJSON and
// UnmarshalJSON or MarshalText and UnmarshalText, and pointers to these and arrays of them.
//
//	import _ "github.com/hiveblas/hiveblas/matrix/jsonvalues"
//
// It is a package of its own because encoding/json would cost every program that uses a matrix time
// to compile and to link.
package jsonvalues

import (
	"encoding/json"

	"github.com/hiveblas/hiveblas/internal/jsontext"
)

func init() {
	jsontext.Other.Marshal, jsontext.Other.Unmarshal = json.Marshal, json.Unmarshal
}
