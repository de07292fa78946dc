package main

import "context"

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
			func(ctx context.Context, l *lab) (p pair, err error) {
				if p.Ours, err = l.native(ctx, "facts", email); err != nil {
					return p, err
				}
				p.Peer, err = l.native(ctx, "mail", email)
				return p, err
			}})
	}
	return list
}
