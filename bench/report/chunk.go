package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hiveblas/hiveblas/bench"
	"github.com/hiveblas/hiveblas/bench/gen"
	"github.com/hiveblas/hiveblas/bench/internal/gpuside"
	"github.com/hiveblas/hiveblas/bench/internal/inputs"
	"github.com/hiveblas/hiveblas/bench/internal/tables"
	"github.com/hiveblas/hiveblas/bench/peers"
	"github.com/hiveblas/hiveblas/chunked"
	"github.com/hiveblas/hiveblas/graphio"
)

// hostBudget bounds the host memory of a product to a file.
const hostBudget = 2 << 30

// chunkCase is AᵀA of an input, larger than one of the memories.
type chunkCase struct {
	name, input string
	doc         Input
	original    string
	file        bool // also from a file to a file, within the budget of the host
}

func chunkCases() []chunkCase {
	return []chunkCase{
		{"chunked movielens20m", "bipartite20m", Input{Generator: "gen.Bipartite", Parameters: "138493×26744, 20000000 entries", Seed: 1},
			"5.0 s; Gunrock: out of memory (P100/V100)", true},
		{"chunked rmat18", "factor18", Input{Generator: "gen.RMAT", Parameters: "scale 18, edge factor 32", Seed: 1},
			"26.5 s (P100/V100), 151 s (SciPy)", false},
	}
}

// chunks measures a case on the device and, from file to file, on the host.
func (b *reportBench) chunks(c chunkCase) (rows []ChunkRow) {
	if b.ctx.Err() != nil {
		return nil
	}
	b.log("%s", c.name)
	in, err := inputs.MakeGPU(c.input, b.shrink)
	if err != nil {
		return []ChunkRow{b.chunkRow(c, nil, "", err)}
	}
	if b.dev == nil {
		rows = append(rows, b.chunkRow(c, in.Graph, "device, into host memory", errors.New("not measured: there is no GPU ("+b.report.Device+")")))
	} else {
		rows = append(rows, b.chunksOnDevice(c, in.Graph)...)
	}
	if b.NoHost {
		return rows
	}
	if !c.file {
		err := errors.New("not measured: the file would have more than 30 GB")
		row := b.chunkRow(c, in.Graph, "host, to a file", err)
		row.Original = ""
		return append(rows, row)
	}
	return append(rows, b.chunksToFile(c, in.Graph)...)
}

func (b *reportBench) chunkRow(c chunkCase, g *gen.Graph, what string, err error) ChunkRow {
	row := ChunkRow{Name: c.name, What: what, Input: c.doc, Original: c.original, Ms: gpuside.NoQuartiles, Ratio: gpuside.NoQuartiles.Median, Command: b.command(c.name)}
	if g != nil {
		row.Input = c.doc.of(g)
		if b.shrink > 0 {
			row.Input.Parameters += fmt.Sprintf(", made %d times smaller", 1<<b.shrink)
		}
	}
	if err != nil {
		row.Failed = err.Error()
	}
	return row
}

func (r *ChunkRow) stages(rep *chunked.Report) {
	r.Entries, r.Blocks, r.PeakDevice, r.Overlap = rep.Entries, rep.Blocks, rep.PeakDevice, rep.Overlap()
	r.Plan, r.Computing, r.Copying, r.Writing, r.Wall = tables.Ms(rep.Plan), tables.Ms(rep.Computing), tables.Ms(rep.Copying), tables.Ms(rep.Writing), tables.Ms(rep.Wall)
}

// chunksOnDevice brings the product into host memory, with all of the device's
// memory and with 1 GiB, beside a bare copy of as many bytes.
func (b *reportBench) chunksOnDevice(c chunkCase, g *gen.Graph) []ChunkRow {
	all := b.chunkRow(c, g, "device, into host memory", nil)
	fail := func(err error) []ChunkRow {
		all.Failed = err.Error()
		return []ChunkRow{all}
	}
	s, err := gpuside.NewStreamed(g, b.dev)
	if err != nil {
		return fail(err)
	}
	defer s.Drop()
	pinned, err := gpuside.NewPinnedCopy(b.side, gpuside.PinnedPiece>>b.shrink)
	if err != nil {
		return fail(err)
	}
	defer pinned.Close()
	within := b.chunkRow(c, g, "device, into host memory, 1 GiB of the device's", nil)
	var sum uint32
	ours := func(row *ChunkRow, opts ...chunked.Option) bench.Contender {
		opts = append(opts, chunked.On(b.dev))
		return bench.Contender{Name: row.What, Run: func() (peers.Result, error) {
			took, err := gpuside.Wall(func() error { return s.Run(b.ctx, opts...) })
			if err != nil {
				return peers.Result{}, err
			}
			first := row.Blocks == 0
			row.stages(s.Report)
			switch {
			case !first:
			case row == &all:
				sum, row.Wrong = s.Sum(), s.Wrong()
			case sum != s.Sum():
				row.Wrong = "the result differs"
			}
			return peers.Result{Ms: tables.Ms(took)}, nil
		}}
	}
	cmp, err := bench.Pace{Rounds: min(b.Rounds, 5), Warm: 1, Budget: b.Budget, Before: s.Drop}.Interleave(ours(&all), ours(&within, chunked.DeviceMemory(gpuside.OneGiB)),
		bench.Contender{Name: "bare pinned copy", Run: func() (peers.Result, error) {
			took, err := pinned.Run(s.Bytes())
			return peers.Result{Ms: tables.Ms(took)}, err
		}})
	if err != nil {
		return fail(err)
	}
	bare := b.chunkRow(c, g, "a bare copy of as many bytes to pinned memory", nil)
	bare.Entries, bare.Original = all.Entries, ""
	all.Ms, within.Ms, bare.Ms = cmp.Time(0), cmp.Time(1), cmp.Time(2)
	all.Against, all.Ratio = "the bare copy", cmp.Ratio(0, 2).Median
	within.Against, within.Ratio, within.Original = "all memory", cmp.Ratio(1, 0).Median, ""
	return []ChunkRow{all, within, bare}
}

// chunksToFile runs [Project] from file to file, in processes of its own: in memory, and block by
// block within the budget of the host.
func (b *reportBench) chunksToFile(c chunkCase, g *gen.Graph) []ChunkRow {
	const inMemory, blocks = "host, in memory, then to a file", "host, block by block to a file, 2 GiB of memory"
	if b.Self == nil {
		return []ChunkRow{b.chunkRow(c, g, blocks, errors.New("not measured: there is no program to run"))}
	}
	a, err := ones[float64](g, nil)
	in, out := filepath.Join(b.dir, "factor.hgb"), filepath.Join(b.dir, "product.hgb")
	if err == nil {
		err = graphio.WriteFile(in, a)
	}
	if err != nil {
		return []ChunkRow{b.chunkRow(c, g, blocks, err)}
	}
	defer os.Remove(in)
	args := append(slices.Clone(b.Self[1:]), "project", in, out, "--threads", fmt.Sprint(b.Threads))
	plain := b.child(b.chunkRow(c, g, inMemory, nil), nil, out, args)
	cut := b.child(b.chunkRow(c, g, blocks, nil), &plain, out, append(args, "--host-memory", fmt.Sprint(hostBudget)))
	plain.Original, cut.Original = "", ""
	return []ChunkRow{plain, cut}
}

// child runs one projection and removes its file. Ratio compares it with another row of
// the same product.
func (b *reportBench) child(row ChunkRow, than *ChunkRow, out string, args []string) ChunkRow {
	defer os.Remove(out)
	defer os.Remove(out + ".part")
	cmd := exec.CommandContext(b.ctx, b.Self[0], args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	text, err := cmd.Output()
	var p Projected
	if err == nil {
		err = json.Unmarshal(text, &p)
	}
	if err != nil {
		row.Failed = strings.TrimSpace(fmt.Sprint(err, ": ", stderr.String()))
		return row
	}
	row.Ms, row.Entries, row.Blocks, row.Overlap, row.PeakRSS = bench.Quartiles{Lower: p.Total, Median: p.Total, Upper: p.Total}, p.Entries, p.Blocks, p.Overlap, p.PeakRSS
	row.Plan, row.Computing, row.Copying, row.Writing, row.Wall = p.Plan, p.Computing, p.Copying, p.Writing, p.Wall
	if than != nil && than.Failed == "" {
		row.Against, row.Ratio = "in memory", p.Total/than.Ms.Median
		if row.Entries != than.Entries {
			row.Wrong = fmt.Sprintf("%d entries, in memory %d", row.Entries, than.Entries)
		}
	}
	return row
}
