package core

import (
	"bytes"

	"github.com/addrspec/addrspec/lists"
)

// takesNoMail reports whether host takes no mail by design: its entry in the
// lists says so, or one of its labels does. class is that of the entry.
func takesNoMail(class lists.Class, host []byte) bool {
	return class == lists.NoMail || class == 0 && noReplyPart(host) != nil
}

// noReplyPart returns the part of host from the label that says that nobody
// reads mail there, such as noreply.example.org; nil if there is no such label,
// or if it is the name that somebody registered: a company may be called so.
func noReplyPart(host []byte) []byte {
	for rest := host; ; {
		dot := bytes.IndexByte(rest, '.')
		if dot < 0 {
			return nil
		}
		if isNoReplyLabel(rest[:dot]) && !mayBeSuffix(rest[dot+1:]) {
			return rest
		}
		rest = rest[dot+1:]
	}
}

func isNoReplyLabel(label []byte) bool {
	switch string(label) {
	case "noreply", "no-reply", "donotreply", "do-not-reply":
		return true
	}
	return false
}

// mayBeSuffix reports whether names may be registered directly below name: a
// top-level domain, or a short label below a country's, such as co.uk.
func mayBeSuffix(name []byte) bool {
	dot := bytes.IndexByte(name, '.')
	return dot < 0 || dot <= len("com") && len(name)-dot-1 == 2
}
