// Package mapped maps files into memory, and reads ahead the parts of them that a search will need.
package mapped

import (
	"os"
	"slices"
	"sync"
	"unsafe"
)

// scattered are the mappings that are read here and there.
var scattered struct {
	sync.RWMutex
	list [][]byte
}

// Scattered says that a mapping is read here and there: the system reads single pages of it, and
// what [Ahead] names. The system else reads megabytes around each page.
func Scattered(data []byte) {
	if len(data) == 0 {
		return
	}
	scattered.Lock()
	defer scattered.Unlock()
	scattered.list = append(scattered.list, data)
	advise(data, random)
}

// forget takes a mapping from the list.
func forget(data []byte) {
	scattered.Lock()
	defer scattered.Unlock()
	scattered.list = slices.DeleteFunc(scattered.list, func(m []byte) bool { return unsafe.SliceData(m) == unsafe.SliceData(data) })
}

// Ahead starts to read the pages of items, if they are part of a mapping that is read here and
// there, and does not wait for them.
func Ahead[T any](items []T) {
	size := unsafe.Sizeof(*new(T)) * uintptr(len(items))
	if size == 0 {
		return
	}
	from := uintptr(unsafe.Pointer(unsafe.SliceData(items)))
	scattered.RLock()
	defer scattered.RUnlock()
	for _, m := range scattered.list {
		start := uintptr(unsafe.Pointer(unsafe.SliceData(m)))
		if from >= start && from+size <= start+uintptr(len(m)) {
			page := (from - start) &^ (pageBytes - 1)
			advise(m[page:from+size-start], needed)
			return
		}
	}
}

// pageBytes is the granularity of reading ahead; mappings begin at multiples of it.
var pageBytes = uintptr(os.Getpagesize())
