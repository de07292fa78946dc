package core

import (
	"strings"
	"testing"

	label "github.com/addrspec/addrspec/core/idna"
	"github.com/addrspec/addrspec/core/internal/ascii"
	"github.com/addrspec/addrspec/core/internal/idnatest"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/idna"
)

func TestEveryCharacterAsLabel(t *testing.T) {
	a := new(address)
	idnatest.Scalars(func(r rune) { agree(t, a, string(r)+".example") })
}

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

// FuzzLabelForms checks that U-labels and A-labels have the same verdict and host
// name.
func FuzzLabelForms(f *testing.F) {
	for _, domain := range []string{"b\u00FCcher.example", "xn--mgba3gch31f060k.com", "\u0646\u0627\u0645\u0647\u200C\u0627\u06CC.com",
		"\u0915\u094D\u200D\u0937", "\u0628\u200Ca", "xn--a-0mc790o", "xn--1ug.xn--0ug", "\u0DC1\u0DCA\u200D\u0DBB\u0DD3.lk",
		"\u0628\u200C\u064E\u0628.x", "STRA\u1E9EE\u3002\uFF45x", "xn--l-0ea.xn--ll-0ea"} {
		f.Add(domain)
	}
	f.Fuzz(func(t *testing.T, domain string) { requireOneVerdict(t, domain) })
}

// requireOneVerdict fails if one form of domain is valid and the other is not.
func requireOneVerdict(t *testing.T, domain string) {
	if strings.ContainsAny(domain, "[( \t\r\n@") {
		return // not a plain name
	}
	host, ok := hostOf(domain)
	if ok {
		again, ok := hostOf(host)
		require.True(t, ok, "%+q is valid, %s is not", domain, host)
		require.Equal(t, host, again)
	}
	unicode, err := idna.Punycode.ToUnicode(strings.ToLower(domain)) // decodes without checks
	if err != nil || unicode == domain {
		return
	}
	if other, valid := hostOf(unicode); valid && ascii.Is([]byte(domain)) {
		require.Equal(t, other == strings.ToLower(domain), ok, "%s is valid: %t; %+q is %s", domain, ok, unicode, other)
	} else if ok {
		require.True(t, valid || len(unicode) > domainMax, "%+q is valid, %+q is not", domain, unicode)
	}
}

// hostOf returns the A-label form of domain and whether domain is valid.
func hostOf(domain string) (string, bool) {
	a := new(address)
	if len(domain) > domainMax {
		return "", false
	}
	refusal := a.parse([]byte("x@" + domain))
	return string(a.host), refusal.Reason == Accepted || refusal.Reason == addressTooLong && len(a.host) > 0
}

// TestJoinersAreKept: every form of an address keeps the joiners, its normalized
// form is stable, and its host is that of the A-label form.
func TestJoinersAreKept(t *testing.T) {
	const name = "\u0DC1\u0DCA\u200D\u0DBB\u0DD3"
	var a, b address
	require.Equal(t, Refusal{}, a.parse([]byte("Jane+News@"+name+".LK")))
	require.Equal(t, name+".lk", string(a.domain))
	require.Equal(t, "jane+news@"+name+".lk", string(a.normalized))
	require.Equal(t, Refusal{}, b.parse([]byte("jane@xn--10cl1a0b660p.lk")))
	require.Equal(t, string(b.host), string(a.host))
	require.Equal(t, Refusal{}, b.parse(a.normalized))
	require.Equal(t, string(a.normalized), string(b.normalized))
	without := strings.ReplaceAll(name, "\u200D", "")
	require.Equal(t, Refusal{}, b.parse([]byte("jane@"+without+".lk")))
	require.NotEqual(t, string(b.host), string(a.host), "another name")
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
