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
	c.addCurve()
	c.percent("relay-style caught", "relay", saysYes)
	return c, err
}

// addCurve adds the columns that people and random strings decide together.
func (c *comparison) addCurve() {
	c.columns = append(c.columns, column{"AUC", func(c *comparison, answers, _ []peers.Answer) string {
		return fmt.Sprintf("%.4f", auc(c.scores(answers, "people"), c.scores(answers, "random")))
	}})
	c.percent("people flagged", "people", saysYes)
	c.percent("random caught", "random", saysYes)
	c.columns = append(c.columns, column{"caught where as many people are flagged as by addrspec, %", func(c *comparison, answers, ours []peers.Answer) string {
		flagged, rows := c.count(ours, "people", saysYes)
		return c.caughtAt(float64(flagged)/float64(rows), answers)
	}})
	c.columns = append(c.columns, column{"caught where 1 % of people are flagged, %", func(c *comparison, answers, _ []peers.Answer) string {
		return c.caughtAt(.01, answers)
	}})
}

func (c *comparison) caughtAt(flagged float64, answers []peers.Answer) string {
	return share(caughtAt(flagged, c.scores(answers, "people"), c.scores(answers, "random")))
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
