package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// listsDir is the folder of the committed tables.
const listsDir = "../../../lists"

// TestRowsAreNeeded fails if near.txt has a row that the check would not correct
// without it, so that near.txt is out of date.
func TestRowsAreNeeded(t *testing.T) {
	c, err := openChecker(listsDir)
	require.NoError(t, err)
	names, err := readNames(listsDir + "/near.txt")
	require.NoError(t, err)
	require.Greater(t, len(names), 100)
	for name := range names {
		require.True(t, c.wouldCorrect(name), "%s: run ./build.sh lists", name)
	}
}

func TestUnder(t *testing.T) {
	endings := []string{"ca", "co.uk", "com", "com.ar"}
	require.Equal(t, []string{"olive.ca", "olive.co.uk", "olive.com", "olive.com.ar"}, source{}.under(endings, "olive"))
	require.Equal(t, []string{"orage.ca"}, source{countries: []string{"fr", "ca"}}.under(endings, "orage"))
	require.Empty(t, source{}.under(endings, "c'est"))
}

func TestRegistrable(t *testing.T) {
	require.Equal(t, []string{"cdn.example.co.uk", "example.co.uk"}, registrable("cdn.example.co.uk"))
	require.Equal(t, []string{"example.com"}, registrable("www.Example.com"))
	require.Equal(t, []string{"co.uk"}, registrable("co.uk"))
}

func TestEndingsOf(t *testing.T) {
	require.Equal(t, []string{"co.uk", "com"}, endingsOf([]byte("gmail.com\nyahoo.co.uk\nyahoo.com\n")))
}
