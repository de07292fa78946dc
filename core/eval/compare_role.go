package main

import (
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
	c.percent("known", "role", saysYes)
	c.number("names and words flagged", "name", saysYes)
	c.number("people's shapes flagged", "shape", saysYes)
	return c, nil
}
