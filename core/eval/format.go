package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/addrspec/addrspec/core"
	"github.com/addrspec/addrspec/core/eval/peers"
	"github.com/addrspec/addrspec/lists"
)

// formatRow is one line of the format data: an address, whether it is valid and
// its forms, as far as the RFCs determine them.
type formatRow struct {
	Email      string  `json:"email"`
	Valid      bool    `json:"valid"`
	Why        string  `json:"why"`
	Class      string  `json:"class"`
	Normalized *string `json:"normalized"`
	LocalPart  *string `json:"local_part"`
	Domain     *string `json:"domain"`
}

// runFormat measures the agreement on validity and on the three forms of valid
// addresses.
func runFormat(dir string) ([]row, error) {
	addresses, err := readFormat(filepath.Join(dir, "format", "dev.jsonl"))
	if err != nil {
		return nil, err
	}
	verdict := formatTally{name: "format: valid"}
	normalized := formatTally{name: "format: normalized"}
	local := formatTally{name: "format: local_part"}
	domain := formatTally{name: "format: domain"}
	checker := core.New(lists.Default())
	for _, a := range addresses {
		f := checker.Check([]byte(a.Email))
		verdict.note(f.Valid == a.Valid, "%+q: valid is %t (%s), want %t: %s", a.Email, f.Valid, f.Refusal.Reason.Code(), a.Valid, a.Why)
		normalized.noteForm(a.Email, f.Normalized, a.Normalized)
		local.noteForm(a.Email, f.LocalPart, a.LocalPart)
		domain.noteForm(a.Email, f.Domain, a.Domain)
	}
	classes, err := runFormatClasses(checker)
	return []row{verdict.row(), normalized.row(), local.row(), domain.row(), classes}, err
}

// formatClasses has addresses of the classes on which validators disagree on real
// input (data/real/format_classes.tsv), written for this project.
//
//go:embed format_classes.jsonl
var formatClasses []byte

func runFormatClasses(checker *core.Checker) (row, error) {
	examples, err := parseFormat("format_classes.jsonl", formatClasses)
	tally := formatTally{name: "format: classes of real input"}
	for _, a := range examples {
		f := checker.Check([]byte(a.Email))
		tally.note(f.Valid == a.Valid, "%s: %+q: valid is %t (%s)", a.Class, a.Email, f.Valid, f.Refusal.Reason.Code())
	}
	return tally.row(), err
}

func readFormat(path string) (addresses []formatRow, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return parseFormat(path, text)
}

func parseFormat(path string, text []byte) (addresses []formatRow, err error) {
	for line := range bytes.Lines(text) {
		var a formatRow
		if err := json.Unmarshal(line, &a); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		addresses = append(addresses, a)
	}
	return addresses, nil
}

// formatTally counts the rows that agree and collects those that do not.
type formatTally struct {
	name        string
	right, rows int
	wrong       []string
}

func (t *formatTally) note(right bool, format string, args ...any) {
	t.rows++
	if right {
		t.right++
		return
	}
	t.wrong = append(t.wrong, t.name+": "+fmt.Sprintf(format, args...))
}

// noteForm counts a form, if the data has it.
func (t *formatTally) noteForm(email string, got []byte, want *string) {
	if want != nil {
		t.note(string(got) == *want, "%+q: %+q, want %+q", email, got, *want)
	}
}

func (t *formatTally) row() row {
	return row{
		check: t.name + ", %", data: fmt.Sprintf("%d addresses", t.rows),
		figure: 100 * float64(t.right) / float64(t.rows), floor: 100, target: 100,
		wrong: t.wrong,
	}
}

func compareFormat(dir string) (*comparison, error) {
	rows, err := readFormat(filepath.Join(dir, "format", "dev.jsonl"))
	if err != nil {
		return nil, err
	}
	classes, err := parseFormat("format_classes.jsonl", formatClasses)
	checker := core.New(lists.Default())
	c := &comparison{title: "format", question: peers.Valid,
		note: "hard addresses from test suites, and classes of real input on which tools disagree, with the verdict of our policy (tuned on)",
		own:  func(email string) peers.Result { return peers.Result{Yes: checker.Check([]byte(email)).Valid} },
	}
	c.addFormat("suites", rows)
	c.addFormat("classes", classes)
	c.percent("agrees", "suites", agrees)
	c.number("accepts wrongly", "suites", func(x example, a peers.Result) bool { return a.Yes && !x.yes })
	c.number("refuses wrongly", "suites", func(x example, a peers.Result) bool { return !a.Yes && x.yes })
	c.percent("classes: agrees", "classes", agrees)
	return c, err
}

func (c *comparison) addFormat(group string, rows []formatRow) {
	for _, r := range rows {
		c.examples = append(c.examples, example{value: r.Email, group: group, yes: r.Valid})
	}
}

// canonicalTable was written for this project.
//
//go:embed canonical.txt
var canonicalTable string

// pair is two addresses, and whether both reach one mailbox.
type pair struct {
	same bool
	a, b string
}

func canonicalPairs() (pairs []pair) {
	for line := range strings.Lines(canonicalTable) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[0] != "#" {
			pairs = append(pairs, pair{fields[0] == "same", fields[1], fields[2]})
		}
	}
	return pairs
}

// runCanonical measures the identities of mailboxes. That two addresses of one
// mailbox differ is allowed, that two mailboxes are equal is not.
func runCanonical(string) ([]row, error) {
	same := row{check: "canonical: same mailbox found, %", floor: 100, target: 90}
	other := row{check: "canonical: different mailboxes joined", lower: true}
	sames, others := 0, 0
	c := core.New(lists.Default())
	for _, p := range canonicalPairs() {
		equal := canonicalOf(c, p.a) == canonicalOf(c, p.b)
		if p.same {
			sames++
			same.count(equal, p.a, p.b)
			continue
		}
		others++
		if equal {
			other.figure++
			other.miss("canonical", p.a, "another than "+p.b, "the same")
		}
	}
	same.data, other.data = rowsOf("pairs, own table", sames), rowsOf("pairs, own table", others)
	return []row{same.percentOf(sames), other}, nil
}

func canonicalOf(c *core.Checker, address string) string {
	f := c.Check([]byte(address))
	var result struct {
		Details struct{ Canonical string }
	}
	plain, _ := core.AppendJSON(nil, &f, false)
	if json.Unmarshal(c.AppendDetails(plain, &f), &result) != nil {
		return ""
	}
	return result.Details.Canonical
}

// compareCanonical asks for both addresses of every pair, one after the other.
func compareCanonical(string) (*comparison, error) {
	checker := core.New(lists.Default())
	c := &comparison{title: "canonical", question: peers.Canonical,
		absent: "utopia-php/emails: needs PHP and Packagist, from which nothing is installed here",
		note:   "pairs of addresses; equal texts mean one mailbox, and without a result they are not equal",
		own:    func(email string) peers.Result { return peers.Result{Text: canonicalOf(checker, email)} },
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

// equalPairs returns for the first row of each pair whether both texts are equal.
func equalPairs(results []peers.Result) []peers.Result {
	equal := make([]peers.Result, len(results))
	for i := 0; i < len(results); i += 2 {
		a, b := results[i], results[i+1]
		equal[i].Yes = a.None == "" && b.None == "" && a.Text == b.Text
	}
	return equal
}
