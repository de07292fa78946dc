package main

import (
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
	c.percent("proof-backed caught", "proven", saysYes)
	c.number("real domains flagged", "real", saysYes)
	c.number("relay services flagged", "relay", saysYes)
	c.number("seen: caught", "seen", saysYes)
	c.number("seen: others flagged", "seen-other", saysYes)
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
	c.percent("known", "provider", saysYes)
	c.number("universities and top sites flagged", "owned", saysYes)
	c.number("known of those that addrspec once missed", "missed", saysYes)
	return c, err
}
