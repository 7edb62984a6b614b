package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/job"
	"github.com/hiveblas/hiveblas/internal/cli"
	"github.com/hiveblas/hiveblas/internal/splitmix"
	"github.com/hiveblas/hiveblas/matrix"
)

func sageTrainCommand(s *job.Session) *cobra.Command {
	var (
		f                                        sageFlags
		o                                        apps.SAGETrainOptions
		classFile, splitFile, hidden, aggregator string
		base                                     int
		unsupervised                             bool
		share                                    float64
	)
	cmd := &cobra.Command{
		Use:   "train GRAPH --features FILE --classes FILE -o MODEL",
		Short: "Train a network of GraphSAGE",
		Long: `train fits a network to the classes of some vertices, or with --unsupervised to the graph
alone: vertices that a short walk connects are to have similar embeddings. --links SHARE
trains without classes too, to predict edges: SHARE of the edges are held out for the
test, and half as many for the validation. The AUC is the probability that the embeddings
of an edge have a larger product than those of a pair without an edge, the MRR the mean of
1/rank of the target of an edge among 100 vertices without an edge from its source.

The file of --classes has a class on each line, for all vertices in order, or lines “vertex
class”; −1 is unknown. Classes are words, which the model keeps.
--split has lines “vertex train”, “vertex validate” or “vertex test”; without it, of the
vertices with a class 60 % train, 20 % validate and 20 % test, drawn by --random-seed. The
weights of the epoch with the best validation are kept.

--checkpoint FILE is written every ten epochs; the same command resumes from it, and gives
the same weights. -o MODEL is a .npz, which NumPy reads.`,
		Example: `  hiveblas sage train cites.mtx --undirected --features words.mtx --classes topics.tsv -o model.npz
  hiveblas sage train cites.mtx --undirected --features words.mtx --links .1 -o links.npz
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
	fs.StringVar(&aggregator, "aggregator", "mean", "aggregate neighbours by `A`: mean, pool, gcn, attention or lstm")
	fs.IntVar(&o.Heads, "heads", 1, "heads `K` of attention")
	fs.IntVar(&o.Epochs, "epochs", 200, "train for at most `N` epochs")
	fs.IntVar(&o.Batch, "batch", 0, "vertices `N` of a step (0: all)")
	fs.Float64Var(&o.Rate, "rate", .01, "rate `R` of Adam")
	fs.Float64Var(&o.Decay, "decay", 5e-4, "decay `D` of weights")
	fs.Float64Var(&o.Dropout, "dropout", .5, "share `P` of inputs that a step leaves out")
	fs.IntVar(&o.Patience, "patience", 100, "stop after `N` epochs without a better validation")
	fs.BoolVar(&unsupervised, "unsupervised", false, "train without classes, by walks")
	fs.Float64Var(&share, "links", 0, "train without classes to predict a `SHARE` of the edges")
	fs.StringVar(&o.Checkpoint, "checkpoint", "", "write the state to `FILE`, and resume from it")
	cli.Complete(cmd, "aggregator", "mean", "pool", "gcn", "attention", "lstm")
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
		if o.Heads, err = headsOf(cmd, o.Heads, aggregator); err != nil {
			return err
		}
		var known bool
		o.Aggregator, known = sageAggregators[aggregator]
		switch {
		case !known:
			return bad("--aggregator is %q, want mean, pool, gcn, attention or lstm", aggregator)
		case fs.Changed("links") && !(share > 0 && share < .5):
			return bad("--links is %v, want a share between 0 and 0.5", share)
		case share > 0 && (classFile != "" || splitFile != "" || unsupervised):
			return bad("--links excludes --classes, --split and --unsupervised")
		case classFile == "" && !unsupervised && share == 0:
			return bad("--classes is missing; --unsupervised and --links train without")
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
			g := j.Graph.Matrix
			if share > 0 {
				if g, o.Links, err = holdOutTwice(g, share, f.seed, run); err != nil {
					return err
				}
			}
			if res, err = apps.TrainGraphSAGE(g, x, classes, split, o); err == nil {
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
		if share > 0 {
			figures = append(figures, job.Field{Key: "held_out", Label: "held-out edges", Value: len(o.Links.Test.Edges)}, job.Field{Key: "validation_auc", Label: "validation AUC", Value: res.Validate},
				job.Field{Key: "test_auc", Label: "test AUC", Value: res.Test}, job.Field{Key: "test_mrr", Label: "test MRR", Value: res.TestMRR})
		}
		if classes != nil {
			figures = append(figures, job.Field{Key: "classes", Label: "classes", Value: len(names)}, job.Field{Key: "trained", Label: "training vertices", Value: len(split.Train)},
				job.Field{Key: "validation_accuracy", Label: "validation accuracy", Value: res.Validate}, job.Field{Key: "test_accuracy", Label: "test accuracy", Value: res.Test})
		}
		return j.Report(figures, nil)
	}
	return cmd
}

// holdOutTwice holds a share of the edges out for the test, and half as many for the validation. It
// returns the graph of the others.
func holdOutTwice(g *matrix.Matrix[float64], share float64, seed uint64, run apps.Run) (*matrix.Matrix[float64], *apps.SAGELinks, error) {
	rest, test, err := apps.HoldOutLinks(g, apps.HoldOutOptions{Run: run, Share: share, Seed: seed})
	if err != nil {
		return nil, nil, err
	}
	rest, validate, err := apps.HoldOutLinks(rest, apps.HoldOutOptions{Run: run, Share: share / 2 / (1 - share), Seed: seed + 1})
	return rest, &apps.SAGELinks{Validate: validate, Test: test}, err
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
