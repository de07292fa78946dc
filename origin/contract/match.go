package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// match returns an error if two JSON texts differ. It compares tokens, so the order
// of members counts. In want, the string "*" matches any one value, and a string
// that begins with ~ is a regular expression for a string.
func match(want, got []byte) error {
	w, g := json.NewDecoder(bytes.NewReader(want)), json.NewDecoder(bytes.NewReader(got))
	w.UseNumber()
	g.UseNumber()
	for w.More() || w.InputOffset() < int64(len(bytes.TrimSpace(want))) {
		expected, err := w.Token()
		if err != nil {
			return fmt.Errorf("the body in cases.json: %w", err)
		}
		if expected == "*" {
			var any json.RawMessage
			if err := g.Decode(&any); err != nil {
				return fmt.Errorf("at %d: %w", g.InputOffset(), err)
			}
			continue
		}
		found, err := g.Token()
		if err != nil || !sameToken(expected, found) {
			return fmt.Errorf("at %d: want %v, got %v (%v)", g.InputOffset(), expected, found, err)
		}
	}
	if g.InputOffset() != int64(len(got)) {
		return fmt.Errorf("unexpected bytes at %d", g.InputOffset())
	}
	return nil
}

func sameToken(want, got json.Token) bool {
	pattern, isPattern := want.(string)
	if !isPattern || !strings.HasPrefix(pattern, "~") {
		return want == got
	}
	text, isString := got.(string)
	return isString && regexp.MustCompile(pattern[1:]).MatchString(text)
}
