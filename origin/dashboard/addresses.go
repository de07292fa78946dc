package dashboard

import (
	"fmt"
	"strings"
)

// maxPasted is how many addresses Try it checks at a time: as many as a batch has.
const maxPasted = 64

// pastedAddresses returns the distinct addresses of a text, in its order: one a
// line, or several with commas or semicolons between them.
func pastedAddresses(lines []string) ([]string, error) {
	var list []string
	seen := map[string]bool{}
	for _, line := range strings.FieldsFunc(strings.Join(lines, "\n"), isLineBreak) {
		for _, email := range splitLine(line) {
			if email = strings.TrimSpace(email); email != "" && !seen[email] {
				seen[email] = true
				list = append(list, email)
			}
		}
	}
	switch {
	case len(list) == 0:
		return nil, inputProblem("emails", "Give at least one address.")
	case len(list) > maxPasted:
		return nil, inputProblem("emails", fmt.Sprintf("These are %d different addresses; at most %d fit here. For more, use Lists.", len(list), maxPasted))
	}
	return list, nil
}

func isLineBreak(r rune) bool { return r == '\n' || r == '\r' }

// splitLine splits a line at commas and semicolons if each part has an @. Otherwise
// they belong to the address, such as in a quoted string (RFC 5321 section 4.1.2).
func splitLine(line string) []string {
	parts := strings.FieldsFunc(line, func(r rune) bool { return r == ',' || r == ';' })
	for _, part := range parts {
		if strings.TrimSpace(part) != "" && !strings.Contains(part, "@") {
			return []string{line}
		}
	}
	return parts
}

// replaceDomain returns the addresses with one domain in place of another.
func replaceDomain(list []string, from, to string) []string {
	replaced := make([]string, len(list))
	for i, email := range list {
		at := strings.LastIndexByte(email, '@')
		if replaced[i] = email; at >= 0 && strings.EqualFold(email[at+1:], from) {
			replaced[i] = email[:at+1] + to
		}
	}
	return replaced
}
