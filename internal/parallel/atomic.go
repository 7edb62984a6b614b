package parallel

// A number is an atomic one of package sync/atomic.
type number[T int32 | int64 | uint64] interface {
	Load() T
	CompareAndSwap(old, new T) bool
}

// Lower sets at to x if that is less.
func Lower[T int32 | int64 | uint64](at number[T], x T) {
	for now := at.Load(); x < now && !at.CompareAndSwap(now, x); now = at.Load() {
	}
}

// Raise sets at to x if that is more.
func Raise[T int32 | int64 | uint64](at number[T], x T) {
	for now := at.Load(); x > now && !at.CompareAndSwap(now, x); now = at.Load() {
	}
}
