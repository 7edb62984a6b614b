package matrix

// Number is the set of numeric element types of files.
type Number interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 |
		~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 |
		~float32 | ~float64
}

// Element is the set of element types that files hold: Number and bool.
type Element interface{ ~bool | Number }
