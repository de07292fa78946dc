package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/addrspec/addrspec/core"
	"github.com/addrspec/addrspec/core/eval/peers"
)

// example is a row of a comparison: what the tools are asked, and its label.
type example struct {
	value string
	group string // which columns count it
	yes   bool
	text  string
}

// comparison asks ours and every peer that has a question about the same rows.
type comparison struct {
	title    string
	question peers.Question
	note     string // on the data and the columns
	absent   string // a tool that would belong here and why it is not
	columns  []column
	examples []example
	own      func(value string) peers.Answer
	// decide makes answers to the examples of what a tool says; nil if they are.
	decide func(answers []peers.Answer) []peers.Answer
}

// comparisons are in the order of the output.
var comparisons = []func(dir string) (*comparison, error){
	compareFormat, compareGibberish, compareTypo, compareDisposable, comparePublic, compareRole, compareCanonical,
}

// entrant is a tool that answers: ours, one of the standard library, or a peer.
type entrant struct {
	name string
	ask  func(peers.Question, string) peers.Answer
}

// compared is the outcome of a comparison.
type compared struct {
	*comparison
	lines   []line
	leftOut []string
}

type line struct {
	tool, version string
	cells         []string
	unanswered    int
	why           string // the first reason for no answer
}

// compareAll runs every comparison. Peers that cannot be asked are left out with the
// reason.
func compareAll(ctx context.Context, dir string, all []peers.Peer, installer *peers.Installer) (outcomes []compared, err error) {
	for _, read := range comparisons {
		c, err := read(dir)
		if err != nil {
			return nil, err
		}
		outcomes = append(outcomes, c.run(ctx, all, installer))
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	return outcomes, nil
}

func (c *comparison) run(ctx context.Context, all []peers.Peer, installer *peers.Installer) compared {
	outcome := compared{comparison: c}
	if c.absent != "" {
		outcome.leftOut = append(outcome.leftOut, c.absent)
	}
	ours := c.ask(ctx, entrant{name: "addrspec", ask: func(_ peers.Question, value string) peers.Answer { return c.own(value) }})
	outcome.add("addrspec", core.Version, ours, ours)
	if c.question == peers.Valid {
		outcome.add("net/mail (Go)", goVersion(), c.ask(ctx, netMail), ours)
	}
	for _, p := range all {
		if !p.Answers(c.question) {
			continue
		}
		answers, version, err := c.askPeer(ctx, p, installer)
		if err != nil {
			outcome.leftOut = append(outcome.leftOut, p.String()+": "+err.Error())
			continue
		}
		outcome.add(p.String(), version, answers, ours)
	}
	return outcome
}

func (c *comparison) askPeer(ctx context.Context, p peers.Peer, installer *peers.Installer) ([]peers.Answer, string, error) {
	version, err := installer.Version(p)
	if err != nil {
		return nil, "", err
	}
	process, err := installer.Start(ctx, p)
	if err != nil {
		return nil, "", err
	}
	defer process.Stop()
	answers := c.ask(ctx, entrant{name: p.String(), ask: process.Ask})
	if unanswered, why := countUnanswered(answers); unanswered == len(answers) {
		return nil, "", fmt.Errorf("it answers no row: %s", why)
	}
	return answers, version, nil
}

// progressTime is the time between two lines of progress.
const progressTime = 10 * time.Second

// ask asks about every row until ctx ends, and prints on standard error how far it is.
func (c *comparison) ask(ctx context.Context, e entrant) []peers.Answer {
	answers := make([]peers.Answer, len(c.examples))
	began := time.Now()
	for i, shown := 0, began; i < len(answers) && ctx.Err() == nil; i++ {
		answers[i] = e.ask(c.question, c.examples[i].value)
		if time.Since(shown) > progressTime {
			shown = time.Now()
			fmt.Fprintf(os.Stderr, "eval: %s: %s: %d of %d rows\n", c.title, e.name, i+1, len(answers))
		}
	}
	fmt.Fprintf(os.Stderr, "eval: %s: %s: %d rows in %s\n", c.title, e.name, len(answers), time.Since(began).Round(time.Millisecond))
	return answers
}

func (o *compared) add(tool, version string, answers, ours []peers.Answer) {
	l := line{tool: tool, version: version}
	l.unanswered, l.why = countUnanswered(answers)
	if o.decide != nil {
		answers, ours = o.decide(answers), o.decide(ours)
	}
	l.cells = o.cells(answers, ours)
	o.lines = append(o.lines, l)
}

func countUnanswered(answers []peers.Answer) (n int, why string) {
	for _, a := range answers {
		if a.None != "" {
			n++
			if why == "" {
				why = a.None
			}
		}
	}
	return n, why
}
