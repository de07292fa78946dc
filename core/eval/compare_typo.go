package main

import (
	"path/filepath"

	"github.com/addrspec/addrspec/core"
	"github.com/addrspec/addrspec/core/eval/peers"
	"github.com/addrspec/addrspec/lists"
)

func compareTypo(dir string) (*comparison, error) {
	misspelled, err := readColumns(filepath.Join(dir, "typo", "dev_positives.tsv"), "typed", "intended")
	if err != nil {
		return nil, err
	}
	real, err := readRealDomains(dir)
	if err != nil {
		return nil, err
	}
	labelled, err := readColumns(filepath.Join(dir, "real", "typo_labels.tsv"), "domain", "intended", "label")
	checker := core.New(lists.Default())
	c := &comparison{title: "typo", question: peers.Typo,
		note: "misspelled domains of providers, real domains, and domains of real addresses on which some tool raised a flag (tuned on)",
		own:  func(domain string) peers.Answer { return peers.Answer{Text: suggestionFor(checker, domain)} },
	}
	c.addTypos("misspelled", misspelled)
	c.addTypos("real", real)
	c.addTypos("seen", where(labelled, "typo"))
	c.addTypos("seen-real", where(labelled, "real_or_host"))
	c.percent("right", "misspelled", rightText)
	c.percent("wrong", "misspelled", wrongText)
	c.percent("real domains flagged", "real", suggests)
	c.number("seen: right", "seen", rightText)
	c.number("seen: wrong", "seen", wrongText)
	c.number("seen: real ones flagged", "seen-real", suggests)
	return c, err
}

func (c *comparison) addTypos(group string, rows [][]string) {
	for _, fields := range rows {
		c.examples = append(c.examples, example{value: fields[0], group: group, text: fields[1]})
	}
}
