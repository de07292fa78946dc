package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// match compares two JSON texts token by token, so order counts. The string
// "*" in want matches any one value.
func match(want, got []byte) error {
	w, g := json.NewDecoder(bytes.NewReader(want)), json.NewDecoder(bytes.NewReader(got))
	w.UseNumber()
	g.UseNumber()
	for w.More() || w.InputOffset() < int64(len(bytes.TrimSpace(want))) {
		expected, err := w.Token()
		if err != nil {
			return fmt.Errorf("the case's own body: %w", err)
		}
		if expected == "*" {
			var any json.RawMessage
			if err := g.Decode(&any); err != nil {
				return fmt.Errorf("at %d: %w", g.InputOffset(), err)
			}
			continue
		}
		found, err := g.Token()
		if err != nil || found != expected {
			return fmt.Errorf("at %d: want %v, got %v (%v)", g.InputOffset(), expected, found, err)
		}
	}
	if g.InputOffset() != int64(len(got)) {
		return fmt.Errorf("something follows at %d", g.InputOffset())
	}
	return nil
}
