// Gen writes the table of package zerovalues anew from the sources. Run it from
// the root of the module:
//
//	go run ./internal/zerovalues/gen
package main

import (
	"fmt"
	"os"

	"github.com/hiveblas/hiveblas/internal/zerovalues"
)

func main() {
	text, err := zerovalues.Table(".")
	if err == nil {
		err = os.WriteFile("internal/zerovalues/table_test.go", text, 0o666)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}
