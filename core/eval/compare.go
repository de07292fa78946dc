package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/addrspec/addrspec/core"
	"github.com/addrspec/addrspec/core/gibberish"
	"github.com/addrspec/addrspec/lists"
)

// query is a row as the program in peers reads it.
type query struct {
	Question string `json:"question"` // the check that it is for
	Value    string `json:"value"`
}

// result is a tool's result for one row.
type result struct {
	Yes   bool    // it is valid, random, listed, a role
	Text  string  // the suggested domain; what identifies the mailbox
	Score float64 // higher is more random
	None  string  // why there is no result
}

// tool is a tool's results for the rows of a question, in their order. The program in peers
// writes one a line.
type tool struct {
	Tool, Version, Question string
	Results                 []result
}

// askPeers has the program in peers ask other tools. Its progress is on standard error.
func askPeers(queries []query) (tools []tool, err error) {
	var rows bytes.Buffer
	for _, q := range queries {
		if err := json.NewEncoder(&rows).Encode(q); err != nil {
			return nil, err
		}
	}
	cmd := exec.Command("go", "-C", "core/eval/peers", "run", ".")
	cmd.Stdin, cmd.Stderr = &rows, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("core/eval/peers: %w", err)
	}
	for line := range bytes.Lines(out) {
		var t tool
		if err := json.Unmarshal(line, &t); err != nil {
			return nil, err
		}
		tools = append(tools, t)
	}
	return tools, nil
}

// example is a row of a comparison: the value that the tools check, and its label.
type example struct {
	value string
	group string // which columns count it
	yes   bool
	text  string
}

// comparison is of ours and every peer that has a question, on the same rows.
type comparison struct {
	title, question string
	note            string // on the data and the columns
	absent          string // a tool that would belong here and why it is not
	own             func(value string) result
	examples        []example
	columns         []column
	// decide turns the returned results into those of the examples; nil if they are the same.
	decide func(results []result) []result
}

// column is a measure in a comparison.
type column struct {
	title string
	cell  func(results, ours []result) string
}

// hit reports whether a result counts in a column.
type hit func(example, result) bool

func saysYes(_ example, r result) bool   { return r.Yes }
func agrees(x example, r result) bool    { return r.Yes == x.yes }
func rightText(x example, r result) bool { return r.Text == x.text }

// suggests counts a suggestion of another domain than the given one.
func suggests(x example, r result) bool { return r.Text != "" && r.Text != x.value }

func wrongText(x example, r result) bool { return suggests(x, r) && r.Text != x.text }

func (c *comparison) add(group string, values ...string) {
	for _, value := range values {
		c.examples = append(c.examples, example{value: value, group: group})
	}
}

// percent adds the share of a group's rows that hit. The title gets their number.
func (c *comparison) percent(title, group string, h hit) {
	_, rows := c.count(make([]result, len(c.examples)), group, h)
	c.columns = append(c.columns, column{fmt.Sprintf("%s, %% of %d", title, rows), func(results, _ []result) string {
		hits, rows := c.count(results, group, h)
		return share(float64(hits) / float64(rows))
	}})
}

// number adds the number of a group's rows that hit. The title gets their number.
func (c *comparison) number(title, group string, h hit) {
	_, rows := c.count(make([]result, len(c.examples)), group, h)
	c.columns = append(c.columns, column{fmt.Sprintf("%s, of %d", title, rows), func(results, _ []result) string {
		hits, _ := c.count(results, group, h)
		return fmt.Sprint(hits)
	}})
}

func (c *comparison) count(results []result, group string, h hit) (hits, rows int) {
	for i, x := range c.examples {
		if x.group != group {
			continue
		}
		rows++
		if results[i].None == "" && h(x, results[i]) {
			hits++
		}
	}
	return hits, rows
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

// outcome is a comparison with a line of the table for each tool.
type outcome struct {
	*comparison
	lines   []string
	remarks []string // why rows have no result, and which tool is absent
}

func compareAll(d *data, ask func([]query) ([]tool, error)) (outcomes []outcome, err error) {
	if d.broken() {
		return nil, errors.Join(d.errs...)
	}
	comparisons := []*comparison{compareFormat(d), compareGibberish(d), compareTypo(d), compareDisposable(d),
		comparePublic(d), compareRole(), compareCanonical()}
	var queries []query
	for _, c := range comparisons {
		for _, x := range c.examples {
			queries = append(queries, query{c.question, x.value})
		}
	}
	tools, err := ask(queries)
	if err != nil {
		return nil, err
	}
	for _, c := range comparisons {
		o := outcome{comparison: c}
		ours := tool{Tool: "addrspec", Version: core.Version}
		for _, x := range c.examples {
			ours.Results = append(ours.Results, c.own(x.value))
		}
		o.add(ours, ours.Results)
		for _, t := range tools {
			switch {
			case t.Question != c.question:
			case len(t.Results) != len(c.examples):
				return nil, fmt.Errorf("%s: %d results for %d rows", t.Tool, len(t.Results), len(c.examples))
			default:
				o.add(t, ours.Results)
			}
		}
		if c.absent != "" {
			o.remarks = append(o.remarks, "left out: "+c.absent)
		}
		outcomes = append(outcomes, o)
	}
	return outcomes, nil
}

func (o *outcome) add(t tool, ours []result) {
	missing, why := 0, ""
	for _, r := range t.Results {
		if r.None != "" {
			missing++
			if missing == 1 {
				why = r.None
			}
		}
	}
	if missing > 0 {
		const remark = "%s has no result for %d rows, for the first because: %s"
		o.remarks = append(o.remarks, fmt.Sprintf(remark, t.Tool, missing, why))
	}
	results := t.Results
	if o.decide != nil {
		results, ours = o.decide(results), o.decide(ours)
	}
	line := "| " + t.Tool + " " + t.Version
	for _, column := range o.columns {
		line += " | " + column.cell(results, ours)
	}
	o.lines = append(o.lines, fmt.Sprintf("%s | %d |", line, missing))
}

// The tables in the README of this directory are between these lines.
const (
	readme      = "core/eval/README.md"
	tablesBegin = "<!-- Written by ./build.sh eval --peers --to readme -->\n"
	tablesEnd   = "<!-- The end of what is written by it -->\n"
)

func updateReadme(outcomes []outcome) error {
	text, err := os.ReadFile(readme)
	if err != nil {
		return err
	}
	before, rest, begins := strings.Cut(string(text), tablesBegin)
	_, after, ends := strings.Cut(rest, tablesEnd)
	if !begins || !ends {
		return fmt.Errorf("%s: the lines around the tables are missing: %q and %q", readme, tablesBegin, tablesEnd)
	}
	tables := bytes.NewBufferString(before + tablesBegin)
	printMarkdown(tables, outcomes)
	return os.WriteFile(readme, append(tables.Bytes(), tablesEnd+after...), 0o644)
}

func printMarkdown(w io.Writer, outcomes []outcome) {
	versions := core.New(lists.Default()).AppendVersions(nil)
	fmt.Fprintf(w, "Measured %s by ./build.sh eval --peers with %s.\n", time.Now().UTC().Format(time.DateOnly),
		strings.NewReplacer(`{"`, "", `"}`, "", `":"`, " ", `","`, ", ").Replace(string(versions)))
	for _, o := range outcomes {
		fmt.Fprintf(w, "\n**%s**: %s.\n\n| tool |", o.title, o.note)
		for _, column := range o.columns {
			fmt.Fprintf(w, " %s |", column.title)
		}
		line := strings.Repeat("---|", len(o.columns)+2)
		fmt.Fprintf(w, " no result |\n|%s\n%s\n", line, strings.Join(o.lines, "\n"))
		if len(o.remarks) > 0 {
			fmt.Fprintf(w, "\n%s.\n", strings.Join(o.remarks, "; "))
		}
	}
}

func compareFormat(d *data) *comparison {
	checker := core.New(lists.Default())
	c := &comparison{title: "format", question: "valid",
		note: "hard addresses from test suites, and classes of real input on which tools disagree, " +
			"with the verdict of our policy (tuned on)",
		own: func(email string) result { return result{Yes: checker.Check([]byte(email)).Valid} },
	}
	for _, r := range d.format {
		c.examples = append(c.examples, example{value: r.Email, group: "suites", yes: r.Valid})
	}
	for _, r := range classRows() {
		c.examples = append(c.examples, example{value: r.Email, group: "classes", yes: r.Valid})
	}
	c.percent("agrees", "suites", agrees)
	c.number("accepts wrongly", "suites", func(x example, r result) bool { return r.Yes && !x.yes })
	c.number("refuses wrongly", "suites", func(x example, r result) bool { return !r.Yes && x.yes })
	c.percent("classes: agrees", "classes", agrees)
	return c
}

func compareGibberish(d *data) *comparison {
	c := &comparison{title: "gibberish", question: "random",
		note: "generated local parts of people and random strings (tuned on); " +
			"a row without a result counts as not flagged",
		own: func(name string) result {
			score := gibberish.Score([]byte(name))
			return result{Yes: score >= 50, Score: float64(score)}
		},
	}
	addPlain := func(group string, all []scored) {
		for _, s := range all {
			plain, _, _ := strings.Cut(s.name, "+")
			c.add(group, plain)
		}
	}
	people, _ := part(d.people, "digits", "utf8")
	random, _ := part(d.random, "hard_")
	addPlain("people", people)
	addPlain("random", random)
	addPlain("relay", relayStyle(500))
	scoresOf := func(results []result, group string) (scores []float64) {
		for i, x := range c.examples {
			switch {
			case x.group != group:
			case results[i].None != "": // not flagged at any threshold
				scores = append(scores, math.Inf(-1))
			default:
				scores = append(scores, results[i].Score)
			}
		}
		return scores
	}
	caught := func(flagged float64, results []result) string {
		return share(caughtAt(flagged, scoresOf(results, "people"), scoresOf(results, "random")))
	}
	column := func(title string, cell func(results, ours []result) string) {
		c.columns = append(c.columns, column{title, cell})
	}
	column("AUC", func(results, _ []result) string {
		return fmt.Sprintf("%.4f", auc(scoresOf(results, "people"), scoresOf(results, "random")))
	})
	c.percent("people flagged", "people", saysYes)
	c.percent("random caught", "random", saysYes)
	column("caught where as many people are flagged as by addrspec, %", func(results, ours []result) string {
		flagged, rows := c.count(ours, "people", saysYes)
		return caught(float64(flagged)/float64(rows), results)
	})
	column("caught where 1 % of people are flagged, %", func(results, _ []result) string { return caught(.01, results) })
	c.percent("relay-style caught", "relay", saysYes)
	return c
}

func compareTypo(d *data) *comparison {
	checker := core.New(lists.Default())
	c := &comparison{title: "typo", question: "typo",
		note: "misspelled domains of providers, real domains, and domains of real addresses " +
			"on which some tool raised a flag (tuned on)",
		own: func(domain string) result { return result{Text: suggestionFor(checker, domain)} },
	}
	intended := func(group string, rows [][]string) {
		for _, fields := range rows {
			c.examples = append(c.examples, example{value: fields[0], group: group, text: fields[1]})
		}
	}
	intended("misspelled", d.misspelled)
	c.add("real", first(d.real)...)
	intended("seen", where(d.typos, "typo"))
	c.add("seen-real", first(where(d.typos, "real_or_host"))...)
	c.percent("right", "misspelled", rightText)
	c.percent("wrong", "misspelled", wrongText)
	c.percent("real domains flagged", "real", suggests)
	c.number("seen: right", "seen", rightText)
	c.number("seen: wrong", "seen", wrongText)
	c.number("seen: real ones flagged", "seen-real", suggests)
	return c
}

func compareDisposable(d *data) *comparison {
	c := compareClass("disposable", lists.Disposable)
	c.note = "ours is merged from the lists beside it and others; " +
		"the proof-backed list is disposable-email-domains of PyPI itself; the labelled domains are of real addresses " +
		"(tuned on), and those that are not disposable were chosen because some list has them"
	c.add("proven", d.proven...)
	c.add("real", notFree(d.real)...)
	c.add("relay", d.relays...)
	c.add("seen", first(where(d.disposable, "disposable"))...)
	c.add("seen-other", first(where(d.disposable, "not_disposable"))...)
	c.percent("proof-backed caught", "proven", saysYes)
	c.number("real domains flagged", "real", saysYes)
	c.number("relay services flagged", "relay", saysYes)
	c.number("seen: caught", "seen", saysYes)
	c.number("seen: others flagged", "seen-other", saysYes)
	return c
}

func comparePublic(d *data) *comparison {
	c := compareClass("public", lists.Public)
	c.note = "mail providers of the world by hand, with brands of telecoms that have no open sign-up (tuned on)"
	c.add("provider", d.providers...)
	c.add("owned", d.owned...)
	c.add("missed", d.publicMissed...)
	c.percent("known", "provider", saysYes)
	c.number("universities and top sites flagged", "owned", saysYes)
	c.number("known of those that addrspec once missed", "missed", saysYes)
	return c
}

func compareClass(title string, class lists.Class) *comparison {
	l := lists.Default()
	return &comparison{title: title, question: title, own: func(domain string) result {
		return result{Yes: l.Provider([]byte(domain)) == class}
	}}
}

func compareRole() *comparison {
	checker := core.New(lists.Default())
	c := &comparison{title: "role", question: "role",
		note: "role or not, since peers have no categories; own tables (tuned on)",
		own:  func(local string) result { return result{Yes: roleOf(checker, local) != ""} },
	}
	for _, r := range roleRows(roleTable + roleWords) {
		group := "role"
		if r.category == "" {
			group = "name"
		}
		c.add(group, r.local)
	}
	for _, r := range shapedRows() {
		if !strings.Contains(r.local, "@") {
			c.add("shape", r.local)
		}
	}
	c.percent("known", "role", saysYes)
	c.number("names and words flagged", "name", saysYes)
	c.number("people's shapes flagged", "shape", saysYes)
	return c
}

// compareCanonical asks for both addresses of every pair, one after the other.
func compareCanonical() *comparison {
	checker := core.New(lists.Default())
	c := &comparison{title: "canonical", question: "canonical",
		absent: "utopia-php/emails: needs PHP and Packagist, from which nothing is installed here",
		note:   "pairs of addresses; equal texts mean one mailbox, and without a result they are not equal",
		own:    func(email string) result { return result{Text: canonicalOf(checker, email)} },
	}
	pairs(func(same bool, a, b string) {
		group := "other"
		if same {
			group = "same"
		}
		c.add(group, a)
		c.add("second", b)
	})
	c.percent("same mailbox found", "same", saysYes)
	c.number("different ones joined", "other", saysYes)
	c.decide = func(results []result) []result { // for the first row of each pair: both texts are equal
		equal := make([]result, len(results))
		for i := 0; i < len(results); i += 2 {
			a, b := results[i], results[i+1]
			equal[i].Yes = a.None == "" && b.None == "" && a.Text == b.Text
		}
		return equal
	}
	return c
}
