package core

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	label "github.com/addrspec/addrspec/core/idna"
	"github.com/addrspec/addrspec/core/internal/idnatest"
)

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

// idnaName is a test of a whole domain name by UTS #46, a row of Unicode's IdnaTestV2.txt. Statuses
// are those of ToASCII without transitional processing; a name without any is valid and becomes Host.
type idnaName struct{ Source, Mapped, Host, Statuses string }

func idnaNames(t *testing.T) (names []idnaName) {
	file, err := os.Open("testdata/idna-names.txt.gz")
	require.NoError(t, err)
	defer file.Close()
	z, err := gzip.NewReader(file)
	require.NoError(t, err)
	escape := regexp.MustCompile(`\\u([0-9A-F]{4})|\\x\{([0-9A-F]+)\}`)
	unescaped := func(s string) string {
		return escape.ReplaceAllStringFunc(s, func(e string) string {
			n, err := strconv.ParseUint(strings.Trim(e[2:], "{}"), 16, 32)
			require.NoError(t, err)
			if n >= 0xD800 && n <= 0xDFFF { // a surrogate becomes malformed UTF-8
				return "\xed"
			}
			return string(rune(n))
		})
	}
	for lines := bufio.NewScanner(z); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		c := strings.Split(lines.Text(), ";") // an empty column means that of the step before
		n := idnaName{Source: unescaped(c[0]), Mapped: unescaped(cmp.Or(c[1], c[0]))}
		n.Host, n.Statuses = cmp.Or(c[3], n.Mapped), strings.Trim(cmp.Or(c[4], c[2]), "[]")
		names = append(names, n)
	}
	return names
}

// TestIdnaTestV2 counts why our verdict differs from UTS #46; idna/README.md explains each.
func TestIdnaTestV2(t *testing.T) {
	rows, differences := 0, map[string]int{}
	for _, n := range idnaNames(t) {
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

func whyDifferent(n idnaName, why Reason) string {
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
