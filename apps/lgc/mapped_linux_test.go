package lgc

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"unsafe"

	"github.com/hiveblas/hiveblas/generate"
	"github.com/hiveblas/hiveblas/graphio"
	"github.com/hiveblas/hiveblas/internal/sure"
)

// resident counts the pages of a file that are in memory.
func resident(t *testing.T, path string) (pages, all int) {
	t.Helper()
	f := sure.Get(os.Open(path))
	defer f.Close()
	size := sure.Get(f.Stat()).Size()
	data := sure.Get(syscall.Mmap(int(f.Fd()), 0, int(size), syscall.PROT_READ, syscall.MAP_SHARED))
	defer func() { sure.Do(syscall.Munmap(data)) }()
	in := make([]byte, (len(data)+os.Getpagesize()-1)/os.Getpagesize())
	if _, _, e := syscall.Syscall(syscall.SYS_MINCORE, uintptr(unsafe.Pointer(&data[0])), uintptr(len(data)), uintptr(unsafe.Pointer(&in[0]))); e != 0 {
		t.Skip("mincore: ", e)
	}
	for _, b := range in {
		pages += int(b & 1)
	}
	return pages, len(in)
}

// TestReadsTouchedRows: a query on a file that is not in memory reads few of its pages.
func TestReadsTouchedRows(t *testing.T) {
	const side = 600 // a grid: 360000 vertices, far from each other
	g := sure.Get(generate.Matrix[bool](sure.Get(generate.Grid(side, side)), generate.Undirected(), generate.Simple()))
	path := filepath.Join(t.TempDir(), "grid.hgb")
	sure.Do(graphio.WriteFile(path, g))
	f := sure.Get(os.OpenFile(path, os.O_RDWR, 0))
	sure.Do(f.Sync())
	const dontNeed = 4 // POSIX_FADV_DONTNEED
	_, _, e := syscall.Syscall6(syscall.SYS_FADVISE64, f.Fd(), 0, 0, dontNeed, 0, 0)
	sure.Do(f.Close())
	before, all := resident(t, path)
	if e != 0 || before > all/100 {
		t.Skipf("%d of %d pages stay in memory: %v", before, all, e)
	}
	file := sure.Get(graphio.MapStructure(path))
	defer file.Close()
	c := sure.Get(NewLocalClusterer(file.Pattern))
	r, err := c.Cluster([]int{side*side/2 + side/2}, LocalClusterOptions{Rho: 1e-3, Sweep: true})
	if err != nil || r.Support == 0 || r.Cut == nil {
		t.Fatalf("%+v, %v", r, err)
	}
	if after, _ := resident(t, path); after == 0 || after > all/20 {
		t.Errorf("a cluster of %d vertices brought %d of %d pages into memory", r.Support, after, all)
	}
}
