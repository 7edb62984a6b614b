package main

import (
	"github.com/spf13/cobra"

	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/job"
	"github.com/hiveblas/hiveblas/internal/cli"
)

func scaleCommand(s *job.Session) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "scale",
		Short: "Predict the time of workflows on groups of devices and processes",
		Long: `scale predicts the time of workflows on groups of devices and processes, and runs them
to compare. hiveblas-bench comm measures what connects those of this machine.`,
		Example: `  hiveblas-bench comm --json scale.json
  hiveblas scale predict pagerank graph.mtx --counts 1,2,4,8`,
		Args: cli.Positional(),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(scalePredictCommand(s), scaleRunCommand(s),
		cli.Moved("bench", "hiveblas-bench", "hiveblas-bench comm"), cli.Moved("rank", "hiveblas-bench", "hiveblas-bench rank"))
	return cmd
}
