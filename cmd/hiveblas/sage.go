package main

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/job"
	"github.com/hiveblas/hiveblas/graphio"
	"github.com/hiveblas/hiveblas/internal/cli"
	"github.com/hiveblas/hiveblas/matrix"
)

var (
	sageAggregators = map[string]apps.SAGEAggregator{"mean": apps.AggregateMean, "pool": apps.AggregatePool, "gcn": apps.AggregateGCN, "attention": apps.AggregateAttention,
		"lstm": apps.AggregateLSTM}
	sagePrecisions = map[string]apps.SAGEPrecision{"fp32": apps.SAGEFloat32, "tf32": apps.SAGETF32, "fp16": apps.SAGEFloat16, "bf16": apps.SAGEBFloat16}
	sageSamplings  = map[string]apps.SAGESampling{"uniform": apps.SampleUniform, "weight": apps.SampleByWeight,
		"degree": apps.SampleByDegree, "walks": apps.SampleByWalks}
)

// sageFlags are the flags of sage and its subcommands.
type sageFlags struct {
	features, samples, sampling string
	all, replace                bool
	seed                        uint64
}

func (f *sageFlags) add(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&f.features, "features", "", "`FILE` of the features: .csv, .mtx or .npy, a row for each vertex")
	fs.StringVar(&f.samples, "samples", "", "choose `S1,S2` neighbours: of a vertex, of these, … (default: all)")
	fs.BoolVar(&f.all, "all", false, "take all neighbours")
	fs.StringVar(&f.sampling, "sampling", "uniform", "choose neighbours by `M`: uniform, weight, degree or walks")
	fs.BoolVar(&f.replace, "replace", false, "draw neighbours with replacement")
	fs.Uint64Var(&f.seed, "random-seed", 0, "seed `S` of the random numbers")
	cli.Complete(cmd, "sampling", "uniform", "weight", "degree", "walks")
}

// check returns the numbers of samples and the sampling.
func (f *sageFlags) check(cmd *cobra.Command) (samples []int, sampling apps.SAGESampling, err error) {
	bad := func(format string, args ...any) error {
		return cli.Usage(cmd.CommandPath(), fmt.Sprintf(format, args...))
	}
	sampling, known := sageSamplings[f.sampling]
	switch {
	case f.features == "":
		return nil, 0, bad("--features is missing")
	case !known:
		return nil, 0, bad("--sampling is %q, want uniform, weight, degree or walks", f.sampling)
	case f.all && f.samples != "":
		return nil, 0, bad("--all and --samples exclude each other")
	case sampling == apps.SampleByWalks && f.samples == "":
		return nil, 0, bad("--sampling walks needs --samples")
	}
	if f.samples != "" {
		if samples, err = numberList(f.samples); err != nil {
			return nil, 0, bad("--samples is %q, want numbers such as 25,10", f.samples)
		}
	}
	return samples, sampling, nil
}

// numberList returns positive numbers separated by commas.
func numberList(text string) (list []int, err error) {
	for f := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(f))
		if err != nil || n < 1 {
			return nil, fmt.Errorf("%q is no positive number", f)
		}
		list = append(list, n)
	}
	return list, nil
}

// load reads the graph, with weights if neighbours are chosen by them, and the features.
func (f *sageFlags) load(j *job.Job, graph string, sampling apps.SAGESampling) (x *matrix.Matrix[float32], err error) {
	what := job.Structure
	if sampling == apps.SampleByWeight {
		what = job.Weighted
	}
	if err := j.LoadSquare(graph, what); err != nil {
		return nil, err
	}
	err = j.Stage("read", func() (err error) {
		var names *graphio.Labels
		if !j.Graph.Counted {
			names = j.Graph.Cols
		}
		x, err = readMatrixFile(j, f.features, names)
		return err
	})
	return x, err
}

// readMatrixFile reads features or weights. names are the names of vertices, if they have names.
func readMatrixFile(j *job.Job, path string, names *graphio.Labels) (*matrix.Matrix[float32], error) {
	x, err := apps.ReadFeaturesFile(path, apps.FeatureOptions{Run: apps.Run{Context: j.Ctx, Threads: j.Run.Threads, Progress: j.Progress.Update}, TextOptions: j.Read.Text(), Labels: names})
	return x, job.Explain(path, err)
}

func sageCommand(s *job.Session) *cobra.Command {
	var (
		f       sageFlags
		weights string
		files   [4]string
		form    string
		random  randomWeights
	)
	cmd := &cobra.Command{
		Use:   "sage GRAPH --features FILE --weights MODEL",
		Short: "GraphSAGE: embeddings of vertices by features and neighbours; sage train, sage predict",
		Long: `sage computes an embedding of each vertex by a trained network: in each layer, the
vertex's own row and the aggregate of its neighbours' rows, each times weights, put side
by side, without negative components and divided by the length. Neighbours are the targets
of edges (see --undirected); a vertex without any is its own.

MODEL is a .npz file of sage train, or of NumPy with arrays wf1, wa1, wf2, wa2 (d×h, d×h,
2h×o, 2h×o); --wf1, --wa1, --wf2 and --wa2 give them as files in its place, in the formats
of the features: .csv, a row on each line, where a first line with a word is a header;
.mtx; .npy. --random-weights draws weights in place of a model, for measurements. -o writes a header and a line “vertex,e0,e1,…” for each vertex, or an array in .npy.`,
		Example: `  hiveblas sage train cites.mtx --undirected --features words.mtx --classes topics.tsv -o model.npz
  hiveblas sage cites.mtx --undirected --features words.mtx --weights model.npz -o embeddings.csv
  hiveblas sage follows.tsv --features x.npy --weights model.npz --samples 25,10
  hiveblas sage follows.tsv --features x.npy --random-weights 1 --hidden 128,128 --aggregator pool`,
		Args: cli.Positional("GRAPH"),
	}
	j := job.New(s, cmd).Computes(thresholdSAGE).Fuses().Reads().Writes("the embeddings", embeddingFiles...)
	f.add(cmd)
	cmd.Flags().StringVar(&weights, "weights", "", "`MODEL` file, a .npz")
	random.add(cmd)
	cmd.Flags().StringVar(&form, "precision", "fp32", "compute on a GPU in `P`: fp32, tf32, fp16 or bf16")
	cli.Complete(cmd, "precision", "fp32", "tf32", "fp16", "bf16")
	own := cmd.Flags().Bool("per-source", false, "draw the samples of each vertex's tree anew")
	var memory cli.ByteSize
	cmd.Flags().Var(&memory, "feature-memory", "keep features of at most this size on the GPU, such as 8GiB, and copy larger ones in pieces\n(default: what is free)")
	names := [4]string{"wf1", "wa1", "wf2", "wa2"}
	for k, name := range names {
		cmd.Flags().StringVar(&files[k], name, "", fmt.Sprintf("`FILE` of the weights of layer %s: .csv, .mtx or .npy",
			[]string{"1, of the vertex", "1, of its neighbours", "2, of the vertex", "2, of its neighbours"}[k]))
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		bad := func(format string, args ...any) error {
			return cli.Usage(cmd.CommandPath(), fmt.Sprintf(format, args...))
		}
		samples, sampling, err := f.check(cmd)
		if err != nil {
			return err
		}
		if *own && samples == nil {
			return bad("--per-source needs --samples")
		}
		precision, known := sagePrecisions[form]
		if !known {
			return bad("--precision is %q, want fp32, tf32, fp16 or bf16", form)
		}
		given := 0
		for _, file := range files {
			if file != "" {
				given++
			}
		}
		if err := random.check(cmd, weights != "" || given > 0); err != nil {
			return err
		}
		switch {
		case random.given:
		case weights == "" && given == 0:
			return bad("--weights is missing")
		case weights != "" && given > 0:
			return bad("--weights and --wf1 exclude each other")
		case given > 0 && given < 4:
			return bad("--wf1, --wa1, --wf2 and --wa2 are given together")
		}
		inputs := []string{args[0], f.features}
		if weights != "" {
			inputs = append(inputs, weights)
		}
		if err := j.Begin(inputs...); err != nil {
			return err
		}
		x, err := f.load(j, args[0], sampling)
		if err != nil {
			return err
		}
		var model *apps.SAGEModel
		err = j.Stage("read", func() (err error) {
			switch {
			case random.given:
				model, err = random.model(x)
				return err
			case weights != "":
				model, err = readModel(weights)
				return err
			}
			model = &apps.SAGEModel{Layers: make([]apps.SAGELayer, 2)}
			for k, file := range files {
				w, err := readMatrixFile(j, file, nil)
				if err != nil {
					return err
				}
				if k%2 == 0 {
					model.Layers[k/2].Self = w
				} else {
					model.Layers[k/2].Neighbour = w
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		var res *apps.SAGEResult
		err = j.Compute(func(run apps.Run) (err error) {
			res, err = apps.GraphSAGE(j.Graph.Matrix, x, model, apps.SAGEOptions{Run: run, Samples: samples, Sampling: sampling, Replace: f.replace, Seed: f.seed, PerSource: *own,
				Precision: precision, FeatureMemory: int64(memory)})
			if err != nil {
				return err
			}
			return res.Embeddings.Move(nil)
		})
		if err != nil {
			return err
		}
		if err := j.Writing(func() error { return writeEmbeddings(j, res.Embeddings) }); err != nil {
			return err
		}
		n, width := res.Embeddings.Dims()
		var sum job.Total
		for _, y := range res.Embeddings.All() {
			sum.Add(float64(y))
		}
		return j.Report([]job.Field{{Key: "vertices", Label: "vertices", Value: n}, {Key: "dimensions", Label: "dimensions", Value: width},
			{Key: "sum", Label: "sum", Value: sum.Value()}, {Key: "zero_rows", Label: "rows of zeros", Value: res.ZeroRows},
			{Key: "feature_pieces", Label: "pieces of features", Value: res.Pieces}}, nil)
	}
	cmd.AddCommand(sageTrainCommand(s), sagePredictCommand(s))
	return cmd
}

// randomWeights are the flags of a network with random weights.
type randomWeights struct {
	seed               uint64
	hidden, aggregator string
	heads              int
	given              bool
	columns            []int
}

func (r *randomWeights) add(cmd *cobra.Command) {
	cmd.Flags().Uint64Var(&r.seed, "random-weights", 0, "draw the weights by a `SEED`, in place of --weights")
	cmd.Flags().StringVar(&r.hidden, "hidden", "64,64", "columns `H` of the layers of random weights")
	cmd.Flags().StringVar(&r.aggregator, "aggregator", "mean", "aggregate neighbours by `A` with random weights: mean, pool, gcn, attention or lstm")
	cmd.Flags().IntVar(&r.heads, "heads", 1, "heads `K` of attention with random weights")
	cli.Complete(cmd, "aggregator", "mean", "pool", "gcn", "attention", "lstm")
}

// check checks the flags; others says whether weights are given otherwise.
func (r *randomWeights) check(cmd *cobra.Command, others bool) (err error) {
	bad := func(format string, args ...any) error {
		return cli.Usage(cmd.CommandPath(), fmt.Sprintf(format, args...))
	}
	r.given = cmd.Flags().Changed("random-weights")
	for _, name := range []string{"hidden", "aggregator", "heads"} {
		if cmd.Flags().Changed(name) && !r.given {
			return bad("--%s has no effect without --random-weights", name)
		}
	}
	if _, known := sageAggregators[r.aggregator]; !known {
		return bad("--aggregator is %q, want mean, pool, gcn, attention or lstm", r.aggregator)
	}
	if r.heads, err = headsOf(cmd, r.heads, r.aggregator); err != nil {
		return err
	}
	if r.given && others {
		return bad("--random-weights and other weights exclude each other")
	}
	if r.columns, err = numberList(r.hidden); err != nil {
		return bad("--hidden is %q, want numbers such as 64,64", r.hidden)
	}
	return nil
}

// model returns the network for features.
func (r *randomWeights) model(x *matrix.Matrix[float32]) (*apps.SAGEModel, error) {
	_, d := x.Dims()
	m, err := apps.RandomSAGEModel(sageAggregators[r.aggregator], d, r.columns, r.seed)
	if err == nil {
		m.Heads = r.heads
	}
	return m, err
}

// headsOf checks the flag heads, and returns 0 for an aggregator without attention.
func headsOf(cmd *cobra.Command, heads int, aggregator string) (int, error) {
	switch attends := aggregator == "attention"; {
	case heads < 1:
		return 0, cli.Usage(cmd.CommandPath(), fmt.Sprintf("--heads is %d, want 1 or more", heads))
	case !attends && cmd.Flags().Changed("heads"):
		return 0, cli.Usage(cmd.CommandPath(), "--heads has no effect without --aggregator attention")
	case !attends:
		return 0, nil
	}
	return heads, nil
}

// readModel reads a .npz file.
func readModel(path string) (*apps.SAGEModel, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, job.Explain(path, err)
	}
	defer file.Close()
	m, err := apps.ReadSAGEModel(file, path)
	return m, job.Explain(path, err)
}

// embeddingFiles are the formats of embeddings.
var embeddingFiles = []string{".csv", ".tsv", ".npy"}

// writeEmbeddings writes a table of embeddings.
func writeEmbeddings(j *job.Job, z *matrix.Matrix[float32]) error {
	_, width := z.Dims()
	names := make([]string, width)
	for k := range names {
		names[k] = "e" + strconv.Itoa(k)
	}
	return writeTable(j, names, z)
}

// vertexOptions are the options of files with a line for each vertex.
func vertexOptions(j *job.Job, file string, base int) apps.ScoreFileOptions {
	o := apps.ScoreFileOptions{Run: apps.Run{Context: j.Ctx, Progress: j.Progress.Update}, TextOptions: j.Read.Text(), Name: job.NameOf(file), Base: base}
	if j.Graph.Cols != nil && !j.Graph.Counted {
		o.Index = j.Graph.Cols.Index
	}
	return o
}

// readPart opens a file with a line for each vertex and reads it.
func readPart(j *job.Job, file string, read func(r io.Reader) error) error {
	in, err := j.OpenInput(file)
	if err != nil {
		return job.Explain(job.NameOf(file), err)
	}
	defer in.Close()
	return job.ExplainLines(job.NameOf(file), "--vertex-base", read(in.R))
}
