package main

import (
	"fmt"
	"math"

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

// needs lists the commands whose need differs from usualNeed. The figures are the growth of the
// largest resident size, with objects that the garbage collector has not freed yet, on two threads:
// with the vertices of lists with 6 edges and 10 and 20 million vertices, and with the entries of
// uniform graphs of 2 and 6 million.
var needs = map[string]need{
	"bfs": {vertex: 8}, "sssp": {vertex: 12}, "vn": {vertex: 12}, "pagerank": {vertex: 136}, "cc": {vertex: 64},
	"scc": {vertex: 16}, "kcore": {vertex: 44}, "betweenness": {vertex: 16, thread: 44}, "closeness": {vertex: 40, thread: 96},
	"clustering": {vertex: 60}, "cdlp": {vertex: 44}, "mis": {vertex: 54}, "colour": {vertex: 48}, "hits": {vertex: 96},
	"eigenvector": {vertex: 72}, "katz": {vertex: 88}, "similar": {vertex: 20}, "nominate": {vertex: 124}, "msf": {vertex: 12},
	"matching": {vertex: 38}, "diameter": {vertex: 36, thread: 12}, "toposort": {vertex: 28}, "scan": {vertex: 60},
	"louvain": {vertex: 132, entry: 90}, "lgc": {vertex: 40}, "project": {vertex: 13}, "maxflow": {vertex: 56, entry: 40}, "run": {vertex: 132},
	"ktruss": {}, "lsap": {}, "spy": {}, "extract": {vertex: 26}, "sample": {vertex: 16}, "convert": {vertex: 8},
}

var usualNeed = need{vertex: 50}

// bounded adds --memory.
func (j *job) bounded() *job {
	j.limited = true
	j.cmd.Flags().Var(&j.memory, "memory", "take this much memory for what there is, such as 6GiB (default: what the system, the control group and ulimit leave)")
	return j
}

// room returns the memory that there is in bytes, 0 if unknown, and the name of what bounds it.
func (j *job) room() (int64, string) {
	if j.memory > 0 {
		return int64(j.memory), "--memory"
	}
	return hostmem.Room()
}

// fits rejects a graph for which the command needs more memory than there is, mostly a list with a
// few large ids: the runtime would end the process without a remedy.
func (j *job) fits() error {
	j.watchMemory(j.needed())
	return j.fitsInto(j.room())
}

// needed returns the estimate of the memory of the command in this process, in bytes.
func (j *job) needed() int64 {
	vertices, entries := j.parts()
	return int64(min(vertices+entries, math.MaxInt64/2))
}

// resultVertex is the memory of a vertex on the host if the command computes on GPUs, in bytes: a
// result of float64 and its copy.
const resultVertex = 16

// parts returns the parts of the vertices and of the entries in the memory of the command.
func (j *job) parts() (ofVertices, ofEntries float64) {
	m, n, entries := j.graph.size()
	vertices := float64(max(m, n)) * j.share()
	if j.onGPUs() {
		return vertices * resultVertex, 0
	}
	of, known := needs[j.cmd.Name()]
	if !known {
		of = usualNeed
	}
	if of.entry == 0 {
		of.entry = usualEntry
	}
	return vertices * float64(of.vertex+of.thread*int64(j.run.count())), float64(of.entry) * float64(entries) * j.share()
}

// onGPUs reports whether the command computes on GPUs, as far as that is known.
func (j *job) onGPUs() bool {
	return j.device != nil || j.group != nil && j.group.PlaceOf(0) != nil
}

// share returns the part of the ranks of a group that are in this process, 1 without a group.
func (j *job) share() float64 {
	if j.group == nil {
		return 1
	}
	return float64(len(j.group.Ranks())) / float64(j.group.Size())
}

// Bytes of memory that a reader needs for a byte of the file, at least. Measured with lists of 2
// and 6 million edges, the largest resident size grows by 2.1 to 4.5 bytes for texts, 1.1 to 3.3
// for binary forms, and 6.3 to 10 for compressed texts.
const (
	readText       = 2
	readBinary     = 1
	readCompressed = 3 // times those of the format
)

// reading returns the estimate of the memory of reading a file in bytes, and what the file is.
func (j *job) reading(in *input) (needed int64, what string) {
	perByte, what := int64(readText), "text"
	switch in.format(&j.read) {
	case graphio.FormatBinary, graphio.FormatNPZ, graphio.FormatNPY, graphio.FormatGraph500, graphio.FormatGraph500Packed:
		perByte, what = readBinary, "binary data"
	}
	if in.compressed {
		perByte, what = readCompressed*perByte, "compressed "+what
	}
	size := float64(in.size)
	if !j.whole {
		size *= j.share()
	}
	return int64(min(size*float64(perByte), math.MaxInt64/2)), what
}

// canRead rejects a file that takes more memory to read than there is.
func (j *job) canRead(in *input) error {
	needed, what := j.reading(in)
	return j.enough(in.name, fmt.Sprintf("reading %s of %s", sizeText(in.size), what), needed)
}

// Bytes of memory of an edge that is generated: the growth of the largest resident size with 6
// million edges of R-MAT.
const (
	drawnEdge       = 20
	drawnUndirected = 30
)

// canDraw rejects a generated graph that takes more memory than there is.
func (j *job) canDraw(name string, edges int64, undirected bool) error {
	if j.onGPUs() {
		return nil
	}
	perEdge := drawnEdge
	if undirected {
		perEdge = drawnUndirected
	}
	needed := int64(min(float64(edges)*float64(perEdge)*j.share(), math.MaxInt64/2))
	return j.enough(name, fmt.Sprintf("a graph of %d edges", edges), needed)
}

// enough rejects work that needs more memory than there is, and has the end of the process watched
// if it needs much. Commands without --memory try it: the estimate may be too high, and they have
// no remedy.
func (j *job) enough(name, work string, needed int64) error {
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

// fitsInto is fits for a room in bytes, 0 if unknown, and the name of what bounds it.
func (j *job) fitsInto(room int64, bound string) error {
	needed := j.needed()
	if room <= 0 || needed <= room {
		return nil
	}
	m, n, entries := j.graph.size()
	remedy := moreMemory
	if ofVertices, ofEntries := j.parts(); ofVertices > ofEntries {
		remedy = "if few of the ids occur, --ids renumber numbers those; " + remedy
	}
	return cli.Fail(j.graph.file, fmt.Sprintf("%s of %d vertices and %d entries needs about %s of memory, and %s are there by %s",
		j.cmd.Name(), max(m, n), entries, sizeText(needed), sizeText(room), bound), remedy, nil)

}

// watchMemory has the end of the process watched if the command needs much memory.
func (j *job) watchMemory(needed int64) {
	if needed > watchFrom {
		j.watch.start(j.Stderr)
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
