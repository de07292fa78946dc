package main

import (
	"strings"
	"testing"
)

const run = `{"Action":"start","Package":"p"}
{"Action":"output","Package":"p","Test":"TestA","Output":"    a_test.go:7: skipped: nginx is not installed\n"}
{"Action":"output","Package":"p","Test":"TestA","Output":"--- SKIP: TestA (0.00s)\n"}
{"Action":"skip","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestB","Output":"    b_test.go:12: left to ./build.sh test ci\n"}
{"Action":"skip","Package":"p","Test":"TestB"}
{"Action":"output","Package":"p","Test":"TestC","Output":"    b_test.go:15: left to ./build.sh test ci\n"}
{"Action":"skip","Package":"p","Test":"TestC"}
{"Action":"output","Package":"p","Test":"TestD","Output":"    b_test.go:15: a log line\n"}
{"Action":"pass","Package":"p","Test":"TestD"}
not JSON
{"Action":"skip","Package":"without tests"}
`

func TestReport(t *testing.T) {
	reasons := map[string][]string{}
	if err := read(strings.NewReader(run), reasons); err != nil {
		t.Fatal(err)
	}
	const want = "   skipped: 2 tests: left to ./build.sh test ci\n   skipped: TestA: nginx is not installed\n"
	if got := report(reasons); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
