package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/addrspec/addrspec/lists/feed"
	"github.com/addrspec/addrspec/lists/sources"
	"github.com/addrspec/addrspec/origin/check/output"
	"github.com/addrspec/addrspec/origin/service"
	"github.com/addrspec/addrspec/origin/words"
	"github.com/addrspec/addrspec/wasm/host"
	"github.com/addrspec/addrspec/wasm/result"
)

// listsWhyCmd prints the entry that classifies a domain. Its facts are those of
// details.provider_evidence, from the same module and lists.
type listsWhyCmd struct {
	service.ModuleFlags
	Domains []string `arg:"" name:"domain" help:"Domains, as they are behind the @ of an address."`
	To      string   `enum:"table,json" default:"table" help:"Output format: table, for people, or json (an array with an object for each domain)."`
}

func (*listsWhyCmd) Help() string {
	return `Prints the class, the entry that decides, whether it covers subdomains, the lists that
carry it, and the first day on which one of them is known to have carried it. The exit
code is 3 if a domain has no entry. Correct a wrong entry with --lists-extra;
origin/deploy/lists.md has how, and where to report it.`
}

// shownReason is why a domain has its class. Class, Entry and what is about the entry are
// null if there is none.
type shownReason struct {
	Domain         string        `json:"domain"`
	Class          *string       `json:"class"`
	Entry          *string       `json:"entry"`
	Subdomains     *bool         `json:"subdomains"`
	Sources        []shownSource `json:"sources"`
	FirstDay       *string       `json:"first_day"`
	TypoSuggestion *string       `json:"typo_suggestion"`
	Lists          string        `json:"lists"`
}

// shownSource is a list that carries the entry. FirstDay is null if it is not known.
type shownSource struct {
	feed.Source
	FirstDay *string `json:"first_day"`
}

func (c *listsWhyCmd) Run(ctx context.Context, std streams) error {
	engine, err := c.Engine(ctx)
	if err != nil {
		return err
	}
	defer engine.Close(context.WithoutCancel(ctx))
	published, err := c.published(engine.View().Info().Lists)
	if err != nil {
		return err
	}
	var reasons []shownReason
	without := 0 // have no entry, which is the exit code 3
	for n, domain := range c.Domains {
		reason, err := why(ctx, engine.View(), domain, published)
		if err != nil {
			return service.UsageError{Err: fmt.Errorf("domain %d of %d: %w", n+1, len(c.Domains), err)}
		}
		if reason.Entry == nil {
			without++
		}
		reasons = append(reasons, reason)
	}
	if c.To == "json" {
		err = printJSON(std.out, reasons)
	} else {
		w := tabwriter.NewWriter(std.out, 0, 0, 2, ' ', 0)
		for n, s := range reasons {
			if n > 0 {
				fmt.Fprintln(w)
			}
			s.print(w)
		}
		err = w.Flush()
	}
	if err == nil && without > 0 {
		err = service.ExitError{Err: fmt.Errorf("no entry for %d of %s", without, words.Count(len(reasons), "domain")), Code: 3}
	}
	return err
}

// published returns the sources by name. Those of a module of another program are known
// only by name.
func (c *listsWhyCmd) published(used string) (map[string]feed.Source, error) {
	summary := feed.DescribeBuiltIn()
	blob, err := c.Blob()
	if blob != nil && err == nil {
		summary, err = feed.DescribeBlob(blob)
	}
	if err != nil {
		return nil, fmt.Errorf("--lists: %w", err)
	}
	byName := map[string]feed.Source{}
	if summary.Version == used || c.ListsExtra != "" {
		for _, s := range summary.Sources {
			byName[s.Name] = s
		}
	}
	return byName, nil
}

// why returns the reason for one domain. Its errors contain no address.
func why(ctx context.Context, view *host.View, domain string, published map[string]feed.Source) (s shownReason, err error) {
	domain = strings.TrimSuffix(strings.TrimSpace(domain), ".") // of the root, which no address has
	if strings.Contains(domain, "@") {
		return s, errors.New("this is an address: give only its domain, which is behind the @")
	}
	facts, err := view.Check(ctx, nil, "postmaster@"+domain, host.Details)
	if err != nil {
		return s, err
	}
	r, err := result.Parse(facts.JSON)
	switch {
	case err != nil:
		return s, err
	case r.Details.Refusal != nil:
		return s, fmt.Errorf("this is not a domain: %s", r.Details.Refusal.Sentence)
	case strings.HasPrefix(r.Domain, "["):
		return s, errors.New("this is the address of a host (RFC 5321 section 4.1.3), and lists have domains")
	}
	s = shownReason{Domain: r.Domain, Sources: []shownSource{}, TypoSuggestion: optional(r.TypoSuggestion),
		Lists: view.Info().Lists}
	e := r.Details.Provider
	if e == nil {
		return s, nil
	}
	s.Class, s.Entry, s.Subdomains = &e.Class, &e.Entry, &e.Subdomains
	for _, name := range e.Sources {
		source := shownSource{published[name], optional(sources.FirstDay(name, e.Entry))}
		source.Name = name
		s.Sources = append(s.Sources, source)
		if day := source.FirstDay; day != nil && (s.FirstDay == nil || *day < *s.FirstDay) {
			s.FirstDay = day
		}
	}
	return s, nil
}

func optional(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// print prints a row for each fact. Domains may have letters of any script.
func (s *shownReason) print(w io.Writer) {
	row := func(name, value string) { fmt.Fprintf(w, "%s\t%s\n", name, value) }
	row("domain", output.Printable(s.Domain))
	switch {
	case s.Entry != nil:
		row("class", *s.Class)
		covers := ", covers no subdomain"
		switch {
		case strings.Count(s.Domain, ".") > strings.Count(*s.Entry, "."):
			covers = ", a parent, which covers all names below its own"
		case *s.Subdomains:
			covers = ", covers all names below its own too"
		}
		row("entry", *s.Entry+covers)
		if s.FirstDay == nil {
			row("first day", "unknown")
		} else {
			row("first day", *s.FirstDay+" or earlier") // because nobody may have kept the days before
		}
		name := "sources"
		for _, source := range s.Sources {
			text := strings.TrimSpace(source.Name + " " + source.Version)
			if source.Licence != "" {
				text += ", " + source.Licence
			}
			if source.Day != "" {
				text += ", this version fetched " + source.Day
			}
			if source.FirstDay != nil {
				text += ", carried it on " + *source.FirstDay
			}
			row(name, text)
			name = ""
		}
	case s.TypoSuggestion != nil:
		row("class", "none: it has no entry")
		row("typo", "probably a misspelling of "+output.Printable(*s.TypoSuggestion))
	default:
		row("class", "none: neither it nor a parent that covers it has an entry; its mail exchanges are not looked at")
	}
	row("lists", s.Lists)
}
