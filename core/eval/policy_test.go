package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/core"
	"github.com/addrspec/addrspec/core/policy"
	"github.com/addrspec/addrspec/lists"
)

var updateGuide = flag.Bool("update", false, "rewrite the table of policies in their guide")

// guide has the policies to begin with, and what they do on the labelled data.
const guide = "origin/dashboard/docs/guides/policies.md"

// starter matches the name of a policy to begin with, and its document.
var starter = regexp.MustCompile("(?s)\n### ([^\n]+)\n[^#]*?```json\n(.*?)```")

// figure matches a figure of the table.
var figure = regexp.MustCompile(`(?:[<>] )?\b(\d+)\b`)

// The table of the guide is that of its policies on the labelled data, but for two points of
// a percent, so that new lists or a new model rarely change it.
func TestPoliciesToBeginWith(t *testing.T) {
	atRoot(t)
	text, err := os.ReadFile(guide)
	require.NoError(t, err)
	names, policies := starters(t, string(text))
	require.Equal(t, []string{"Permissive sign-up", "Business only", "Newsletter", "Support form"}, names)
	table := "| addresses | " + strings.Join(names, " | ") + " |\n|---|" + strings.Repeat("---|", len(names)) + "\n"
	for _, set := range policySets() {
		table += fmt.Sprintf("| %s, %d |", set.title, len(set.emails))
		for _, p := range policies {
			blocked, reviewed := set.rates(p)
			table += " " + wholePercent(blocked, len(set.emails)) + " / " + wholePercent(reviewed, len(set.emails)) + " |"
		}
		table += "\n"
	}
	before, rest, found := strings.Cut(string(text), "| addresses |")
	require.True(t, found)
	_, after, _ := strings.Cut(rest, "\n\n")
	want := before + table + "\n" + after
	if *updateGuide {
		require.NoError(t, os.WriteFile(guide, []byte(want), 0o644))
		return
	}
	const advice = "run go test ./core/eval -run Policies -update, and read what changed"
	require.Equal(t, figure.ReplaceAllString(want, "N"), figure.ReplaceAllString(string(text), "N"), advice)
	given := figures(string(text))
	for n, measured := range figures(want) {
		require.InDelta(t, measured, given[n], 2, advice)
	}
}

func figures(text string) (list []float64) {
	for _, match := range figure.FindAllStringSubmatch(text, -1) {
		n, _ := strconv.ParseFloat(match[1], 64) // digits
		list = append(list, n)
	}
	return list
}

func starters(t *testing.T, text string) (names []string, policies []*policy.Policy) {
	for _, match := range starter.FindAllStringSubmatch(text, -1) {
		p, err := policy.Parse([]byte(match[2]), core.New(lists.Default()))
		require.NoError(t, err, match[1])
		names, policies = append(names, match[1]), append(policies, p)
	}
	return names, policies
}

// policySet are addresses of one kind, made of the rows of the evaluation.
type policySet struct {
	title  string
	emails []string
}

func policySets() []policySet {
	d := load("core/eval/data")
	locals := func(all []scored, apart ...string) (names []string) {
		main, _ := part(all, apart...)
		for _, s := range main {
			names = append(names, s.name)
		}
		return names
	}
	people := locals(d.people, "digits", "utf8")
	var roles []string
	for _, r := range roleRows(roleTable) {
		if r.category != "" && !strings.Contains(r.local, "@") {
			roles = append(roles, r.local)
		}
	}
	return []policySet{
		{"people at mailbox providers", joined(people, d.providers, len(people))},
		{"people at universities and companies", joined(people, d.owned, len(people))},
		{"domains that some tool called throw-away and that are not, many of them misspelled", joined(people, first(where(d.disposable, "not_disposable")), 0)},
		{"roles at universities and companies", joined(roles, d.owned, len(roles))},
		{"throw-away domains with proof", joined(people, d.proven, 0)},
		{"throw-away domains in real addresses", joined(people, first(where(d.disposable, "disposable")), 0)},
		{"random local parts at mailbox providers", joined(locals(d.random, "hard_"), d.providers, 5000)},
		{"misspelled mailbox providers", joined(people, first(d.misspelled), 0)},
	}
}

// The canonical form of each address of the evaluation, as it is and normalized, is that of the
// details: policies compare by it.
func TestCanonicalForms(t *testing.T) {
	atRoot(t)
	checker := core.New(lists.Default())
	for _, set := range policySets() {
		for _, email := range set.emails {
			var want struct {
				Normalized string
				Details    struct{ Canonical string }
			}
			facts := checker.Check([]byte(email))
			require.NoError(t, json.Unmarshal(checker.AppendDetails(facts.JSON(), &facts), &want))
			if !facts.Valid {
				continue
			}
			for _, text := range []string{email, want.Normalized} {
				checker.Normalize([]byte(text))
				require.Equal(t, want.Details.Canonical, string(checker.AppendCanonical(nil)))
			}
		}
	}
}

// joined returns n addresses, or one of each domain if n is 0. Nobody has most of them.
func joined(locals, domains []string, n int) (emails []string) {
	if n == 0 {
		n = len(domains)
	}
	for i := range n {
		emails = append(emails, locals[i%len(locals)]+"@"+domains[i%len(domains)])
	}
	return emails
}

// rates returns how many of the addresses a policy blocks and reviews, without DNS.
func (s policySet) rates(p *policy.Policy) (blocked, reviewed int) {
	checker := core.New(lists.Default())
	for _, email := range s.emails {
		facts := checker.Check([]byte(email))
		in := policy.Of(&facts, checker.Form(&facts))
		switch p.Evaluate(&in, checker).Action {
		case policy.Block:
			blocked++
		case policy.Review:
			reviewed++
		}
	}
	return blocked, reviewed
}

// wholePercent rounds. What is not nothing and not all is not shown as such.
func wholePercent(part, whole int) string {
	percent := 100 * float64(part) / float64(whole)
	switch {
	case part > 0 && percent < 1:
		return "< 1"
	case part < whole && percent > 99:
		return "> 99"
	}
	return fmt.Sprintf("%.0f", percent)
}

func TestWholePercent(t *testing.T) {
	var got []string
	for _, part := range []int{0, 1, 9, 10, 500, 990, 991, 999, 1000} {
		got = append(got, wholePercent(part, 1000))
	}
	require.Equal(t, []string{"0", "< 1", "< 1", "1", "50", "99", "> 99", "> 99", "100"}, got)
}
