package main

import (
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/job"
	"github.com/hiveblas/hiveblas/internal/cli"
)

func nominateCommand(s *job.Session) *cobra.Command {
	var (
		o             apps.NominateOptions
		seeds, score  string
		content       string
		by            matchingFlags
		sources       []int
		nominations   *apps.Nominations
		contextScores = []apps.ContextScore{apps.ContextDistance, apps.ContextSeeds, apps.ContextCommonNeighbours, apps.ContextPageRank}
	)
	cmd := standardCommand{
		use: "nominate GRAPH --seeds 0,3,5|FILE", short: "Vertex nomination by context and content",
		long: `nominate ranks the vertices that are not seeds by how likely they are to be like the
seeds: by their context in the graph and by their content, a number for each vertex in
the file of --content, higher for likelier ones: numbers in the order of the vertices, or
lines “vertex number”. Both are scaled to 0…1;
the score is (1−W)·context + W·content, W being --weight.

--context is the distance from the nearest seed (1/d), seeds (how many have an edge to
the vertex), common (columns that seeds and the vertex share), or pagerank (of a walk
that restarts at the seeds). Edges lead from row to column; weights are ignored. Seeds
are those of vn. -o writes lines of a vertex and its score, the highest first.

--by sgm ranks the vertices of a second graph, --other, by how likely they correspond to
the seeds: it matches the graphs by sgm from pairs of vertices that correspond, --pairs,
and --restarts times from random starts. The score is how often and how strongly a vertex
is matched with the seeds. Graphs of different sizes are padded.`,
		example: `  hiveblas nominate mails.txt --seeds suspects.txt --context pagerank --top 20
  hiveblas nominate follows.csv --ids renumber --seeds alice,bob --content topic.txt --weight 0.4 -o ranking.tsv
  hiveblas nominate phone.mtx --by sgm --other mail.mtx --pairs known.tsv --seeds 17 --top 5`,
		threshold: thresholdPageRank, writes: "the ranking", files: job.ListFiles, top: "highest scores",
		flags: func(fs *pflag.FlagSet) {
			fs.StringVar(&seeds, "seeds", "", "seeds `V,V,…`, or a file of them")
			fs.StringVar(&score, "context", "distance", "context `SCORE`: distance, seeds, common or pagerank")
			fs.StringVar(&content, "content", "", "`FILE` with a number for each vertex, one a line or lines “vertex number”")
			by.add(fs)
			fs.Float64Var(&o.Weight, "weight", 0, "weight `W` of the content, from 0 to 1 (default with --content: 0.5)")
		},
		check: func(j *job.Job, graph string, bad func(string, ...any) error) error {
			if err := by.check(j, bad); err != nil {
				return err
			}
			at := slices.IndexFunc(contextScores, func(c apps.ContextScore) bool { return c.String() == score })
			if at < 0 {
				return bad("--context is %q, want distance, seeds, common or pagerank", score)
			}
			o.Context = contextScores[at]
			set := j.Cmd.Flags().Changed("weight")
			switch {
			case !(o.Weight >= 0 && o.Weight <= 1):
				return bad("--weight is %v, want from 0 to 1", o.Weight)
			case set && content == "":
				return bad("--weight needs --content")
			case content != "" && !set:
				o.Weight = .5
			}
			return j.CheckSeeds(seeds, graph)
		},
		prepare: func(j *job.Job, _ []string) (err error) {
			if sources, err = j.Seeds(seeds); err != nil {
				return err
			}
			if by.matches() {
				return by.read(j)
			}
			if content == "" {
				return nil
			}
			n, _ := j.Graph.Dims()
			o.Content, err = readValues(j, content, n)
			return err
		},
		run: func(j *job.Job, run apps.Run) (*standardResult, error) {
			o.Run = run
			var err error
			if by.matches() {
				nominations, err = by.nominate(j, sources, run)
			} else {
				nominations, err = apps.NominateVertices(j.Graph.Matrix, sources, o)
			}
			if err != nil {
				return nil, err
			}
			return &standardResult{figures: []job.Field{{Key: "seeds", Label: "seeds", Value: len(sources)}, {Key: "candidates", Label: "candidates", Value: len(nominations.Ranked)}},
				write: func() error { return writeRanking(j, nominations.Ranked) }, ranks: nominations.Score,
			}, nominations.Score.Move(nil)
		},
	}.command(s)
	cli.Complete(cmd, "by", "context", "sgm")
	cli.Complete(cmd, "context", "distance", "seeds", "common", "pagerank")
	return cmd
}

// matchingFlags are the flags of --by sgm, and the inputs that they name.
type matchingFlags struct {
	by, other, pairs string
	restarts         int
	graph            *job.Graph
	known            []apps.SeedPair
}

func (f *matchingFlags) add(fs *pflag.FlagSet) {
	fs.StringVar(&f.by, "by", "context", "what ranks: `M`, context, or sgm, seeded matching with a second graph")
	fs.StringVar(&f.other, "other", "", "the second `GRAPH` of --by sgm")
	fs.StringVar(&f.pairs, "pairs", "", "of --by sgm: the first `N` vertices of both graphs correspond, or a file of pairs")
	fs.IntVar(&f.restarts, "restarts", 16, "match `N` times, with --by sgm")
}

// matches reports whether matching ranks the vertices.
func (f *matchingFlags) matches() bool { return f.by == "sgm" }

func (f *matchingFlags) check(j *job.Job, bad func(string, ...any) error) error {
	useless, when := []string{"other", "pairs", "restarts"}, "without"
	if f.matches() {
		useless, when = []string{"context", "content", "weight"}, "with"
	}
	for _, flag := range useless {
		if j.Cmd.Flags().Changed(flag) {
			return bad("--%s has no effect %s --by sgm", flag, when)
		}
	}
	switch {
	case f.by != "context" && !f.matches():
		return bad("--by is %q, want context or sgm", f.by)
	case f.matches() && f.other == "":
		return bad("--by sgm needs --other")
	case f.matches() && f.pairs == "":
		return bad("--by sgm needs --pairs")
	case f.restarts < 1:
		return bad("--restarts is %d, want 1 or more", f.restarts)
	}
	return nil
}

// read reads the second graph and the pairs.
func (f *matchingFlags) read(j *job.Job) (err error) {
	first := j.Graph
	if err := j.LoadSquare(f.other, job.Structure); err != nil {
		return err
	}
	j.Graph, f.graph = first, j.Graph
	f.known, err = seedPairs(j, f.pairs, f.graph)
	return err
}

// nominate ranks the vertices of the second graph, which becomes the graph of the job.
func (f *matchingFlags) nominate(j *job.Job, sources []int, run apps.Run) (*apps.Nominations, error) {
	if err := f.graph.Move(j.Graph.Place()); err != nil {
		return nil, err
	}
	o := apps.NominateByMatchingOptions{SGMOptions: apps.SGMOptions{Run: run, Pad: true}, Restarts: f.restarts}
	found, err := apps.NominateByMatching(j.Graph.Matrix, f.graph.Matrix, sources, f.known, o)
	if err == nil {
		j.Graph = f.graph
	}
	return found, err
}
