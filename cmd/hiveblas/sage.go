package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/job"
	"github.com/hiveblas/hiveblas/internal/cli"
	"github.com/hiveblas/hiveblas/internal/splitmix"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/spf13/cobra"
)

var (
	sageAggregators = map[string]apps.SAGEAggregator{"mean": apps.AggregateMean, "pool": apps.AggregatePool, "gcn": apps.AggregateGCN}
	sagePrecisions  = map[string]apps.SAGEPrecision{"fp32": apps.SAGEFloat32, "tf32": apps.SAGETF32, "fp16": apps.SAGEFloat16, "bf16": apps.SAGEBFloat16}
	sageSamplings   = map[string]apps.SAGESampling{"uniform": apps.SampleUniform, "weight": apps.SampleByWeight,
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
		x, err = readMatrixFile(j, f.features)
		return err
	})
	return x, err
}

// readMatrixFile reads features or weights.
func readMatrixFile(j *job.Job, path string) (*matrix.Matrix[float32], error) {
	x, err := apps.ReadFeaturesFile(path, apps.FeatureOptions{Run: apps.Run{Context: j.Ctx, Threads: j.Run.Threads, Progress: j.Progress.Update}, TextOptions: j.Read.Text()})
	return x, job.Explain(path, err)
}

func sageCommand(s *job.Session) *cobra.Command {
	var (
		f       sageFlags
		weights string
		files   [4]string
		form    string
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
.mtx; .npy. -o writes a header and a line “vertex,e0,e1,…” for each vertex.`,
		Example: `  hiveblas sage train cites.mtx --undirected --features words.mtx --classes topics.tsv -o model.npz
  hiveblas sage cites.mtx --undirected --features words.mtx --weights model.npz -o embeddings.csv
  hiveblas sage follows.tsv --features x.npy --weights model.npz --samples 25,10`,
		Args: cli.Positional("GRAPH"),
	}
	j := job.New(s, cmd).Computes(thresholdSAGE).Fuses().Reads().Writes("the embeddings", ".csv", ".tsv")
	f.add(cmd)
	cmd.Flags().StringVar(&weights, "weights", "", "`MODEL` file, a .npz")
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
		switch {
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
			if weights != "" {
				model, err = readModel(weights)
				return err
			}
			model = &apps.SAGEModel{Layers: make([]apps.SAGELayer, 2)}
			for k, file := range files {
				w, err := readMatrixFile(j, file)
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
		return j.Report(j.Method(model.Aggregator.String()), []job.Field{{Key: "vertices", Label: "vertices", Value: n}, {Key: "dimensions", Label: "dimensions", Value: width},
			{Key: "sum", Label: "sum", Value: sum.Value()}, {Key: "zero_rows", Label: "rows of zeros", Value: res.ZeroRows},
			{Key: "feature_pieces", Label: "pieces of features", Value: res.Pieces}}, nil)
	}
	cmd.AddCommand(sageTrainCommand(s), sagePredictCommand(s))
	return cmd
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

// writeEmbeddings writes a header and a line for each vertex.
func writeEmbeddings(j *job.Job, z *matrix.Matrix[float32]) error {
	n, width := z.Dims()
	return j.WriteLines(n, func(line func(fields ...string) error) error {
		fields := make([]string, width+1)
		fields[0] = "vertex"
		for k := range width {
			fields[k+1] = "e" + strconv.Itoa(k)
		}
		if err := line(fields...); err != nil {
			return err
		}
		for v := range n {
			fields[0] = j.Graph.Name(v)
			for k := range width {
				x, _ := z.At(v, k)
				fields[k+1] = strconv.FormatFloat(float64(x), 'g', -1, 32)
			}
			if err := line(fields...); err != nil {
				return err
			}
		}
		return nil
	})
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

func sageTrainCommand(s *job.Session) *cobra.Command {
	var (
		f                                        sageFlags
		o                                        apps.SAGETrainOptions
		classFile, splitFile, hidden, aggregator string
		base                                     int
		unsupervised                             bool
	)
	cmd := &cobra.Command{
		Use:   "train GRAPH --features FILE --classes FILE -o MODEL",
		Short: "Train a network of GraphSAGE",
		Long: `train fits a network to the classes of some vertices, or with --unsupervised to the graph
alone: vertices that a short walk connects are to have similar embeddings.

The file of --classes has a class on each line, for all vertices in order, or lines “vertex
class”; −1 is unknown. Classes are words, which the model keeps.
--split has lines “vertex train”, “vertex validate” or “vertex test”; without it, of the
vertices with a class 60 % train, 20 % validate and 20 % test, drawn by --random-seed. The
weights of the epoch with the best validation are kept.

--checkpoint FILE is written every ten epochs; the same command resumes from it, and gives
the same weights. -o MODEL is a .npz, which NumPy reads.`,
		Example: `  hiveblas sage train cites.mtx --undirected --features words.mtx --classes topics.tsv -o model.npz
  hiveblas sage train g.mtx --features x.npy --classes c.tsv --samples 25,10 --batch 512 --checkpoint run.npz -o m.npz`,
		Args: cli.Positional("GRAPH"),
	}
	j := job.New(s, cmd).Computes(thresholdSAGE).Fuses().Reads().Writes("the model", ".npz")
	f.add(cmd)
	fs := cmd.Flags()
	fs.StringVar(&classFile, "classes", "", "`FILE` of the classes of vertices")
	fs.StringVar(&splitFile, "split", "", "`FILE` of the vertices that train, validate and test")
	fs.IntVar(&base, "vertex-base", 0, "the vertices of these files count from `B`: 0 or 1")
	fs.StringVar(&hidden, "hidden", "64,64", "columns `H` of the layers; one number is for two layers")
	fs.StringVar(&aggregator, "aggregator", "mean", "aggregate neighbours by `A`: mean, pool or gcn")
	fs.IntVar(&o.Epochs, "epochs", 200, "train for at most `N` epochs")
	fs.IntVar(&o.Batch, "batch", 0, "vertices `N` of a step (0: all)")
	fs.Float64Var(&o.Rate, "rate", .01, "rate `R` of Adam")
	fs.Float64Var(&o.Decay, "decay", 5e-4, "decay `D` of weights")
	fs.Float64Var(&o.Dropout, "dropout", .5, "share `P` of inputs that a step leaves out")
	fs.IntVar(&o.Patience, "patience", 100, "stop after `N` epochs without a better validation")
	fs.BoolVar(&unsupervised, "unsupervised", false, "train without classes, by walks")
	fs.StringVar(&o.Checkpoint, "checkpoint", "", "write the state to `FILE`, and resume from it")
	cli.Complete(cmd, "aggregator", "mean", "pool", "gcn")
	cli.Complete(cmd, "vertex-base", "0", "1")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		bad := func(format string, args ...any) error {
			return cli.Usage(cmd.CommandPath(), fmt.Sprintf(format, args...))
		}
		samples, sampling, err := f.check(cmd)
		if err != nil {
			return err
		}
		o.Samples, o.Sampling, o.Replace, o.Seed = samples, sampling, f.replace, f.seed
		if o.Hidden, err = numberList(hidden); err != nil {
			return bad("--hidden is %q, want numbers such as 64,64", hidden)
		}
		if len(o.Hidden) == 1 {
			o.Hidden = append(o.Hidden, o.Hidden[0])
		}
		var known bool
		o.Aggregator, known = sageAggregators[aggregator]
		switch {
		case !known:
			return bad("--aggregator is %q, want mean, pool or gcn", aggregator)
		case classFile == "" && !unsupervised:
			return bad("--classes is missing; --unsupervised trains without")
		case classFile != "" && unsupervised:
			return bad("--classes and --unsupervised exclude each other")
		case base != 0 && base != 1:
			return bad("--vertex-base is %d, want 0 or 1", base)
		case o.Epochs < 1:
			return bad("--epochs is %d, want 1 or more", o.Epochs)
		case o.Batch < 0:
			return bad("--batch is %d, want 1 or more, or 0 for all", o.Batch)
		case !(o.Rate > 0):
			return bad("--rate is %v, want a positive number", o.Rate)
		case !(o.Decay >= 0):
			return bad("--decay is %v, want 0 or more", o.Decay)
		case !(o.Dropout >= 0 && o.Dropout < 1):
			return bad("--dropout is %v, want 0 or more, and below 1", o.Dropout)
		case o.Patience < 1:
			return bad("--patience is %d, want 1 or more", o.Patience)
		case j.Out.Path == "":
			return bad("-o is missing, the file of the model")
		}
		if o.Decay == 0 {
			o.Decay = -1
		}
		if o.Dropout == 0 {
			o.Dropout = -1
		}
		inputs := []string{args[0], f.features}
		for _, file := range []string{classFile, splitFile} {
			if file != "" {
				inputs = append(inputs, file)
			}
		}
		if err := j.Begin(inputs...); err != nil {
			return err
		}
		x, err := f.load(j, args[0], sampling)
		if err != nil {
			return err
		}
		n, _ := j.Graph.Dims()
		var classes []int32
		var names []string
		var split apps.SAGESplit
		err = j.Stage("read", func() error {
			if classFile != "" {
				err := readPart(j, classFile, func(r io.Reader) (err error) {
					classes, names, err = apps.ReadClasses(r, n, vertexOptions(j, classFile, base))
					return err
				})
				if err != nil {
					return err
				}
			}
			if splitFile != "" {
				return readPart(j, splitFile, func(r io.Reader) (err error) {
					split, err = apps.ReadSplit(r, n, vertexOptions(j, splitFile, base))
					return err
				})
			}
			if classes != nil {
				split = drawSplit(classes, f.seed)
			}
			return nil
		})
		if err != nil {
			return err
		}
		var res *apps.SAGETraining
		err = j.Compute(func(run apps.Run) (err error) {
			if o.Checkpoint != "" {
				j.Cleaning.Store(true)
				defer j.Cleaning.Store(false)
			}
			o.Run = run
			if res, err = apps.TrainGraphSAGE(j.Graph.Matrix, x, classes, split, o); err == nil {
				res.Model.Classes = names
			}
			return err
		})
		if err != nil {
			return err
		}
		if err := j.Writing(func() error { return j.Stream(res.Model.Write) }); err != nil {
			return err
		}
		figures := []job.Field{{Key: "epochs", Label: "epochs", Value: res.Epochs}, {Key: "best_epoch", Label: "best epoch", Value: res.Best}, {Key: "loss", Label: "loss", Value: res.Loss}}
		if classes != nil {
			figures = append(figures, job.Field{Key: "classes", Label: "classes", Value: len(names)}, job.Field{Key: "trained", Label: "training vertices", Value: len(split.Train)},
				job.Field{Key: "validation_accuracy", Label: "validation accuracy", Value: res.Validate}, job.Field{Key: "test_accuracy", Label: "test accuracy", Value: res.Test})
		}
		return j.Report(j.Method(aggregator), figures, nil)
	}
	return cmd
}

// drawSplit draws the parts of the vertices with a class.
func drawSplit(classes []int32, seed uint64) (s apps.SAGESplit) {
	var known []int
	for v, c := range classes {
		if c >= 0 {
			known = append(known, v)
		}
	}
	slices.SortFunc(known, func(a, b int) int {
		x, y := splitmix.At(uint64(a), seed), splitmix.At(uint64(b), seed)
		switch {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	train, validate := (6*len(known)+9)/10, (8*len(known)+9)/10
	s.Train, s.Validate, s.Test = append([]int{}, known[:train]...), known[train:validate], known[validate:]
	return s
}

func sagePredictCommand(s *job.Session) *cobra.Command {
	var (
		f                  sageFlags
		weights, classFile string
		base               int
	)
	cmd := &cobra.Command{
		Use:   "predict GRAPH --features FILE --weights MODEL",
		Short: "Predict the classes of vertices by a trained network",
		Long: `predict gives each vertex the class that the model finds the most likely. --classes is a
file of known classes, as that of the training: the accuracy on its vertices is reported.
-o writes vertex and class. A model without names of classes, of NumPy or of an early version
of sage train, has the classes 0, 1, ….`,
		Example: `  hiveblas sage predict cites.mtx --undirected --features words.mtx --weights model.npz -o topics.tsv
  hiveblas sage predict cites.mtx --features words.mtx --weights model.npz --classes topics.tsv --json`,
		Args: cli.Positional("GRAPH"),
	}
	j := job.New(s, cmd).Computes(thresholdSAGE).Fuses().Reads().Writes("the classes", job.ListFiles...)
	f.add(cmd)
	cmd.Flags().StringVar(&weights, "weights", "", "`MODEL` file of sage train")
	cmd.Flags().StringVar(&classFile, "classes", "", "`FILE` of known classes, for the accuracy")
	cmd.Flags().IntVar(&base, "vertex-base", 0, "the vertices of this file count from `B`: 0 or 1")
	cli.Complete(cmd, "vertex-base", "0", "1")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		bad := func(format string, args ...any) error {
			return cli.Usage(cmd.CommandPath(), fmt.Sprintf(format, args...))
		}
		samples, sampling, err := f.check(cmd)
		switch {
		case err != nil:
			return err
		case weights == "":
			return bad("--weights is missing")
		case base != 0 && base != 1:
			return bad("--vertex-base is %d, want 0 or 1", base)
		}
		inputs := []string{args[0], f.features, weights}
		if classFile != "" {
			inputs = append(inputs, classFile)
		}
		if err := j.Begin(inputs...); err != nil {
			return err
		}
		x, err := f.load(j, args[0], sampling)
		if err != nil {
			return err
		}
		n, _ := j.Graph.Dims()
		var model *apps.SAGEModel
		var classes []int32
		err = j.Stage("read", func() (err error) {
			if model, err = readModel(weights); err != nil {
				return err
			}
			if model.Classifier == nil {
				return cli.Fail(weights, "the model has no classifier", "train it with --classes", nil)
			}
			if classFile == "" {
				return nil
			}
			return readPart(j, classFile, func(r io.Reader) error {
				found, names, err := apps.ReadClasses(r, n, vertexOptions(j, classFile, base))
				if err == nil {
					classes, err = classesOf(model, found, names, classFile)
				}
				return err
			})
		})
		if err != nil {
			return err
		}
		var res *apps.SAGEResult
		err = j.Compute(func(run apps.Run) (err error) {
			res, err = apps.GraphSAGE(j.Graph.Matrix, x, model, apps.SAGEOptions{Run: run, Samples: samples, Sampling: sampling, Replace: f.replace, Seed: f.seed})
			if err != nil {
				return err
			}
			return res.Logits.Move(nil)
		})
		if err != nil {
			return err
		}
		found, right, known := largestClasses(res.Logits), 0, 0
		for v, c := range classes {
			if c >= 0 {
				known++
				if int(c) == found[v] {
					right++
				}
			}
		}
		names := classNames(model)
		err = j.Writing(func() error {
			return j.WriteLines(len(found), func(line func(fields ...string) error) error {
				for v, c := range found {
					if err := line(j.Graph.Name(v), names[c]); err != nil {
						return err
					}
				}
				return nil
			})
		})
		if err != nil {
			return err
		}
		figures := []job.Field{{Key: "vertices", Label: "vertices", Value: n}}
		if known > 0 {
			figures = append(figures, job.Field{Key: "known", Label: "with a class", Value: known}, job.Field{Key: "accuracy", Label: "accuracy", Value: float64(right) / float64(known)})
		}
		return j.Report(j.Method(model.Aggregator.String()), figures, nil)
	}
	return cmd
}

// classNames returns the name of each class of a model, its number if the model has no names.
func classNames(model *apps.SAGEModel) []string {
	if model.Classes != nil {
		return model.Classes
	}
	names := make([]string, len(model.Bias))
	for c := range names {
		names[c] = strconv.Itoa(c)
	}
	return names
}

// classesOf numbers the classes of a file as the model does. A class that the model lacks is an
// error.
func classesOf(model *apps.SAGEModel, classes []int32, names []string, file string) ([]int32, error) {
	known := classNames(model)
	number := make([]int32, len(names))
	for k, name := range names {
		c := slices.Index(known, name)
		if c < 0 {
			what, remedy := fmt.Sprintf("the model has no class %q", name), "give classes of the training, or −1 for a vertex of no class: "
			if model.Classes == nil {
				what, remedy = fmt.Sprintf("the model has no names of classes, and %q is none of its numbers", name), "train the model again, or give classes by number: "
			}
			return nil, cli.Fail(job.NameOf(file), what, remedy+strings.Join(known[:min(8, len(known))], ", "), nil)
		}
		number[k] = int32(c)
	}
	for v, c := range classes {
		if c >= 0 {
			classes[v] = number[c]
		}
	}
	return classes, nil
}

// largestClasses returns the column of the largest logit of each row.
func largestClasses(logits *matrix.Matrix[float32]) []int {
	n, count := logits.Dims()
	found := make([]int, n)
	for v := range found {
		most, _ := logits.At(v, 0)
		for c := 1; c < count; c++ {
			if x, _ := logits.At(v, c); x > most {
				found[v], most = c, x
			}
		}
	}
	return found
}
