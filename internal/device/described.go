package device

import "sync"

// described holds programs by name, of packages with no place for them on their public page.
var described sync.Map // of func(Type) []Program

// Describe registers the programs of a package for values of a type, for tools that list or compile
// kernels in advance. Packages call it when they are initialised.
func Describe(pkg string, programs func(t Type) []Program) { described.Store(pkg, programs) }

// AnyType returns the programs of a package, which do not depend on the type of values.
func AnyType(programs ...func() Program) func(Type) []Program {
	return func(Type) []Program {
		list := make([]Program, len(programs))
		for k, p := range programs {
			list[k] = p()
		}
		return list
	}
}

// Described returns the programs that a package has registered, nil if it has none.
func Described(pkg string, t Type) []Program {
	f, ok := described.Load(pkg)
	if !ok {
		return nil
	}
	return f.(func(Type) []Program)(t)
}
