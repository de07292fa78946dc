// Command skipped reads what go test -json has written and prints why tests were
// skipped, each reason once with the number of its tests.
//
//	go run -C .ci/tools ./skipped FILE...
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
)

func main() {
	reasons := map[string][]string{}
	for _, name := range os.Args[1:] {
		file, err := os.Open(name)
		if err == nil {
			err = read(file, reasons)
			file.Close()
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "skipped:", err)
			os.Exit(1)
		}
	}
	fmt.Print(report(reasons))
}

// An event is a line of go test -json.
type event struct{ Action, Package, Test, Output string }

// reason matches the line of the log in which a test says why it is skipped.
var reason = regexp.MustCompile(`^ *\w+\.go:\d+: (?:skipped: )?(.*)`)

// read adds the tests that were skipped, by reason.
func read(r io.Reader, reasons map[string][]string) error {
	last := map[string]string{} // what a test has printed last
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		var e event
		if json.Unmarshal(line, &e) != nil || e.Test == "" {
			continue // of the build, or of a whole package
		}
		test := e.Package + " " + e.Test
		if found := reason.FindStringSubmatch(e.Output); found != nil {
			last[test] = found[1]
		}
		if e.Action == "skip" {
			reasons[last[test]] = append(reasons[last[test]], e.Test)
		}
	}
}

// report lists the reasons, the most frequent first, with the name of a single test.
func report(reasons map[string][]string) string {
	var list []string
	for r := range reasons {
		list = append(list, r)
	}
	slices.SortFunc(list, func(a, b string) int {
		if n := len(reasons[b]) - len(reasons[a]); n != 0 {
			return n
		}
		return strings.Compare(a, b)
	})
	var out strings.Builder
	for _, r := range list {
		what := fmt.Sprint(len(reasons[r]), " tests")
		if len(reasons[r]) == 1 {
			what = reasons[r][0]
		}
		fmt.Fprintf(&out, "   skipped: %s: %s\n", what, strings.TrimSpace(r))
	}
	return out.String()
}
