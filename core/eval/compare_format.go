package main

import (
	"path/filepath"

	"github.com/addrspec/addrspec/core"
	"github.com/addrspec/addrspec/core/eval/peers"
	"github.com/addrspec/addrspec/lists"
)

func compareFormat(dir string) (*comparison, error) {
	rows, err := readFormat(filepath.Join(dir, "format", "dev.jsonl"))
	if err != nil {
		return nil, err
	}
	classes, err := parseFormat("format_classes.jsonl", formatClasses)
	checker := core.New(lists.Default())
	c := &comparison{title: "format", question: peers.Valid,
		note: "hard addresses from test suites, and classes of real input on which tools disagree, with the verdict of our policy (tuned on)",
		own:  func(email string) peers.Answer { return peers.Answer{Yes: checker.Check([]byte(email)).Valid} },
	}
	c.addFormat("suites", rows)
	c.addFormat("classes", classes)
	c.percent("agrees", "suites", agrees)
	c.number("accepts wrongly", "suites", func(x example, a peers.Answer) bool { return a.Yes && !x.yes })
	c.number("refuses wrongly", "suites", func(x example, a peers.Answer) bool { return !a.Yes && x.yes })
	c.percent("classes: agrees", "classes", agrees)
	return c, err
}

func (c *comparison) addFormat(group string, rows []formatRow) {
	for _, r := range rows {
		c.examples = append(c.examples, example{value: r.Email, group: group, yes: r.Valid})
	}
}
