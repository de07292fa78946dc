package main

import (
	_ "embed"
	"encoding/json"
	"strings"

	"github.com/addrspec/addrspec/core"
	"github.com/addrspec/addrspec/lists"
)

// canonicalTable was written for this project.
//
//go:embed canonical.txt
var canonicalTable string

// pair is two addresses, and whether both reach one mailbox.
type pair struct {
	same bool
	a, b string
}

func canonicalPairs() (pairs []pair) {
	for line := range strings.Lines(canonicalTable) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[0] != "#" {
			pairs = append(pairs, pair{fields[0] == "same", fields[1], fields[2]})
		}
	}
	return pairs
}

// runCanonical measures the identities of mailboxes. That two addresses of one
// mailbox differ is allowed, that two mailboxes are equal is not.
func runCanonical(string) ([]row, error) {
	same := row{check: "canonical: same mailbox found, %", floor: 100, target: 90}
	other := row{check: "canonical: different mailboxes joined", lower: true}
	sames, others := 0, 0
	c := core.New(lists.Default())
	for _, p := range canonicalPairs() {
		equal := canonicalOf(c, p.a) == canonicalOf(c, p.b)
		if p.same {
			sames++
			same.count(equal, p.a, p.b)
			continue
		}
		others++
		if equal {
			other.figure++
			other.miss("canonical", p.a, "another than "+p.b, "the same")
		}
	}
	same.data, other.data = rowsOf("pairs, own table", sames), rowsOf("pairs, own table", others)
	return []row{same.percentOf(sames), other}, nil
}

func canonicalOf(c *core.Checker, address string) string {
	f := c.Check([]byte(address))
	var result struct {
		Details struct{ Canonical string }
	}
	plain, _ := core.AppendJSON(nil, &f, false)
	if json.Unmarshal(c.AppendDetails(plain, &f), &result) != nil {
		return ""
	}
	return result.Details.Canonical
}
