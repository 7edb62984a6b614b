package main

import (
	"fmt"
	"math"
	"os"

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

// needs lists the commands whose need differs from usualNeed. The figures are the growth of the largest
// resident size, with objects that the garbage collector has not freed yet, on two threads: with the
// vertices of lists with 6 edges and 10 and 20 million vertices, and with the entries of uniform
// graphs of 2 and 6 million.
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
	j.cmd.Flags().Var(&j.memory, "memory", "take this much memory for what there is, such as 6GiB (default: what the system, the control group and ulimit leave)")
	return j
}

// fits rejects a graph for which the command needs more memory than there is, mostly a list with a
// few large ids: the runtime would end the process without a remedy. A graph of a device or of a
// group has its vertices there.
func (j *job) fits() error {
	if j.device != nil || j.group != nil {
		return nil
	}
	room, bound := hostmem.Room()
	j.watchMemory(j.needed(), room)
	if j.memory > 0 {
		room, bound = int64(j.memory), "--memory"
	}
	return j.fitsInto(room, bound)
}

// needed returns the estimate of the memory of the command in bytes.
func (j *job) needed() int64 {
	vertices, entries := j.parts()
	return int64(min(vertices+entries, math.MaxInt64/2))
}

// parts returns the parts of the vertices and of the entries in the memory of the command.
func (j *job) parts() (ofVertices, ofEntries float64) {
	m, n, entries := j.graph.size()
	of, known := needs[j.cmd.Name()]
	if !known {
		of = usualNeed
	}
	if of.entry == 0 {
		of.entry = usualEntry
	}
	return float64(max(m, n)) * float64(of.vertex+of.thread*int64(j.run.count())), float64(of.entry) * float64(entries)
}

// fitsInto is fits for a room in bytes, 0 if unknown, and the name of what bounds it.
func (j *job) fitsInto(room int64, bound string) error {
	needed := j.needed()
	if room <= 0 || needed <= room {
		return nil
	}
	m, n, entries := j.graph.size()
	remedy := "--memory SIZE says that there is more"
	if ofVertices, ofEntries := j.parts(); ofVertices > ofEntries {
		remedy = "if few of the ids occur, --ids renumber numbers those; " + remedy
	}
	return cli.Fail(j.graph.file, fmt.Sprintf("%s of %d vertices and %d entries needs about %s of memory, and %s are there by %s",
		j.cmd.Name(), max(m, n), entries, sizeText(needed), sizeText(room), bound), remedy, nil)

}

// watchMemory has the end of the process watched if the command needs a large part of what there
// is, so that running out of memory is one line.
func (j *job) watchMemory(needed, room int64) {
	if own, ok := j.Stderr.(*os.File); ok && room > 0 && needed > room/4 && !j.watched {
		j.watched = true
		startWatch(own)
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
