package main

import (
	"fmt"
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
		note: "hard addresses from test suites (tuned on), and classes of real input on which tools disagree",
		own:  func(email string) peers.Answer { return peers.Answer{Yes: checker.Check([]byte(email)).Valid} },
	}
	c.addFormat("suites", rows)
	c.addFormat("classes", classes)
	c.columns = []string{
		fmt.Sprintf("agrees, %% of %d", c.rows("suites")), "accepts wrongly", "refuses wrongly",
		fmt.Sprintf("agrees, %% of %d of the classes", c.rows("classes")),
	}
	c.measure = measureFormat
	return c, err
}

func (c *comparison) addFormat(group string, rows []formatRow) {
	for _, r := range rows {
		c.examples = append(c.examples, example{value: r.Email, group: group, yes: r.Valid})
	}
}

func measureFormat(c *comparison, answers, _ []peers.Answer) []string {
	return []string{
		c.percent(answers, agrees, "suites"),
		c.number(answers, func(x example, a peers.Answer) bool { return a.Yes && !x.yes }, "suites"),
		c.number(answers, func(x example, a peers.Answer) bool { return !a.Yes && x.yes }, "suites"),
		c.percent(answers, agrees, "classes"),
	}
}
