package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/addrspec/addrspec/core"
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
