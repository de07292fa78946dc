// Command problems writes the problem table and the sentences that the origin
// and the edge worker share, from problems.json, in both languages:
//
//	go generate ./origin/contract/problems
//
// The shape of a problem is A, C or input: B if it refuses the input of a
// batch, else A. In a sentence, $name is a part that the program fills in.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

//go:generate go run . ../../..

// The files, from the top of the repository.
const (
	source         = "origin/contract/problems/problems.json"
	goFile         = "origin/api/codes.go"
	typeScriptFile = "edge/src/problems.ts"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: problems TOP\n\nTOP is the folder of go.mod.")
		os.Exit(2)
	}
	if err := generate(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "problems:", err)
		os.Exit(1)
	}
}

func generate(top string) error {
	files, err := render(top)
	if err != nil {
		return err
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(top, name), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}
