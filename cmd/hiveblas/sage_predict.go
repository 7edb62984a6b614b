package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/job"
	"github.com/hiveblas/hiveblas/internal/cli"
	"github.com/hiveblas/hiveblas/matrix"
)

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
		return j.Report(figures, nil)
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
