// Command realtime finds tests that depend on how fast the machine is: calls in
// *_test.go files that measure elapsed time or sleep.
//
//	go run -C .ci/tools ./realtime DIRECTORY
//
// A slow machine makes such a test fail, or makes it pass before anything has
// happened. Time inside a process belongs into a testing/synctest bubble; across
// processes a test waits for an event. Exempt are benchmarks, functions given to
// synctest.Test, lines that end with the comment "// real time: REASON", for
// instance a fake server that is slow on purpose, and files with a line that begins
// with "// Simulated time: ", whose functions run in a bubble.
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

const mark = "// real time: "

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: realtime DIRECTORY")
		os.Exit(2)
	}
	found, err := inTree(os.Args[1])
	for _, f := range found {
		fmt.Println(f)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "realtime:", err)
	}
	if err != nil || len(found) > 0 {
		os.Exit(1)
	}
}

// inTree returns the findings of all tests below dir, except those of npm packages
// and of directories that the go command ignores.
func inTree(dir string) (found []string, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != dir && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules" || d.Name() == "testdata") {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		more, err := inFile(name, source)
		found = append(found, more...)
		return err
	})
	return found, err
}

// inFile returns the findings of a file.
func inFile(name string, source []byte) (found []string, err error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	if strings.Contains(string(source), "\n// Simulated time: ") {
		return nil, nil
	}
	lines := strings.Split(string(source), "\n")
	ast.Inspect(file, func(n ast.Node) bool {
		if exempt(n) {
			return false
		}
		if call, ok := n.(*ast.CallExpr); ok && measures(call) {
			at := files.Position(call.Pos())
			if line := lines[at.Line-1]; !strings.Contains(line, mark) {
				found = append(found, fmt.Sprintf("%s:%d: %s", at.Filename, at.Line, strings.TrimSpace(line)))
			}
		}
		return true
	})
	return found, nil
}

// exempt reports whether n is a benchmark or a test in a bubble, where time is not
// the machine's.
func exempt(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.FuncDecl:
		return strings.HasPrefix(n.Name.Name, "Benchmark") || takes(n.Type, "B")
	case *ast.CallExpr:
		return isCall(n, "synctest", "Test")
	}
	return false
}

// takes reports whether the first parameter is a *testing.T, say, for the name "T".
func takes(f *ast.FuncType, name string) bool {
	if len(f.Params.List) == 0 {
		return false
	}
	star, ok := f.Params.List[0].Type.(*ast.StarExpr)
	return ok && isSelector(star.X, "testing", name)
}

// measures reports whether the call sleeps or returns or compares elapsed time.
func measures(call *ast.CallExpr) bool {
	for _, name := range []string{"Sleep", "Since", "Until"} {
		if isCall(call, "time", name) {
			return true
		}
	}
	method, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	receiver, ok := method.X.(*ast.CallExpr)
	return method.Sel.Name == "WithinDuration" || method.Sel.Name == "Sub" && ok && isCall(receiver, "time", "Now")
}

func isCall(call *ast.CallExpr, pkg, name string) bool { return isSelector(call.Fun, pkg, name) }

func isSelector(e ast.Expr, pkg, name string) bool {
	s, ok := e.(*ast.SelectorExpr)
	if !ok || s.Sel.Name != name {
		return false
	}
	x, ok := s.X.(*ast.Ident)
	return ok && x.Name == pkg
}
