package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/addrspec/addrspec/lists"
	"github.com/addrspec/addrspec/lists/internal/published"
	"github.com/addrspec/addrspec/lists/internal/tables"
)

// dayRow has the figures of one day, by horizon.
type dayRow struct {
	day           string
	listed        int // domains that D had
	added, caught []int
}

// measure walks through the days with the tables in dir.
func measure(dir string, observed tables.Observed, h history, s store) (rows []dayRow, err error) {
	for _, day := range days() {
		known, err := mergedOn(dir, day, observed, h, s)
		if err != nil {
			return nil, err
		}
		row, err := measureDay(known, day, h, s)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// mergedOn merges the hand-written tables in dir with the lists known on day and the
// domains observed until then.
func mergedOn(dir, day string, observed tables.Observed, h history, s store) (tables.Map, error) {
	votes := map[string]tables.Votes{}
	for _, source := range published.Sources {
		v, found := h.at(source.Letter, day)
		if !found {
			continue
		}
		names, err := s.names(v.item())
		if err != nil {
			return nil, err
		}
		source.Vote(votes, names)
	}
	votes, _, err := observed.On(day).Vote(votes, day)
	if err != nil {
		return nil, err
	}
	return tables.MergeVotes(dir, votes)
}

// measureDay looks up the domains that D gained after a day in the lists known on it.
func measureDay(known tables.Map, day string, h history, s store) (dayRow, error) {
	before, err := proofBacked(day, h, s)
	row := dayRow{day: day, listed: len(before)}
	if err != nil {
		return row, err
	}
	for _, horizon := range horizons {
		later, err := proofBacked(after(day, horizon), h, s)
		if err != nil {
			return row, err
		}
		added := slices.DeleteFunc(later, func(name string) bool { _, had := slices.BinarySearch(before, name); return had })
		row.added = append(row.added, len(added))
		row.caught = append(row.caught, countDisposable(known, added))
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

func countDisposable(known tables.Map, names []string) (n int) {
	for _, name := range names {
		if known.Lookup(name) == lists.Disposable {
			n++
		}
	}
	return n
}

// withoutHindsight copies the hand-written tables in dir to a temporary directory,
// with an empty disposable.txt.
func withoutHindsight(dir string) (string, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil {
		return "", err
	}
	to, err := os.MkdirTemp("", "lists-back-")
	if err != nil {
		return "", err
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return to, err
		}
		if filepath.Base(path) == "disposable.txt" {
			text = nil
		}
		if err := os.WriteFile(filepath.Join(to, filepath.Base(path)), text, 0o644); err != nil {
			return to, err
		}
	}
	return to, nil
}

// printRows prints the table in Markdown.
func printRows(w io.Writer, rows []dayRow) {
	fmt.Fprintf(w, "| day | listed with proof | caught of those added in 7 days | 30 days | 60 days |\n|---|---|---|---|---|\n")
	total := dayRow{added: make([]int, len(horizons)), caught: make([]int, len(horizons))}
	for _, row := range rows {
		fmt.Fprintf(w, "| %s | %d |%s\n", row.day, row.listed, row.cells())
		for i := range horizons {
			total.added[i] += row.added[i]
			total.caught[i] += row.caught[i]
		}
	}
	fmt.Fprintf(w, "| all | |%s\n", total.cells())
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
