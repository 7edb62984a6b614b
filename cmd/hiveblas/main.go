// Command hiveblas runs graph workflows, written as sparse linear algebra, on
// matrix files: one command line, a result file, a summary.
//
//	hiveblas project ratings.mtx.gz --onto rows -o similar.tsv
//	hiveblas vn graph.mtx --seeds 0,3,5 -o distances.tsv
//
// Run it without arguments for the list of commands.
package main

import (
	"os"
)

func main() {
	if os.Getenv(watching) != "" {
		watchParent()
		return
	}
	os.Exit(run(os.Args[1:], os.Stdout, ownStderr()))
}
