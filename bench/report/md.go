package report

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/hiveblas/hiveblas/bench/charts"
	"github.com/hiveblas/hiveblas/bench/internal/tables"
)

// tableTitles are the headings of the tables, by the first word of their rows.
var tableTitles = map[string]string{
	"projection": "Graph projections: shared neighbours of the columns, AᵀA over plus_pair",
	"sgm":        "Seeded graph matching",
	"ac":         "Application classification",
	"lgc":        "Local graph clustering",
	"louvain":    "Communities: Louvain and Leiden",
	"vn":         "Vertex nomination: distance to the nearest seed",
	"scan":       "Scan statistics: degree and triangles of each vertex",
	"search":     "Graph search: walks from each vertex",
	"sage":       "GraphSAGE: embeddings of all vertices",
	"lasso":      "Sparse fused lasso, to the proven optimum",
	"geo":        "Geolocation: spatial medians of the places of neighbours",
}

// tableChapters says, by the first word of rows, what the report measured, and what differs here.
var tableChapters = map[string]string{
	"projection": "Chapter 8 multiplies ratings of MovieLens as floats on a P100, its 5M and 1M subgraphs, and R-MAT 18. Here the bipartite graphs are drawn with the same sides and edges and skewed degrees, whose products have .9 to 1.6 times as many entries, and pairs are counted in integers.",
	"sgm":        "Chapter 10 matches connectomes (DS…, soft seeds) and samples of a call graph (Kasios, 100 seeds) on a P100, and ends with up to 16 disagreements. Here the samples are of R-MAT, and the soft pairs have the vertices and edges of the connectomes; results end with the disagreements that the table names.",
	"ac":         "Chapter 2 matches georgiyData, rmat18 and JohnsHopkins_random on a P100. Here the graphs are drawn with the same vertices, edges and numbers of features, and a pattern of 10 vertices and 20 edges.",
	"lgc":        "Chapter 7 clusters around a seed with so small a penalty that nearly all vertices are found, on a P100 and V100. Here the graph is R-MAT of the size of kron_g500-logn21; the other rows have the small clusters that the method is for.",
	"louvain":    "Chapter 6 partitions 19 graphs on a V100 and with 32 threads, and prints modularities (Q). Here ten of them are drawn: planted communities with the same vertices and edges, or R-MAT, whose communities are weaker.",
	"vn":         "Chapter 12 finds distances from some seeds on hollywood-2009 and others. Here the graphs are R-MAT with weights from 1 to 255; scale 20 has half the edges of hollywood-2009 in each direction.",
	"scan":       "Chapter 9 counts triangles around each vertex on a P100. Here the graphs are R-MAT with about as many vertices and edges; the largest degrees, which decide the time, are those of R-MAT.",
	"search":     "Chapter 5 walks 128 steps from each vertex of a graph of Twitter. Here the graph is R-MAT with about as many edges; its greedy walks are on the undirected graph.",
	"sage":       "Chapter 4 embeds all vertices of pokec with weights drawn at random, layers of 128+128 columns, and samples of each vertex's tree, on a V100, P100 and 32 threads. Here edges are drawn alike with the same vertices and the degree of pokec; the last row takes one sample for a vertex and a layer, as hiveblas does unless told otherwise.",
	"lasso":      "Chapter 11 smooths taxi trips of New York on a GPU and with the serial Graphtv. Here events of the same number in space and time are drawn, and every optimum is proven.",
	"geo":        "Chapter 3 locates the vertices of Instagram's mentions on a P100. Here the graphs are R-MAT, the larger with less than a fifth of its vertices and two fifths of its entries; a tenth of the vertices is located.",
}

// WriteMarkdown writes the report. plots are the file names of its pictures.
func (r *Report) WriteMarkdown(w io.Writer, plots []charts.Plot) error {
	r = tables.OrZero(r)
	var b strings.Builder
	r.heading(&b)
	for _, group := range r.byTable() {
		r.section(&b, group)
	}
	r.chunkSection(&b)
	r.growthSection(&b)
	if len(plots) > 0 {
		b.WriteString("## Plots\n\n")
	}
	for _, p := range plots {
		fmt.Fprintf(&b, "%s:\n\n![%s](%s)\n\n", p.Title, p.Title, p.File)
	}
	return tables.WriteString(w, strings.TrimRight(b.String(), "\n")+"\n")
}

func (r *Report) heading(b *strings.Builder) {
	b.WriteString("# The tables of the HIVE report, measured again\n\n")
	fmt.Fprintf(b, "Written by `hiveblas-bench report` at %s.\n\n", r.Made.Format("2006-01-02 15:04 MST"))
	if r.Interrupted {
		b.WriteString("**Interrupted: these are the rows that were measured until then.**\n\n")
	}
	if r.Shrunk > 0 {
		fmt.Fprintf(b, "**A quick run: inputs have 1/%d of the size that their names say. It shows that everything runs, not how fast; nothing here compares with the original's figures.**\n\n", 1<<r.Shrunk)
	}
	b.WriteString(`Workflows of Gunrock's HIVE report (2018) on data of the same shape; its own data are not public. The column *original*
holds figures that it printed, on its data and on the hardware that is named with them. All others were measured in this
run: medians of interleaved rounds in milliseconds, from the call to the end of the workflow, with the input where it is
computed on. Results of contenders are compared. – is a library that has no such workflow, missing one that the first table
explains, and each other gap has its reason below its table. Percentages are the bandwidth of the bytes that must move at
least, of the triad on the host and of a copy on the device. A contender whose first run takes more than 20 s is not run again.

`)
	host := "not measured"
	if r.Host {
		host = fmt.Sprintf("%s; %d threads; STREAM triad %s GB/s", r.Processor, r.Threads, tables.Figure(r.Triad))
	}
	lines := [][]string{{"what", "which"}, {HostColumn, host}}
	device := r.Device
	if r.OnDevice {
		device += "; a copy on the device moves " + tables.Figure(r.Copy) + " GB/s"
	}
	lines = append(lines, []string{DeviceColumn, device})
	for _, p := range r.Peers {
		state := p.Version
		if p.Missing != "" {
			state = "missing: " + p.Missing
		}
		lines = append(lines, []string{p.Column, state})
	}
	leftTable(b, lines)
}

// section is the table of a workflow: the times, the inputs and the commands to repeat
// them.
func (r *Report) section(b *strings.Builder, rows []Row) {
	title := tableTitles[table(rows[0].Name)]
	if title == "" {
		title = table(rows[0].Name)
	}
	fmt.Fprintf(b, "## %s\n\n", title)
	if chapter := tableChapters[table(rows[0].Name)]; chapter != "" {
		fmt.Fprintf(b, "%s\n\n", chapter)
	}
	header := []string{"case"}
	for _, c := range r.columns() {
		header = append(header, c+" ms")
	}
	header = append(header, "% host", "% device", "original")
	times, inputs := [][]string{header}, [][]string{{"case", "generator", "parameters", "seed", "n", "m", "result", "command"}}
	var notes []string
	for _, row := range rows {
		line := []string{row.Name}
		for _, c := range r.columns() {
			line = append(line, row.cell(c))
		}
		original := row.Original
		if original == "" {
			original = tables.None
		}
		times = append(times, append(line, percentCell(row.Percent, HostColumn), percentCell(row.Percent, DeviceColumn), original))
		inputs = append(inputs, append(row.Input.cells(row.Name), orNone(row.Result), "`"+row.Command+"`"))
		for _, note := range row.footnotes() {
			if !slices.Contains(notes, note) {
				notes = append(notes, note)
			}
		}
	}
	_ = tables.WriteMarkdown(b, times)
	b.WriteByte('\n')
	leftTable(b, inputs)
	list(b, notes)
}

func orNone(s string) string {
	if s == "" {
		return tables.None
	}
	return s
}

// cells document an input.
func (in Input) cells(name string) []string {
	n := fmt.Sprint(in.Rows)
	if in.Cols != in.Rows {
		n = fmt.Sprintf("%d×%d", in.Rows, in.Cols)
	}
	return []string{name, orNone(in.Generator), orNone(in.Parameters), fmt.Sprint(in.Seed), n, fmt.Sprint(in.Entries)}
}

// cell is the time of a column, or the reason why it is missing.
func (r *Row) cell(column string) string {
	if t, ok := r.Times[column]; ok {
		return tables.Figure(t.Median)
	}
	if r.Failed != "" {
		return "failed"
	}
	why := r.Absent[column]
	word, _, _ := strings.Cut(why, ":")
	if why == "" || why == noWorkflow {
		return tables.None
	}
	return word
}

func percentCell(percent map[string]float64, column string) string {
	if v, ok := percent[column]; ok {
		return tables.Figure(v)
	}
	return tables.None
}

// footnotes are the remarks on a row.
func (r *Row) footnotes() (out []string) {
	if r.Failed != "" {
		out = append(out, r.Name+" failed: "+oneLine(r.Failed))
	}
	for _, s := range r.Wrong {
		out = append(out, r.Name+": **results differ**: "+s)
	}
	for _, column := range slices.Sorted(maps.Keys(r.Absent)) {
		if why := r.Absent[column]; why != noWorkflow && !strings.HasPrefix(why, "missing:") { // the heading has those
			out = append(out, fmt.Sprintf("%s: %s %s", r.Name, column, oneLine(why)))
		}
	}
	return append(out, r.Notes...)
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

func list(b *strings.Builder, notes []string) {
	for _, s := range notes {
		b.WriteString("- " + s + "\n")
	}
	if len(notes) > 0 {
		b.WriteByte('\n')
	}
}

// leftTable writes a table of left-aligned text.
func leftTable(b *strings.Builder, cells [][]string) {
	var t strings.Builder
	_ = tables.WriteMarkdown(&t, cells)
	lines := strings.SplitAfter(t.String(), "\n")
	lines[1] = strings.ReplaceAll(lines[1], "-:|", "--|")
	b.WriteString(strings.Join(lines, "") + "\n")
}

func (r *Report) chunkSection(b *strings.Builder) {
	if len(r.Chunks) == 0 {
		return
	}
	b.WriteString(`## Products block by block

AᵀA. On the device in fp32, from a factor on the device into memory of the host; from file to file on the host, in processes
of their own which tell their peak resident size, reading left out of the time. Stages are of the last run and
go by beside each other: overlap is the part of the shorter ones that went by beside the longest.

`)
	mib := func(n uint64) string {
		if n == 0 {
			return tables.None
		}
		return fmt.Sprint(n >> 20)
	}
	cells := [][]string{{"case", "ms", "entries", "plan", "computing", "copying", "writing", "wall", "overlap", "blocks", "peak device MiB", "peak RSS MiB", "ratio", "original"}}
	inputs := [][]string{{"case", "generator", "parameters", "seed", "n", "m", "result", "command"}}
	var notes []string
	seen := map[string]bool{}
	for _, c := range r.Chunks {
		name := strings.TrimPrefix(c.Name, "chunked ") + ": " + c.What
		if c.Failed != "" {
			notes = append(notes, name+" "+oneLine(c.Failed))
		}
		if c.Wrong != "" {
			notes = append(notes, name+": **results differ**: "+c.Wrong)
		}
		stages := []float64{c.Plan, c.Computing, c.Copying, c.Writing, c.Wall, c.Overlap}
		line := []string{name, tables.Figure(c.Ms.Median), count(c.Entries)}
		for _, v := range stages {
			text := tables.Figure(v)
			if c.Wall == 0 {
				text = tables.None
			}
			line = append(line, text)
		}
		ratio := tables.None
		if !math.IsNaN(c.Ratio) {
			ratio = fmt.Sprintf("%.2f of %s", c.Ratio, c.Against)
		}
		cells = append(cells, append(line, count(int64(c.Blocks)), mib(c.PeakDevice), mib(c.PeakRSS), ratio, orNone(c.Original)))
		if !seen[c.Name] {
			seen[c.Name] = true
			inputs = append(inputs, append(c.Input.cells(c.Name), count(r.entries(c.Name)), "`"+c.Command+"`"))
		}
	}
	_ = tables.WriteMarkdown(b, cells)
	b.WriteByte('\n')
	leftTable(b, inputs)
	list(b, notes)
}

// count formats a positive number; other numbers are missing figures.
func count(n int64) string {
	if n == 0 {
		return tables.None
	}
	return fmt.Sprint(n)
}

// entries is the size of a product, if the row has it.
func (r *Report) entries(name string) (n int64) {
	for _, c := range r.Chunks {
		if c.Name == name {
			n = max(n, c.Entries)
		}
	}
	return n
}

func (r *Report) growthSection(b *strings.Builder) {
	if len(r.Growth) == 0 {
		return
	}
	b.WriteString("## Cost growth\n\nTime per edge, in nanoseconds, of inputs whose edges grow with their vertices.\n\n")
	header := []string{"workflow", "vertices", "edges"}
	for _, c := range []string{HostColumn, DeviceColumn} {
		header = append(header, c+" ms", c+" ns an edge")
	}
	cells := [][]string{header}
	var notes []string
	commands := [][]string{{"workflow", "generator", "seed", "command"}}
	seen := map[string]bool{}
	for _, p := range r.Growth {
		line := []string{p.Workflow, fmt.Sprint(p.Input.Rows), fmt.Sprint(p.Input.Entries)}
		for _, c := range []string{HostColumn, DeviceColumn} {
			perEdge := tables.None
			if t, ok := p.Times[c]; ok {
				perEdge = tables.Figure(1e6 * t.Median / float64(p.Input.Entries))
			}
			line = append(line, p.cell(c), perEdge)
		}
		cells = append(cells, line)
		notes = append(notes, p.troubles()...)
		if !seen[p.Workflow] {
			seen[p.Workflow] = true
			commands = append(commands, []string{p.Workflow, orNone(p.Input.Generator), fmt.Sprint(p.Input.Seed), "`" + p.Command + "`"})
		}
	}
	_ = tables.WriteMarkdown(b, cells)
	b.WriteByte('\n')
	leftTable(b, commands)
	list(b, notes)
}

// troubles are the footnotes that are not about libraries.
func (p *GrowthPoint) troubles() (out []string) {
	row := p.Row
	row.Notes = nil
	return row.footnotes()
}

// WriteJSON writes the report as one JSON object. Figures that do not exist are null.
func (r *Report) WriteJSON(w io.Writer) error {
	return tables.WriteJSON(w, tables.OrZero(r).object())
}

// object is the report as a JSON value.
func (r *Report) object() map[string]any {
	rows, growth, chunks := []any{}, []any{}, []any{}
	for k := range r.Rows {
		rows = append(rows, r.Rows[k].object())
	}
	for k := range r.Growth {
		p := r.Growth[k].object()
		p["workflow"], p["scale"] = r.Growth[k].Workflow, r.Growth[k].Scale
		growth = append(growth, p)
	}
	for _, c := range r.Chunks {
		chunks = append(chunks, map[string]any{
			"case": c.Name, "what": c.What, "input": c.Input.object(), "entries": c.Entries, "ours_ms": tables.Number(c.Ms.Median), "plan_ms": c.Plan,
			"computing_ms": c.Computing, "copying_ms": c.Copying, "writing_ms": c.Writing, "wall_ms": c.Wall, "overlap": c.Overlap, "blocks": c.Blocks,
			"peak_device_bytes": c.PeakDevice, "peak_rss_bytes": c.PeakRSS, "against": c.Against, "ratio": tables.Number(c.Ratio), "original": c.Original,
			"failed": c.Failed, "wrong": c.Wrong, "command": c.Command,
		})
	}
	libraries := map[string]any{}
	for _, p := range r.Peers {
		libraries[p.Column] = map[string]string{"version": p.Version, "missing": p.Missing}
	}
	return map[string]any{
		"made": r.Made, "processor": r.Processor, "threads": r.Threads, "triad_gb_per_s": tables.Number(r.Triad), "device": r.Device,
		"copy_gb_per_s": tables.Number(r.Copy), "peers": libraries, "shrunk": r.Shrunk, "interrupted": r.Interrupted,
		"rows": rows, "chunked": chunks, "growth": growth,
	}
}

func (in Input) object() map[string]any {
	return map[string]any{"generator": in.Generator, "parameters": in.Parameters, "seed": in.Seed, "rows": in.Rows, "cols": in.Cols, "nnz": in.Entries}
}

func (r *Row) object() map[string]any {
	times, percent := map[string]any{}, map[string]any{}
	for c, t := range r.Times {
		times[c] = map[string]any{"lower_ms": tables.Number(t.Lower), "ms": tables.Number(t.Median), "upper_ms": tables.Number(t.Upper)}
	}
	for c, v := range r.Percent {
		percent[c] = tables.Number(v)
	}
	return map[string]any{
		"case": r.Name, "input": r.Input.object(), "result": r.Result, "original": r.Original, "times": times, "rounds": r.Rounds, "absent": r.Absent,
		"percent_of_copy": percent, "wrong": r.Wrong, "failed": r.Failed, "notes": r.Notes, "command": r.Command,
	}
}
