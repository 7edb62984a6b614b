package nccl

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/dl"
)

// ErrMissing is wrapped by the errors of functions of this package where there is no library that
// they can use.
var ErrMissing = errors.New("no usable NCCL: install libnccl2 2.23 or newer (pip install nvidia-nccl-cu13), or name libnccl.so.2 by HIVEBLAS_NCCL; comm.Peers needs none within a host")

// oldest has ncclCommInitRankScalable, so that no struct is passed by value.
const oldest = 22300

// Result codes of NCCL.
const (
	success    = 0
	inProgress = 7
)

// library holds the functions of NCCL.
type library struct {
	path    string
	version int // 10000·major + 100·minor + patch

	getVersion, getErrorString, getLastError, getUniqueID, initRankScalable, commSplit uintptr
	commDestroy, commAbort, getAsyncError, groupStart, groupEnd                        uintptr
	allGather, allReduce, reduceScatter, broadcast, send, recv, commFinalize           uintptr
}

func (l *library) symbols() map[string]*uintptr {
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

// folders are where wheels and packages put the library, besides the linker's folders.
func folders() []string {
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
	once sync.Mutex
	kept = map[string]*library{} // by HIVEBLAS_NCCL, which tests change
)

// open opens the library, once for each value of HIVEBLAS_NCCL.
func open() (*library, error) {
	once.Lock()
	defer once.Unlock()
	key := os.Getenv("HIVEBLAS_NCCL")
	if l := kept[key]; l != nil {
		return l, nil
	}
	handle, path, err := dl.Find("HIVEBLAS_NCCL", []string{"libnccl.so.2", "libnccl.so"}, folders())
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMissing, err)
	}
	l := &library{path: path}
	// The version comes first: an old library lacks functions too.
	if l.getVersion, err = dl.Symbol(handle, "ncclGetVersion"); err != nil {
		return nil, fmt.Errorf("%w: %s is no NCCL: it has no ncclGetVersion", ErrMissing, path)
	}
	v := new(int32)
	if code := dl.Call(l.getVersion, uintptr(unsafe.Pointer(v))); code != 0 {
		return nil, fmt.Errorf("%w: %s: ncclGetVersion returned %d", ErrMissing, path, code)
	}
	l.version = int(*v)
	if l.version < oldest {
		return nil, fmt.Errorf("%w: %s is version %s", ErrMissing, path, l.versionText())
	}
	for name, p := range l.symbols() {
		if *p, err = dl.Symbol(handle, name); err != nil {
			return nil, fmt.Errorf("%w: %s, version %s, has no %s", ErrMissing, path, l.versionText(), name)
		}
	}
	kept[key] = l
	return l, nil
}

func (l *library) versionText() string {
	if l.version < 10000 { // before 2.9: 1000·major + 100·minor + patch
		return fmt.Sprintf("%d.%d.%d", l.version/1000, l.version/100%10, l.version%100)
	}
	return fmt.Sprintf("%d.%d.%d", l.version/10000, l.version/100%100, l.version%100)
}

// Version returns the path and the version of NCCL, such as "2.28.9", or the error that the
// functions which use it would return.
func Version() (path, version string, err error) {
	l, err := open()
	if err != nil {
		return "", "", err
	}
	return l.path, l.versionText(), nil
}

// Error is a result of NCCL other than success.
type Error struct {
	Call string // such as "ncclAllGather"
	Code int
	Text string // of ncclGetErrorString and ncclGetLastError
}

func (e *Error) Error() string { return fmt.Sprintf("%s: error %d: %s", e.Call, e.Code, e.Text) }

// check turns a result into an error. Work in progress is none.
func (l *library) check(name string, code int32, comm uintptr) error {
	if code == success || code == inProgress {
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
	return &Error{name, int(code), s}
}

// config is ncclConfig_t of version 2.14, which newer libraries complete with defaults.
type config struct {
	size           uint64
	magic, version uint32
	blocking, _    int32
}

// newConfig asks for a communicator that does not block. HIVEBLAS_NCCL_BLOCKING=1 asks for a
// communicator that blocks, for measurements; its calls cannot be interrupted.
func newConfig() *config {
	c := &config{size: 24, magic: 0xcafebeef, version: 21400, blocking: 0}
	if os.Getenv("HIVEBLAS_NCCL_BLOCKING") == "1" {
		c.blocking = 1
	}
	return c
}

// idBytes is the size of an id.
const idBytes = 128

// NewID makes the id of a new world, which its ranks give to [New].
func NewID() ([]byte, error) {
	l, err := open()
	if err != nil {
		return nil, err
	}
	id := make([]byte, idBytes)
	code := dl.Call(l.getUniqueID, uintptr(unsafe.Pointer(&id[0])))
	return id, l.check("ncclGetUniqueId", code, 0)
}
