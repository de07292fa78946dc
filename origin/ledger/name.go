package ledger

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// checkName bounds what people are shown again in lists.
func checkName(of, name string) error {
	odd := func(r rune) bool { return !unicode.IsGraphic(r) }
	if name == "" || len(name) > maxName || !utf8.ValidString(name) || strings.ContainsFunc(name, odd) {
		return fmt.Errorf("the name of %s must have 1 to %d octets and no control characters", of, maxName)
	}
	return nil
}
