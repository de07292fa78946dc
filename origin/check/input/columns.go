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

// AddressNames are names of columns of addresses, one a line, the best first. They are from exports of mail and
// customer programs in many languages. The page Lists knows them too.
//
//go:embed names.txt
var AddressNames string

// addressNames are the places of the same names from 1, as plain writes them.
var addressNames = func() map[string]int {
	places := map[string]int{}
	for name := range strings.Lines(AddressNames) {
		places[plain(name)] = len(places) + 1
	}
	return places
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

func isName(cell string) bool { return addressNames[plain(cell)] > 0 }

// likeAddress is how much a cell looks like an address: 2 if it has a domain of several labels, 1 if it may be
// one otherwise, else 0. A handle such as @ann and a URL are none.
func likeAddress(cell string) int {
	cell = strings.Trim(cell, " \t\u00A0\u3000<>\"'")
	sign := strings.LastIndexByte(cell, '@')
	if sign <= 0 || sign == len(cell)-1 || strings.Contains(cell, "://") {
		return 0
	}
	domain := cell[sign+1:]
	switch {
	case strings.IndexAny(cell[sign-1:sign], " \t/") == 0, strings.IndexAny(domain[:1], " \t") == 0:
		return 0
	case strings.ContainsAny(domain, ".[") || strings.ContainsAny(domain, "。．｡"):
		return 2
	}
	return 1
}

func isAddress(cell string) bool { return likeAddress(cell) > 0 }

func hasAddress(cells []string) bool { return slices.ContainsFunc(cells, isAddress) }

// filled counts the cells that are not blank.
func filled(cells []string) (count int) {
	for _, cell := range cells {
		if strings.TrimSpace(cell) != "" {
			count++
		}
	}
	return count
}

const (
	sampleRows  = 100 // that decide about the separator, the column and the header, if so many have arrived
	maxPreamble = 9   // rows before a header that are not blank
)

// preamble returns how many rows precede the header, such as a title or notes. They have no address and fewer
// cells than the header, or begin with #. The header is the first row with a known name, or with the chosen one;
// else a row without an address before one with it.
func preamble(rows [][]string, chosen string) int {
	widest := 0
	for n, cells := range rows[:min(len(rows), maxPreamble+1)] {
		if hasAddress(cells) {
			return 0
		}
		full := filled(cells)
		named := slices.ContainsFunc(cells, func(cell string) bool {
			return isName(cell) || chosen != "" && plain(cell) == plain(chosen)
		})
		followed := full > 1 && len(rows) > n+1 && hasAddress(rows[n+1])
		switch {
		case (named || followed) && (full > widest || full == 1 && widest == 1):
			return n
		case !strings.HasPrefix(strings.TrimSpace(cells[0]), "#"):
			widest = max(widest, full)
		}
	}
	return 0
}

// findColumn returns the index of the column of addresses. Among those with addresses, or with nothing in them
// yet, it is the one with the best known name in the first row; else the one with the most addresses, where
// "mail" in its name breaks a tie. The error says that there is none or no single one of several.
func findColumn(rows [][]string) (int, error) {
	votes, others := make([]int, widest(rows)), make([]int, widest(rows))
	for _, cells := range rows {
		for n, cell := range cells {
			votes[n] += 2 * likeAddress(cell)
			if !isAddress(cell) && strings.TrimSpace(cell) != "" {
				others[n]++
			}
		}
	}
	none := slices.Max(votes) == 0
	named, place := -1, 0
	for n, cell := range rows[0] {
		here := addressNames[plain(cell)]
		if here > 0 && (none || votes[n] > 0 || others[n] == 1) && (place == 0 || here < place) {
			named, place = n, here
		}
		if !isAddress(cell) && strings.Contains(plain(cell), "mail") {
			votes[n]++
		}
	}
	most := slices.Max(votes)
	best := slices.Index(votes, most)
	other := slices.Index(votes[best+1:], most)
	switch {
	case named >= 0:
		return named, nil
	case len(votes) == 1:
		return 0, nil
	case most == 0:
		return 0, fmt.Errorf("%w; name one by its number or name (--column), or give --from text if each line "+
			"is an address; %s", errNoColumn, describe(rows[0]))
	case other >= 0:
		return best, fmt.Errorf("columns %d and %d both have addresses: name one by its number or name (--column), "+
			"or give one address a line; %s", best+1, best+2+other, describe(rows[0]))
	}
	return best, nil
}

// findHeader reports whether the first row has names: it has a known one, or no address where later rows have
// some. decided is false if a second row is needed.
func findHeader(rows [][]string, column int) (header, decided bool) {
	cell := at(rows[0], column)
	switch {
	case isAddress(cell):
		return false, true
	case isName(cell):
		return true, true
	}
	later := slices.ContainsFunc(rows[1:], func(cells []string) bool { return isAddress(at(cells, column)) })
	return later || strings.Contains(plain(cell), "mail"), len(rows) > 1
}

// chooseColumn returns the index of the column that the user named: a number from 1, or a name in the first row.
func chooseColumn(rows [][]string, chosen string) (column int, named bool, err error) {
	if number, err := strconv.Atoi(chosen); err == nil {
		if number < 1 || number > widest(rows) {
			return 0, false, fmt.Errorf("there is no column %d: the rows have %d", number, widest(rows))
		}
		return number - 1, false, nil
	}
	var found, similar []int
	for n, cell := range rows[0] {
		if strings.TrimSpace(cell) == chosen {
			found = append(found, n)
		}
		if plain(cell) == plain(chosen) && plain(chosen) != "" {
			similar = append(similar, n)
		}
	}
	if len(found) == 0 {
		found = similar
	}
	switch len(found) {
	case 0:
		return 0, false, fmt.Errorf("there is no column %q; %s", chosen, describe(rows[0]))
	case 1:
		return found[0], true, nil
	}
	return 0, false, fmt.Errorf("columns %d and %d are both called %q: give the number of one",
		found[0]+1, found[1]+1, chosen)
}

var errNoColumn = errors.New("no column has addresses")

func describe(cells []string) string {
	const most, longest = 20, 40
	var list []string
	for n, cell := range cells[:min(len(cells), most)] {
		if strings.Contains(cell, "@") || len(cell) > longest {
			cell = "…"
		}
		list = append(list, fmt.Sprintf("%d %q", n+1, cell))
	}
	if len(cells) > most {
		list = append(list, fmt.Sprintf("and %d more", len(cells)-most))
	}
	return "the columns are " + strings.Join(list, ", ")
}

func at(cells []string, column int) string {
	if column >= len(cells) {
		return ""
	}
	return cells[column]
}

func widest(rows [][]string) (width int) {
	for _, cells := range rows {
		width = max(width, len(cells))
	}
	return width
}
