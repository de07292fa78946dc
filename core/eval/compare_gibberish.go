package main

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"

	"github.com/addrspec/addrspec/core/eval/peers"
	"github.com/addrspec/addrspec/core/gibberish"
)

func compareGibberish(dir string) (*comparison, error) {
	c := &comparison{title: "gibberish", question: peers.Random,
		note: "generated local parts of people and random strings (tuned on); a row without answer counts as not flagged",
		own: func(name string) peers.Answer {
			score := gibberish.Score([]byte(name))
			return peers.Answer{Yes: score >= 50, Score: float64(score)}
		},
	}
	people, err := readColumns(filepath.Join(dir, "gibberish", "dev_negatives.tsv"), "local_part", "group")
	if err != nil {
		return nil, err
	}
	random, err := readColumns(filepath.Join(dir, "gibberish", "dev_positives.tsv"), "local_part", "group")
	c.addGibberish("people", people)
	c.addGibberish("random", random)
	for _, name := range relayStyle(500) {
		c.examples = append(c.examples, example{value: name, group: "relay"})
	}
	c.columns = []string{
		fmt.Sprintf("AUC, %d people, %d random", c.rows("people"), c.rows("random")), "people flagged, %", "random caught, %",
		"caught where as many people are flagged as by addrspec, %", "caught where 1 % of people are flagged, %",
		fmt.Sprintf("of %d relay-style strings caught, %%", c.rows("relay")),
	}
	c.measure = measureGibberish
	return c, err
}

// addGibberish adds the rows of the main figure, without their tags.
func (c *comparison) addGibberish(label string, rows [][]string) {
	for _, fields := range rows {
		if fields[1] == "digits" || fields[1] == "utf8" || strings.HasPrefix(fields[1], "hard_") {
			continue
		}
		name, _, _ := strings.Cut(fields[0], "+")
		c.examples = append(c.examples, example{value: name, group: label})
	}
}

func measureGibberish(c *comparison, answers, ours []peers.Answer) []string {
	people, random := c.scores(answers, "people"), c.scores(answers, "random")
	flagged, rows := c.count(ours, saysYes, "people")
	return []string{
		fmt.Sprintf("%.4f", auc(people, random)),
		c.percent(answers, saysYes, "people"), c.percent(answers, saysYes, "random"),
		share(caughtAt(float64(flagged)/float64(rows), people, random)), share(caughtAt(.01, people, random)),
		c.percent(answers, saysYes, "relay"),
	}
}

// scores returns the scores of a group. A row without answer is not flagged at any
// threshold.
func (c *comparison) scores(answers []peers.Answer, group string) (scores []float64) {
	for i, x := range c.examples {
		if x.group != group {
			continue
		}
		score := answers[i].Score
		if answers[i].None != "" {
			score = math.Inf(-1)
		}
		scores = append(scores, score)
	}
	return scores
}
