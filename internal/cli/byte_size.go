package cli

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

// ByteSize is a flag for a number of bytes: 6GiB and 6G are 6·2³⁰, 6GB is 6·10⁹. 0 is
// the default of the command.
type ByteSize int64

var byteUnits = []struct {
	name  string
	bytes float64
}{
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40},
	{"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12},
	{"K", 1 << 10}, {"M", 1 << 20}, {"G", 1 << 30}, {"T", 1 << 40},
	{"B", 1},
}

// Set implements pflag.Value.
func (b *ByteSize) Set(s string) error {
	text, unit := strings.TrimSpace(s), 1.0
	for _, u := range byteUnits {
		if n := len(text) - len(u.name); n >= 0 && strings.EqualFold(text[n:], u.name) {
			text, unit = strings.TrimSpace(text[:n]), u.bytes
			break
		}
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || !(x >= 0 && x*unit < math.MaxInt64) {
		return errors.New("want a size such as 6GiB or 500MB")
	}
	*b = ByteSize(x * unit)
	return nil
}

// String implements pflag.Value.
func (b *ByteSize) String() string { return strconv.FormatInt(int64(*b), 10) }

// Type implements pflag.Value.
func (b *ByteSize) Type() string { return "size" }
