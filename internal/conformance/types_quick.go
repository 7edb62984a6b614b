//go:build !long

package conformance

import "reflect"

// Without the build tag long, int64 is a type of results alone.

func registerMore() {
	k := numberValues("int64", largest[int64]()...)
	kinds[reflect.TypeFor[int64]()] = k
}

func moreProducts() []generator { return nil }

func moreElementwise() []generator { return nil }
