package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

func rootCommand(s *session) *cobra.Command {
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
--device and --machine; hiveblas completion SHELL prints a completion script. Exit codes: 0 done, 1 failed, 2 bad usage, 130 interrupted.`,
		Example: `  hiveblas demo
  hiveblas info graph.mtx.gz
  hiveblas project ratings.mtx.gz --onto rows --unweighted -o similar.tsv
  hiveblas vn graph.mtx --seeds 0,3,5 -o distances.tsv`,
		Version:       fmt.Sprintf("%s, %s, %s/%s", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			msg := fmt.Sprintf("unknown command %q", args[0])
			if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
				msg += fmt.Sprintf(", did you mean %s?", strings.Join(near, " or "))
			}
			return &usageError{cmd.CommandPath(), msg}
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetOut(s.stdout)
	root.SetErr(s.stderr)
	root.SuggestionsMinimumDistance = 2
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	root.SetFlagErrorFunc(flagError)
	root.SetHelpCommand(&cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Help about any command",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && args[0] == "formats" {
				return printFormats(s.stdout)
			}
			about, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return &usageError{"hiveblas", fmt.Sprintf("unknown command %q", strings.Join(args, " "))}
			}
			return about.Help()
		},
	})
	root.AddCommand(
		infoCommand(s), statsCommand(s), headCommand(s), convertCommand(s), spyCommand(s), lookCommand(s),
		generateCommand(s), extractCommand(s), sampleCommand(s), sortCommand(s),
		projectCommand(s), vnCommand(s), acCommand(s), lgcCommand(s), louvainCommand(s),
		bfsCommand(s), ssspCommand(s), pagerankCommand(s), ccCommand(s), tcCommand(s), ktrussCommand(s),
		sccCommand(s), kcoreCommand(s), betweennessCommand(s), closenessCommand(s), clusteringCommand(s), cdlpCommand(s),
		misCommand(s), colourCommand(s), hitsCommand(s), eigenvectorCommand(s), katzCommand(s), similarCommand(s), nominateCommand(s),
		msfCommand(s), matchingCommand(s), diameterCommand(s), toposortCommand(s),
		scanCommand(s), geoCommand(s), searchCommand(s), sageCommand(s), sgmCommand(s),
		lassoCommand(s), maxflowCommand(s), lsapCommand(s), runCommand(s),
		jitCommand(s), tuneCommand(s), benchCommand(s), scaleCommand(s), demoCommand(s), manCommand(s),
	)
	strictCompletion(root)
	return root
}

// strictCompletion adds the completion command of cobra, with the usage errors of others.
func strictCompletion(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	cmd, _, err := root.Find([]string{"completion"})
	if err != nil || cmd == root {
		return
	}
	var shells []string
	for _, shell := range cmd.Commands() {
		shell.Args = positional()
		shells = append(shells, shell.Name())
	}
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		return &usageError{cmd.CommandPath(), fmt.Sprintf("unknown shell %q, want %s", args[0], strings.Join(shells, ", "))}
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
}

// positional requires exactly the named arguments.
func positional(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < len(names):
			return &usageError{cmd.CommandPath(), names[len(args)] + " is missing"}
		case len(args) > len(names):
			return &usageError{cmd.CommandPath(), fmt.Sprintf("unexpected argument %q", args[len(names)])}
		}
		return nil
	}
}

// version returns the version of the module and the revision of the source from
// which the program was built, as far as they are known.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(unknown version)"
	}
	return versionOf(info)
}

func versionOf(info *debug.BuildInfo) string {
	v, revision, changes := info.Main.Version, "", ""
	if v == "" {
		v = "(devel)"
	}
	for _, kv := range info.Settings {
		switch {
		case kv.Key == "vcs.revision":
			revision = kv.Value[:min(12, len(kv.Value))]
		case kv.Key == "vcs.modified" && kv.Value == "true":
			changes = " with local changes"
		}
	}
	if revision == "" {
		return v
	}
	return fmt.Sprintf("%s, revision %s%s", v, revision, changes)
}
