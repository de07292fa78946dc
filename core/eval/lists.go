package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/addrspec/addrspec/lists"
)

// runLists measures the classes of domains. The proof-backed list among the
// committed sources has the disposable domains; the data of the typo check has
// the real domains.
func runLists(dir string) ([]row, error) {
	listed, err := readWords(filepath.Join("lists", "sources", "domains.txt"))
	if err != nil {
		return nil, err
	}
	relays, err := readWords(filepath.Join("lists", "relay.txt"))
	if err != nil {
		return nil, err
	}
	real, err := readRealDomains(dir)
	if err != nil {
		return nil, err
	}
	return slices.Concat(evalDisposable(listed, real), evalRelay(relays), evalPublic(real)), nil
}

func evalDisposable(listed, real [][]string) []row {
	caught := row{check: "disposable: caught, %", data: "domains of the proof-backed list", floor: 99.5, target: 99}
	flagged := row{check: "disposable: flagged", data: "real domains", lower: true}
	caught.mustBe(lists.Disposable, provenDomains(listed))
	flagged.mayNotBe(lists.Disposable, ownedDomains(real))
	return []row{caught, flagged}
}

// provenDomains returns the domains of the list that requires proof.
func provenDomains(listed [][]string) (proven []string) {
	for _, fields := range listed {
		if strings.Contains(fields[1], "D") {
			proven = append(proven, fields[0])
		}
	}
	return proven
}

// ownedDomains leaves out the group that contains disposable providers too.
func ownedDomains(real [][]string) (owned []string) {
	for _, fields := range real {
		if fields[1] != "free_list" {
			owned = append(owned, fields[0])
		}
	}
	return owned
}

func evalRelay(relays [][]string) []row {
	known := row{check: "relay: known, %", data: "domains, own table", floor: 100, target: 100}
	called := row{check: "relay: called disposable", data: "domains, own table", lower: true}
	domains := relayNames(relays)
	known.mustBe(lists.Relay, domains)
	called.mayNotBe(lists.Disposable, domains)
	return []row{known, called}
}

// relayNames returns the domains of the table, and a name below each whose users
// have names below it.
func relayNames(relays [][]string) (domains []string) {
	for _, fields := range relays {
		name, wildcard := strings.CutPrefix(fields[0], "*.")
		domains = append(domains, name)
		if wildcard {
			domains = append(domains, "someone."+name)
		}
	}
	return domains
}

// evalPublic takes the providers from a list that includes brands of telecoms
// (bt.com, xfinity.com). Their staff use these domains too, so they are not in
// the class and lower the figure.
func evalPublic(real [][]string) []row {
	known := row{check: "public: known, %", data: "providers but relays", floor: 97.5, target: 98}
	flagged := row{check: "public: flagged", data: "universities, top sites", lower: true}
	providers, owned := providersAndOwned(real)
	known.mustBe(lists.Public, providers)
	flagged.mayNotBe(lists.Public, owned)
	return []row{known, flagged}
}

// providersAndOwned returns the providers that are no relays, and the domains whose
// addresses their owners give out.
func providersAndOwned(real [][]string) (providers, owned []string) {
	for _, fields := range real {
		switch fields[1] {
		case "provider":
			if lists.Default().Provider([]byte(fields[0])) != lists.Relay {
				providers = append(providers, fields[0])
			}
		case "university", "university_near", "top", "random_real":
			owned = append(owned, fields[0])
		}
	}
	return providers, owned
}

// mustBe measures the percentage of domains that have class.
func (r *row) mustBe(class lists.Class, domains []string) {
	defer func() { *r = r.percentOf(len(domains)) }()
	r.data = rowsOf(r.data, len(domains))
	l := lists.Default()
	for _, domain := range domains {
		if got := l.Provider([]byte(domain)); got == class {
			r.figure++
		} else {
			r.wrong = append(r.wrong, r.check+": "+domain+" is not")
		}
	}
}

// mayNotBe counts the domains that have class.
func (r *row) mayNotBe(class lists.Class, domains []string) {
	r.data = rowsOf(r.data, len(domains))
	l := lists.Default()
	for _, domain := range domains {
		if l.Provider([]byte(domain)) == class {
			r.figure++
			r.wrong = append(r.wrong, r.check+": "+domain)
		}
	}
}

// readWords reads a table of the project, whose fields are separated by white
// space. A # begins a comment.
func readWords(path string) ([][]string, error) {
	file, err := os.ReadFile(path)
	var table [][]string
	for line := range strings.Lines(string(file)) {
		line, _, _ = strings.Cut(line, "#")
		if fields := strings.Fields(line); len(fields) > 0 {
			table = append(table, fields)
		}
	}
	return table, err
}
