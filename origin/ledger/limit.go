package ledger

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// Unlimited stands for no limit, of points or of rate.
const Unlimited = -1

// A Limit is a number that is not negative, or Unlimited.
type Limit int64

// ParseLimit reads a number or the word unlimited.
func ParseLimit(s string) (Limit, error) {
	if s == "unlimited" {
		return Unlimited, nil
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%q is not a limit: write a number from 0 on, or unlimited", s)
	}
	return Limit(n), nil
}

// String writes the number, or the word unlimited.
func (l Limit) String() string {
	if l == Unlimited {
		return "unlimited"
	}
	return strconv.FormatInt(int64(l), 10)
}

// UnmarshalText reads a flag's value.
func (l *Limit) UnmarshalText(text []byte) (err error) {
	*l, err = ParseLimit(string(text))
	return err
}

// UnmarshalJSON reads a number or the string "unlimited".
func (l *Limit) UnmarshalJSON(data []byte) error {
	var word string
	if json.Unmarshal(data, &word) != nil {
		word = string(data)
	}
	return l.UnmarshalText([]byte(word))
}

// MarshalJSON writes a number or the string "unlimited".
func (l Limit) MarshalJSON() ([]byte, error) {
	if l == Unlimited {
		return []byte(`"unlimited"`), nil
	}
	return []byte(l.String()), nil
}
