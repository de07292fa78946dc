package core

import (
	"strings"
	"testing"

	label "github.com/addrspec/addrspec/core/idna"
	"github.com/addrspec/addrspec/core/internal/idnatest"
	"github.com/stretchr/testify/require"
)

// FuzzDomain compares the verdict and the A-labels with the oracle.
func FuzzDomain(f *testing.F) {
	f.Add("B\u00FCcher.example")                    // mapped and encoded
	f.Add("xn--bcher-kva.XN--P1AI")                 // A-labels
	f.Add("xn--mgba3gch31f060k.com")                // an A-label with a joiner in its context
	f.Add("\u0915\u094D\u200D.\u0628\u200C\u0628")  // U-labels with joiners
	f.Add("\u05D0\u05D1.1\u0661\u06F1")             // right to left, digits of several kinds
	f.Add("a\u3002\uFF42\uFF0Ec\uFF61d")            // dots that are mapped
	f.Add("fa\u00DF.\u03C3\u03C2.l\u00B7l")         // deviations, context
	f.Add("\u30FB\u30AB.\u05F3\u05D0.\u0375\u03B1") // context rules kept and broken
	f.Add("xn--a.xn---.xn--0.xn--99999999")         // broken A-labels
	f.Add("a\u0301.\u0301a.-\u00E9.ab--\u00E9")     // marks and hyphens
	a := new(address)
	f.Fuzz(func(t *testing.T, domain string) { agree(t, a, domain) })
}

// agree fails if the verdict or the A-labels differ from the oracle's.
func agree(t *testing.T, a *address, domain string) {
	if len(domain) == 0 || domain[0] == '[' || strings.ContainsAny(domain, " \t\r\n(") {
		return // a literal or CFWS, which the oracle does not support
	}
	refusal := a.parseAny([]byte("x@" + domain))
	switch {
	case refusal.Reason == Accepted:
		idnatest.RequireValid(t, domain, string(a.host))
	case !refusesMore(refusal.Reason):
		idnatest.RequireRefused(t, domain, refusal.Reason.Code())
	}
}

// refusesMore reports whether why is a reason that the oracle does not check:
// dots, lengths, hyphens and hidden characters.
func refusesMore(why Reason) bool {
	switch why {
	case domainStartsWithDot, domainEndsWithDot, domainTwoDots, labelTooLong, domainTooLong, addressTooLong,
		labelStartsWithHyphen, labelEndsWithHyphen, labelHyphens,
		invisibleCharacter, bidiControl, controlCharacter, domainSpace:
		return true
	}
	return false
}

// TestEveryRuleHasAReason checks that labelReasons is complete.
func TestEveryRuleHasAReason(t *testing.T) {
	require.Len(t, labelReasons, int(label.Length)+1)
	for rule, reason := range labelReasons {
		require.Equal(t, label.Rule(rule) == label.None, reason == Accepted, "rule %d", rule)
	}
}

// A name that is read alone is that of an address at it.
func TestHostReader(t *testing.T) {
	var r HostReader
	for _, name := range []string{"a", "Example.ORG", "b\u00fccher.example", "xn--bcher-kva.example", "a\u3002example", strings.Repeat("a.", 126) + "a"} {
		host, why := r.Read([]byte(name))
		require.Equal(t, Accepted, why.Reason, name)
		if facts := Check("a@" + name); facts.Valid { // an address has one byte less for its domain
			require.Equal(t, string(facts.Host), string(host))
		}
	}
	for name, want := range map[string]Reason{"": domainMissing, "a..b": domainTwoDots, ".a": domainStartsWithDot, "a.": domainEndsWithDot, "[192.0.2.1]": domainCharacter,
		"(c)a": domainComment, "a(c)": domainComment, "a b": domainSpace, " a": domainSpace, "a@b": secondAt, "a,b": severalAddresses, "a\xff": malformedUTF8, "a\u3002": domainEndsWithDot,
		"-a": labelStartsWithHyphen, "xn--a": labelPunycode, strings.Repeat("a.", 127) + "a": domainTooLong} {
		_, why := r.Read([]byte(name))
		require.Equal(t, want, why.Reason, name)
		require.NotEmpty(t, why.AppendSentence(nil, []byte(name)))
	}
}

// TestIdnaTestV2 counts why our verdict differs from UTS #46; idna/README.md explains each.
func TestIdnaTestV2(t *testing.T) {
	rows, differences := 0, map[string]int{}
	for n := range idnatest.Names() {
		rows++
		var r HostReader
		host, why := r.Read([]byte(n.Source))
		if wanted := n.Statuses == ""; wanted != (why.Reason == Accepted) || wanted && string(host) != n.Host {
			differences[whyDifferent(n, why.Reason)]++
		}
	}
	require.Equal(t, 6225, rows)
	require.Equal(t, map[string]int{"IDNA2008 refuses": 45, "last label is empty": 50, "hidden characters": 8,
		"bidi rule of whole names": 27, "hyphens in ASCII": 8, "changed since Unicode 13": 24}, differences)
}

// changedSince13 reports whether Unicode 14 to 17 added r, or mapped it for the first time.
func changedSince13(r rune) bool {
	return 0x10A0 <= r && r <= 0x10C5 || strings.ContainsRune("\u04C0\u2132\u2183\U00032B9A", r)
}

func whyDifferent(n idnatest.Name, why Reason) string {
	refusedByIDNA2008 := func(r rune) bool { return r >= 0x80 && idnatest.Expect().Class(r) == "" }
	switch {
	case why == domainEndsWithDot:
		return "last label is empty"
	case why == invisibleCharacter:
		return "hidden characters"
	case why != Accepted && strings.ContainsFunc(n.Mapped, refusedByIDNA2008):
		return "IDNA2008 refuses"
	case why == Accepted && (n.Statuses == "B1" || n.Statuses == "B6"):
		return "bidi rule of whole names"
	case why == Accepted && n.Statuses == "V2":
		return "hyphens in ASCII"
	case why == Accepted && strings.HasSuffix(n.Statuses, "V6") && strings.ContainsFunc(n.Mapped, changedSince13):
		return "changed since Unicode 13"
	}
	return "not explained: " + n.Source + " " + n.Statuses + " " + why.Code()
}
