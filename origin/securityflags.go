package main

import (
	"github.com/addrspec/addrspec/origin/securitytxt"
)

// securityFlags are the content of /.well-known/security.txt.
type securityFlags struct {
	SecurityContact   []string `sep:"none" placeholder:"URI" help:"Where to report a vulnerability of this service: a mailto:, https: or tel: URI, the preferred one first; repeat it for up to 10. With it, /.well-known/security.txt is served (RFC 9116)."`
	SecurityPolicy    string   `placeholder:"URI" help:"The https: URI of your policy for such reports, for security.txt."`
	SecurityLanguages string   `placeholder:"TAGS" help:"The languages you read, such as en,de, for security.txt."`
}

// securityTxt returns the file. Its canonical address is known only from
// --public-url, and must have https (RFC 9116 section 2.5.2).
func (c *serveCmd) securityTxt() *securitytxt.File {
	file := &securitytxt.File{Contacts: c.SecurityContact, Policy: c.SecurityPolicy, Languages: c.SecurityLanguages}
	if public, err := c.publicURL(""); err == nil && public.Scheme == "https" {
		file.Canonical = public.JoinPath(securitytxt.Path).String()
	}
	return file
}
