package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"strings"
)

const mark = "// real time: "

// timed returns the calls in a test that measure elapsed time or sleep. A slow machine makes such
// a test fail, or makes it pass before anything has happened. Time inside a process belongs into
// a testing/synctest bubble; across processes a test waits for an event. Exempt are benchmarks,
// functions given to synctest.Test, lines that end with the comment "// real time: REASON", for
// instance a fake server that is slow on purpose, and files with a line that begins with
// "// Simulated time: ", whose functions run in a bubble.
func timed(files *token.FileSet, file *ast.File, source []byte) (found []string) {
	if strings.Contains(string(source), "\n// Simulated time: ") {
		return nil
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
	return found
}

// exempt reports whether n is a benchmark, whose first parameter is a *testing.B, or a test in a
// bubble, where time is not the machine's.
func exempt(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.FuncDecl:
		if len(n.Type.Params.List) == 0 {
			return false
		}
		first, ok := n.Type.Params.List[0].Type.(*ast.StarExpr)
		return ok && isSelector(first.X, "testing", "B")
	case *ast.CallExpr:
		return isSelector(n.Fun, "synctest", "Test")
	}
	return false
}

// measures reports whether the call sleeps or returns or compares elapsed time.
func measures(call *ast.CallExpr) bool {
	for _, name := range []string{"Sleep", "Since", "Until"} {
		if isSelector(call.Fun, "time", name) {
			return true
		}
	}
	method, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	receiver, ok := method.X.(*ast.CallExpr)
	return method.Sel.Name == "WithinDuration" || method.Sel.Name == "Sub" && ok && isSelector(receiver.Fun, "time", "Now")
}

func isSelector(e ast.Expr, pkg, name string) bool {
	s, ok := e.(*ast.SelectorExpr)
	if !ok || s.Sel.Name != name {
		return false
	}
	x, ok := s.X.(*ast.Ident)
	return ok && x.Name == pkg
}
