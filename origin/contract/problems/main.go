// Command problems generates the problems and the messages that origin and edge
// worker share, in Go and TypeScript, from problems.json:
//
//	go generate ./origin/contract/problems
//
// The shape of a problem is A, C or input. The last one means B for a batch and A
// for a single. In a sentence, $name is a parameter.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

//go:generate go run . ../../..

// The input and the outputs, relative to the top of the repository.
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
