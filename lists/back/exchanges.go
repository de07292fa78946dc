package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/addrspec/addrspec/lists"
	"github.com/addrspec/addrspec/lists/internal/blob"
	"github.com/addrspec/addrspec/lists/internal/tables"
)

// measureExchanges prints as a table in Markdown what exchanges reveal about the domains
// in the directory from, with the tables in dir and the packed lists of this program.
func measureExchanges(w io.Writer, dir, from string, h history, s store) error {
	d, err := readData(from)
	if err != nil {
		return err
	}
	merged, err := tables.Merge(dir)
	if err != nil {
		return err
	}
	fmt.Fprint(w, "| domains | result |\n|---|---|\n")
	d.printReal(w, lists.Default())
	if err := d.printBurners(w, dir, merged); err != nil {
		return err
	}
	d.printCounts(w, lists.Default())
	return d.printAbused(w, dir, h, s)
}

// look reports whether all exchanges of a domain belong to throw-away services, and
// returns the row of the first one. It decides as core.Exchanges does, which lists cannot
// import; a test compares them.
func look(l *lists.Lists, domain string, exchanges []string) (disposable bool, first *lists.Exchange) {
	disposable = len(exchanges) > 0
	for i, name := range exchanges {
		own := name == domain || strings.HasSuffix(name, "."+domain)
		e := l.MatchExchange([]byte(name))
		disposable = disposable && e.Temporary && !own
		if i == 0 && !e.Temporary {
			first = e.Row
		}
	}
	return disposable, first
}

// printReal prints which domains in real use are called disposable, and for how many the
// provider is named. Parking does not count as a provider.
func (d data) printReal(w io.Writer, l *lists.Lists) {
	var byExchange, byName []string
	var sets []string
	named, all := map[string]int{}, map[string]int{}
	for _, row := range d.real {
		if all[row.set] == 0 {
			sets = append(sets, row.set)
		}
		all[row.set]++
		disposable, first := look(l, row.domain, row.exchanges)
		if disposable {
			byExchange = append(byExchange, row.domain)
		}
		if l.Provider([]byte(row.domain)) == lists.Disposable {
			byName = append(byName, row.domain)
		}
		if first != nil && first.Class != "parked" {
			named[row.set]++
		}
	}
	fmt.Fprintf(w, "| in real use: disposable by their exchanges | %d of %d: %s |\n", len(byExchange), len(d.real), strings.Join(byExchange, ", "))
	fmt.Fprintf(w, "| the same: disposable by name | %d of %d: %s |\n", len(byName), len(d.real), strings.Join(byName, ", "))
	for _, set := range sets {
		fmt.Fprintf(w, "| %s: provider named | %s of %d |\n", set, share(named[set], all[set]), all[set])
	}
}

// printBurners prints how many throw-away domains their exchanges reveal.
func (d data) printBurners(w io.Writer, dir string, merged tables.Map) error {
	var proven, abused, unlisted []burner
	listed, others := tables.Map{}, maps.Clone(merged)
	for _, b := range d.burners {
		_, seen := d.abused[b.domain]
		if b.listed(d.cut) {
			listed[b.domain] = tables.Entry{Class: lists.Disposable, Subdomains: true}
		} else if seen || b.provenAfter(d.cut) {
			unlisted = append(unlisted, b)
		}
		if b.provenAfter(d.cut) {
			proven = append(proven, b)
		}
		if seen {
			abused = append(abused, b)
			delete(others, b.domain)
		}
	}
	then, err := packDomains(listed, nil)
	if err != nil {
		return err
	}
	rows, err := tables.ReadExchanges(dir)
	if err != nil {
		return err
	}
	apart, err := packDomains(others, rows)
	if err != nil {
		return err
	}
	for _, row := range []struct {
		what    string
		lists   *lists.Lists
		burners []burner
	}{
		{"proven after " + d.cut + ", by the names listed until then", then, proven},
		{"exchanges of " + d.cut + ", seen in abuse in 2026, by the names listed until then", then, abused},
		{"the same, with the lists and exchanges of today", lists.Default(), abused},
		{"the same, without the names of all of them", apart, abused},
		{"on no list by " + d.cut + ", proven or abused later, by the names listed until then", then, unlisted},
		{"the same, with the lists and exchanges of today", lists.Default(), unlisted},
	} {
		fmt.Fprintf(w, "| %s | %s of %d |\n", row.what, share(countCaught(row.lists, row.burners), len(row.burners)), len(row.burners))
	}
	return nil
}

// countCaught returns how many of the domains their exchanges call disposable.
func countCaught(l *lists.Lists, burners []burner) (n int) {
	for _, b := range burners {
		if disposable, _ := look(l, b.domain, b.exchanges); disposable {
			n++
		}
	}
	return n
}

// printCounts prints how many of the listed throw-away domains use an exchange that is
// called disposable. An exchange that one domain uses is taken for the domain's own.
func (d data) printCounts(w io.Writer, l *lists.Lists) {
	shared, caught, all := 0, 0, 0
	for _, c := range d.counts {
		all += c.domains
		if c.domains == 1 {
			continue
		}
		shared += c.domains
		if l.MatchExchange([]byte(c.exchange)).Temporary {
			caught += c.domains
		}
	}
	fmt.Fprintf(w, "| listed throw-away domains by their exchange, own exchanges left out | %s of %d |\n", share(caught, shared), shared)
	fmt.Fprintf(w, "| the same, own exchanges counted as missed | %s of %d |\n", share(caught, all), all)
}

// printAbused prints how many of the domains seen in abuse the lists have by name: today,
// and at the end of a month of those first seen in the next one.
func (d data) printAbused(w io.Writer, dir string, h history, s store) error {
	byName := 0
	for name := range d.abused {
		if lists.Default().Provider([]byte(name)) == lists.Disposable {
			byName++
		}
	}
	fmt.Fprintf(w, "| seen in abuse, by name | %s of %d |\n", share(byName, len(d.abused)), len(d.abused))
	observed, err := tables.ReadObserved(dir)
	if err != nil {
		return err
	}
	byHand, err := withoutHindsight(dir)
	if err != nil {
		return err
	}
	defer os.RemoveAll(byHand)
	then, err := mergedOn(byHand, abusedCut, observed, h, s)
	if err != nil {
		return err
	}
	var later []string
	for name, day := range d.abused {
		if day > abusedCut {
			later = append(later, name)
		}
	}
	n := countDisposable(then, later)
	fmt.Fprintf(w, "| first seen in abuse after %s, by name with the lists of that day | %s of %d |\n", abusedCut, share(n, len(later)), len(later))
	return nil
}

// abusedCut is a day in the middle of the days of the domains seen in abuse.
const abusedCut = "2026-07-31"

// packDomains returns lists that have nothing but domains and exchanges.
func packDomains(domains tables.Map, rows []tables.Exchange) (*lists.Lists, error) {
	kinds := make(map[string]blob.Kind, len(domains))
	for name, e := range domains {
		kinds[name] = blob.Kind{Class: e.Class, Subdomains: e.Subdomains}
	}
	exchanges, operators := tables.NumberOperators(rows)
	packed, err := blob.Pack(blob.Content{Date: "2000.01.01", Domains: kinds, Exchanges: exchanges, Operators: operators})
	if err != nil {
		return nil, err
	}
	return lists.Open(packed)
}

// data is the content of a directory of domains with their exchanges.
type data struct {
	real    []realDomain      // real.tsv
	burners []burner          // burners-CUT.tsv
	cut     string            // the day of that file
	counts  []exchangeCount   // mx-counts-DAY.tsv
	abused  map[string]string // castle-first-seen.json: domain -> first day
}

// realDomain is a domain in real use: its set, name and exchanges.
type realDomain struct {
	set, domain string
	exchanges   []string
}

// burner is a throw-away domain with its exchanges on the day of the file.
type burner struct {
	domain        string
	proven, other string // the days on which the proof-backed list and another one first had it, or none
	exchanges     []string
}

// none is written for a day on which no list had the domain.
const none = "-"

// exchangeCount is an exchange with the number of listed throw-away domains that use it.
type exchangeCount struct {
	exchange string
	domains  int
}

// listed reports whether a list had the domain on a day.
func (b burner) listed(day string) bool {
	return b.proven != none && b.proven <= day || b.other != none && b.other <= day
}

// provenAfter reports whether the proof-backed list gained the domain after a day.
func (b burner) provenAfter(day string) bool { return b.proven != none && b.proven > day }

func readData(dir string) (d data, err error) {
	for _, file := range []struct {
		prefix string
		fields int
		add    func(day string, f []string) error
	}{{"real", 3, d.addReal}, {"burners-", 5, d.addBurner}, {"mx-counts-", 2, d.addCount}} {
		if err := eachRow(dir, file.prefix, file.fields, file.add); err != nil {
			return d, err
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "castle-first-seen.json"))
	if err != nil {
		return d, err
	}
	return d, json.Unmarshal(text, &d.abused)
}

func (d *data) addReal(_ string, f []string) error {
	d.real = append(d.real, realDomain{f[0], f[1], exchangeNames(f[2])})
	return nil
}

func (d *data) addBurner(day string, f []string) error {
	d.cut = day
	d.burners = append(d.burners, burner{f[0], f[1], f[2], exchangeNames(f[3])})
	return nil
}

func (d *data) addCount(_ string, f []string) error {
	n, err := strconv.Atoi(f[1])
	d.counts = append(d.counts, exchangeCount{exchangeNames(f[0])[0], n})
	return err
}

// exchangeNames returns names of exchanges, separated by commas, as the lists have names.
func exchangeNames(written string) (names []string) {
	for name := range strings.SplitSeq(strings.ToLower(written), ",") {
		names = append(names, strings.TrimSuffix(name, "."))
	}
	return names
}

// eachRow calls do with each row of the only file in dir that is named PREFIX and a day.
func eachRow(dir, prefix string, fields int, do func(day string, f []string) error) error {
	paths, err := filepath.Glob(filepath.Join(dir, prefix+"*.tsv"))
	if err != nil || len(paths) != 1 {
		return fmt.Errorf("%s: want one file %s*.tsv, found %d", dir, prefix, len(paths))
	}
	f, err := os.Open(paths[0])
	if err != nil {
		return err
	}
	defer f.Close()
	file := filepath.Base(paths[0])
	day := strings.TrimSuffix(strings.TrimPrefix(file, prefix), ".tsv")
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		row := strings.Split(lines.Text(), "\t")
		if len(row) != fields {
			return fmt.Errorf("%s:%d: want %d fields separated by tabs, got %q", file, n, fields, lines.Text())
		}
		if err := do(day, row); err != nil {
			return fmt.Errorf("%s:%d: %w", file, n, err)
		}
	}
	return lines.Err()
}
