package job

import (
	"fmt"
	"math"

	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/crash"
	"github.com/hiveblas/hiveblas/graphio"
	"github.com/hiveblas/hiveblas/internal/cli"
	"github.com/hiveblas/hiveblas/internal/hostmem"
)

// need is what a command takes in memory beside its input, in bytes.
type need struct {
	vertex int64 // a vertex
	thread int64 // a vertex and thread
	entry  int64 // an entry; 0 means usualEntry
}

// usualEntry is the part of an entry of most commands: copies of the structure and the transpose.
const usualEntry = 20

// needs lists the commands with a need that differs from usualNeed. The figures are the growth of
// the largest resident size, with objects that the garbage collector has not freed yet, on two
// threads: with the vertices of lists with 6 edges and 10 and 20 million vertices, and with the
// entries of uniform graphs of 2 and 6 million.
var needs = map[string]need{
	"bfs": {vertex: 8}, "sssp": {vertex: 12}, "vn": {vertex: 12}, "pagerank": {vertex: 136}, "cc": {vertex: 64},
	"scc": {vertex: 16}, "kcore": {vertex: 44}, "betweenness": {vertex: 16, thread: 44}, "closeness": {vertex: 40, thread: 96},
	"clustering": {vertex: 60}, "cdlp": {vertex: 44}, "mis": {vertex: 55}, "colour": {vertex: 48}, "hits": {vertex: 96},
	"eigenvector": {vertex: 72}, "katz": {vertex: 88}, "similar": {vertex: 20}, "nominate": {vertex: 124}, "msf": {vertex: 12},
	"matching": {vertex: 38}, "diameter": {vertex: 36, thread: 12}, "toposort": {vertex: 28}, "scan": {vertex: 60},
	"louvain": {vertex: 132, entry: 90}, "lgc": {vertex: 40}, "project": {vertex: 13}, "maxflow": {vertex: 56, entry: 40}, "run": {vertex: 132},
	"features": {vertex: 60, thread: 96}, "solve": {vertex: 320}, "eigs": {vertex: 440},
	"ktruss": {}, "lsap": {}, "spy": {}, "extract": {vertex: 26}, "sample": {vertex: 16}, "convert": {vertex: 8},
}

var usualNeed = need{vertex: 50}

// Limits bounds the memory of a command.
type Limits struct {
	Memory  cli.ByteSize // of --memory; 0 for what there is
	limited bool         // the command has --memory
}

// Bounded adds --memory.
func (j *Job) Bounded() *Job {
	j.limited = true
	j.Cmd.Flags().Var(&j.Memory, "memory", "take this much memory for what there is, such as 6GiB (default: what the system, the control group and ulimit leave)")
	return j
}

// room returns the memory that there is in bytes, 0 if unknown, and the name of what bounds it.
func (l *Limits) room() (int64, string) {
	if l.Memory > 0 {
		return int64(l.Memory), "--memory"
	}
	return hostmem.Room()
}

// Fits rejects a graph for which the command needs more memory than there is, mostly a list with a
// few large ids: the runtime would end the process without a remedy.
func (j *Job) Fits() error {
	j.watchMemory(j.Needed())
	return j.FitsInto(j.room())
}

// Needed returns the estimate of the memory of the command in this process, in bytes.
func (j *Job) Needed() int64 {
	vertices, entries := j.parts()
	return int64(min(vertices+entries, math.MaxInt64/2))
}

// ResultVertex is the memory of a vertex on the host if the command computes on GPUs, in bytes: a
// result of float64 and its copy.
const ResultVertex = 16

// parts returns the parts of the vertices and of the entries in the memory of the command.
func (j *Job) parts() (ofVertices, ofEntries float64) {
	m, n, entries := j.Graph.Size()
	vertices := float64(max(m, n)) * j.share()
	if j.onGPUs() {
		return vertices * ResultVertex, 0
	}
	of, known := needs[j.Cmd.Name()]
	if !known {
		of = usualNeed
	}
	if of.entry == 0 {
		of.entry = usualEntry
	}
	return vertices * float64(of.vertex+of.thread*int64(j.Run.Count())), float64(of.entry) * float64(entries) * j.share()
}

// onGPUs reports whether the command computes on GPUs, as far as that is known.
func (d *Devices) onGPUs() bool {
	return d.Device != nil || d.Group != nil && d.Group.PlaceOf(0) != nil
}

// share returns the part of the ranks of a group that are in this process, 1 without a group.
func (d *Devices) share() float64 {
	if d.Group == nil {
		return 1
	}
	return float64(len(d.Group.Ranks())) / float64(d.Group.Size())
}

// Bytes of memory that a reader needs for a byte of the file, at least. Measured with lists of 2
// and 6 million edges, the largest resident size grows by 2.1 to 4.5 bytes for texts, 1.1 to 3.3
// for binary forms, and 6.3 to 10 for compressed texts.
const (
	readText       = 2
	readBinary     = 1
	readCompressed = 3 // times the bytes of the format
)

// reading returns the estimate of the memory of reading a file in bytes, and what the file is.
func (j *Job) reading(in *input) (needed int64, what string) {
	perByte, what := int64(readText), "text"
	switch in.Format(&j.Read) {
	case graphio.FormatBinary, graphio.FormatNPZ, graphio.FormatNPY, graphio.FormatGraph500, graphio.FormatGraph500Packed:
		perByte, what = readBinary, "binary data"
	}
	if in.compressed {
		perByte, what = readCompressed*perByte, "compressed "+what
	}
	size := float64(in.size)
	if !j.Whole {
		size *= j.share()
	}
	return int64(min(size*float64(perByte), math.MaxInt64/2)), what
}

// canRead rejects a file that takes more memory to read than there is.
func (j *Job) canRead(in *input) error {
	needed, what := j.reading(in)
	return j.Enough(in.name, fmt.Sprintf("reading %s of %s", sizeText(in.size), what), needed)
}

// Bytes of memory of an edge that is generated: the growth of the largest resident size with 6
// million edges of R-MAT.
const (
	drawnEdge       = 20
	drawnUndirected = 30
)

// CanDraw rejects a generated graph that takes more memory than there is.
func (j *Job) CanDraw(name string, edges int64, undirected bool) error {
	if j.onGPUs() {
		return nil
	}
	perEdge := drawnEdge
	if undirected {
		perEdge = drawnUndirected
	}
	needed := int64(min(float64(edges)*float64(perEdge)*j.share(), math.MaxInt64/2))
	return j.Enough(name, fmt.Sprintf("a graph of %d edges", edges), needed)
}

// Enough rejects work that needs more memory than there is, and has the end of the process watched
// if it needs much. Commands without --memory try it: the estimate may be too high, and they have
// no remedy.
func (j *Job) Enough(name, work string, needed int64) error {
	j.watchMemory(needed)
	room, bound := j.room()
	if !j.limited || room <= 0 || needed <= room {
		return nil
	}
	return cli.Fail(name, fmt.Sprintf("%s needs about %s of memory, and %s are there by %s",
		work, sizeText(needed), sizeText(room), bound), moreMemory, nil)

}

// moreMemory is the remedy of an estimate that may be too high.
const moreMemory = "--memory SIZE says that there is more"

// FitsInto is fits for a room in bytes, 0 if unknown, and the name of what bounds it.
func (j *Job) FitsInto(room int64, bound string) error {
	needed := j.Needed()
	if room <= 0 || needed <= room {
		return nil
	}
	m, n, entries := j.Graph.Size()
	remedy := moreMemory
	if ofVertices, ofEntries := j.parts(); ofVertices > ofEntries {
		remedy = "if few of the ids occur, --ids renumber numbers those; " + remedy
	}
	return cli.Fail(j.Graph.File, fmt.Sprintf("%s of %d vertices and %d entries needs about %s of memory, and %s are there by %s",
		j.Cmd.Name(), max(m, n), entries, sizeText(needed), sizeText(room), bound), remedy, nil)

}

// watchMemory has the end of the process watched if the command needs much memory.
func (j *Job) watchMemory(needed int64) {
	if needed > crash.WatchFrom {
		j.Watch.Start(j.Stderr)
	}
}

// sizeText writes a number of bytes.
func sizeText(bytes int64) string {
	for _, u := range []struct {
		name string
		size float64
	}{{"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}} {
		if x := float64(bytes) / u.size; x >= 1 {
			return fmt.Sprintf("%.1f %s", x, u.name)
		}
	}
	return fmt.Sprintf("%d bytes", bytes)
}
