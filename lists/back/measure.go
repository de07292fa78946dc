package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/addrspec/addrspec/lists/internal/tables"
)

// measurement is what the walk back in time found.
type measurement struct {
	rows   []dayRow
	caught []int      // by rule, of the domains added in the longest horizon
	real   int        // real domains looked up
	wrong  [][]string // by rule, the real domains flagged on the last day
	labels []labelled // domains of real mail, judged by hand
	right  []int      // by rule, the labelled throw-away domains flagged
	alarms [][]string // by rule, the other labelled domains flagged
}

// dayRow has the figures of one day, by horizon.
type dayRow struct {
	day           string
	listed        int // domains that D had
	added, caught []int
}

// measure walks through the days with the tables in dir.
func measure(dir string, h history, s store) (m measurement, err error) {
	m.caught = make([]int, len(rules))
	var p past
	for _, day := range days() {
		if p, err = pastOf(dir, day, h, s); err != nil {
			return m, err
		}
		row, err := m.measureDay(p, day, h, s)
		if err != nil {
			return m, err
		}
		m.rows = append(m.rows, row)
	}
	return m, m.measureReal(p, dir, h, s)
}

// measureDay measures one day. It counts the catches of each rule in the longest
// horizon.
func (m *measurement) measureDay(p past, day string, h history, s store) (dayRow, error) {
	before, err := proofBacked(day, h, s)
	row := dayRow{day: day, listed: len(before)}
	if err != nil {
		return row, err
	}
	for i, horizon := range horizons {
		later, err := proofBacked(after(day, horizon), h, s)
		if err != nil {
			return row, err
		}
		added := slices.DeleteFunc(later, func(name string) bool { _, had := slices.BinarySearch(before, name); return had })
		row.added = append(row.added, len(added))
		row.caught = append(row.caught, countIf(added, func(name string) bool { return p.disposable(name) }))
		if i == len(horizons)-1 {
			for r := range rules {
				m.caught[r] += countIf(added, func(name string) bool { return rules[r].flags(p, name) })
			}
		}
	}
	return row, nil
}

// proofBacked returns the domains that D had on a day, sorted.
func proofBacked(day string, h history, s store) (names []string, err error) {
	v, found := h.at('D', day)
	if !found {
		return nil, fmt.Errorf("history.txt has no version of D for %s", day)
	}
	written, err := s.names(v.item())
	for _, w := range written {
		if name, err := tables.Canonical(w); err == nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), err
}

// measureReal looks up real domains with the lists of the last day.
func (m *measurement) measureReal(p past, dir string, h history, s store) error {
	proven := map[string]bool{}
	for _, letter := range []byte("DK") {
		v, _ := h.at(letter, "9999-12-31")
		names, err := s.names(v.item())
		if err != nil {
			return err
		}
		for _, name := range names {
			proven[name] = true
		}
	}
	var err error
	if m.labels, err = readLabels(); err != nil {
		return err
	}
	m.measureLabels(p)
	real, err := realDomains(dir, s, proven)
	m.real, m.wrong = len(real), make([][]string, len(rules))
	for r, rule := range rules {
		for _, name := range real {
			if rule.flags(p, name) {
				m.wrong[r] = append(m.wrong[r], name)
			}
		}
	}
	return err
}

func countIf(names []string, is func(string) bool) (n int) {
	for _, name := range names {
		if is(name) {
			n++
		}
	}
	return n
}

// print prints both tables in Markdown.
func (m measurement) print(w io.Writer, verbose bool) {
	fmt.Fprintf(w, "| day | listed with proof | caught of those added in 7 days | 30 days | 60 days |\n|---|---|---|---|---|\n")
	total := dayRow{added: make([]int, len(horizons)), caught: make([]int, len(horizons))}
	for _, row := range m.rows {
		fmt.Fprintf(w, "| %s | %d |%s\n", row.day, row.listed, row.cells())
		for i := range horizons {
			total.added[i] += row.added[i]
			total.caught[i] += row.caught[i]
		}
	}
	fmt.Fprintf(w, "| all | |%s\n\n", total.cells())
	added := total.added[len(horizons)-1]
	throwAway := countLabels(m.labels, "disposable")
	fmt.Fprintf(w, "| rule | caught of %d added in 60 days | flagged of %d real domains | flagged of %d labelled real ones | caught of %d labelled throw-away ones |\n|---|---|---|---|---|\n",
		added, m.real, countLabels(m.labels, "not_disposable"), throwAway)
	for r, rule := range rules {
		fmt.Fprintf(w, "| %s | %s | %d | %d | %d |\n", rule.name, share(m.caught[r], added), len(m.wrong[r]), len(m.alarms[r]), m.right[r])
		if verbose {
			fmt.Fprintf(w, "  %s\n", strings.Join(append(m.wrong[r], m.alarms[r]...), " "))
		}
	}
}

func (r dayRow) cells() (cells string) {
	for i := range horizons {
		cells += fmt.Sprintf(" %s of %d |", share(r.caught[i], r.added[i]), r.added[i])
	}
	return cells
}

// share returns n of all as "12 (3.4 %)".
func share(n, all int) string {
	if all == 0 {
		return "0"
	}
	return fmt.Sprintf("%d (%.1f %%)", n, 100*float64(n)/float64(all))
}
