package tables

import (
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/addrspec/addrspec/lists"
)

// Exchange is a suffix of exchanges.txt with what its group says about it.
type Exchange struct {
	Suffix   string // covers its own name and every name below it
	Class    string // one of lists.ExchangeClasses
	Provider string
	Evidence string // an https address, or npm:NAME@VERSION, or pypi:NAME@VERSION
	Day      string // on which the evidence was read
}

const (
	exchangesFile = "exchanges.txt"

	// maxTemporary keeps the rows of class temporary few enough that a person reads
	// every one of them.
	maxTemporary = 60
	maxProvider  = 64 // bytes in a provider's name
)

// ReadExchanges reads exchanges.txt in its order. A line in brackets begins a group with
// a provider, a class, the evidence and its day; suffixes follow, one per line.
func ReadExchanges(dir string) ([]Exchange, error) {
	r := exchangeReader{seen: map[string]bool{}}
	if err := eachLine(filepath.Join(dir, exchangesFile), r.line); err != nil {
		return nil, err
	}
	if err := r.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", exchangesFile, err)
	}
	return r.rows, nil
}

// NumberOperators returns the distinct operators of exchanges, in the order of the table,
// and the number of each suffix's operator.
func NumberOperators(rows []Exchange) (numbers map[string]int, operators []lists.Exchange) {
	numbers = make(map[string]int, len(rows))
	for _, row := range rows {
		operator := lists.Exchange{Class: row.Class, Provider: row.Provider}
		n := slices.Index(operators, operator)
		if n < 0 {
			n, operators = len(operators), append(operators, operator)
		}
		numbers[row.Suffix] = n + 1
	}
	return numbers, operators
}

// exchangeReader gathers the rows of exchanges.txt.
type exchangeReader struct {
	rows  []Exchange
	group Exchange // of the lines that follow, without suffix
	used  bool     // the group has a suffix
	seen  map[string]bool
}

// line reads a line: the head of a group or a suffix.
func (r *exchangeReader) line(line string) (err error) {
	if !strings.HasPrefix(line, "[") {
		return r.suffix(line)
	}
	if err := r.check(); err != nil {
		return err
	}
	r.group, err = parseExchangeGroup(line)
	r.used = false
	return err
}

// suffix adds a row to the current group.
func (r *exchangeReader) suffix(line string) error {
	switch err := checkSuffix(line); {
	case err != nil:
		return err
	case r.group.Provider == "":
		return fmt.Errorf("%s is before the first group: want a line [provider] class evidence day above it", line)
	case r.seen[line]:
		return fmt.Errorf("%s is listed twice", line)
	}
	r.seen[line], r.used = true, true
	row := r.group
	row.Suffix = line
	r.rows = append(r.rows, row)
	return nil
}

// check requires the current group to have a suffix, and the rows of class temporary to
// be few.
func (r *exchangeReader) check() error {
	if r.group.Provider != "" && !r.used {
		return fmt.Errorf("the group [%s] has no suffix: add one below it, or remove it", r.group.Provider)
	}
	few := slices.DeleteFunc(slices.Clone(r.rows), func(e Exchange) bool { return e.Class != lists.TemporaryExchange })
	if len(few) > maxTemporary {
		return fmt.Errorf("%s is suffix %d of class temporary: at most %d are allowed, so that a person can read them all; remove those that are not used any more",
			few[maxTemporary].Suffix, maxTemporary+1, maxTemporary)
	}
	return nil
}

// checkSuffix requires a domain in the form in which exchanges are looked up. Below a
// public suffix anybody can have a name.
func checkSuffix(suffix string) error {
	name, err := Canonical(suffix)
	switch {
	case err != nil:
		return err
	case name != suffix:
		return fmt.Errorf("%s must be in lower case and A-label form: write %s", suffix, name)
	case isPublicSuffix(name):
		return fmt.Errorf("%s is a public suffix: anybody can register names below it", name)
	}
	return nil
}

// parseExchangeGroup parses a line "[provider] class evidence day".
func parseExchangeGroup(line string) (e Exchange, err error) {
	provider, rest, closed := strings.Cut(line[1:], "]")
	f := strings.Fields(rest)
	if !closed || len(f) != 3 {
		return e, fmt.Errorf("want [provider], class, evidence and the day it was read, got %q; a # begins a comment, so a page has no fragment", line)
	}
	e = Exchange{Provider: provider, Class: f[0], Evidence: f[1], Day: f[2]}
	switch {
	case !isProviderName(provider):
		return e, fmt.Errorf("%q is not the name of a provider: want 1 to %d printable ASCII characters without quotation mark, backslash and surrounding spaces", provider, maxProvider)
	case !slices.Contains(lists.ExchangeClasses, e.Class):
		return e, fmt.Errorf("%q is not a class of exchanges: want one of %s", e.Class, strings.Join(lists.ExchangeClasses, " "))
	case !isEvidence(e.Evidence):
		return e, fmt.Errorf("%q is not evidence: want the https address of a page, npm:NAME@VERSION or pypi:NAME@VERSION", e.Evidence)
	}
	if _, err = time.Parse(time.DateOnly, e.Day); err != nil {
		err = fmt.Errorf("%q is not a day: want the form 2026-11-24", e.Day)
	}
	return e, err
}

// isProviderName reports whether a name can be in JSON without an escape.
func isProviderName(name string) bool {
	unprintable := func(r rune) bool { return r < ' ' || r > '~' || r == '"' || r == '\\' }
	return name != "" && len(name) <= maxProvider && name == strings.TrimSpace(name) && !strings.ContainsFunc(name, unprintable)
}

var packageVersion = regexp.MustCompile(`^(npm:(@[a-z0-9._-]+/)?|pypi:)[A-Za-z0-9][A-Za-z0-9._-]*@[0-9][0-9A-Za-z.+-]*$`)

func isEvidence(text string) bool {
	if packageVersion.MatchString(text) {
		return true
	}
	page, err := url.Parse(text)
	return err == nil && page.Scheme == "https" && strings.Contains(page.Host, ".")
}
