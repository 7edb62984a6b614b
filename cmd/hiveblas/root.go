package main

import (
	"github.com/spf13/cobra"

	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/job"
	"github.com/hiveblas/hiveblas/internal/cli"
)

func rootCommand(s *job.Session) *cobra.Command {
	root := &cobra.Command{
		Use:   "hiveblas",
		Short: "Graph workflows as sparse linear algebra",
		Long: `hiveblas runs graph workflows, written as sparse linear algebra, on matrix files.

A graph is a matrix with an edge from row to column: Matrix Market (.mtx), an
edge list (.tsv, .txt, .el, .csv), the binary form (.hgb), SciPy's .npz, METIS,
DIMACS, GraphML, GML and others, see hiveblas help formats. - is standard input;
--format names the format of what has no extension. Results go to -o FILE, or
-o - for standard output: .tsv and .csv have vertices from 0, or
their names if the input has some (--names, --ids renumber); .mtx counts from 1. A
summary goes to standard output, one JSON object with --json.

HIVEBLAS_THREADS, HIVEBLAS_DEVICE and HIVEBLAS_MACHINE replace the defaults of --threads,
--device and --machine; hiveblas completion SHELL prints a completion script. Exit codes: 0 done, 1 failed, 2 bad usage, 130 interrupted.
The benchmarks are a command of their own, hiveblas-bench.`,
		Example: `  hiveblas demo
  hiveblas info graph.mtx.gz
  hiveblas project ratings.mtx.gz --onto rows --unweighted -o similar.tsv
  hiveblas vn graph.mtx --seeds 0,3,5 -o distances.tsv`,
	}
	root.AddCommand(
		infoCommand(s), statsCommand(s), headCommand(s), convertCommand(s), spyCommand(s), lookCommand(s),
		generateCommand(s), extractCommand(s), sampleCommand(s), sortCommand(s),
		projectCommand(s), vnCommand(s), acCommand(s), lgcCommand(s), louvainCommand(s),
		bfsCommand(s), ssspCommand(s), pagerankCommand(s), ccCommand(s), tcCommand(s), ktrussCommand(s),
		sccCommand(s), kcoreCommand(s), betweennessCommand(s), closenessCommand(s), clusteringCommand(s), cdlpCommand(s),
		misCommand(s), colourCommand(s), hitsCommand(s), eigenvectorCommand(s), katzCommand(s), similarCommand(s), featuresCommand(s), nominateCommand(s),
		msfCommand(s), matchingCommand(s), diameterCommand(s), toposortCommand(s),
		scanCommand(s), geoCommand(s), searchCommand(s), embedCommand(s), sageCommand(s), sgmCommand(s),
		lassoCommand(s), maxflowCommand(s), lsapCommand(s), solveCommand(s), eigsCommand(s), runCommand(s),
		jitCommand(s), tuneCommand(s), cli.Moved("bench", "hiveblas-bench", "hiveblas-bench"), scaleCommand(s), demoCommand(s),
	)
	return s.Root(root, map[string]func() error{"formats": func() error { return job.PrintFormats(s.Stdout) }})
}
