package lists

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestProvider(t *testing.T) {
	l := Default()
	for domain, want := range map[string]Class{
		"gmail.com":         Public,
		"mailinator.com":    Disposable,
		"a.mailinator.com":  Disposable,
		"mozmail.com":       Relay,
		"me.mozmail.com":    Relay,
		"notmozmail.com":    0,
		"x.gmail.com":       0,
		"ibm.com":           Known,
		"com":               0,
		"co.uk":             0,
		"":                  0,
		".":                 0,
		"..":                0,
		"a":                 0,
		"an-example-co.com": 0,
		"hair":              Unproven,
		"an-example.hair":   Unproven,
		"aleh.de":           0,
		"spam.aleh.de":      Disposable,
		"other.aleh.de":     0,
	} {
		require.Equal(t, want, l.Provider([]byte(domain)), domain)
	}
}

func TestWord(t *testing.T) {
	l := Default()
	for word, want := range map[string]Word{"admin": Word(Admin), "hr": Word(HR), "noreply": Word(NoReply) | Ending, "dev": Word(IT) | Alone, "eu": Word(Market), "jobson": 0, "": 0, "a": 0, "ADMIN": 0} {
		require.Equal(t, want, l.Word([]byte(word)), word)
	}
}

// The filter has every word that is listed, and few others.
func TestWordFilter(t *testing.T) {
	l := Default()
	l.EachWord(func(word []byte, w Word) {
		require.Equal(t, w, l.Word(word), "%s", word)
	})
	passed := 0
	for i := range 10_000 {
		if l.words.mayHave(fmt.Appendf(nil, "jane%x", i*0x9E3779)) {
			passed++
		}
	}
	require.Less(t, passed, 2_000)
	require.False(t, l.words.mayHave(nil))
	require.False(t, l.words.mayHave([]byte("a")))
}

func TestLookupsDoNotAllocate(t *testing.T) {
	l := Default()
	domain, word := []byte("mail.example-company.co.uk"), []byte("support")
	require.Zero(t, testing.AllocsPerRun(100, func() { l.Provider(domain); l.Word(word); l.TypoTargets() }))
}

// Every entry of the blob has one of the classes, so the counts add up.
func TestCounts(t *testing.T) {
	l := Default()
	sum := 0
	for class := Class(1); class != 0; class <<= 1 {
		sum += l.Count(class)
	}
	require.Equal(t, len(l.domains.values), sum)
	require.Greater(t, l.Count(Disposable), l.Count(Public))
	require.Greater(t, l.RoleWords(), 100)
	require.Equal(t, 2, Lines([]byte("a.com\nb.com\n")))
}

// TestProviderOfKnownDomains checks domains whose owners are known, from all
// over the world.
func TestProviderOfKnownDomains(t *testing.T) {
	table, err := os.ReadFile("testdata/expect.txt")
	require.NoError(t, err)
	l := Default()
	for line := range strings.Lines(string(table)) {
		class, domain, found := strings.Cut(strings.TrimSpace(line), " ")
		if !found || class == "#" {
			continue
		}
		if got := l.Provider([]byte(domain)); !matches(class, got) {
			t.Errorf("%s: got class %d, want %s", domain, got, class)
		}
	}
}

// matches reports whether got is the class that a row of expect.txt wants.
func matches(class string, got Class) bool {
	switch class {
	case "public":
		return got == Public
	case "disposable":
		return got == Disposable
	case "relay":
		return got == Relay
	case "organisation":
		return got&^Known == 0
	}
	return got == 0
}
