// Package sources has the days on which published lists are known to have carried a
// domain first. The blob has no days, since no result depends on them.
package sources

import (
	_ "embed"
	"strings"
)

// Observed is the name in the lists of the source whose days observed.txt has. The other
// sources publish no days, so theirs are unknown.
const Observed = "github:castle/disposable-email-domains"

//go:embed observed.txt
var observed string

// FirstDay returns the first day on which a source is known to have carried domain, such
// as 2026-05-11, or "" if it is not known. domain must be lower case and in A-label form.
func FirstDay(source, domain string) (day string) {
	if source != Observed || !strings.Contains(domain, ".") { // no comment of the table
		return ""
	}
	_, after, _ := strings.Cut(observed, "\n"+domain+" ")
	if after == "" {
		return ""
	}
	return after[:len("2026-05-11")]
}
