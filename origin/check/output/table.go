package output

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/addrspec/addrspec/origin/check"
	"github.com/addrspec/addrspec/wasm/result"
)

// The widths of a table, in columns of characters.
const (
	plainWidth   = 100 // where the output is no terminal
	minWidth     = 32
	maxAddress   = 48
	verdictWidth = 19 // of "Nothing wrong found"; longer verdicts are wrapped
	gap          = 2
)

// The verdicts on records that are not checked. Their tone is that of
// result.Unchecked.
const (
	unreadable  = "Cannot be read"
	addressless = "No address"
)

// Table is for people: address, verdict and reason or suggestion, in three columns
// that fit the terminal. With a policy the verdict is its action, and the first of the
// reasons are its reason and rule. Long cells are wrapped. Below the offending character of an
// address that is not valid is a caret. The widths do not depend on the records, so
// that every row is written at once.
//
// Characters that could control the terminal are replaced. With Color the table has
// escape sequences of its own.
type Table struct {
	Width    int // of the terminal; 0 if the output is none
	Color    bool
	Details  bool // show the evidence below the reason
	NoHeader bool

	address, verdict, reason int // widths
}

// Head appends the names of the columns.
func (f *Table) Head(dst []byte) ([]byte, error) {
	f.layOut()
	if f.NoHeader {
		return dst, nil
	}
	return f.appendRow(dst, [3]column{{lines: []string{"ADDRESS"}, style: bold}, {lines: []string{"VERDICT"}, style: bold},
		{lines: []string{"REASON"}, style: bold}}), nil
}

// layOut divides the width among the columns.
func (f *Table) layOut() {
	width := f.Width
	if width == 0 {
		width = plainWidth
	}
	width = max(width, minWidth) - 2*gap
	f.verdict = min(verdictWidth, 3*width/10)
	f.address = min(maxAddress, (width-f.verdict)/2)
	f.reason = width - f.verdict - f.address
}

// A column is what a row has in one column.
type column struct {
	lines  []string
	style  style
	styled int // the only line that has the style, from 1; 0 for all
}

// Append appends the lines of one record.
func (f *Table) Append(dst []byte, r *check.Record, o *check.Outcome) ([]byte, error) {
	found := opinion{offset: noOffset}
	if err := found.form(r, o, f.Details); err != nil {
		return dst, err
	}
	return f.appendRow(dst, [3]column{f.addressColumn(r, found.offset),
		{lines: wrap(found.verdict, f.verdict), style: tones[found.tone]}, {lines: f.paragraphs(found.reasons)}}), nil
}

func (f *Table) addressColumn(r *check.Record, offset int) column {
	if r.Err != nil || r.Email == "" {
		return column{lines: wrap("("+Printable(place(r))+")", f.address)}
	}
	lines, caret := addressLines(r.Email, offset, f.address)
	if caret < 0 {
		return column{lines: lines}
	}
	return column{lines: lines, style: red, styled: caret + 1}
}

// place says where a record without an address is.
func place(r *check.Record) string {
	if r.Line == 0 {
		return "empty"
	}
	line := "line " + strconv.FormatInt(r.Line, 10)
	if r.File != "" {
		line = r.File + " " + line
	}
	return line
}

func (f *Table) paragraphs(texts []string) (lines []string) {
	for _, text := range texts {
		lines = append(lines, wrap(Printable(text), f.reason)...)
	}
	return lines
}

// appendRow appends three columns side by side.
func (f *Table) appendRow(dst []byte, columns [3]column) []byte {
	height := max(len(columns[0].lines), len(columns[1].lines), len(columns[2].lines))
	for n := range height {
		pending := 0 // spaces before the next text
		for i, width := range [3]int{f.address + gap, f.verdict + gap, f.reason} {
			text, style := columns[i].line(n)
			if text != "" {
				dst = append(dst, strings.Repeat(" ", pending)...)
				dst = f.appendStyled(dst, text, style)
				pending = 0
			}
			pending += max(width-textWidth(text), 0)
		}
		dst = append(dst, '\n')
	}
	return dst
}

func (c *column) line(n int) (string, style) {
	switch {
	case n >= len(c.lines):
		return "", ""
	case c.styled != 0 && c.styled != n+1:
		return c.lines[n], ""
	}
	return c.lines[n], c.style
}

func (f *Table) appendStyled(dst []byte, text string, s style) []byte {
	if !f.Color || s == "" {
		return append(dst, text...)
	}
	return append(append(append(dst, s...), text...), reset...)
}

// An opinion is the verdict on a record and what it is based on.
type opinion struct {
	tone, verdict string
	reasons       []string // paragraphs
	offset        int      // of the offending byte, or noOffset
}

func (v *opinion) form(r *check.Record, o *check.Outcome, details bool) error {
	switch {
	case errors.Is(r.Err, check.ErrNoAddress):
		v.tone, v.verdict = result.ToneWarn, addressless
		return nil
	case r.Err != nil:
		v.tone, v.verdict, v.reasons = result.ToneWarn, unreadable, []string{r.Err.Error()}
		return nil
	case o.Code != "":
		v.tone, v.verdict, v.reasons = result.ToneWarn, result.Unchecked, []string{o.Message}
		return nil
	}
	parsed, err := result.Parse(o.JSON)
	if err != nil {
		return err
	}
	v.judge(&parsed, o, details)
	return nil
}

func (v *opinion) judge(r *result.Result, o *check.Outcome, details bool) {
	refusal := refusalOf(r, o)
	v.tone, v.verdict = r.Opinion(o.MX != check.MXUnknown)
	if r.Valid {
		v.reasons = notesOn(r, o)
	} else {
		v.reasons = []string{refusal.Sentence}
	}
	if refusal.Code != "" {
		v.offset = refusal.Offset
	}
	v.adopt(&o.Verdict)
	if details {
		v.reasons = append(v.reasons, evidenceLines(r, &refusal)...)
	}
}

// verdictTones are the tones of a policy's actions.
var verdictTones = map[string]string{result.Allow: result.ToneGood, result.Review: result.ToneWarn, result.Block: result.ToneBad}

// adopt puts the verdict of a policy, if there is one, in place of ours, which becomes a
// reason if something is wrong.
func (v *opinion) adopt(verdict *result.Verdict) {
	tone, known := verdictTones[verdict.Action]
	if !known { // none, or that of a later service
		return
	}
	own := v.verdict
	v.verdict = verdict.Action
	if v.tone != result.ToneGood {
		v.reasons = slices.Insert(v.reasons, 0, own)
	}
	v.tone = tone
	if because := strings.Join(nonempty(verdict.Reason, verdict.Rule), ", "); because != "" {
		v.reasons = slices.Insert(v.reasons, 0, because)
	}
}

func nonempty(texts ...string) []string {
	return slices.DeleteFunc(texts, func(s string) bool { return s == "" })
}

// notesOn returns what to know about a valid address besides the verdict, one
// paragraph each.
func notesOn(r *result.Result, o *check.Outcome) (paragraphs []string) {
	if r.Typo {
		paragraphs = append(paragraphs, "did you mean "+suggestion(r)+"?")
	}
	var notes []string
	for _, note := range []struct {
		holds bool
		words string
	}{
		{o.MX == check.MXFalse && !result.IsLiteral(r.Domain), r.Domain + " has no MX record, so mail goes to its address record, if it has one"},
		{r.Disposable, r.Domain + " gives out throw-away mailboxes"},
		{r.Gibberish, fmt.Sprintf("random with a score of %.2f", r.GibberishScore)},
		{r.Role != "", "role: " + r.Role},
		{r.Relay, r.Domain + " forwards mail and hides the address behind it"},
		{!r.ASCII, "not ASCII, which some mail servers refuse"},
	} {
		if note.holds {
			notes = append(notes, note.words)
		}
	}
	if len(notes) > 0 {
		paragraphs = append(paragraphs, strings.Join(notes, "; "))
	}
	return paragraphs
}

// suggestion is the address with the suggested domain, which may be the whole
// suggestion.
func suggestion(r *result.Result) string {
	if strings.Contains(r.TypoSuggestion, "@") {
		return r.TypoSuggestion
	}
	return r.LocalPart + "@" + r.TypoSuggestion
}

// evidenceLines put the details into words, one paragraph each.
func evidenceLines(r *result.Result, refusal *result.Refusal) (lines []string) {
	d := evidenceOf(r)
	for _, line := range []struct {
		holds bool
		words string
	}{
		{refusal.Section != "", refusal.Section + ", " + refusal.Code},
		{r.Valid && r.Normalized != r.Email, "normal form: " + r.Normalized},
		{d.CanonicalRule != "", "same mailbox as " + d.Canonical + " by the rule " + d.CanonicalRule},
		{d.Role.Word != "", "role by the word " + d.Role.Word + " (" + d.Role.Match + ")"},
		{d.Provider.Entry != "", d.Provider.Class + ": " + d.Provider.Entry + " in " + strings.Join(d.Provider.Sources, ", ")},
		{len(d.Form) > 0, asNote(d.FormSentence())},
		{d.Exchange.Class != "", asNote(d.Exchange.Sentence())},
	} {
		if line.holds {
			lines = append(lines, line.words)
		}
	}
	return lines
}

// asNote returns a sentence as the notes are: in lower case, without a full stop.
func asNote(sentence string) string {
	if sentence == "" {
		return ""
	}
	return strings.ToLower(sentence[:1]) + strings.TrimSuffix(sentence[1:], ".")
}
