// Package compilecost counts the functions that the compiler compiles in a package that uses
// hiveblas. Go compiles the instance of a generic function in each package that names it, so these
// functions are what an edit of a user's program compiles again. The programs of testdata are those
// that scripts/compilecost.sh and docs/compile.md measure.
package compilecost
