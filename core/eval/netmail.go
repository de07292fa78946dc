package main

import (
	"net/mail"
	"runtime"
	"strings"

	"github.com/addrspec/addrspec/core/eval/peers"
)

// netMail is the standard library's parser. It reads what a header has, so an answer
// is yes only if there is no name and no angle bracket around the address.
var netMail = entrant{name: "net/mail (Go)", ask: func(_ peers.Question, value string) peers.Answer {
	parsed, err := mail.ParseAddress(value)
	return peers.Answer{Yes: err == nil && parsed.Name == "" && !strings.HasSuffix(strings.TrimSpace(value), ">")}
}}

func goVersion() string { return strings.TrimPrefix(runtime.Version(), "go") }
