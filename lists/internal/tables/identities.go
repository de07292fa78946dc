package tables

import (
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/addrspec/addrspec/lists"
)

// Identities are the rules of canonical.txt.
type Identities struct {
	Rules     []lists.Rule
	Providers map[string]int // provider's domain -> number of its rule, from 1
}

// ReadIdentities reads canonical.txt. A line in brackets begins a rule; the domains
// to which it applies follow, one per line.
func ReadIdentities(dir string) (Identities, error) {
	i := Identities{Providers: map[string]int{}}
	err := eachLine(filepath.Join(dir, "canonical.txt"), func(line string) error {
		if strings.HasPrefix(line, "[") {
			rule, err := parseRule(line)
			i.Rules = append(i.Rules, rule)
			return err
		}
		domain, err := Canonical(line)
		switch {
		case err != nil:
			return err
		case len(i.Rules) == 0:
			return fmt.Errorf("%s is before the first rule", domain)
		case i.Providers[domain] != 0:
			return fmt.Errorf("%s is listed twice", domain)
		}
		i.Providers[domain] = len(i.Rules)
		return nil
	})
	if err != nil {
		return i, err
	}
	seen := map[string]bool{}
	for n, r := range i.Rules {
		if seen[r.Name] {
			return i, fmt.Errorf("canonical.txt: there are two rules %s", r.Name)
		}
		seen[r.Name] = true
		if r.Domain != "" && i.Providers[r.Domain] != n+1 {
			return i, fmt.Errorf("canonical.txt: %s is not a domain of the rule %s", r.Domain, r.Name)
		}
	}
	return i, nil
}

// parseRule parses a line "[name] option… URL DAY", where URL is the provider's
// page and DAY the day on which somebody read it.
func parseRule(line string) (r lists.Rule, err error) {
	f := strings.Fields(line)
	if len(f) < 4 || !strings.HasSuffix(f[0], "]") {
		return r, fmt.Errorf("want [name], options, the provider's page and the day it was read, got %q", line)
	}
	r.Name = strings.Trim(f[0], "[]")
	options, address, day := f[1:len(f)-2], f[len(f)-2], f[len(f)-1]
	for _, option := range options {
		name, value, _ := strings.Cut(option, "=")
		switch {
		case option == "tags":
			r.Tags = true
		case option == "subdomains":
			r.Subdomains = true
		case name == "ignores" && value != "" && strings.Trim(value, ".-_") == "":
			r.Ignored = value
		case name == "domain" && value != "":
			r.Domain = value
		default:
			return r, fmt.Errorf("%q is not an option: want tags, subdomains, ignores=CHARACTERS of . - and _, or domain=DOMAIN", option)
		}
	}
	if page, err := url.Parse(address); err != nil || page.Scheme != "https" || page.Host == "" {
		return r, fmt.Errorf("%q is not the https address of a page", address)
	}
	_, err = time.Parse(time.DateOnly, day)
	return r, err
}
