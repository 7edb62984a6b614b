// Gen writes anew what is derived from the sources: the files of package apps that forward to the
// families of workflows with the catalogue in its comment, and the tables of package zerovalues.
// Run it from the root of the module:
//
//	go run ./internal/gen
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hiveblas/hiveblas/internal/face"
	"github.com/hiveblas/hiveblas/internal/zerovalues"
)

func main() {
	if err := errors.Join(write("", face.Files), write("internal/zerovalues", zerovalues.Tables)); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

// write writes files to a folder.
func write(dir string, files func(root string) (map[string][]byte, error)) error {
	list, err := files(".")
	for name, text := range list {
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), text, 0o666))
	}
	return err
}
