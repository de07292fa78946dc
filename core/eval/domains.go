package main

import (
	"slices"

	"github.com/addrspec/addrspec/core"
	"github.com/addrspec/addrspec/lists"
)

// classed judges whether domains have one of the classes or, if they must not, have not.
func classed(domains []string, must bool, classes ...lists.Class) (rows []judged) {
	l := lists.Default()
	for _, domain := range domains {
		has := slices.Contains(classes, l.Provider([]byte(domain)))
		rows = append(rows, judged{domain, yes(must), yes(has), has == must})
	}
	return rows
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// notFree leaves out the group that contains disposable providers too.
func notFree(real [][]string) (owned []string) {
	for _, fields := range real {
		if fields[1] != "free_list" {
			owned = append(owned, fields[0])
		}
	}
	return owned
}

// evalLists measures the classes of domains. The proof-backed list among the committed sources
// has the disposable domains; the data of the typo check has the real domains.
func evalLists(d *data) []row {
	real := notFree(d.real)
	return []row{
		atLeast("disposable: caught, %", 99, 99).of("domains of the proof-backed list", classed(d.proven, true, lists.Disposable)),
		atMost("disposable: flagged", 0, 0).of("real domains", classed(real, false, lists.Disposable)),
		atMost("looks_disposable: flagged", 0, 0).of("real domains", classed(real, false, lists.Unproven)),
		atLeast("relay: known, %", 100, 100).of("domains, own table", classed(d.relays, true, lists.Relay)),
		atMost("relay: called disposable", 0, 0).of("domains, own table", classed(d.relays, false, lists.Disposable)),
		atLeast("public: known, %", 97.5, 98).of("providers but relays", classed(d.providers, true, lists.Public)),
		atMost("public: flagged", 0, 0).of("universities, top sites", classed(d.owned, false, lists.Public)),
	}
}

// evalReal measures the domains of real addresses that were labelled by hand: rows on which we
// or a peer raised a flag, so the figures are no rates of mail; domains that lists had wrong;
// names that say what they are; hosts that take no mail, so that their addresses have the role
// NoReply; services that forward.
func evalReal(d *data) []row {
	yes, no := first(where(d.disposable, "disposable")), first(where(d.disposable, "not_disposable"))
	named, wrong := first(where(d.listErrors, "disposable")), first(where(d.listErrors, "not_disposable"))
	right, notWrong := suggested(where(d.typos, "typo"))
	c := core.New(lists.Default())
	var noReply []judged
	for _, host := range first(where(d.hosts, "no_mail")) {
		noReply = append(noReply, equal(host, "NoReply", c.Check([]byte("jane@"+host)).Role.String()))
	}
	return []row{
		atLeast("disposable, labelled: caught, %", 86, 85).of("domains", classed(yes, true, lists.Disposable)),
		atMost("disposable, labelled: wrong flags", 0, 0).of("domains", classed(no, false, lists.Disposable)),
		atLeast("disposable or looks so, labelled: caught, %", 90, 90).
			of("domains", classed(yes, true, lists.Disposable, lists.Unproven)),
		atMost("looks_disposable, labelled: others", 0, 0).of("domains", classed(no, false, lists.Unproven)),
		atLeast("disposable, self-named: caught, %", 100, 100).of("domains on no list", classed(named, true, lists.Disposable)),
		atMost("disposable, lists' own errors: flagged", 0, 0).of("domains", classed(wrong, false, lists.Disposable)),
		atMost("looks_disposable, lists' own errors: flagged", 0, 0).of("domains", classed(wrong, false, lists.Unproven)),
		atLeast("typo, labelled: right, %", 96.4, 100*108./113).of("domains", right),
		atMost("typo, labelled: wrong", 0, 0).of("domains", notWrong),
		atMost("typo, labelled: wrong flags", 0, 0).of("real domains and hosts", notSuggested(where(d.typos, "real_or_host"))),
		atLeast("public, missed before: known, %", 100, 90).of("domains", classed(d.publicMissed, true, lists.Public)),
		atLeast("role: NoReply by host, %", 100, 90).of("hosts", noReply),
		atLeast("relay or public, missed before: known, %", 100, 80).
			of("domains", classed(first(where(d.hosts, "forwarder", "alias")), true, lists.Relay, lists.Public)),
	}
}

func evalTypo(d *data) []row {
	right, notWrong := suggested(d.misspelled)
	return []row{
		atLeast("typo: right, %", 97.6, 95).of("misspelled providers", right),
		atMost("typo: wrong, %", 0, 0.3).of("misspelled providers", notWrong),
		atMost("typo: flagged, %", 0, 0.2).of("real domains", notSuggested(d.real)),
		atMost("typo: flagged, %", 0, 0).of("providers among them", notSuggested(where(d.real, "provider"))),
	}
}

// suggested judges the suggestions for misspelled domains, which have the intended one beside
// them: whether they are right, and whether there is none but the right one.
func suggested(rows [][]string) (right, notWrong []judged) {
	c := core.New(lists.Default())
	for _, fields := range rows {
		r := equal(fields[0], fields[1], suggestionFor(c, fields[0]))
		right = append(right, r)
		r.right = r.right || r.got == ""
		notWrong = append(notWrong, r)
	}
	return right, notWrong
}

func notSuggested(rows [][]string) (none []judged) {
	c := core.New(lists.Default())
	for _, domain := range first(rows) {
		none = append(none, equal(domain, "", suggestionFor(c, domain)))
	}
	return none
}

func suggestionFor(c *core.Checker, domain string) string {
	f := c.Check([]byte("someone@" + domain))
	return string(f.Typo)
}
