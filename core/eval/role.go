package main

import (
	_ "embed"
	"strings"

	"github.com/addrspec/addrspec/core"
	"github.com/addrspec/addrspec/lists"
)

// roleTable was written for this project: no labelled data for roles is
// published.
//
//go:embed roles.txt
var roleTable string

// runRole measures the categories of role accounts and of names.
func runRole(string) ([]row, error) {
	c := core.New(lists.Default())
	right := row{check: "role: right, %", data: "own table", floor: 100, target: 100, peer: "-"}
	n := 0
	for line := range strings.Lines(roleTable) {
		fields := strings.Fields(line)
		if len(fields) == 0 || fields[0] == "#" {
			continue
		}
		want := strings.TrimPrefix(fields[0], "NoRole")
		for _, local := range fields[1:] {
			n++
			if got := c.Check([]byte(local + "@example.com")).Role.String(); got == want {
				right.figure++
			} else {
				right.miss("role", local, want, got)
			}
		}
	}
	return []row{right.percentOf(n)}, nil
}
