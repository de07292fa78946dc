package docs

import (
	"embed"
	"fmt"
)

//go:embed examples
var exampleFiles embed.FS

// An Example is a program that the documentation shows.
type Example struct {
	Language string // as people call it
	File     string // below examples/
	Text     string
}

// languages has the languages of examples by file name, in the order of the pages.
var languages = []struct{ file, name string }{
	{"example.sh", "curl"}, {"main.go", "Go"}, {"example.py", "Python"}, {"example.mjs", "JavaScript"},
}

// Examples returns the programs in examples/NAME.
func Examples(name string) (list []Example, err error) {
	for _, l := range languages {
		file := name + "/" + l.file
		if text, err := exampleFiles.ReadFile("examples/" + file); err == nil {
			list = append(list, Example{l.name, file, string(text)})
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("examples/%s has no example", name)
	}
	return list, nil
}
