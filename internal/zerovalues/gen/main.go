// Gen writes the tables of package zerovalues anew from the sources. Run it from
// the root of the module:
//
//	go run ./internal/zerovalues/gen
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hiveblas/hiveblas/internal/zerovalues"
)

func main() {
	files, err := zerovalues.Tables(".")
	for name, text := range files {
		err = errors.Join(err, os.WriteFile(filepath.Join("internal", "zerovalues", name), text, 0o666))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}
