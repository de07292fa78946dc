package output

import (
	"fmt"
	"strings"

	"github.com/addrspec/addrspec/origin/check"
	"github.com/addrspec/addrspec/origin/result"
)

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
		{o.MX == check.MXFalse, r.Domain + " has no MX record"},
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
	} {
		if line.holds {
			lines = append(lines, line.words)
		}
	}
	return lines
}
