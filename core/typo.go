package core

import "github.com/addrspec/addrspec/lists"

// typo returns the provider that domain misspells, or nil. domain is in
// A-label form and stands in no list.
func typo(l *lists.Lists, domain []byte) []byte { return nil }
