package tables

import (
	"fmt"
	"path/filepath"
	"strings"
)

// Votes is the set of published lists that hold a domain: the letters of
// sources/provenance.txt.
type Votes string

// holds reports whether any of letters is among the votes.
func (v Votes) holds(letters string) bool { return strings.ContainsAny(string(v), letters) }

// Proven reports whether a list that asks proof (D) or crawls the providers
// itself (K) holds the domain: either is believed alone.
func (v Votes) Proven() bool { return v.holds("DK") }

// Agreed reports whether two lists that do not copy from each other hold the
// domain, and not on the free Freenom endings, where 0.1 % of the names still
// take mail.
func (v Votes) Agreed(domain string) bool {
	return v.holds("M") && v.holds("IB") && !freenom(domain)
}

// Public is the merge rule for mailbox providers: both lists of them hold the
// domain, and none of disposables. One alone carries firms, misspellings and
// new throw-away providers along.
func (v Votes) Public() bool { return v.holds("F") && v.holds("E") && !v.holds("DKM") }

func freenom(domain string) bool {
	switch domain[strings.LastIndexByte(domain, '.')+1:] {
	case "tk", "ml", "ga", "cf", "gq":
		return true
	}
	return false
}

// ReadListed reads sources/domains.txt, what the published lists say.
func ReadListed(dir string) (map[string]Votes, error) {
	listed := map[string]Votes{}
	err := eachLine(filepath.Join(dir, "sources", "domains.txt"), func(line string) error {
		name, votes, found := strings.Cut(line, " ")
		if !found {
			return fmt.Errorf("want a domain and letters, got %q", line)
		}
		listed[name] = Votes(votes)
		return nil
	})
	return listed, err
}
