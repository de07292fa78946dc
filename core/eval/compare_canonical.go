package main

import (
	"github.com/addrspec/addrspec/core"
	"github.com/addrspec/addrspec/core/eval/peers"
	"github.com/addrspec/addrspec/lists"
)

// compareCanonical asks for both addresses of every pair, one after the other.
func compareCanonical(string) (*comparison, error) {
	checker := core.New(lists.Default())
	c := &comparison{title: "canonical", question: peers.Canonical,
		absent: "utopia-php/emails: needs PHP and Packagist, from which nothing is installed here",
		note:   "pairs of addresses; equal texts mean one mailbox, and without an answer they are not equal",
		own:    func(email string) peers.Answer { return peers.Answer{Text: canonicalOf(checker, email)} },
	}
	for _, p := range canonicalPairs() {
		group := "other"
		if p.same {
			group = "same"
		}
		c.examples = append(c.examples, example{value: p.a, group: group}, example{value: p.b, group: "second"})
	}
	c.percent("same mailbox found", "same", saysYes)
	c.number("different ones joined", "other", saysYes)
	c.decide = equalPairs
	return c, nil
}

// equalPairs answers for the first row of each pair whether both texts are equal.
func equalPairs(answers []peers.Answer) []peers.Answer {
	equal := make([]peers.Answer, len(answers))
	for i := 0; i < len(answers); i += 2 {
		a, b := answers[i], answers[i+1]
		equal[i].Yes = a.None == "" && b.None == "" && a.Text == b.Text
	}
	return equal
}
