// Command style checks what gofmt, vet and staticcheck do not, in the Go files of its arguments.
//
//	style FILE...
//
// In tests it finds calls that measure elapsed time or sleep (timed.go). In the other files it
// finds assignments in a condition, as in "if x = f(); x > 0", and functions that are only a step
// of another: unexported, at most 12 lines long and used once in their package. Some such steps
// are concepts, so there is a limit for the whole and not for each.
package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
)

const (
	stepLines = 12 // up to this length a function that is used once counts as a step
	maxSteps  = 4  // per 1,000 lines
)

func main() {
	var c checker
	for _, name := range os.Args[1:] {
		source, err := os.ReadFile(name)
		if err == nil {
			err = c.file(name, source)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "style:", err)
			os.Exit(1)
		}
	}
	found := append(c.found, c.steps()...)
	for _, f := range found {
		fmt.Println(f)
	}
	if len(found) > 0 {
		os.Exit(1)
	}
}

// checker collects what it finds in files.
type checker struct {
	found    []string
	lines    int
	packages map[string]*names // by directory
}

// names are the functions of a package, and how often its files have each identifier.
type names struct {
	functions map[string][]function
	uses      map[string]int
}

type function struct {
	place string
	lines int
}

// file checks a file. It leaves out generated ones.
func (c *checker) file(name string, source []byte) error {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, source, parser.SkipObjectResolution|parser.ParseComments)
	if err != nil || ast.IsGenerated(file) {
		return err
	}
	if strings.HasSuffix(name, "_test.go") {
		c.found = append(c.found, timed(files, file, source)...)
		return nil
	}
	c.lines += bytes.Count(source, []byte("\n"))
	dir := filepath.Dir(name)
	if c.packages == nil {
		c.packages = map[string]*names{}
	}
	if c.packages[dir] == nil {
		c.packages[dir] = &names{map[string][]function{}, map[string]int{}}
	}
	names := c.packages[dir]
	ast.Inspect(file, func(n ast.Node) bool {
		var init ast.Stmt
		switch n := n.(type) {
		case *ast.Ident:
			names.uses[n.Name]++
		case *ast.FuncDecl:
			start, end := files.Position(n.Pos()), files.Position(n.End())
			f := function{start.String(), end.Line - start.Line + 1}
			names.functions[n.Name.Name] = append(names.functions[n.Name.Name], f)
		case *ast.IfStmt:
			init = n.Init
		case *ast.SwitchStmt:
			init = n.Init
		}
		if a, ok := init.(*ast.AssignStmt); ok && hides(a) {
			c.found = append(c.found, files.Position(a.Pos()).String()+": an assignment in a condition: put it on a line of its own")
		}
		return true
	})
	return nil
}

// hides reports whether an assignment in a condition is one that a reader may overlook: it sets a
// variable from outside, and not only beside an err or ok that the condition is about.
func hides(a *ast.AssignStmt) bool {
	last, ok := a.Lhs[len(a.Lhs)-1].(*ast.Ident)
	return a.Tok != token.DEFINE && !(ok && (last.Name == "err" || last.Name == "ok"))
}

// steps lists the functions that are steps of another, if there are too many.
func (c *checker) steps() (found []string) {
	for _, names := range c.packages {
		for name, functions := range names.functions {
			f := functions[0]
			// One more use is the name in the declaration.
			once := len(functions) == 1 && names.uses[name] == 2 && name != "main"
			if once && f.lines <= stepLines && !ast.IsExported(name) {
				found = append(found, fmt.Sprintf("%s: %s has one caller: make it a paragraph of it", f.place, name))
			}
		}
	}
	if len(found)*1000 <= maxSteps*c.lines {
		return nil
	}
	return append(found, fmt.Sprintf("%d functions with at most %d lines have one caller: more than %d per 1,000 lines",
		len(found), stepLines, maxSteps))
}
