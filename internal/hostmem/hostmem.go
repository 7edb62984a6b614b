// Package hostmem reports the memory that the system and the limits of this process leave, and that
// the process has used.
package hostmem

import (
	"math"
	"path"
	"runtime/metrics"
	"strconv"
	"strings"
)

// Available returns the bytes of memory that this process can still get, 0 if unknown: what the
// system can provide, within the limits of its control groups and of ulimit.
func Available() int64 {
	bytes, _ := room(ReadFile)
	return bytes
}

// Room is Available with the memory that the heap of Go holds and does not use, and the name of
// what bounds it.
func Room() (bytes int64, bound string) {
	bytes, bound = room(ReadFile)
	if bytes > 0 {
		bytes += unused()
	}
	return bytes, bound
}

// unused returns the bytes that the heap has from the system and no object uses.
func unused() int64 {
	s := []metrics.Sample{{Name: "/memory/classes/heap/free:bytes"}, {Name: "/memory/classes/heap/unused:bytes"}}
	metrics.Read(s)
	sum := int64(0)
	for _, x := range s {
		if x.Value.Kind() == metrics.KindUint64 {
			sum += int64(x.Value.Uint64())
		}
	}
	return sum
}

// PeakResident returns the largest resident size of this process in bytes, 0 if unknown. (getrusage
// is unsuitable: a child's figure starts at its parent's.)
func PeakResident() int64 { return field(ReadFile, "/proc/self/status", "VmHWM:") }

// reader reads a file of the system, as ReadFile.
type reader func(name string) ([]byte, error)

// addressLimit names the limit of the address space.
const addressLimit = "ulimit -v"

// room is Available, and the name of the bound.
func room(read reader) (least int64, bound string) {
	lower := func(bytes int64, name string) {
		if bytes = max(bytes, 1); least == 0 || bytes < least {
			least, bound = bytes, name
		}
	}
	if system := field(read, "/proc/meminfo", "MemAvailable:"); system > 0 {
		lower(system, "this machine")
	}
	for _, l := range []struct{ limit, used, name string }{
		{"Max address space", "VmSize:", addressLimit},
		{"Max data size", "VmData:", "ulimit -d"},
	} {
		if most, ok := processLimit(read, l.limit); ok {
			lower(most-field(read, "/proc/self/status", l.used), l.name)
		}
	}
	if group, ok := groupRoom(read); ok {
		lower(group, "the control group")
	}
	return least, bound
}

// processLimit returns a soft limit of this process, false if there is none.
func processLimit(read reader, name string) (int64, bool) {
	text, err := read("/proc/self/limits")
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, name); ok {
			soft, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
			most, err := strconv.ParseInt(soft, 10, 64)
			return most, err == nil
		}
	}
	return 0, false
}

// groupRoom returns the least memory that the control groups of this process leave, false without
// limits. Cached files that are not in use count as free.
func groupRoom(read reader) (least int64, limited bool) {
	text, err := read("/proc/self/cgroup")
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(text)) {
		part := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(part) != 3 {
			continue
		}
		root, most, used, cached := "/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"
		switch {
		case part[1] == "": // version 2
		case strings.Contains(","+part[1]+",", ",memory,"):
			root, most, used, cached = "/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"
		default:
			continue
		}
		for dir := path.Clean("/" + part[2]); ; dir = path.Dir(dir) { // a group is within the limits of those around it
			at := path.Join(root, dir)
			limit, ok := number(read, path.Join(at, most))
			if ok && limit < math.MaxInt64/2 {
				now, _ := number(read, path.Join(at, used))
				free := limit - now + value(read, path.Join(at, "memory.stat"), cached)
				if !limited || free < least {
					least, limited = free, true
				}
			}
			if dir == "/" {
				break
			}
		}
	}
	return least, limited
}

// number returns the number in a file.
func number(read reader, name string) (int64, bool) {
	text, err := read(name)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	return n, err == nil
}

// field returns a value of kilobytes in bytes, 0 if the file lacks it.
func field(read reader, file, name string) int64 { return value(read, file, name) << 10 }

// value returns the number after a name at the begin of a line, 0 if the file lacks it.
func value(read reader, file, name string) int64 {
	text, err := read(file)
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, name); ok {
			n, _ := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 64)
			return n
		}
	}
	return 0
}
