package input

import (
	"io"

	"github.com/addrspec/addrspec/origin/check"
)

// arguments are addresses that are in memory.
type arguments struct{ rest []string }

// FromArguments returns an input of the given addresses.
func FromArguments(emails []string) check.Input { return &arguments{emails} }

// Read appends the next addresses to dst.
func (a *arguments) Read(dst []check.Record) ([]check.Record, error) {
	n := min(max(1, cap(dst)-len(dst)), len(a.rest))
	for _, email := range a.rest[:n] {
		dst = append(dst, check.Record{Email: email})
	}
	if a.rest = a.rest[n:]; len(a.rest) == 0 {
		return dst, io.EOF
	}
	return dst, nil
}
