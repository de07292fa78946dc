package api

import (
	"context"
	"errors"
	"unicode"
	"unicode/utf8"

	"github.com/addrspec/addrspec/wasm/host"
)

// moduleProblem returns the problem of a module call that failed.
func (s *Server) moduleProblem(ctx context.Context, err error) *problem {
	switch {
	case errors.Is(err, host.ErrTooLong):
		return invalidFormat.with(textAddressTooLong)
	case ctx.Err() != nil:
		return unavailable("The request was cancelled before it was finished; nothing was charged.")
	}
	s.logError("module call failed", err)
	return internal.with(textChecksFailed)
}

// sentence makes a clause of the module a sentence: with a capital and a full
// stop.
func sentence(clause string) string {
	first, size := utf8.DecodeRuneInString(clause)
	if size == 0 {
		return textNotValid
	}
	return string(unicode.ToUpper(first)) + clause[size:] + "."
}
