package input

import (
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// AddressNames are names of columns of addresses, one a line. They are from exports of
// mail and customer programs in several languages. The page Lists knows them too.
//
//go:embed names.txt
var AddressNames string

// addressNames are the same, as plain writes them.
var addressNames = func() map[string]bool {
	set := map[string]bool{}
	for name := range strings.Lines(AddressNames) {
		set[plain(name)] = true
	}
	return set
}()

// plain returns the letters and digits of a name in lower case, without accents.
func plain(name string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, norm.NFKD.String(name))
}

// isName reports whether a column of this name has addresses for certain.
func isName(cell string) bool { return len(cell) < 100 && addressNames[plain(cell)] }

// isAddress reports whether a cell looks like an address.
func isAddress(cell string) bool { return strings.Contains(cell, "@") }

// findColumn returns the index of the column of addresses: one with a known name in
// the first row, else the one with the most cells that look like an address, where
// "mail" in its name breaks a tie. The error says that there is none or no single
// one.
func findColumn(sample [][]string) (int, error) {
	votes := make([]int, widest(sample)+1)
	for _, cells := range sample {
		for n, cell := range cells {
			if isAddress(cell) {
				votes[n] += 2
			}
		}
	}
	for n, cell := range first(sample) {
		votes[n] += votesOfName(cell)
	}
	most := slices.Max(votes)
	best := slices.Index(votes, most)
	other := slices.Index(votes[best+1:], most)
	switch {
	case most == 0:
		return 0, fmt.Errorf("%w; name one by its number or name (--column), or give --from text if each line is an address; %s", errNoColumn, describe(first(sample)))
	case other >= 0 && most < knownName:
		return 0, fmt.Errorf("columns %d and %d both have addresses: name one by its number or name (--column), or give one address a line; %s", best+1, best+2+other, describe(first(sample)))
	}
	return best, nil
}

// knownName are the votes for a column with a known name: more than those of all
// rows of a sample.
const knownName = 1 << 16

func votesOfName(cell string) int {
	switch {
	case isAddress(cell):
		return 0
	case isName(cell):
		return knownName
	case strings.Contains(plain(cell), "mail"):
		return 1
	}
	return 0
}

// findHeader reports whether the first row has names: it has a known one, or no
// address where later rows have some. decided is false if a second row is needed.
func findHeader(sample [][]string, column int) (header, decided bool) {
	cell := at(first(sample), column)
	switch {
	case isAddress(cell):
		return false, true
	case isName(cell):
		return true, true
	}
	later := slices.ContainsFunc(sample[min(1, len(sample)):], func(cells []string) bool { return isAddress(at(cells, column)) })
	return later || strings.Contains(plain(cell), "mail"), len(sample) > 1
}

// chooseColumn returns the index of the column that the user named: a number from
// 1, or a name in the first row.
func chooseColumn(sample [][]string, chosen string) (column int, named bool, err error) {
	if number, err := strconv.Atoi(chosen); err == nil {
		if number < 1 || number > widest(sample) {
			return 0, false, fmt.Errorf("there is no column %d: the rows have %d", number, widest(sample))
		}
		return number - 1, false, nil
	}
	found := matching(first(sample), func(cell string) bool { return strings.TrimSpace(cell) == chosen })
	if len(found) == 0 {
		found = matching(first(sample), func(cell string) bool { return plain(cell) == plain(chosen) })
	}
	switch len(found) {
	case 0:
		return 0, false, fmt.Errorf("there is no column %q; %s", chosen, describe(first(sample)))
	case 1:
		return found[0], true, nil
	}
	return 0, false, fmt.Errorf("columns %d and %d are both called %q: give the number of one", found[0]+1, found[1]+1, chosen)
}

func matching(cells []string, match func(string) bool) (found []int) {
	for n, cell := range cells {
		if match(cell) {
			found = append(found, n)
		}
	}
	return found
}

var errNoColumn = errors.New("no column has addresses")

// describe lists the columns by the first row, without addresses.
func describe(cells []string) string {
	const most, longest = 20, 40
	var list []string
	for n, cell := range cells[:min(len(cells), most)] {
		if isAddress(cell) || len(cell) > longest {
			cell = "…"
		}
		list = append(list, fmt.Sprintf("%d %q", n+1, cell))
	}
	if len(cells) > most {
		list = append(list, fmt.Sprintf("and %d more", len(cells)-most))
	}
	return "the columns are " + strings.Join(list, ", ")
}

func first(sample [][]string) []string {
	if len(sample) == 0 {
		return nil
	}
	return sample[0]
}

// at returns the cell of a column, or "".
func at(cells []string, column int) string {
	if column < 0 || column >= len(cells) {
		return ""
	}
	return cells[column]
}

func widest(sample [][]string) (width int) {
	for _, cells := range sample {
		width = max(width, len(cells))
	}
	return width
}
