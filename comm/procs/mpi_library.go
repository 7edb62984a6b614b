package procs

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"unsafe"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/internal/dl"
)

// ErrNoMPI is wrapped by the errors of JoinMPI where there is no MPI library that it can use.
var ErrNoMPI = errors.New("no usable MPI: install Open MPI (apt-get install openmpi-bin), or name its libmpi.so.40 by HIVEBLAS_MPI")

// cTypes are the names of the element types in C.
var cTypes = [...]string{
	comm.Uint8: "uint8_t", comm.Int8: "int8_t", comm.Int16: "int16_t", comm.Uint16: "uint16_t", comm.Int32: "int32_t",
	comm.Uint32: "uint32_t", comm.Int64: "int64_t", comm.Uint64: "uint64_t", comm.Float32: "float", comm.Float64: "double",
}

// mpiLib holds the functions and handles of Open MPI. A handle is the address of a variable.
type mpiLib struct {
	path, version string
	mu            sync.Mutex // of calls: MPI_THREAD_SERIALIZED is enough

	initThread, finalize, commRank, commSize, commDup, commSplit, commFree, setErrhandler uintptr
	errorString, test, ibarrier, iallgatherv, ialltoallv, iallreduce, ireduceScatter      uintptr
	ibcast, isend, irecv                                                                  uintptr
	world, errorsReturn                                                                   uintptr
	types                                                                                 [len(cTypes)]uintptr
	ops                                                                                   [comm.SumAnyOrder + 1]uintptr
}

func (l *mpiLib) symbols() map[string]*uintptr {
	m := map[string]*uintptr{
		"MPI_Init_thread": &l.initThread, "MPI_Finalize": &l.finalize, "MPI_Comm_rank": &l.commRank,
		"MPI_Comm_size": &l.commSize, "MPI_Comm_dup": &l.commDup, "MPI_Comm_split": &l.commSplit,
		"MPI_Comm_free": &l.commFree, "MPI_Comm_set_errhandler": &l.setErrhandler,
		"MPI_Error_string": &l.errorString, "MPI_Test": &l.test, "MPI_Ibarrier": &l.ibarrier,
		"MPI_Iallgatherv": &l.iallgatherv, "MPI_Ialltoallv": &l.ialltoallv, "MPI_Iallreduce": &l.iallreduce,
		"MPI_Ireduce_scatter_block": &l.ireduceScatter, "MPI_Ibcast": &l.ibcast, "MPI_Isend": &l.isend,
		"MPI_Irecv":           &l.irecv,
		"ompi_mpi_comm_world": &l.world, "ompi_mpi_errors_return": &l.errorsReturn,
	}
	for t, name := range cTypes {
		m["ompi_mpi_"+name] = &l.types[t]
	}
	for o, name := range [comm.SumAnyOrder]string{"sum", "prod", "min", "max", "band", "bor", "bxor"} {
		m["ompi_mpi_op_"+name] = &l.ops[o]
	}
	return m
}

// mpiNames are libraries by preference. Only the first is supported; the others are opened to say
// so.
var mpiNames = []string{"libmpi.so.40", "libmpi.so", "libmpi_abi.so.0", "libmpi.so.12", "libmpich.so.12"}

var mpiFolders = []string{
	"/usr/lib64/openmpi/lib", "/usr/lib/*/openmpi/lib", "/opt/hpcx/ompi/lib", "/usr/local/mpi/lib", "/usr/local/openmpi/lib",
}

// openMPI opens the library once in a process.
var openMPI = sync.OnceValues(findMPI)

func findMPI() (*mpiLib, error) {
	handle, path, err := dl.Find("HIVEBLAS_MPI", mpiNames, mpiFolders)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoMPI, err)
	}
	l := &mpiLib{path: path}
	l.version = mpiVersion(handle)
	if _, err := dl.Symbol(handle, "ompi_mpi_comm_world"); err != nil {
		what := "is no Open MPI"
		if _, err := dl.Symbol(handle, "MPI_Abi_get_version"); err == nil {
			what = "has the ABI of MPI 5, which hiveblas does not support yet"
		} else if strings.Contains(l.version, "MPICH") || strings.Contains(l.version, "Intel") || strings.Contains(l.version, "MVAPICH") {
			what = "has the ABI of MPICH, which hiveblas does not support yet"
		}
		return nil, fmt.Errorf("%w: %s (%s) %s", ErrNoMPI, path, cmpText(l.version, "unknown version"), what)
	}
	for name, p := range l.symbols() {
		if *p, err = dl.Symbol(handle, name); err != nil {
			return nil, fmt.Errorf("%w: %s (%s) has no %s; Open MPI 4.1 has it", ErrNoMPI, path, cmpText(l.version, "unknown version"), name)
		}
	}
	l.ops[comm.SumAnyOrder] = l.ops[comm.Sum]
	return l, nil
}

func cmpText(s, otherwise string) string {
	if s != "" {
		return s
	}
	return otherwise
}

// mpiVersion asks the library for its version, which is allowed before MPI_Init.
func mpiVersion(handle uintptr) string {
	f, err := dl.Symbol(handle, "MPI_Get_library_version")
	if err != nil {
		return ""
	}
	text, n := make([]byte, 8192), new(int32)
	if dl.Call(f, uintptr(unsafe.Pointer(&text[0])), uintptr(unsafe.Pointer(n))) != 0 {
		return ""
	}
	s := dl.String(unsafe.Pointer(&text[0]))
	if i := strings.IndexAny(s, ",\n"); i > 0 {
		s = s[:i]
	}
	return strings.TrimSpace(s)
}

// MPIVersion returns the path and the version of the MPI library of JoinMPI, or the error that it
// would return. It does not start MPI.
func MPIVersion() (path, version string, err error) {
	l, err := openMPI()
	if err != nil {
		return "", "", err
	}
	return l.path, l.version, nil
}

// MPIError is a return code of MPI other than success.
type MPIError struct {
	Call string // such as "MPI_Iallgatherv"
	Code int
	Text string // of MPI_Error_string
}

func (e *MPIError) Error() string { return fmt.Sprintf("%s: error %d: %s", e.Call, e.Code, e.Text) }

// do calls a function. The lock is held.
func (l *mpiLib) check(name string, code int32) error {
	if code == 0 {
		return nil
	}
	text, n := make([]byte, 4096), new(int32)
	dl.Call(l.errorString, uintptr(code), uintptr(unsafe.Pointer(&text[0])), uintptr(unsafe.Pointer(n)))
	return &MPIError{name, int(code), dl.String(unsafe.Pointer(&text[0]))}
}
