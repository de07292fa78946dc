package tables

import (
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/addrspec/addrspec/lists"
)

// Exchange is a suffix of exchanges.txt with what its group says about it.
type Exchange struct {
	Suffix   string // covers its own name and every name below it
	Class    string // one of lists.ExchangeClasses
	Provider string
	Evidence string // an https address, or npm:NAME@VERSION, or pypi:NAME@VERSION
	Day      string // on which the evidence was read
}

const (
	exchangesFile = "exchanges.txt"
	maxTemporary  = 60 // rows of class temporary, so that a person can read all of them
	maxProvider   = 64 // bytes in a provider's name
)

// ReadExchanges reads exchanges.txt in its order. A line in brackets begins a group with
// a provider, a class, the evidence and its day; suffixes follow, one per line.
func ReadExchanges(dir string) (rows []Exchange, err error) {
	var group Exchange // of the lines that follow
	begun, temporary := 0, 0
	seen := map[string]bool{}
	empty := func() error {
		if group.Provider != "" && len(rows) == begun {
			return fmt.Errorf("the group [%s] has no suffix: add one below it, or remove it", group.Provider)
		}
		return nil
	}
	err = eachLine(filepath.Join(dir, exchangesFile), func(line string) (err error) {
		if strings.HasPrefix(line, "[") {
			if err := empty(); err != nil {
				return err
			}
			begun = len(rows)
			group, err = parseExchangeGroup(line)
			return err
		}
		name, err := Canonical(line)
		if group.Class == lists.TemporaryExchange {
			temporary++
		}
		switch {
		case err != nil:
			return err
		case name != line:
			return fmt.Errorf("%s must be in lower case and A-label form: write %s", line, name)
		case isPublicSuffix(name):
			return fmt.Errorf("%s is a public suffix: anybody can register names below it", name)
		case group.Provider == "":
			return fmt.Errorf("%s is before the first group: want a line [provider] class evidence day above it", name)
		case seen[name]:
			return fmt.Errorf("%s is listed twice", name)
		case temporary > maxTemporary:
			return fmt.Errorf("%s is suffix %d of class temporary: at most %d are allowed, so that a person can read them all; remove those that are not used any more",
				name, temporary, maxTemporary)
		}
		seen[name] = true
		row := group
		row.Suffix = name
		rows = append(rows, row)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := empty(); err != nil {
		return nil, fmt.Errorf("%s: %w", exchangesFile, err)
	}
	return rows, nil
}

var packageVersion = regexp.MustCompile(`^(npm:(@[a-z0-9._-]+/)?|pypi:)[A-Za-z0-9][A-Za-z0-9._-]*@[0-9][0-9A-Za-z.+-]*$`)

// parseExchangeGroup parses a line "[provider] class evidence day".
func parseExchangeGroup(line string) (e Exchange, err error) {
	provider, rest, closed := strings.Cut(line[1:], "]")
	f := strings.Fields(rest)
	if !closed || len(f) != 3 {
		return e, fmt.Errorf("want [provider], class, evidence and the day it was read, got %q; a # begins a comment, so a page has no fragment", line)
	}
	e = Exchange{Provider: provider, Class: f[0], Evidence: f[1], Day: f[2]}
	escaped := func(r rune) bool { return r < ' ' || r > '~' || r == '"' || r == '\\' } // in JSON
	page, err := url.Parse(e.Evidence)
	isPage := err == nil && page.Scheme == "https" && strings.Contains(page.Host, ".")
	_, err = time.Parse(time.DateOnly, e.Day)
	switch {
	case provider == "", len(provider) > maxProvider, provider != strings.TrimSpace(provider),
		strings.ContainsFunc(provider, escaped):
		err = fmt.Errorf("%q is not the name of a provider: want 1 to %d printable ASCII characters without quotation mark, backslash and surrounding spaces", provider, maxProvider)
	case !slices.Contains(lists.ExchangeClasses, e.Class):
		err = fmt.Errorf("%q is not a class of exchanges: want one of %s", e.Class, strings.Join(lists.ExchangeClasses, " "))
	case !isPage && !packageVersion.MatchString(e.Evidence):
		err = fmt.Errorf("%q is not evidence: want the https address of a page, npm:NAME@VERSION or pypi:NAME@VERSION", e.Evidence)
	case err != nil:
		err = fmt.Errorf("%q is not a day: want the form 2026-11-24", e.Day)
	}
	return e, err
}

// Identities are the rules of canonical.txt.
type Identities struct {
	Rules     []lists.Rule
	Providers map[string]int // provider's domain -> number of its rule, from 1
}

// ReadIdentities reads canonical.txt.
func ReadIdentities(dir string) (i Identities, err error) {
	i.Providers, err = readRules(dir, "canonical.txt", func(name string, options []string) error {
		rule, err := parseIdentity(name, options)
		i.Rules = append(i.Rules, rule)
		return err
	})
	for n, r := range i.Rules {
		if err == nil && r.Domain != "" && i.Providers[r.Domain] != n+1 {
			err = fmt.Errorf("canonical.txt: %s is not a domain of the rule %s", r.Domain, r.Name)
		}
	}
	return i, err
}

func parseIdentity(rule string, options []string) (r lists.Rule, err error) {
	r.Name = rule
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
	return r, nil
}

// Mailboxes are the rules of mailboxes.txt.
type Mailboxes struct {
	Rules     []lists.MailboxRule
	Providers map[string]int // provider's domain -> number of its rule, from 1
}

// ReadMailboxes reads mailboxes.txt.
func ReadMailboxes(dir string) (m Mailboxes, err error) {
	m.Providers, err = readRules(dir, "mailboxes.txt", func(name string, options []string) error {
		rule, err := parseMailbox(name, options)
		m.Rules = append(m.Rules, rule)
		return err
	})
	return m, err
}

const longest = 64 // bytes of a local part (RFC 5321 section 4.5.3.1.1)

func parseMailbox(rule string, options []string) (r lists.MailboxRule, err error) {
	r = lists.MailboxRule{Name: rule, Least: 1, Most: longest}
	anyFirst := true
	for _, option := range options {
		name, value, _ := strings.Cut(option, "=")
		number, _ := strconv.Atoi(value)
		size := number >= 1 && number <= longest
		switch {
		case name == "characters" && strings.Trim(value, ".-_") == "":
			r.Characters = value
		case option == "first=alphanumeric":
			anyFirst = false
		case name == "least" && size:
			r.Least = number
		case name == "most" && size:
			r.Most = number
		default:
			return r, fmt.Errorf("%q is not an option: want characters=CHARACTERS of . - and _, first=alphanumeric, least=N or most=N with N from 1 to %d", option, longest)
		}
	}
	if r.Least > r.Most {
		return r, fmt.Errorf("the least length of %s, %d, is above its most, %d", rule, r.Least, r.Most)
	}
	if anyFirst {
		r.First = r.Characters
	}
	return r, nil
}

// readRules reads a file of rules and calls add for each. A line "[name] option… URL DAY"
// begins a rule, where URL is the provider's page and DAY the day on which somebody read it;
// the domains to which the rule applies follow, one per line. It returns the number of each
// domain's rule, from 1.
func readRules(dir, file string, add func(name string, options []string) error) (domains map[string]int, err error) {
	domains, names := map[string]int{}, map[string]bool{}
	return domains, eachLine(filepath.Join(dir, file), func(line string) error {
		if !strings.HasPrefix(line, "[") {
			domain, err := Canonical(line)
			switch {
			case err != nil:
				return err
			case len(names) == 0:
				return fmt.Errorf("%s is before the first rule", domain)
			case domains[domain] != 0:
				return fmt.Errorf("%s is listed twice", domain)
			}
			domains[domain] = len(names)
			return nil
		}
		f := strings.Fields(line)
		if len(f) < 4 || !strings.HasSuffix(f[0], "]") {
			return fmt.Errorf("want [name], options, the provider's page and the day it was read, got %q", line)
		}
		name, options, address, day := strings.Trim(f[0], "[]"), f[1:len(f)-2], f[len(f)-2], f[len(f)-1]
		if names[name] {
			return fmt.Errorf("there are two rules %s", name)
		}
		names[name] = true
		page, err := url.Parse(address)
		if err != nil || page.Scheme != "https" || page.Host == "" {
			return fmt.Errorf("%q is not the https address of a page", address)
		}
		_, err = time.Parse(time.DateOnly, day)
		if err != nil {
			return err
		}
		return add(name, options)
	})
}
