package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/addrspec/addrspec/core"
	"github.com/addrspec/addrspec/core/eval/peers"
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
	caught := row{check: "disposable: caught, %", data: "domains of the proof-backed list", floor: 99, target: 99}
	flagged := row{check: "disposable: flagged", data: "real domains", lower: true}
	caught.mustBe(lists.Disposable, provenDomains(listed))
	looks := row{check: "looks_disposable: flagged", data: "real domains", lower: true}
	flagged.mayNotBe(lists.Disposable, ownedDomains(real))
	looks.mayNotBe(lists.Unproven, ownedDomains(real))
	return []row{caught, flagged, looks}
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

// runReal measures the domains of real addresses that were labelled by hand. They
// are rows on which we or a peer raised a flag, so the figures are no rates of mail.
func runReal(dir string) ([]row, error) {
	var rows []row
	for _, measure := range []func(dir string) ([]row, error){realDisposable, realListErrors, realTypo, realPublic, realHosts} {
		measured, err := measure(filepath.Join(dir, "real"))
		if errors.Is(err, errNoColumn) {
			fmt.Fprintln(os.Stderr, "eval: not measured:", err)
			continue
		}
		if err != nil {
			return rows, err
		}
		rows = append(rows, measured...)
	}
	return rows, nil
}

func realDisposable(dir string) ([]row, error) {
	labelled, err := readColumns(filepath.Join(dir, "disposable_labels.tsv"), "domain", "label")
	if err != nil {
		return nil, err
	}
	yes, no := first(where(labelled, "disposable")), first(where(labelled, "not_disposable"))
	caught := row{check: "disposable, labelled: caught, %", data: "domains", floor: 86, target: 85}
	flagged := row{check: "disposable, labelled: wrong flags", data: "domains", lower: true}
	either := row{check: "disposable or looks so, labelled: caught, %", data: rowsOf("domains", len(yes)), floor: 90, target: 90}
	looks := row{check: "looks_disposable, labelled: others", data: "domains", lower: true}
	caught.mustBe(lists.Disposable, yes)
	flagged.mayNotBe(lists.Disposable, no)
	looks.mayNotBe(lists.Unproven, no)
	for _, domain := range yes {
		class := lists.Default().Provider([]byte(domain))
		either.count(class&(lists.Disposable|lists.Unproven) != 0, domain, "disposable or looks so")
	}
	return []row{caught, flagged, either.percentOf(len(yes)), looks}, nil
}

// realListErrors measures domains that lists had wrong, and names that say what they are.
func realListErrors(dir string) ([]row, error) {
	labelled, err := readColumns(filepath.Join(dir, "list_errors.tsv"), "domain", "label")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %w", errNoColumn, err)
	}
	if err != nil {
		return nil, err
	}
	yes, no := first(where(labelled, "disposable")), first(where(labelled, "not_disposable"))
	caught := row{check: "disposable, self-named: caught, %", data: "domains on no list", floor: 100, target: 100}
	flagged := row{check: "disposable, lists' own errors: flagged", data: "domains", lower: true}
	looks := row{check: "looks_disposable, lists' own errors: flagged", data: "domains", lower: true}
	caught.mustBe(lists.Disposable, yes)
	flagged.mayNotBe(lists.Disposable, no)
	looks.mayNotBe(lists.Unproven, no)
	return []row{caught, flagged, looks}, nil
}

func realTypo(dir string) ([]row, error) {
	labelled, err := readColumns(filepath.Join(dir, "typo_labels.tsv"), "domain", "intended", "label")
	if err != nil {
		return nil, err
	}
	misspelled, real := where(labelled, "typo"), where(labelled, "real_or_host")
	right := row{check: "typo, labelled: right, %", data: rowsOf("domains", len(misspelled)), floor: 96.4, target: 100 * 108. / 113}
	wrong := row{check: "typo, labelled: wrong", data: right.data, lower: true}
	flagged := row{check: "typo, labelled: wrong flags", data: rowsOf("real domains and hosts", len(real)), lower: true}
	c := core.New(lists.Default())
	for _, fields := range misspelled {
		right.suggests(&wrong, fields[0], fields[1], suggestionFor(c, fields[0]))
	}
	for _, fields := range real {
		if got := suggestionFor(c, fields[0]); got != "" {
			flagged.figure++
			flagged.miss("real", fields[0], "no suggestion", got)
		}
	}
	return []row{right.percentOf(len(misspelled)), wrong, flagged}, nil
}

// suggests counts a suggestion that is right, or wrong in the other row.
func (r *row) suggests(wrong *row, typed, meant, got string) {
	switch got {
	case meant:
		r.figure++
	case "":
		r.miss("typo", typed, meant, "no suggestion")
	default:
		wrong.figure++
		wrong.miss("typo", typed, meant, got)
	}
}

func realPublic(dir string) ([]row, error) {
	missed, err := readColumns(filepath.Join(dir, "public_missed.tsv"), "domain")
	if err != nil {
		return nil, err
	}
	known := row{check: "public, missed before: known, %", data: "domains", floor: 100, target: 90}
	known.mustBe(lists.Public, first(missed))
	return []row{known}, nil
}

// realHosts measures the hosts that take no mail, so that their addresses have the role
// NoReply, and the services that forward, which are relays or public.
func realHosts(dir string) ([]row, error) {
	hosts, err := readColumns(filepath.Join(dir, "relay_noreply_missed.tsv"), "domain", "kind")
	if err != nil {
		return nil, err
	}
	none, forward := first(where(hosts, "no_mail")), first(where(hosts, "forwarder", "alias"))
	noReply := row{check: "role: NoReply by host, %", data: rowsOf("hosts", len(none)), floor: 100, target: 90}
	known := row{check: "relay or public, missed before: known, %", data: rowsOf("domains", len(forward)), floor: 100, target: 80}
	c := core.New(lists.Default())
	for _, host := range none {
		noReply.expect(c.Check([]byte("jane@"+host)).Role.String(), "NoReply", host)
	}
	for _, domain := range forward {
		class := lists.Default().Provider([]byte(domain))
		known.count(class == lists.Relay || class == lists.Public, domain, "relay or public")
	}
	return []row{noReply.percentOf(len(none)), known.percentOf(len(forward))}, nil
}

func (r *row) expect(got, want, given string) { r.count(got == want, given, want) }

func (r *row) count(right bool, given, want string) {
	if right {
		r.figure++
	} else {
		r.miss("", given, want, "another")
	}
}

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
	return &comparison{title: title, question: question, own: func(domain string) peers.Result {
		return peers.Result{Yes: lists.Default().Provider([]byte(domain)) == class}
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
