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
		return i.addDomain(line)
	})
	if err == nil {
		err = i.check()
	}
	return i, err
}

// addDomain adds a domain to the last rule.
func (i *Identities) addDomain(line string) error {
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
}

// check requires the names of the rules to be different, and the domain that a
// rule names to be one of its own.
func (i *Identities) check() error {
	seen := map[string]bool{}
	for n, r := range i.Rules {
		if seen[r.Name] {
			return fmt.Errorf("canonical.txt: there are two rules %s", r.Name)
		}
		seen[r.Name] = true
		if r.Domain != "" && i.Providers[r.Domain] != n+1 {
			return fmt.Errorf("canonical.txt: %s is not a domain of the rule %s", r.Domain, r.Name)
		}
	}
	return nil
}

// parseRule parses a line "[name] option… URL DAY", where URL is the provider's
// page and DAY the day on which somebody read it.
func parseRule(line string) (r lists.Rule, err error) {
	f := strings.Fields(line)
	if len(f) < 4 || !strings.HasSuffix(f[0], "]") {
		return r, fmt.Errorf("want [name], options, the provider's page and the day it was read, got %q", line)
	}
	r.Name = strings.Trim(f[0], "[]")
	for _, option := range f[1 : len(f)-2] {
		if err := setOption(&r, option); err != nil {
			return r, err
		}
	}
	if page, err := url.Parse(f[len(f)-2]); err != nil || page.Scheme != "https" || page.Host == "" {
		return r, fmt.Errorf("%q is not the https address of a page", f[len(f)-2])
	}
	_, err = time.Parse(time.DateOnly, f[len(f)-1])
	return r, err
}

// setOption sets an option of a rule.
func setOption(r *lists.Rule, option string) error {
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
		return fmt.Errorf("%q is not an option: want tags, subdomains, ignores=CHARACTERS of . - and _, or domain=DOMAIN", option)
	}
	return nil
}
