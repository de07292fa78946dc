package main

import (
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/core/gibberish"
	"github.com/addrspec/addrspec/core/gibberish/internal/filter"
	"github.com/addrspec/addrspec/core/gibberish/internal/model"
)

func readData(t *testing.T) *lexicon {
	l, err := read("../data")
	require.NoError(t, err)
	return l
}

// Changed data require training. This test compares only the digest of the data,
// because training takes too long for a test; check compares the model.
func TestModelIsTrainedOnTheData(t *testing.T) {
	require.True(t, strings.HasSuffix(model.Trained, readData(t).digest), "the data have changed: run train model")
}

// The filter in use is what the data give, and has every name that could be an address of
// temp-mail.org.
func TestFilterIsOfTheData(t *testing.T) {
	inUse, err := os.ReadFile("../names.bin")
	require.NoError(t, err)
	words := readData(t).pronounceable
	require.Greater(t, len(words), 20_000)
	require.True(t, string(filter.New(words)) == string(inUse), "the data have changed: run train model")
	for _, w := range words {
		require.False(t, gibberish.Generated([]byte((w + "52937")[:10])), w)
	}
}

func TestTrainIsDeterministicAndLearns(t *testing.T) {
	l := readData(t)
	trained := train(newGenerator(1, l), 250_000)
	require.Equal(t, trained, train(newGenerator(1, l), 250_000))
	flagged := func(kinds []kind) (percent float64) {
		g := newGenerator(3, l)
		for range 20_000 {
			least := model.Reach * model.MaxName
			for _, reading := range model.Readings(nil, []byte(g.localPart(kinds, 2))) {
				sum := 0
				for _, i := range reading {
					sum += int(int8(trained[i]))
				}
				least = min(least, sum)
			}
			if trained[model.TableSize:][step(least)] >= 50 {
				percent += 100. / 20_000
			}
		}
		return percent
	}
	require.Less(t, flagged(realKinds), 2.0)
	require.Greater(t, flagged(randomKinds), 76.0)
}

func TestDataIsLettersInSections(t *testing.T) {
	for file, least := range map[string]int{"names": 40, "own": 40, "surnames": 1, "places": 40, "words": 40, "syllables": 6} {
		text, err := os.ReadFile("../data/" + file + ".txt")
		require.NoError(t, err)
		s := sections{}
		require.NoError(t, s.parse(string(text)))
		require.GreaterOrEqual(t, len(s), least, file)
		for key, list := range s {
			require.NotEmpty(t, list, key)
			for _, w := range list {
				letters := strings.Trim(w, "abcdefghijklmnopqrstuvwxyz")
				require.True(t, letters == "" || key == "acronyms", "%s: %s: %q", file, key, w)
			}
		}
	}
}

func TestSections(t *testing.T) {
	require.EqualError(t, sections{}.parse("# a comment\nword\n"), "2: a word before the first [section]")
	s := sections{"a": {"one"}}
	require.NoError(t, s.parse("# a comment\n[a]\ntwo three\n[b]\nfour\n"))
	require.Equal(t, sections{"a": {"one", "two", "three"}, "b": {"four"}}, s)
}

func TestGeneratedLocalPartsAreValid(t *testing.T) {
	g := newGenerator(7, readData(t))
	for _, k := range slices.Concat(realKinds, randomKinds) {
		for range 500 {
			s := k.make(g)
			require.Empty(t, strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789._-"), "%s: %s", k.name, s)
			require.NotEmpty(t, s, k.name)
		}
	}
}

// People's local parts that look most like typing without a word in mind, and rows of
// a keyboard.
func TestForms(t *testing.T) {
	g := newGenerator(7, readData(t))
	for name, c := range map[string]struct {
		make func(*generator) string
		form string
	}{
		"Chinese phrase":    {phrase, `^[a-z]{3,16}[0-9k]*$`},
		"Korean keys":       {(*generator).korean, `^[a-z]+[0-9k]*$`},
		"Russian keys":      {(*generator).russian, `^[a-z]{4,22}[0-9k]*$`},
		"user id":           {userID, `^[a-z]{1,3}\d{1,2}[a-z]{1,4}\d*$`},
		"initials on a row": {(*generator).rowInitials, `^[a-z]{3}\d{2,8}$`},
		"Arabic chat":       {(*generator).arabicChat, `^[a-z0-9._-]+$`},
		"Dutch particles":   {(*generator).particled, `^([a-z]+[._]?)?v[dhtem]?.*[a-z]`},
		"Polynesian":        {(*generator).polynesian, `^([fghklmnprstvw]?[aeiou][._-]?){3,11}[0-9k]*$`},
		"counts":            {forms(func(d *draft) { d.b = "anna" }, "B2(1|2)a3D14(.)Bo2", ""), `^an[12][a-z]{3}\d{1,4}\.annaaa$`},
	} {
		for range 500 {
			require.Regexp(t, c.form, c.make(g), name)
		}
	}
	for range 500 { // three keys or more, which lie side by side
		s := g.rows()
		require.GreaterOrEqual(t, len(s), 3)
		require.True(t, slices.ContainsFunc(typedRows, func(row string) bool {
			return strings.Contains(row, s[:3]) || strings.Contains(backwards(row), s[:3])
		}), s)
	}
	require.Regexp(t, `^(aannnnaa|aaannnnnnaaa)$`, g.drawnOut("anna", 1))
	require.Equal(t, []string{"heuvel", "meer", "veld", "dijk"},
		withoutParticle([]string{"vandenheuvel", "jansen", "vandermeer", "vantveld", "vandijk", "van", "vandi"}))
}

func TestExp(t *testing.T) {
	for x := -40.0; x <= 40; x += 0.37 {
		require.InEpsilon(t, math.Exp(x), exp(x), 1e-9, "%g", x)
	}
}

// The curve rises, crosses one half where the fitted one does, and leaves few
// sums without a probability.
func TestCurve(t *testing.T) {
	table := train(newGenerator(1, readData(t)), 0)[model.TableSize:]
	require.True(t, slices.IsSorted(table))
	crossing := -offset / slope
	require.Less(t, table[step(int(crossing)-1)], byte(50))
	require.GreaterOrEqual(t, table[step(int(crossing)+1)], byte(50))
	require.Equal(t, byte(0), table[0])
	require.Equal(t, byte(100), table[steps-1])
}
