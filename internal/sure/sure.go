// Package sure takes results of calls that cannot fail where they are made, for tests and
// measurements.
package sure

// Get returns x. It panics if err is not nil.
func Get[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

// Do panics if a call failed.
func Do(errs ...error) {
	for _, err := range errs {
		if err != nil {
			panic(err)
		}
	}
}
