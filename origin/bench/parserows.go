package main

import (
	"context"
	"net/mail"

	"github.com/addrspec/addrspec/core"
	"github.com/addrspec/addrspec/lists"
)

// usualAddresses are usual ones of every kind of provider.
var usualAddresses = []string{
	"jane.doe@example.org", "j.smith@gmail.com", "hans.mueller@stadtwerke-muenchen.de",
	"info@mycompany.de", "user1234@yahoo.co.uk",
}

// parseRows compare all facts about an address, in Go, with the time in which net/mail
// only parses it.
func parseRows() (list []row) {
	for _, email := range usualAddresses {
		list = append(list, row{"all facts of " + email, "ns", "net/mail.ParseAddress", atMost(1.5),
			func(_ context.Context, l *lab) (pair, error) {
				checker, input := core.New(lists.Default()), []byte(email)
				return beside(l.span/2, func() { checker.Check(input) }, func() { _, _ = mail.ParseAddress(email) }), nil
			}})
	}
	return list
}
