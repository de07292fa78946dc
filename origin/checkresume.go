package main

import (
	"fmt"
	"slices"
	"strings"
)

// A commandLine is how the program was called, for messages that repeat it.
type commandLine []string

// with returns the line with further flags, unless it has them.
func (l commandLine) with(flags []string) commandLine {
	if len(flags) == 0 || slices.Contains(l, flags[0]) {
		return l
	}
	at := len(l)
	if end := slices.Index(l, "--"); end >= 0 {
		at = end
	}
	return slices.Insert(slices.Clone(l), at, flags...)
}

// hint returns how to go on after n records, or "" if nobody can: addresses that
// were typed are not there to be read again.
func (l commandLine) hint(n int64, in *checkInput, out *checkOutput) string {
	if in.typed {
		return ""
	}
	hint, line := "; to go on", l.resume(n)
	if in.stdinUsed {
		hint += ", with the same input again"
	}
	if out.file == nil && !out.terminal {
		hint += ", where FILE has the output so far"
		line += " >> FILE"
	}
	return hint + ": " + line
}

// resume returns the command line that goes on after n records. It has no key:
// messages end up in logs. The flag comes first, since after -- it would be an
// argument.
func (l commandLine) resume(n int64) string {
	words := []string{"addrspec", "check", "--resume", fmt.Sprint(n)}
	for k := 0; k < len(l); k++ {
		switch name, _, joined := strings.Cut(l[k], "="); {
		case l[k] == "--":
			return strings.Join(append(words, quoteAll(l[k:])...), " ")
		case name == "check" && !slices.Contains(l[:k], "check"):
		case name == "--resume" || name == "--key":
			if !joined {
				k++
			}
		default:
			words = append(words, shellQuote(l[k]))
		}
	}
	return strings.Join(words, " ")
}

func quoteAll(words []string) (quoted []string) {
	for _, word := range words {
		quoted = append(quoted, shellQuote(word))
	}
	return quoted
}
