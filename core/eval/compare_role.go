package main

import (
	"fmt"
	"slices"

	"github.com/addrspec/addrspec/core"
	"github.com/addrspec/addrspec/core/eval/peers"
	"github.com/addrspec/addrspec/lists"
)

func compareRole(string) (*comparison, error) {
	checker := core.New(lists.Default())
	c := &comparison{title: "role", question: peers.Role,
		note: "role or not, since peers have no categories; own tables (tuned on)",
		own:  func(local string) peers.Answer { return peers.Answer{Yes: roleOf(checker, local) != ""} },
	}
	for _, r := range slices.Concat(roleRows(roleTable), roleRows(roleWords)) {
		group := "role"
		if r.category == "" {
			group = "name"
		}
		c.examples = append(c.examples, example{value: r.local, group: group})
	}
	for _, shape := range roleRows(roleShapes) {
		for _, local := range drawShape(shape.local) {
			c.examples = append(c.examples, example{value: local, group: "shape"})
		}
	}
	c.columns = []string{
		fmt.Sprintf("known, %% of %d", c.rows("role")), fmt.Sprintf("of %d names and words flagged", c.rows("name")),
		fmt.Sprintf("of %d people's shapes flagged", c.rows("shape")),
	}
	c.measure = func(c *comparison, answers, _ []peers.Answer) []string {
		return []string{c.percent(answers, saysYes, "role"), c.number(answers, saysYes, "name"), c.number(answers, saysYes, "shape")}
	}
	return c, nil
}
