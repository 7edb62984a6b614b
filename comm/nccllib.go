package comm

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/dl"
)

// ErrNoNCCL is wrapped by the errors of NCCL and JoinNCCL where there is no library that they can
// use.
var ErrNoNCCL = errors.New("no usable NCCL: install libnccl2 2.23 or newer (pip install nvidia-nccl-cu13), or name libnccl.so.2 by HIVEBLAS_NCCL; comm.Peers needs none within a host")

// oldestNCCL has ncclCommInitRankScalable, so that no struct is passed by value.
const oldestNCCL = 22300

// Result codes of NCCL.
const (
	ncclSuccess    = 0
	ncclInProgress = 7
)

// ncclLib holds the functions of NCCL.
type ncclLib struct {
	path    string
	version int // 10000·major + 100·minor + patch

	getVersion, getErrorString, getLastError, getUniqueID, initRankScalable, commSplit uintptr
	commDestroy, commAbort, getAsyncError, groupStart, groupEnd                        uintptr
	allGather, allReduce, reduceScatter, broadcast, send, recv, commFinalize           uintptr
}

func (l *ncclLib) symbols() map[string]*uintptr {
	return map[string]*uintptr{
		"ncclGetErrorString": &l.getErrorString, "ncclGetLastError": &l.getLastError,
		"ncclGetUniqueId": &l.getUniqueID, "ncclCommInitRankScalable": &l.initRankScalable,
		"ncclCommSplit": &l.commSplit, "ncclCommFinalize": &l.commFinalize, "ncclCommDestroy": &l.commDestroy,
		"ncclCommAbort": &l.commAbort, "ncclCommGetAsyncError": &l.getAsyncError,
		"ncclGroupStart": &l.groupStart, "ncclGroupEnd": &l.groupEnd, "ncclAllGather": &l.allGather,
		"ncclAllReduce": &l.allReduce, "ncclReduceScatter": &l.reduceScatter, "ncclBroadcast": &l.broadcast,
		"ncclSend": &l.send, "ncclRecv": &l.recv,
	}
}

// ncclFolders are where wheels and packages put the library, besides the linker's folders.
func ncclFolders() []string {
	home, _ := os.UserHomeDir()
	var out []string
	add := func(root, rest string) {
		if root != "" {
			out = append(out, filepath.Join(root, rest))
		}
	}
	for _, root := range []string{os.Getenv("VIRTUAL_ENV"), os.Getenv("CONDA_PREFIX"), filepath.Join(home, ".local"), "/usr/local", "/usr"} {
		for _, site := range []string{"site-packages", "dist-packages"} {
			add(root, "lib/python3*/"+site+"/nvidia/nccl/lib")
		}
	}
	add(os.Getenv("CONDA_PREFIX"), "lib")
	add(os.Getenv("CUDA_HOME"), "lib64")
	return append(out, "/usr/local/cuda/lib64")
}

var (
	ncclOnce sync.Mutex
	ncclKept = map[string]*ncclLib{} // by HIVEBLAS_NCCL, which tests change
)

// openNCCL opens the library, once for each value of HIVEBLAS_NCCL.
func openNCCL() (*ncclLib, error) {
	ncclOnce.Lock()
	defer ncclOnce.Unlock()
	key := os.Getenv("HIVEBLAS_NCCL")
	if l := ncclKept[key]; l != nil {
		return l, nil
	}
	handle, path, err := dl.Find("HIVEBLAS_NCCL", []string{"libnccl.so.2", "libnccl.so"}, ncclFolders())
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoNCCL, err)
	}
	l := &ncclLib{path: path}
	// The version comes first: an old library lacks functions too.
	if l.getVersion, err = dl.Symbol(handle, "ncclGetVersion"); err != nil {
		return nil, fmt.Errorf("%w: %s is no NCCL: it has no ncclGetVersion", ErrNoNCCL, path)
	}
	v := new(int32)
	if code := dl.Call(l.getVersion, uintptr(unsafe.Pointer(v))); code != 0 {
		return nil, fmt.Errorf("%w: %s: ncclGetVersion returned %d", ErrNoNCCL, path, code)
	}
	l.version = int(*v)
	if l.version < oldestNCCL {
		return nil, fmt.Errorf("%w: %s is version %s", ErrNoNCCL, path, l.versionText())
	}
	for name, p := range l.symbols() {
		if *p, err = dl.Symbol(handle, name); err != nil {
			return nil, fmt.Errorf("%w: %s, version %s, has no %s", ErrNoNCCL, path, l.versionText(), name)
		}
	}
	ncclKept[key] = l
	return l, nil
}

func (l *ncclLib) versionText() string {
	if l.version < 10000 { // before 2.9: 1000·major + 100·minor + patch
		return fmt.Sprintf("%d.%d.%d", l.version/1000, l.version/100%10, l.version%100)
	}
	return fmt.Sprintf("%d.%d.%d", l.version/10000, l.version/100%100, l.version%100)
}

// NCCLVersion returns the path and the version of NCCL, such as "2.28.9", or the error that the
// functions which use it would return.
func NCCLVersion() (path, version string, err error) {
	l, err := openNCCL()
	if err != nil {
		return "", "", err
	}
	return l.path, l.versionText(), nil
}

// NCCLError is a result of NCCL other than success.
type NCCLError struct {
	Call string // such as "ncclAllGather"
	Code int
	Text string // of ncclGetErrorString and ncclGetLastError
}

func (e *NCCLError) Error() string { return fmt.Sprintf("%s: error %d: %s", e.Call, e.Code, e.Text) }

// check turns a result into an error. Work in progress is none.
func (l *ncclLib) check(name string, code int32, comm uintptr) error {
	if code == ncclSuccess || code == ncclInProgress {
		return nil
	}
	var text func(int32) unsafe.Pointer
	dl.Bind(&text, l.getErrorString)
	s := dl.String(text(code))
	var last func(uintptr) unsafe.Pointer
	dl.Bind(&last, l.getLastError)
	if more := dl.String(last(comm)); more != "" {
		s += ": " + more
	}
	return &NCCLError{name, int(code), s}
}

// ncclConfig is ncclConfig_t of version 2.14, which newer libraries complete with defaults.
type ncclConfig struct {
	size           uint64
	magic, version uint32
	blocking, _    int32
}

// newNCCLConfig asks for a communicator that does not block. HIVEBLAS_NCCL_BLOCKING=1 asks for one
// that does, whose calls cannot be interrupted, for measurements.
func newNCCLConfig() *ncclConfig {
	c := &ncclConfig{size: 24, magic: 0xcafebeef, version: 21400, blocking: 0}
	if os.Getenv("HIVEBLAS_NCCL_BLOCKING") == "1" {
		c.blocking = 1
	}
	return c
}

// uniqueID makes the id of a new world.
func (l *ncclLib) uniqueID() ([]byte, error) {
	id := make([]byte, 128)
	code := dl.Call(l.getUniqueID, uintptr(unsafe.Pointer(&id[0])))
	return id, l.check("ncclGetUniqueId", code, 0)
}
