package output

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/rivo/uniseg"

	"github.com/addrspec/addrspec/origin/check/pipeline"
	"github.com/addrspec/addrspec/wasm/result"
)

const (
	plainWidth   = 100 // where the output is no terminal
	minWidth     = 32
	maxAddress   = 48
	verdictWidth = 19 // of "Nothing wrong found"; longer verdicts are wrapped
	gap          = 2
)

// tones are the styles of our verdicts, and of a policy's: "select graphic rendition" (ECMA-48 section 8.3.117).
var tones = map[string]string{
	result.ToneGood: "\x1b[32m", result.ToneWarn: "\x1b[33m", result.ToneBad: "\x1b[31m",
	result.Allow: "\x1b[32m", result.Review: "\x1b[33m", result.Block: "\x1b[31m",
}

// Table is for people: address, verdict and reason or suggestion, in three columns that fit the terminal. With
// a policy the verdict is its action, and the first of the reasons are its reason and rule. Long cells are
// wrapped. Below the offending character of an address that is not valid is a caret. The widths do not depend
// on the records, so that every row is written at once. Characters that could control the terminal are replaced.
type Table struct {
	Width   int // of the terminal; 0 if the output is none
	Color   bool
	Details bool // show the evidence below the reason

	address, verdict, reason int // widths, without the gaps
}

// Head divides the width among the columns, and appends their names.
func (f *Table) Head(dst []byte) ([]byte, error) {
	width := max(cmp.Or(f.Width, plainWidth), minWidth) - 2*gap
	f.verdict = min(verdictWidth, 3*width/10)
	f.address = min(maxAddress, (width-f.verdict)/2)
	f.reason = width - f.verdict - f.address
	return f.appendRow(dst, "\x1b[1m", []string{"ADDRESS"}, []string{"VERDICT"}, []string{"REASON"}), nil
}

// Append appends the lines of one record.
func (f *Table) Append(dst []byte, r *pipeline.Record, o *pipeline.Outcome) ([]byte, error) {
	tone, verdict, reasons, err := opinionOf(r, o, f.Details)
	if err != nil {
		return dst, err
	}
	var address, reason []string
	if r.Err == nil && r.Email != "" {
		address = addressLines(r.Email, &o.Refusal, f.address)
	} else {
		where := strings.TrimSpace(fmt.Sprintf("%s line %d", r.File, r.Line))
		address = wrap(Printable("("+where+")"), f.address)
	}
	for _, text := range reasons {
		reason = append(reason, wrap(Printable(text), f.reason)...)
	}
	return f.appendRow(dst, tones[tone], address, wrap(verdict, f.verdict), reason), nil
}

// appendRow appends three columns side by side. The second has the style.
func (f *Table) appendRow(dst []byte, style string, columns ...[]string) []byte {
	widths := []int{f.address + gap, f.verdict + gap, f.reason}
	for n := range max(len(columns[0]), len(columns[1]), len(columns[2])) {
		line := ""
		for i, lines := range columns {
			text := ""
			if n < len(lines) {
				text = lines[n]
			}
			free := max(widths[i]-uniseg.StringWidth(text), 0)
			if f.Color && i == 1 && text != "" && style != "" {
				text = style + text + "\x1b[0m"
			}
			line += text + strings.Repeat(" ", free)
		}
		dst = append(dst, strings.TrimRight(line, " ")+"\n"...)
	}
	return dst
}

// opinionOf judges a record; reasons are paragraphs.
func opinionOf(r *pipeline.Record, o *pipeline.Outcome, details bool) (
	tone, verdict string, reasons []string, err error) {
	switch p := problemOf(r, o); {
	case p.Code == noAddress:
		return result.ToneWarn, "No address", nil, nil
	case r.Err != nil:
		return result.ToneWarn, "Cannot be read", []string{p.Message}, nil
	case p.Code != "":
		return result.ToneWarn, result.Unchecked, []string{p.Message}, nil
	}
	parsed, err := result.Parse(o.JSON)
	if err != nil {
		return "", "", nil, err
	}
	tone, verdict = parsed.Opinion()
	// The verdict of a policy takes the place of ours, which becomes a reason if something is wrong.
	if decided := o.Verdict.Action; tones[decided] != "" { // else there is none, or that of a later service
		reasons = append(reasons, o.Verdict.Because())
		if tone != result.ToneGood {
			reasons = append(reasons, verdict)
		}
		tone, verdict = decided, decided
	}
	for _, f := range parsed.Facts() {
		switch {
		case f.Field == "typo" && parsed.Typo: // it can be copied
			reasons = append(reasons, "Did you mean "+parsed.LocalPart+"@"+parsed.SuggestedDomain()+"?")
		case f.Notable:
			reasons = append(reasons, f.Sentence)
		}
	}
	if !parsed.Valid {
		reasons = append(reasons, result.Sentence(o.Refusal.Sentence))
		if o.Refusal.Suggestion != "" {
			reasons = append(reasons, "Did you mean "+o.Refusal.Suggestion+"?")
		}
		if details && o.Refusal.Section != "" {
			reasons = append(reasons, o.Refusal.Section+", "+o.Refusal.Code)
		}
	}
	return tone, verdict, reasons, nil
}

// addressLines breaks an address into lines. Below that with the byte that a refusal names is one with a caret.
func addressLines(email string, why *result.Refusal, width int) (lines []string) {
	at := min(max(why.Offset, 0), len(email))
	before, after := Printable(email[:at]), Printable(email[at:])
	rest, at := before+after, len(before) // from the line's begin
	for rest != "" {
		var line string
		line, rest = take(rest, width)
		lines = append(lines, line)
		if why.Code != "" && at >= 0 && (at < len(line) || rest == "") {
			lines = append(lines, strings.Repeat(" ", uniseg.StringWidth(line[:at]))+"^")
		}
		at -= len(line)
	}
	return lines
}

// take cuts text after the grapheme clusters that fit into width columns, at least one.
func take(text string, width int) (head, rest string) {
	columns := 0
	g := uniseg.NewGraphemes(text)
	for g.Next() {
		columns += g.Width()
		if at, _ := g.Positions(); at > 0 && columns > width {
			return text[:at], text[at:]
		}
	}
	return text, ""
}

func wrap(text string, width int) (lines []string) {
	for text != "" {
		line, rest := take(text, width)
		if rest != "" {
			if end := strings.LastIndexByte(text[:len(line)+1], ' '); end > 0 {
				line, rest = text[:end], text[end+1:]
			}
		}
		lines, text = append(lines, line), rest
	}
	return lines
}
