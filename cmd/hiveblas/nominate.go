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
are those of vn. -o writes lines of a vertex and its score, the highest first.`,
		example: `  hiveblas nominate mails.txt --seeds suspects.txt --context pagerank --top 20
  hiveblas nominate follows.csv --ids renumber --seeds alice,bob --content topic.txt --weight 0.4 -o ranking.tsv`,
		threshold: thresholdPageRank, writes: "the ranking", files: job.ListFiles, top: "highest scores",
		flags: func(fs *pflag.FlagSet) {
			fs.StringVar(&seeds, "seeds", "", "seeds `V,V,…`, or a file of them")
			fs.StringVar(&score, "context", "distance", "context `SCORE`: distance, seeds, common or pagerank")
			fs.StringVar(&content, "content", "", "`FILE` with a number for each vertex, one a line or lines “vertex number”")
			fs.Float64Var(&o.Weight, "weight", 0, "weight `W` of the content, from 0 to 1 (default with --content: 0.5)")
		},
		check: func(j *job.Job, graph string, bad func(string, ...any) error) error {
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
		prepare: func(j *job.Job) (err error) {
			if sources, err = j.Seeds(seeds); err != nil || content == "" {
				return err
			}
			n, _ := j.Graph.Dims()
			o.Content, err = readValues(j, content, n)
			return err
		},
		run: func(j *job.Job, run apps.Run) (*standardResult, error) {
			o.Run = run
			var err error
			if nominations, err = apps.NominateVertices(j.Graph.Matrix, sources, o); err != nil {
				return nil, err
			}
			return &standardResult{figures: []job.Field{{Key: "seeds", Label: "seeds", Value: len(sources)}, {Key: "candidates", Label: "candidates", Value: len(nominations.Ranked)}},
				write: func() error { return writeRanking(j, nominations.Ranked) }, ranks: nominations.Score,
			}, nominations.Score.Move(nil)
		},
	}.command(s)
	cli.Complete(cmd, "context", "distance", "seeds", "common", "pagerank")
	return cmd
}
