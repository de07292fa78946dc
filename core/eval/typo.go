package main

import (
	"path/filepath"

	"github.com/addrspec/addrspec/core"
	"github.com/addrspec/addrspec/core/eval/peers"
	"github.com/addrspec/addrspec/lists"
)

// runTypo measures the suggestions for misspelled providers and for real domains.
func runTypo(dir string) ([]row, error) {
	misspelled, err := readColumns(filepath.Join(dir, "typo", "dev_positives.tsv"), "typed", "intended", "kind")
	if err != nil {
		return nil, err
	}
	real, err := readRealDomains(dir)
	if err != nil {
		return nil, err
	}
	return append(evalMisspelled(misspelled), evalReal(real)...), nil
}

// readRealDomains reads real domains with their groups.
func readRealDomains(dir string) ([][]string, error) {
	return readColumns(filepath.Join(dir, "typo", "dev_negatives_groups.tsv"), "domain", "group")
}

func evalMisspelled(table [][]string) []row {
	c := core.New(lists.Default())
	right := row{check: "typo: right, %", data: rowsOf("misspelled providers", len(table)), floor: 97.6, target: 95}
	wrong := row{check: "typo: wrong, %", data: rowsOf("misspelled providers", len(table)), target: 0.3, lower: true}
	for _, fields := range table {
		typed, meant := fields[0], fields[1]
		switch got := suggestionFor(c, typed); got {
		case meant:
			right.figure++
		case "":
			right.miss(fields[2], typed, meant, "no suggestion")
		default:
			wrong.figure++
			wrong.miss(fields[2], typed, meant, got)
		}
	}
	return []row{right.percentOf(len(table)), wrong.percentOf(len(table))}
}

func evalReal(table [][]string) []row {
	c := core.New(lists.Default())
	all := row{check: "typo: flagged, %", data: rowsOf("real domains", len(table)), target: 0.2, lower: true}
	providers := row{check: "typo: flagged, %", target: 0, lower: true}
	inProviders := 0
	for _, fields := range table {
		domain, group := fields[0], fields[1]
		got := suggestionFor(c, domain)
		if group == "provider" {
			inProviders++
		}
		if got == "" {
			continue
		}
		all.figure++
		all.miss(group, domain, "no suggestion", got)
		if group == "provider" {
			providers.figure++
		}
	}
	providers.data = rowsOf("providers among them", inProviders)
	return []row{all.percentOf(len(table)), providers.percentOf(inProviders)}
}

func suggestionFor(c *core.Checker, domain string) string {
	f := c.Check([]byte("someone@" + domain))
	return string(f.Typo)
}

// miss records a wrong row for -v.
func (r *row) miss(group, given, want, got string) {
	r.wrong = append(r.wrong, r.check+"\t"+group+"\t"+given+"\twant "+want+"\tgot "+got)
}

// percentOf converts the figure, a count, to a percentage of n.
func (r row) percentOf(n int) row {
	r.figure = 100 * r.figure / float64(n)
	return r
}

func compareTypo(dir string) (*comparison, error) {
	misspelled, err := readColumns(filepath.Join(dir, "typo", "dev_positives.tsv"), "typed", "intended")
	if err != nil {
		return nil, err
	}
	real, err := readRealDomains(dir)
	if err != nil {
		return nil, err
	}
	labelled, err := readColumns(filepath.Join(dir, "real", "typo_labels.tsv"), "domain", "intended", "label")
	checker := core.New(lists.Default())
	c := &comparison{title: "typo", question: peers.Typo,
		note: "misspelled domains of providers, real domains, and domains of real addresses on which some tool raised a flag (tuned on)",
		own:  func(domain string) peers.Result { return peers.Result{Text: suggestionFor(checker, domain)} },
	}
	c.addTypos("misspelled", misspelled)
	c.addTypos("real", real)
	c.addTypos("seen", where(labelled, "typo"))
	c.addTypos("seen-real", where(labelled, "real_or_host"))
	c.percent("right", "misspelled", rightText)
	c.percent("wrong", "misspelled", wrongText)
	c.percent("real domains flagged", "real", suggests)
	c.number("seen: right", "seen", rightText)
	c.number("seen: wrong", "seen", wrongText)
	c.number("seen: real ones flagged", "seen-real", suggests)
	return c, err
}

func (c *comparison) addTypos(group string, rows [][]string) {
	for _, fields := range rows {
		c.examples = append(c.examples, example{value: fields[0], group: group, text: fields[1]})
	}
}
