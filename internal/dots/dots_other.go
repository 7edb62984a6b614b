//go:build !amd64

package dots

// Available reports whether the processor has the instructions.
const Available = false

func PlusTimes[T Float](y []T, ptr []int64, ci []int32, av, x []T) { panic("dots: not available") }

func PlusSecond[T Float](y []T, ptr []int64, ci []int32, x []T) { panic("dots: not available") }

func MinPlus[T Float](y []T, most T, ptr []int64, ci []int32, av, x []T) {
	panic("dots: not available")
}

func PlusTimesRow[T Float](ci []int32, av, x []T) T { panic("dots: not available") }

func PlusSecondRow[T Float](ci []int32, x []T) T { panic("dots: not available") }

func MinPlusRow[T Float](most T, ci []int32, av, x []T) T { panic("dots: not available") }
