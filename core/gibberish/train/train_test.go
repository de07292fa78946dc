package main

import (
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/addrspec/addrspec/core/gibberish"
	"github.com/addrspec/addrspec/core/gibberish/internal/filter"
	"github.com/addrspec/addrspec/core/gibberish/internal/model"
	"github.com/stretchr/testify/require"
)

func readData(t *testing.T) *data {
	d, err := read("../data")
	require.NoError(t, err)
	return d
}

// Changed data require training. This test compares only the digest of the data,
// because training takes too long for a test; train -check compares the model.
func TestModelIsTrainedOnTheData(t *testing.T) {
	require.True(t, strings.HasSuffix(model.Trained, readData(t).digest),
		"the data have changed: run `go run ./core/gibberish/train`")
}

// The filter in use is what the data give, and has every name that could be an address of
// temp-mail.org.
func TestFilterIsOfTheData(t *testing.T) {
	inUse, err := os.ReadFile("../names.bin")
	require.NoError(t, err)
	words := readData(t).pronounceable()
	require.Greater(t, len(words), 20_000)
	require.True(t, string(filter.New(words)) == string(inUse), "the data have changed: run `go run ./core/gibberish/train`")
	for _, w := range words {
		require.False(t, gibberish.Generated([]byte((w + "52937")[:10])), w)
	}
}

func TestTrainIsDeterministicAndLearns(t *testing.T) {
	d := readData(t)
	first := train(newGenerator(1, d.lexicon(everything)), 250_000)
	second := train(newGenerator(1, d.lexicon(everything)), 250_000)
	require.Equal(t, first, second)
	require.Less(t, flaggedPercent(first, newGenerator(3, d.lexicon(everything)), (*generator).real), 2.0)
	require.Greater(t, flaggedPercent(first, newGenerator(3, d.lexicon(everything)), (*generator).random), 76.0)
}

func TestDataIsLettersInSections(t *testing.T) {
	d := readData(t)
	least := map[string]int{"names": 40, "surnames": 1, "towns": 40, "words": 40, "syllables": 6}
	for file, s := range map[string]sections{"names": d.names, "surnames": d.surnames, "towns": d.towns, "words": d.words, "syllables": d.syllables} {
		require.GreaterOrEqual(t, len(s), least[file], file)
		for key, list := range s {
			require.NotEmpty(t, list, key)
			for _, w := range list {
				letters := strings.Trim(w, "abcdefghijklmnopqrstuvwxyz")
				require.True(t, letters == "" || key == "acronyms", "%s: %s: %q", file, key, w)
			}
		}
	}
}

func TestParse(t *testing.T) {
	require.EqualError(t, sections{}.parse("# a comment\nword\n"), "2: a word before the first [section]")
	s := sections{"a": {"one"}}
	require.NoError(t, s.parse("# a comment\n[a]\ntwo three\n[b]\nfour\n"))
	require.Equal(t, sections{"a": {"one", "two", "three"}, "b": {"four"}}, s)
}

func TestLexiconKeeps(t *testing.T) {
	d := readData(t)
	l := d.lexicon(func(key string) bool { return key == "is" || key == "IS" })
	require.Len(t, l.cultures, 1)
	require.Equal(t, "is", l.cultures[0].key)
	require.Len(t, l.towns, 1)
	require.Empty(t, l.words)
}

func TestGeneratedLocalPartsAreValid(t *testing.T) {
	g := newGenerator(7, readData(t).lexicon(everything))
	for _, kinds := range [][]kind{realKinds, randomKinds, relayKinds} {
		for _, k := range kinds {
			for range 500 {
				s := k.make(g)
				require.Empty(t, strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789._-"), "%s: %s", k.name, s)
				require.NotEmpty(t, s, k.name)
			}
		}
	}
}

func TestExp(t *testing.T) {
	for x := -40.0; x <= 40; x += 0.37 {
		require.InEpsilon(t, math.Exp(x), exp(x), 1e-9, "%g", x)
	}
}

// platt recovers a logistic curve from counts that follow it.
func TestPlatt(t *testing.T) {
	var real, random [steps]float64
	for i := range real {
		p := logistic(0.2*float64(i-steps/2) - 1)
		real[i], random[i] = 1-p, p
	}
	slope, offset := platt(&real, &random)
	require.InDelta(t, 0.2, slope, 1e-6)
	require.InDelta(t, -1, offset, 1e-6)
}

// The curve rises, crosses one half where the fitted one does, and leaves few
// sums without a probability.
func TestCurve(t *testing.T) {
	table := curve(slope, offset)
	require.True(t, slices.IsSorted(table))
	crossing := -offset / slope
	require.Less(t, table[step(int(crossing)-1)], byte(50))
	require.GreaterOrEqual(t, table[step(int(crossing)+1)], byte(50))
	require.Equal(t, byte(0), table[0])
	require.Equal(t, byte(100), table[steps-1])
}

func TestQuantized(t *testing.T) {
	for steps, want := range map[float64]int8{0: 0, 0.61: 0, -0.61: 0, 0.63: 1, -0.63: -1, 1.4: 1, -1.6: -2, 300: 127, -300: -127} {
		require.Equal(t, want, quantized(steps/model.Unit), "%g", steps)
	}
}

func TestTempered(t *testing.T) {
	require.Equal(t, 0.5, tempered(0.5))
	require.Equal(t, -0.6, tempered(-0.6))
	require.InDelta(t, 0.36, tempered(1), 1e-9)
	require.InDelta(t, -0.36, tempered(-1), 1e-9)
}

// People's local parts that look most like typing without a word in mind.
func TestKindsOfRealLocalParts(t *testing.T) {
	g := newGenerator(7, readData(t).lexicon(everything))
	for name, c := range map[string]struct {
		make func() string
		form string
	}{
		"initials of a phrase": {func() string { return g.phraseInitials(4) }, `^[a-z]{4}$`},
		"Chinese phrase":       {g.phrase, `^[a-z]{3,16}[0-9k]*$`},
		"Korean keys":          {g.korean, `^[a-z]+[0-9k]*$`},
		"Russian keys":         {g.russian, `^[a-z]{4,22}[0-9k]*$`},
		"user id":              {g.userID, `^[a-z]{1,3}\d{1,2}[a-z]{1,4}\d*$`},
		"initials on a row":    {g.rowInitials, `^[a-z]{3}\d{2,8}$`},
		"Arabic chat":          {g.arabicChat, `^[a-z0-9._-]+$`},
		"Dutch particles":      {g.particled, `^([a-z]+[._]?)?v[dhtem]?.*[a-z]`},
		"Polynesian":           {g.polynesian, `^([fghklmnprstvw]?[aeiou][._-]?){3,11}[0-9k]*$`},
	} {
		for range 500 {
			require.Regexp(t, c.form, c.make(), name)
		}
	}
	require.Regexp(t, `^(aannnnaa|aaannnnnnaaa)$`, g.drawnOut("anna", 1))
}

func TestWithoutParticle(t *testing.T) {
	require.Equal(t, []string{"heuvel", "meer", "veld", "dijk"},
		withoutParticle([]string{"vandenheuvel", "jansen", "vandermeer", "vantveld", "vandijk", "van", "vandi"}))
}

// Rows of a keyboard are at least three keys, which lie side by side.
func TestRowsAreTypedInOrder(t *testing.T) {
	g := newGenerator(7, readData(t).lexicon(everything))
	for range 500 {
		s := g.rows()
		require.GreaterOrEqual(t, len(s), 3)
		require.True(t, slices.ContainsFunc(typedRows, func(row string) bool {
			return strings.Contains(row, s[:3]) || strings.Contains(backwards(row), s[:3])
		}), s)
	}
}
