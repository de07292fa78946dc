// Package peers asks other tools the questions that the checks of core answer.
//
// A peer is a package of npm, of PyPI or of the Go proxy, with a small adapter: a
// program that reads rows as JSON lines on its standard input and answers each with
// a line. Install fetches pinned versions, whose integrity the lock files beside the
// adapters record; nothing of a peer is committed. A peer that cannot be installed
// or started is left out with the reason, and a row that it does not answer counts as
// unanswered.
package peers

import "slices"

// Question is what a row asks for.
type Question string

// The questions, and the value and the answer of each.
const (
	Valid      Question = "valid"      // an address: yes if it is valid
	Random     Question = "random"     // a local part: yes if it is gibberish, with a score
	Typo       Question = "typo"       // a domain: the text is the suggested one, or empty
	Disposable Question = "disposable" // a domain: yes if it is listed
	Public     Question = "public"     // a domain: yes if it is listed
	Role       Question = "role"       // a local part: yes if it is a role account
	Canonical  Question = "canonical"  // an address: the text identifies the mailbox
)

// Answer is a tool's answer to one row.
type Answer struct {
	Yes   bool    `json:"yes"`
	Text  string  `json:"text"`
	Score float64 `json:"score"` // higher is more random
	None  string  `json:"none"`  // why there is no answer
}

// Peer is a tool with an adapter.
type Peer struct {
	Name      string
	Adapter   string // names the program in the registry's folder
	Questions []Question
	registry  registry
}

// Answers reports whether the peer answers a question.
func (p Peer) Answers(q Question) bool { return slices.Contains(p.Questions, q) }

// All returns every peer. One is added by a line here, its package in the lock file
// of its registry, and an adapter.
func All() []Peer {
	return []Peer{
		{"validator", "validator", []Question{Valid, Canonical}, npm{}},
		{"isemail", "isemail", []Question{Valid}, npm{}},
		{"asdfjkl", "asdfjkl", []Question{Random}, npm{}},
		{"gibberish-detective", "gibberish-detective", []Question{Random}, npm{}},
		{"mailcheck", "mailcheck", []Question{Typo}, npm{}},
		{"@zootools/email-spell-checker", "zootools", []Question{Typo}, npm{}},
		{"email-misspelled", "email-misspelled", []Question{Typo}, npm{}},
		{"mailchecker", "mailchecker", []Question{Disposable}, npm{}},
		{"disposable-email-domains", "disposable-email-domains", []Question{Disposable}, npm{}},
		{"free-email-domains", "free-email-domains", []Question{Public}, npm{}},
		{"role-based-email-addresses", "role-based-email-addresses", []Question{Role}, npm{}},
		{"email-validator", "email-validator", []Question{Valid}, pypi{}},
		{"nostril-detector", "nostril-detector", []Question{Random}, pypi{}},
		{"gibberish-detector", "gibberish-detector", []Question{Random}, pypi{}},
		{"disposable-email-domains", "disposable-email-domains", []Question{Disposable}, pypi{}},
		{"email-normalize", "email-normalize", []Question{Canonical}, pypi{}},
		{"github.com/AfterShip/email-verifier", "golang", []Question{Valid, Typo, Disposable, Public, Role}, golang{}},
	}
}

// String returns the name and where the peer is from: names repeat between
// registries.
func (p Peer) String() string { return p.Name + " (" + p.registry.String() + ")" }
