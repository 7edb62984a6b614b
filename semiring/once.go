package semiring

import "sync"

// built holds the values of once by a nil *K. (A reflect.Type as the key would have about 60
// functions of package reflect compiled in each package that names a semiring.)
var built sync.Map

// once returns the value that make returns, made at the first call for the type K and shared by
// later ones. V is a type without type parameters: a user's package would compile all methods of
// another. Constructors of built-in operators over any type use it, with a K that names the
// constructor and its types, so that a program can write semiring.First[T, bool]() at every call.
// Those of numbers use the tables of kinds.go. The value must not be changed.
func once[K, V any](make func() *V) *V {
	key := any((*K)(nil))
	if v := made(key); v != nil {
		return v.(*V)
	}
	return share(key, make()).(*V)
}

// made returns the value of a key, nil if there is none. It and share are not inlined: a sync.Map
// is generic, and would be compiled in each package that names a semiring.
//
//go:noinline
func made(key any) any {
	v, _ := built.Load(key)
	return v
}

// share makes v the value of a key unless there is one, and returns the value.
//
//go:noinline
func share(key, v any) any {
	v, _ = built.LoadOrStore(key, v)
	return v
}

// The keys of once for constructors that no tag tells apart.
type (
	keyPair[A, B, C any]     struct{}
	keyFirst[A, B any]       struct{}
	keySecond[A, B any]      struct{}
	keyAny[T any]            struct{}
	keyIdentity[T any]       struct{}
	keyAinv[T any]           struct{}
	keyMinv[T any]           struct{}
	keyAbs[T any]            struct{}
	keyOneOp[A, C any]       struct{}
	keySqrt[T any]           struct{}
	keyExp[T any]            struct{}
	keyLog[T any]            struct{}
	keyConvert[A, C any]     struct{}
	keyRminus[T any]         struct{}
	keyDiv[T any]            struct{}
	keyPow[T any]            struct{}
	keyAnyOf[W, A, B, C any] struct{}
	keyLogical[P, M any]     struct{}
)
