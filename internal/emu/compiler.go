package emu

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hiveblas/hiveblas/cusparse/driver"
	"github.com/hiveblas/hiveblas/internal/atomicfile"
)

var (
	//go:embed cxx/shim.h
	shimText string
	//go:embed cxx/state.h
	stateText string
	//go:embed cxx/runtime.cpp
	runtimeText string
)

// flags: -O0 compiles as slowly as -O1, -O2 half as slowly again. Linking the C++ standard
// libraries would triple the time.
var flags = []string{"-std=c++17", "-O1", "-pipe", "-w", "-fPIC", "-shared", "-fwrapv", "-fno-strict-aliasing",
	"-fno-exceptions", "-fno-rtti", "-fno-asynchronous-unwind-tables", "-fno-threadsafe-statics",
	"-fvisibility=hidden", "-nostdlib", "-x", "c++", "-"}

var libraries = []string{"-lm", "-lc", "-lgcc"}

// Compiler compiles kernels for the emulator. It is safe for concurrent use.
type Compiler struct {
	path    string
	version string
	Cache   Cache
}

// A Cache is a folder of compiled kernels, named by the hash of their source; "" keeps none. The
// first process that adds a library to more than Most bytes removes half, the libraries used
// longest ago.
type Cache struct {
	Dir  string
	Most int64
}

// defaultCache keeps what all tests of a day compile, about 60 MB.
func defaultCache() Cache {
	dir, err := os.UserCacheDir()
	if err != nil {
		return Cache{}
	}
	return Cache{filepath.Join(dir, "hiveblas-emu"), 512 << 20}
}

// NewCompiler finds g++. Its errors wrap ErrUnavailable.
func NewCompiler() (*Compiler, error) {
	c, err := findCompiler()
	if err != nil {
		return nil, err
	}
	own := *c
	return &own, nil
}

var findCompiler = sync.OnceValues(func() (*Compiler, error) {
	path, err := exec.LookPath("g++")
	if err != nil {
		return nil, fmt.Errorf("%w: it compiles kernels with g++, which is not in PATH: install it (Debian: apt-get install g++)", ErrUnavailable)
	}
	out, err := exec.Command(path, "-dumpfullversion").Output()
	if err != nil {
		return nil, fmt.Errorf("%w: %s does not run: %v", ErrUnavailable, path, err)
	}
	return &Compiler{path: path, version: strings.TrimSpace(string(out)), Cache: defaultCache()}, nil
})

// Name is "g++".
func (c *Compiler) Name() string { return "g++ (emulator)" }

// Version is the version of g++ and a hash of the emulator.
func (c *Compiler) Version() string {
	h := sha256.Sum256([]byte(shimText + stateText))
	return c.version + "-" + hex.EncodeToString(h[:4])
}

var (
	comments = regexp.MustCompile(`(?s)//[^\n]*|/\*.*?\*/`)
	entries  = regexp.MustCompile(`(?:\bHB_KERNEL|extern\s+"C"\s+__global__\s+(?:__launch_bounds__\s*\((?:[^()]|\([^()]*\))*\)\s*)?void)\s+(?:__launch_bounds__\s*\((?:[^()]|\([^()]*\))*\)\s*)?(\w+)\s*\(`)
	missing  = regexp.MustCompile(`<hb_emu_entries>:(\d+):`)
)

// conflict is in the log where __shared__ in a template is given a section.
const conflict = "section type conflict"

// Compile compiles source to a shared library for this machine. It ignores arch and leaves
// __CUDA_ARCH__ undefined, so that the fallbacks for older architectures run.
func (c *Compiler) Compile(source, name, arch string) ([]byte, error) {
	var kernels []string
	seen := map[string]bool{}
	for _, m := range entries.FindAllStringSubmatch(comments.ReplaceAllString(source, " "), -1) {
		if !seen[m[1]] {
			seen[m[1]] = true
			kernels = append(kernels, m[1])
		}
	}
	compose := func(kernels []string) string {
		var b strings.Builder
		b.WriteString(strings.Replace(shimText, "#include \"state.h\"\n", stateText, 1))
		fmt.Fprintf(&b, "#line 1 %q\n%s\n#line 1 \"<hb_emu_entries>\"\n", name, source)
		for _, k := range kernels {
			fmt.Fprintf(&b, "HB_EMU_ENTRY(%s)\n", k)
		}
		return b.String()
	}
	image, log, err := c.build(compose(kernels), flags)
	if err == nil && log != "" && strings.Contains(log, conflict) {
		// __shared__ in a template cannot be poisoned.
		image, log, err = c.build(compose(kernels), append([]string{"-DHB_EMU_PLAIN_SHARED"}, flags...))
	}
	if err == nil && log != "" {
		// Kernels removed by #if have no entry.
		var left []string
		absent := map[int]bool{}
		for _, m := range missing.FindAllStringSubmatch(log, -1) {
			line, _ := strconv.Atoi(m[1])
			absent[line] = true
		}
		for i, k := range kernels {
			if !absent[i+1] {
				left = append(left, k)
			}
		}
		if len(left) < len(kernels) {
			image, log, err = c.build(compose(left), flags)
		}
	}
	if err != nil {
		return nil, err
	}
	if log != "" {
		return nil, &driver.CompileError{Name: name, Log: log}
	}
	return image, nil
}

// build returns the library, or the log of the compiler, or an error if the compiler cannot run.
func (c *Compiler) build(source string, flags []string) (image []byte, log string, err error) {
	h := sha256.New()
	fmt.Fprintf(h, "%s\n%s\n%q\n%s", c.path, c.version, flags, source)
	kept := ""
	if c.Cache.Dir != "" {
		kept = filepath.Join(c.Cache.Dir, hex.EncodeToString(h.Sum(nil)[:20]))
		if image, ok := readSealed(kept + ".so"); ok {
			return image, "", nil
		}
		if log, ok := readSealed(kept + ".log"); ok {
			return nil, string(log), nil
		}
	}
	dir, err := os.MkdirTemp("", "hiveblas-emu-")
	if err != nil {
		return nil, "", err
	}
	defer os.RemoveAll(dir)
	out := filepath.Join(dir, "kernel.so")
	cmd := exec.Command(c.path, append(append(append([]string{}, flags...), "-o", out), libraries...)...)
	cmd.Stdin = strings.NewReader(source)
	var messages bytes.Buffer
	cmd.Stderr = &messages
	if err := cmd.Run(); err != nil {
		if messages.Len() == 0 {
			return nil, "", fmt.Errorf("%s: %w", c.path, err)
		}
		log := messages.String()
		if kept != "" && (strings.Contains(log, conflict) || missing.MatchString(log)) { // Compile tries again
			c.Cache.writeSealed(kept+".log", []byte(log))
		}
		return nil, log, nil
	}
	image, err = os.ReadFile(out)
	if err != nil {
		return nil, "", err
	}
	if kept != "" {
		c.Cache.writeSealed(kept+".so", image)
	}
	return image, "", nil
}

// A cached library is preceded by its hash: loading a damaged one would crash.
func readSealed(path string) ([]byte, bool) {
	data, err := os.ReadFile(path)
	if err != nil || len(data) < sha256.Size {
		return nil, false
	}
	image := data[sha256.Size:]
	if sum := sha256.Sum256(image); !bytes.Equal(sum[:], data[:sha256.Size]) {
		return nil, false
	}
	if info, err := os.Stat(path); err == nil && time.Since(info.ModTime()) > 24*time.Hour {
		_ = os.Chtimes(path, time.Time{}, time.Now()) // prune keeps what was used last
	}
	return image, true
}

var pruned sync.Once

// prune ignores errors: other processes may remove the same files.
func (c Cache) prune() {
	list, err := os.ReadDir(c.Dir)
	if err != nil {
		return
	}
	var kept []os.FileInfo
	var total int64
	for _, entry := range list {
		if info, err := entry.Info(); err == nil && info.Mode().IsRegular() {
			kept, total = append(kept, info), total+info.Size()
		}
	}
	if total <= c.Most {
		return
	}
	slices.SortFunc(kept, func(a, b os.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	for _, info := range kept {
		if total <= c.Most/2 {
			return
		}
		if os.Remove(filepath.Join(c.Dir, info.Name())) == nil {
			total -= info.Size()
		}
	}
}

// writeSealed ignores errors: the cache only saves time.
func (c Cache) writeSealed(path string, image []byte) {
	if os.MkdirAll(filepath.Dir(path), 0o755) != nil {
		return
	}
	pruned.Do(c.prune)
	f, err := atomicfile.Create(path)
	if err != nil {
		return
	}
	defer f.Abort()
	sum := sha256.Sum256(image)
	if _, err := f.Write(sum[:]); err != nil {
		return
	}
	if _, err := f.Write(image); err != nil {
		return
	}
	_ = f.Commit()
}
