package main

import (
	"fmt"
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
	c.columns = []string{
		fmt.Sprintf("right, %% of %d", len(misspelled)), "wrong, %", fmt.Sprintf("of %d real domains flagged, %%", len(real)),
		fmt.Sprintf("right of %d seen", c.rows("seen")), "wrong", fmt.Sprintf("of %d real ones seen flagged", c.rows("seen-real")),
	}
	c.measure = measureTypo
	return c, err
}

func (c *comparison) addTypos(group string, rows [][]string) {
	for _, fields := range rows {
		c.examples = append(c.examples, example{value: fields[0], group: group, text: fields[1]})
	}
}

func measureTypo(c *comparison, answers, _ []peers.Answer) []string {
	right := func(x example, a peers.Answer) bool { return a.Text == x.text }
	wrong := func(x example, a peers.Answer) bool { return suggests(x, a) && a.Text != x.text }
	return []string{
		c.percent(answers, right, "misspelled"), c.percent(answers, wrong, "misspelled"), c.percent(answers, suggests, "real"),
		c.number(answers, right, "seen"), c.number(answers, wrong, "seen"), c.number(answers, suggests, "seen-real"),
	}
}
