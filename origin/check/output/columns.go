package output

import (
	"slices"
	"strconv"
	"strings"
)

// resultColumns are the columns that follow those of the input. email is not one
// of them: the input has it.
var resultColumns = []string{"valid", "normalized", "local_part", "domain", "alias", "ascii", "role", "gibberish", "gibberish_score",
	"mx", "disposable", "public", "relay", "typo", "typo_suggestion", "reason", "reason_offset", "error", "message"}

// detailColumns follow with details.
var detailColumns = []string{"reason_section", "canonical", "canonical_rule", "role_word", "role_match",
	"provider_entry", "provider_class", "provider_sources"}

// inputColumns returns the names of the input's columns.
func inputColumns(l Layout) []string {
	if !isCSV(l) {
		return []string{"email"}
	}
	names := slices.Clone(l.Header())
	for n := len(names); n < l.Width(); n++ {
		names = append(names, columnName(n))
	}
	return names
}

// columnName is the name of a column without one.
func columnName(index int) string { return "column_" + strconv.Itoa(index+1) }

// distinct returns the names with a prefix that makes them different from those of
// the input, if one of them is not: the same for all, so that a reader finds them.
func distinct(names, input []string) []string {
	taken := make(map[string]bool, len(input))
	for _, name := range input {
		taken[strings.ToLower(strings.TrimSpace(name))] = true
	}
	isTaken := func(name string) bool { return taken[name] }
	unique := slices.Clone(names)
	for n := 1; slices.ContainsFunc(unique, isTaken); n++ {
		for i, name := range names {
			unique[i] = prefix(n) + name
		}
	}
	return unique
}

// prefix is that of the results of the n-th check of the same file.
func prefix(n int) string {
	if n == 1 {
		return "addrspec_"
	}
	return "addrspec" + strconv.Itoa(n) + "_"
}

// keys returns the names of the input's columns as keys of an object: one that is
// missing becomes column_3, one that occurs before gets its column's number too.
func keys(names []string) []string {
	used := map[string]bool{}
	list := slices.Clone(names)
	for n, name := range list {
		name = strings.ToValidUTF8(name, "\uFFFD") // as in the object
		if name == "" {
			name = columnName(n)
		}
		for used[name] {
			name += "_" + strconv.Itoa(n+1)
		}
		list[n], used[name] = name, true
	}
	return list
}
