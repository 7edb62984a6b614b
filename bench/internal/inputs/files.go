package inputs

import (
	"fmt"
)

// DataInput begins the names of inputs that are files.
const DataInput = "data/"

func Scan(name, format string, numbers ...*int) bool {
	at, got := make([]any, len(numbers)), make([]any, len(numbers))
	for k, p := range numbers {
		at[k] = p
	}
	n, err := fmt.Sscanf(name, format, at...)
	for k, p := range numbers {
		got[k] = *p
	}
	return err == nil && n == len(numbers) && name == fmt.Sprintf(format, got...)
}
