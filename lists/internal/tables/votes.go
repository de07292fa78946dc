package tables

import (
	"fmt"
	"path/filepath"
	"strings"
)

// Votes are the published lists that contain a domain, by their letters in
// sources/provenance.txt.
type Votes string

// Any reports whether one of letters is among the votes.
func (v Votes) Any(letters string) bool { return strings.ContainsAny(string(v), letters) }

// Proven reports whether the domain is on a list that requires proof for each
// entry (D) or on one that crawls the providers (K). One of them is enough.
func (v Votes) Proven() bool { return v.Any("DK") }

// Agreed reports whether the domain is on two lists that do not copy from each
// other, and on no list of public providers: where F or E has it too, five of
// six such domains in real mail were lasting providers or private. It returns
// false below the free Freenom top-level domains, where 0.1 % of the listed
// names still accept mail.
func (v Votes) Agreed(domain string) bool {
	return v.Any("M") && v.Any("IB") && !v.Any("FE") && !isFreenom(domain)
}

// Public reports whether the domain is on both lists of public providers and on
// none of D, K and M. Each list alone also contains companies, misspellings and
// new throw-away providers.
func (v Votes) Public() bool { return v.Any("F") && v.Any("E") && !v.Any("DKM") }

// Useful reports whether a rule can give the domain a class.
func (v Votes) Useful(domain string) bool { return v.Proven() || v.Agreed(domain) || v.Public() }

// isFreenom reports whether domain is below a top-level domain that Freenom
// gave away.
func isFreenom(domain string) bool {
	switch domain[strings.LastIndexByte(domain, '.')+1:] {
	case "tk", "ml", "ga", "cf", "gq":
		return true
	}
	return false
}

// ReadVotes reads sources/domains.txt.
func ReadVotes(dir string) (map[string]Votes, error) {
	votes := map[string]Votes{}
	err := eachLine(filepath.Join(dir, "sources", "domains.txt"), func(line string) error {
		name, letters, found := strings.Cut(line, " ")
		if !found {
			return fmt.Errorf("want a domain and letters, got %q", line)
		}
		votes[name] = Votes(letters)
		return nil
	})
	return votes, err
}
