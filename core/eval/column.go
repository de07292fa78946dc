package main

import (
	"fmt"

	"github.com/addrspec/addrspec/core/eval/peers"
)

// column is a measure in a comparison.
type column struct {
	title string
	cell  func(c *comparison, answers, ours []peers.Answer) string
}

// hit reports whether an answer counts in a column.
type hit func(example, peers.Answer) bool

func saysYes(_ example, a peers.Answer) bool   { return a.Yes }
func agrees(x example, a peers.Answer) bool    { return a.Yes == x.yes }
func rightText(x example, a peers.Answer) bool { return a.Text == x.text }

// suggests counts a suggestion of another domain than the given one.
func suggests(x example, a peers.Answer) bool { return a.Text != "" && a.Text != x.value }

func wrongText(x example, a peers.Answer) bool { return suggests(x, a) && a.Text != x.text }

// percent adds the share of a group's rows that hit. The title gets their number.
func (c *comparison) percent(title string, group string, h hit) {
	c.columns = append(c.columns, column{fmt.Sprintf("%s, %% of %d", title, c.rows(group)),
		func(c *comparison, answers, _ []peers.Answer) string {
			hits, rows := c.count(answers, group, h)
			return share(float64(hits) / float64(rows))
		}})
}

// number adds the number of a group's rows that hit. The title gets their number.
func (c *comparison) number(title string, group string, h hit) {
	c.columns = append(c.columns, column{fmt.Sprintf("%s, of %d", title, c.rows(group)),
		func(c *comparison, answers, _ []peers.Answer) string {
			hits, _ := c.count(answers, group, h)
			return fmt.Sprint(hits)
		}})
}

// cells returns what a tool has in each column.
func (c *comparison) cells(answers, ours []peers.Answer) (cells []string) {
	for _, column := range c.columns {
		cells = append(cells, column.cell(c, answers, ours))
	}
	return cells
}

// count returns the rows of a group, and how many of them hit.
func (c *comparison) count(answers []peers.Answer, group string, h hit) (hits, rows int) {
	for i, x := range c.examples {
		if x.group != group {
			continue
		}
		rows++
		if answers[i].None == "" && h(x, answers[i]) {
			hits++
		}
	}
	return hits, rows
}

func (c *comparison) rows(group string) (n int) {
	for _, x := range c.examples {
		if x.group == group {
			n++
		}
	}
	return n
}

// share prints a share in percent: with one digit after the point, or as many as
// show two digits of a small one.
func share(s float64) string {
	switch p := 100 * s; {
	case p == 0 || p == 100:
		return fmt.Sprintf("%.0f", p)
	case p < 1:
		return fmt.Sprintf("%.2g", p)
	case p > 99.9:
		return fmt.Sprintf("%.2f", min(p, 99.99))
	default:
		return fmt.Sprintf("%.1f", p)
	}
}
