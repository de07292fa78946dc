package output

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/addrspec/addrspec/origin/check/pipeline"
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

// Head divides the width among the columns, and appends their names.
func (f *Table) Head(dst []byte) ([]byte, error) {
	width := max(cmp.Or(f.Width, plainWidth), minWidth) - 2*gap
	f.verdict = min(verdictWidth, 3*width/10)
	f.address = min(maxAddress, (width-f.verdict)/2)
	f.reason = width - f.verdict - f.address
	if f.NoHeader {
		return dst, nil
	}
	var names [3]column
	for n, name := range []string{"ADDRESS", "VERDICT", "REASON"} {
		names[n] = column{lines: []string{name}, style: bold}
	}
	return f.appendRow(dst, names), nil
}

// A column is what a row has in one column.
type column struct {
	lines  []string
	style  style
	styled int // the only line that has the style, from 1; 0 for all
}

// Append appends the lines of one record.
func (f *Table) Append(dst []byte, r *pipeline.Record, o *pipeline.Outcome) ([]byte, error) {
	found, err := opinionOf(r, o, f.Details)
	if err != nil {
		return dst, err
	}
	var address, reason column
	switch {
	case r.Err == nil && r.Email != "":
		lines, caret := addressLines(r.Email, found.offset, f.address)
		address = column{lines: lines}
		if caret >= 0 {
			address.style, address.styled = red, caret+1
		}
	case r.Line > 0:
		address.lines = wrap("("+Printable(strings.TrimSpace(fmt.Sprintf("%s line %d", r.File, r.Line)))+")", f.address)
	default:
		address.lines = []string{"(empty)"}
	}
	for _, text := range found.reasons {
		reason.lines = append(reason.lines, wrap(Printable(text), f.reason)...)
	}
	verdict := column{lines: wrap(found.verdict, f.verdict), style: tones[found.tone]}
	return f.appendRow(dst, [3]column{address, verdict, reason}), nil
}

// appendRow appends three columns side by side.
func (f *Table) appendRow(dst []byte, columns [3]column) []byte {
	for n := range max(len(columns[0].lines), len(columns[1].lines), len(columns[2].lines)) {
		pending := 0 // spaces before the next text
		for i, width := range [3]int{f.address + gap, f.verdict + gap, f.reason} {
			text, c := "", columns[i]
			if n < len(c.lines) {
				text = c.lines[n]
			}
			free := max(width-textWidth(text), 0)
			if text != "" {
				dst = append(dst, strings.Repeat(" ", pending)...)
				pending = 0
				if f.Color && c.style != "" && (c.styled == 0 || c.styled == n+1) {
					text = string(c.style) + text + reset
				}
			}
			dst, pending = append(dst, text...), pending+free
		}
		dst = append(dst, '\n')
	}
	return dst
}

// An opinion is the verdict on a record and what it is based on.
type opinion struct {
	tone, verdict string
	reasons       []string // paragraphs
	offset        int      // of the offending byte, or noOffset
}

// opinionOf judges a record. With details, a refusal has its section of the standard too.
func opinionOf(r *pipeline.Record, o *pipeline.Outcome, details bool) (opinion, error) {
	v := opinion{tone: result.ToneWarn, offset: noOffset}
	switch p := problemOf(r, o); {
	case p.Code == noAddress && r.Err != nil:
		v.verdict = "No address"
		return v, nil
	case p.Code != "":
		v.verdict, v.reasons = result.Unchecked, []string{p.Message}
		if r.Err != nil {
			v.verdict = "Cannot be read"
		}
		return v, nil
	}
	parsed, err := result.Parse(o.JSON)
	if err != nil {
		return v, err
	}
	tone, own := parsed.Opinion()
	v.tone, v.verdict = tone, own
	// The verdict of a policy takes the place of ours, which becomes a reason if something is wrong.
	if decided, ok := verdictTones[o.Verdict.Action]; ok { // else there is none, or that of a later service
		v.tone, v.verdict = decided, o.Verdict.Action
		if because := o.Verdict.Because(); because != "" {
			v.reasons = append(v.reasons, because)
		}
		if tone != result.ToneGood {
			v.reasons = append(v.reasons, own)
		}
	}
	for _, f := range parsed.Facts() {
		switch {
		case f.Field == "typo" && parsed.Typo: // it can be copied
			v.reasons = append(v.reasons, "Did you mean "+parsed.LocalPart+"@"+parsed.SuggestedDomain()+"?")
		case f.Notable:
			v.reasons = append(v.reasons, f.Sentence)
		}
	}
	if parsed.Valid {
		return v, nil
	}
	refusal := refusalOf(&parsed, o)
	v.reasons = append(v.reasons, result.Sentence(refusal.Sentence))
	if refusal.Code != "" {
		v.offset = refusal.Offset
	}
	if details && refusal.Section != "" {
		v.reasons = append(v.reasons, refusal.Section+", "+refusal.Code)
	}
	return v, nil
}

// verdictTones are the tones of a policy's actions.
var verdictTones = map[string]string{result.Allow: result.ToneGood, result.Review: result.ToneWarn,
	result.Block: result.ToneBad}
