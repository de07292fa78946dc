package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/addrspec/addrspec/lists"
)

// data is the labelled rows, of a directory of evaluation data, of the lists' sources, and
// of the tables beside this program.
type data struct {
	format                           []formatRow
	people, random                   []scored   // local parts
	misspelled, real                 [][]string // domains, with the intended one and the kind; with the group
	proven, relays, providers, owned []string   // domains, see load
	disposable, listErrors           [][]string // domains of real addresses, with a label
	typos, hosts                     [][]string // likewise, with the intended domain and the label; with the kind
	publicMissed                     []string

	errs []error
}

// load reads the data. Files that it cannot read are named in errs.
func load(dir string) *data {
	d := &data{}
	words := func(path string) [][]string {
		text, err := os.ReadFile(path)
		d.note(err)
		return parseWords(string(text))
	}
	table := func(name string, columns ...string) [][]string {
		path := filepath.Join(dir, name)
		text, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) && strings.HasPrefix(name, "real/") {
			err = fmt.Errorf("%w: %w", errOlder, err)
		}
		var rows [][]string
		if err == nil {
			rows, err = parseTable(path, string(text), columns...)
		}
		d.note(err)
		return rows
	}
	path := filepath.Join(dir, "format/dev.jsonl")
	text, err := os.ReadFile(path)
	d.note(err)
	d.format, err = parseFormat(path, text)
	d.note(err)
	d.people = scoreAll(false, table("gibberish/dev_negatives.tsv", "local_part", "group"))
	d.random = scoreAll(true, table("gibberish/dev_positives.tsv", "local_part", "group"))
	d.misspelled = table("typo/dev_positives.tsv", "typed", "intended", "kind")
	d.real = table("typo/dev_negatives_groups.tsv", "domain", "group")
	l := lists.Default()
	for _, fields := range d.real {
		switch fields[1] {
		case "provider": // of a list that includes brands of telecoms, which are not in the class
			if l.Provider([]byte(fields[0])) != lists.Relay {
				d.providers = append(d.providers, fields[0])
			}
		case "university", "university_near", "top", "random_real": // their owners give out their addresses
			d.owned = append(d.owned, fields[0])
		}
	}
	for _, fields := range words("lists/sources/domains.txt") {
		if strings.Contains(fields[1], "D") { // on the list that requires proof
			d.proven = append(d.proven, fields[0])
		}
	}
	for _, fields := range words("lists/relay.txt") { // with a name below each whose users have names below it
		name, wildcard := strings.CutPrefix(fields[0], "*.")
		d.relays = append(d.relays, name)
		if wildcard {
			d.relays = append(d.relays, "someone."+name)
		}
	}
	d.disposable = table("real/disposable_labels.tsv", "domain", "label")
	d.typos = table("real/typo_labels.tsv", "domain", "intended", "label")
	d.hosts = table("real/relay_noreply_missed.tsv", "domain", "kind")
	d.publicMissed = first(table("real/public_missed.tsv", "domain"))
	d.listErrors = table("real/list_errors.tsv", "domain", "label")
	return d
}

func (d *data) note(err error) {
	if err != nil {
		d.errs = append(d.errs, err)
	}
}

// errOlder is returned for data of an older version, which lacks a column or a file.
var errOlder = errors.New("there is no column")

// broken reports whether a file could not be read for another reason than the data's age.
func (d *data) broken() bool {
	return slices.ContainsFunc(d.errs, func(err error) bool { return !errors.Is(err, errOlder) })
}

// parseWords reads a table of the project, whose fields are separated by white space. A #
// begins a comment.
func parseWords(text string) (table [][]string) {
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		if fields := strings.Fields(line); len(fields) > 0 {
			table = append(table, fields)
		}
	}
	return table
}

// parseTable returns the named columns of a tab-separated table with a header line.
func parseTable(path, text string, columns ...string) (rows [][]string, err error) {
	var header []string
	at := make([]int, len(columns))
	for i, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		fields := strings.Split(line, "\t")
		if i == 0 {
			header = fields
			for k, name := range columns {
				at[k] = slices.Index(header, name)
				if at[k] < 0 {
					return nil, fmt.Errorf("%s: %w %s", path, errOlder, name)
				}
			}
			continue
		}
		if len(fields) != len(header) {
			return nil, fmt.Errorf("%s:%d: %d fields, the header has %d", path, i+1, len(fields), len(header))
		}
		picked := make([]string, len(at))
		for k, column := range at {
			picked[k] = fields[column]
		}
		rows = append(rows, picked)
	}
	return rows, nil
}

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
