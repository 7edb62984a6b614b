package splitmix

import "testing"

// TestAt compares with the published first outputs of splitmix64 for state 0.
func TestAt(t *testing.T) {
	for k, want := range []uint64{0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F} {
		if got := At(uint64(k), 0); got != want {
			t.Errorf("output %d is %#x, want %#x", k, got, want)
		}
		if got := Mix(uint64(k+1) * Golden); got != want {
			t.Errorf("output %d is %#x by Mix, want %#x", k, got, want)
		}
	}
}
