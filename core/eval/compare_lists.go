package main

import (
	"fmt"
	"path/filepath"

	"github.com/addrspec/addrspec/core/eval/peers"
	"github.com/addrspec/addrspec/lists"
)

func compareDisposable(dir string) (*comparison, error) {
	labelled, err := readColumns(filepath.Join(dir, "real", "disposable_labels.tsv"), "domain", "label")
	if err != nil {
		return nil, err
	}
	real, err := readRealDomains(dir)
	if err != nil {
		return nil, err
	}
	listed, err := readWords(filepath.Join("lists", "sources", "domains.txt"))
	if err != nil {
		return nil, err
	}
	relays, err := readWords(filepath.Join("lists", "relay.txt"))
	c := newProviderComparison("disposable", peers.Disposable, lists.Disposable)
	c.note = "ours is merged from the lists beside it and others; the proof-backed list is disposable-email-domains of PyPI itself; the labelled domains are of real addresses (tuned on), and those that are not disposable were chosen because some list has them"
	c.addDomains("proven", provenDomains(listed))
	c.addDomains("real", ownedDomains(real))
	c.addDomains("relay", relayNames(relays))
	c.addDomains("seen", first(where(labelled, "disposable")))
	c.addDomains("seen-other", first(where(labelled, "not_disposable")))
	c.columns = []string{
		fmt.Sprintf("caught, %% of %d proof-backed", c.rows("proven")), fmt.Sprintf("of %d real domains flagged", c.rows("real")),
		fmt.Sprintf("of %d relay services flagged", c.rows("relay")), fmt.Sprintf("caught of %d seen", c.rows("seen")),
		fmt.Sprintf("of %d others seen flagged", c.rows("seen-other")),
	}
	c.measure = func(c *comparison, answers, _ []peers.Answer) []string {
		return []string{c.percent(answers, saysYes, "proven"), c.number(answers, saysYes, "real"), c.number(answers, saysYes, "relay"),
			c.number(answers, saysYes, "seen"), c.number(answers, saysYes, "seen-other")}
	}
	return c, err
}

func newProviderComparison(title string, question peers.Question, class lists.Class) *comparison {
	return &comparison{title: title, question: question, own: func(domain string) peers.Answer {
		return peers.Answer{Yes: lists.Default().Provider([]byte(domain)) == class}
	}}
}

func (c *comparison) addDomains(group string, domains []string) {
	for _, domain := range domains {
		c.examples = append(c.examples, example{value: domain, group: group})
	}
}

func comparePublic(dir string) (*comparison, error) {
	real, err := readRealDomains(dir)
	if err != nil {
		return nil, err
	}
	missed, err := readColumns(filepath.Join(dir, "real", "public_missed.tsv"), "domain")
	providers, owned := providersAndOwned(real)
	c := newProviderComparison("public", peers.Public, lists.Public)
	c.note = "mail providers of the world by hand, with brands of telecoms that have no open sign-up (tuned on)"
	c.addDomains("provider", providers)
	c.addDomains("owned", owned)
	c.addDomains("missed", first(missed))
	c.columns = []string{
		fmt.Sprintf("known, %% of %d", c.rows("provider")), fmt.Sprintf("of %d universities and top sites flagged", c.rows("owned")),
		fmt.Sprintf("known of %d that addrspec once missed", c.rows("missed")),
	}
	c.measure = func(c *comparison, answers, _ []peers.Answer) []string {
		return []string{c.percent(answers, saysYes, "provider"), c.number(answers, saysYes, "owned"), c.number(answers, saysYes, "missed")}
	}
	return c, err
}
