package main

import (
	"os"
	"strings"
	"testing"

	"github.com/addrspec/addrspec/core/typo"
	"github.com/addrspec/addrspec/lists"
	"github.com/stretchr/testify/require"
)

// A row of near.txt that the check no longer takes for a misspelling is dead
// weight, and a sign that near.txt was not written again.
func TestNearIsNeeded(t *testing.T) {
	check := typo.New(lists.Default().TypoTargets(), lists.Default().TopLevels())
	table, err := os.ReadFile("../../../lists/near.txt")
	require.NoError(t, err)
	for line := range strings.Lines(string(table)) {
		if name := strings.TrimSpace(line); !strings.HasPrefix(name, "#") {
			require.NotEmpty(t, check.Suggest([]byte(name)), "%s: run `go run ./core/typo/near`", name)
		}
	}
}

func TestUnder(t *testing.T) {
	endings := []string{"ca", "co.uk", "com", "com.ar"}
	require.Equal(t, []string{"olive.ca", "olive.co.uk", "olive.com", "olive.com.ar"}, origin{}.under(endings, "olive"))
	require.Equal(t, []string{"orage.ca"}, origin{countries: []string{"fr", "ca"}}.under(endings, "orage"))
	require.Empty(t, origin{}.under(endings, "c'est"))
}

func TestRegistrable(t *testing.T) {
	require.Equal(t, []string{"cdn.example.co.uk", "example.co.uk"}, registrable("cdn.example.co.uk"))
	require.Equal(t, []string{"example.com"}, registrable("www.Example.com"))
	require.Equal(t, []string{"co.uk"}, registrable("co.uk"))
}

func TestEndingsOf(t *testing.T) {
	require.Equal(t, []string{"co.uk", "com"}, endingsOf([]byte("gmail.com\nyahoo.co.uk\nyahoo.com\n")))
}
