package cli

import "testing"

func TestByteSize(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "17": 17, " 17 B ": 17, "2GiB": 2 << 30, "2gib": 2 << 30, "2G": 2 << 30, "2GB": 2e9, "1.5k": 1536, "1.5kB": 1500,
		"3M": 3 << 20, "3 MB": 3e6, "1T": 1 << 40, "1TiB": 1 << 40, "1TB": 1e12, "1e3": 1000,
	} {
		var b ByteSize
		if err := b.Set(text); err != nil || int64(b) != want {
			t.Errorf("%q: got %d, %v; want %d", text, b, err, want)
		}
	}
	for _, text := range []string{"", "G", "much", "-1", "-1GiB", "NaN", "Inf", "9e18K", "1GiBB", "5 boxes"} {
		b := ByteSize(42)
		if err := b.Set(text); err == nil || b != 42 {
			t.Errorf("%q: got %d, %v; want an error and no change", text, b, err)
		}
	}
}
