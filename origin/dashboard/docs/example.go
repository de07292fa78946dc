package docs

import (
	"embed"
	"fmt"
	"io/fs"
	"regexp"
	"sync"
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

// A Policy is one of those that the guide has to begin with.
type Policy struct{ Name, Document string }

var policyInGuide = regexp.MustCompile("(?m)^### (.+)\n[^`]*```json\n([^`]+)\n```")

// Policies returns the policies of the guide's section "Policies to begin with".
var Policies = sync.OnceValue(func() (list []Policy) {
	guide, err := sourceFiles.ReadFile("guides/policies.md")
	if err != nil {
		panic(err) // it is embedded
	}
	for _, found := range policyInGuide.FindAllSubmatch(guide, -1) {
		list = append(list, Policy{string(found[1]), string(found[2])})
	}
	return list
})

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

// ExampleNames returns the names of all examples.
func ExampleNames() (names []string) {
	entries, err := fs.ReadDir(exampleFiles, "examples")
	if err != nil {
		panic(err) // embedded: cannot be missing
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}
