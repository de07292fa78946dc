package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/mail"
	"os"
	"runtime"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/addrspec/addrspec/core"
	"github.com/addrspec/addrspec/core/eval/peers"
	"github.com/addrspec/addrspec/lists"
)

// example is a row of a comparison: the value that the tools check, and its label.
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
	own      func(value string) peers.Result
	// decide turns the returned results into those of the examples; nil if they are the same.
	decide func(results []peers.Result) []peers.Result
}

// comparisons are in the order of the output.
var comparisons = []func(dir string) (*comparison, error){
	compareFormat, compareGibberish, compareTypo, compareDisposable, comparePublic, compareRole, compareCanonical,
}

// entrant is a tool that is compared: ours, one of the standard library, or a peer.
type entrant struct {
	name string
	ask  func(peers.Question, string) peers.Result
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
	missing       int
	why           string // the first reason for no result
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
	ours := c.ask(ctx, entrant{name: "addrspec", ask: func(_ peers.Question, value string) peers.Result { return c.own(value) }})
	outcome.add("addrspec", core.Version, ours, ours)
	if c.question == peers.Valid {
		outcome.add("net/mail (Go)", goVersion(), c.ask(ctx, netMail), ours)
	}
	for _, p := range all {
		if !p.Supports(c.question) {
			continue
		}
		results, version, err := c.askPeer(ctx, p, installer)
		if err != nil {
			outcome.leftOut = append(outcome.leftOut, p.String()+": "+err.Error())
			continue
		}
		outcome.add(p.String(), version, results, ours)
	}
	return outcome
}

func (c *comparison) askPeer(ctx context.Context, p peers.Peer, installer *peers.Installer) ([]peers.Result, string, error) {
	version, err := installer.Version(p)
	if err != nil {
		return nil, "", err
	}
	process, err := installer.Start(ctx, p)
	if err != nil {
		return nil, "", err
	}
	defer process.Stop()
	results := c.ask(ctx, entrant{name: p.String(), ask: process.Ask})
	if missing, why := countMissing(results); missing == len(results) {
		return nil, "", fmt.Errorf("it has no result for any row: %s", why)
	}
	return results, version, nil
}

// progressTime is the time between two lines of progress.
const progressTime = 10 * time.Second

// ask asks about every row until ctx ends, and prints on standard error how far it is.
func (c *comparison) ask(ctx context.Context, e entrant) []peers.Result {
	results := make([]peers.Result, len(c.examples))
	began := time.Now()
	for i, shown := 0, began; i < len(results) && ctx.Err() == nil; i++ {
		results[i] = e.ask(c.question, c.examples[i].value)
		if time.Since(shown) > progressTime {
			shown = time.Now()
			fmt.Fprintf(os.Stderr, "eval: %s: %s: %d of %d rows\n", c.title, e.name, i+1, len(results))
		}
	}
	fmt.Fprintf(os.Stderr, "eval: %s: %s: %d rows in %s\n", c.title, e.name, len(results), time.Since(began).Round(time.Millisecond))
	return results
}

func (o *compared) add(tool, version string, results, ours []peers.Result) {
	l := line{tool: tool, version: version}
	l.missing, l.why = countMissing(results)
	if o.decide != nil {
		results, ours = o.decide(results), o.decide(ours)
	}
	l.cells = o.cells(results, ours)
	o.lines = append(o.lines, l)
}

func countMissing(results []peers.Result) (n int, why string) {
	for _, a := range results {
		if a.None != "" {
			n++
			if why == "" {
				why = a.None
			}
		}
	}
	return n, why
}

// column is a measure in a comparison.
type column struct {
	title string
	cell  func(c *comparison, results, ours []peers.Result) string
}

// hit reports whether a result counts in a column.
type hit func(example, peers.Result) bool

func saysYes(_ example, a peers.Result) bool   { return a.Yes }
func agrees(x example, a peers.Result) bool    { return a.Yes == x.yes }
func rightText(x example, a peers.Result) bool { return a.Text == x.text }

// suggests counts a suggestion of another domain than the given one.
func suggests(x example, a peers.Result) bool { return a.Text != "" && a.Text != x.value }

func wrongText(x example, a peers.Result) bool { return suggests(x, a) && a.Text != x.text }

// percent adds the share of a group's rows that hit. The title gets their number.
func (c *comparison) percent(title string, group string, h hit) {
	c.columns = append(c.columns, column{fmt.Sprintf("%s, %% of %d", title, c.rows(group)),
		func(c *comparison, results, _ []peers.Result) string {
			hits, rows := c.count(results, group, h)
			return share(float64(hits) / float64(rows))
		}})
}

// number adds the number of a group's rows that hit. The title gets their number.
func (c *comparison) number(title string, group string, h hit) {
	c.columns = append(c.columns, column{fmt.Sprintf("%s, of %d", title, c.rows(group)),
		func(c *comparison, results, _ []peers.Result) string {
			hits, _ := c.count(results, group, h)
			return fmt.Sprint(hits)
		}})
}

// cells returns the cells of a tool, by column.
func (c *comparison) cells(results, ours []peers.Result) (cells []string) {
	for _, column := range c.columns {
		cells = append(cells, column.cell(c, results, ours))
	}
	return cells
}

// count returns the rows of a group, and how many of them hit.
func (c *comparison) count(results []peers.Result, group string, h hit) (hits, rows int) {
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

// netMail is the standard library's parser. It reads the value of a header, so a result
// is yes only if there is no name and no angle bracket around the address.
var netMail = entrant{name: "net/mail (Go)", ask: func(_ peers.Question, value string) peers.Result {
	parsed, err := mail.ParseAddress(value)
	return peers.Result{Yes: err == nil && parsed.Name == "" && !strings.HasSuffix(strings.TrimSpace(value), ">")}
}}

func goVersion() string { return strings.TrimPrefix(runtime.Version(), "go") }

// printer writes the outcome of comparisons.
type printer func(w io.Writer, outcomes []compared) error

var printers = map[string]printer{"text": printText, "markdown": printMarkdown, "readme": updateReadme}

// The tables in the README of this directory are between these lines.
const (
	readme      = "core/eval/README.md"
	tablesBegin = "<!-- Written by ./build.sh eval --peers --to readme -->\n"
	tablesEnd   = "<!-- The end of what is written by it -->\n"
)

// updateReadme replaces the tables in the README.
func updateReadme(_ io.Writer, outcomes []compared) error {
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
	if err := printMarkdown(tables, outcomes); err != nil {
		return err
	}
	return os.WriteFile(readme, append(tables.Bytes(), tablesEnd+after...), 0o644)
}

// measuredAt says when the table was made and by which build of ours.
func measuredAt() string {
	versions := core.New(lists.Default()).AppendVersions(nil)
	return fmt.Sprintf("Measured %s by ./build.sh eval --peers with %s", time.Now().UTC().Format(time.DateOnly),
		strings.NewReplacer(`{"`, "", `"}`, "", `":"`, " ", `","`, ", ").Replace(string(versions)))
}

func printText(w io.Writer, outcomes []compared) error {
	fmt.Fprintln(w, measuredAt())
	for _, o := range outcomes {
		fmt.Fprintf(w, "\n%s: %s\n", o.title, o.note)
		table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		for i, column := range o.columns {
			fmt.Fprintf(w, "  %c  %s\n", 'A'+i, column.title)
		}
		fmt.Fprint(table, "\t")
		for i := range o.columns {
			fmt.Fprintf(table, "\t%c", 'A'+i)
		}
		fmt.Fprintln(table, "\tno result")
		for _, l := range o.lines {
			fmt.Fprintf(table, "%s\t%s\t%s\t%d\n", l.tool, l.version, strings.Join(l.cells, "\t"), l.missing)
		}
		if err := table.Flush(); err != nil {
			return err
		}
		for _, remark := range o.remarks() {
			fmt.Fprintln(w, remark)
		}
	}
	return nil
}

func printMarkdown(w io.Writer, outcomes []compared) error {
	fmt.Fprintln(w, measuredAt()+".")
	for _, o := range outcomes {
		fmt.Fprintf(w, "\n**%s**: %s.\n\n| tool | %s | no result |\n|---|%s---|\n", o.title, o.note,
			strings.Join(o.titles(), " | "), strings.Repeat("---|", len(o.columns)))
		for _, l := range o.lines {
			fmt.Fprintf(w, "| %s %s | %s | %d |\n", l.tool, l.version, strings.Join(l.cells, " | "), l.missing)
		}
		if remarks := o.remarks(); remarks != nil {
			fmt.Fprintf(w, "\n%s.\n", strings.Join(remarks, "; "))
		}
	}
	return nil
}

// remarks explains why rows have no result, and which tools were left out.
func (o *compared) remarks() (remarks []string) {
	for _, l := range o.lines {
		if l.missing > 0 {
			remarks = append(remarks, fmt.Sprintf("%s has no result for %d rows, for the first because: %s", l.tool, l.missing, l.why))
		}
	}
	for _, tool := range o.leftOut {
		remarks = append(remarks, "left out: "+tool)
	}
	return remarks
}

func (c *comparison) titles() (titles []string) {
	for _, column := range c.columns {
		titles = append(titles, column.title)
	}
	return titles
}
