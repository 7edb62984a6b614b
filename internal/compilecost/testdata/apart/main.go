// Command apart is struct with its matrices in a package of their own.
package main

import (
	"fmt"
	"log"

	"apart/routes"
)

const edit = 0

func main() {
	ways := []routes.Route{{Time: 1}, {Time: 2, Tolls: 1}, {Time: 3, Tolls: 2}}
	a, err := routes.New(3, []int{0, 1, 2}, []int{1, 2, 0}, ways)
	if err != nil {
		log.Fatal(err)
	}
	c, err := a.TwoSteps()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(c.Routes(), edit)
}
