package idna

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/addrspec/addrspec/core/internal/idnatest"
	"github.com/stretchr/testify/require"
	"golang.org/x/text/unicode/norm"
)

// joining holds a character of each kind that the rules for the joiners keep
// apart, with the Joining_Type that ArabicShaping.txt gives it, or N and Z for
// the joiners themselves, V and v for viramas of types T and U.
var joining = map[rune]string{
	'\uA872':  "L", // PHAGS-PA SUPERFIXED LETTER RA
	'\u0627':  "R", // ARABIC LETTER ALEF
	'\u0628':  "D", // ARABIC LETTER BEH
	'\u064E':  "T", // ARABIC FATHA
	'\u0621':  "U", // ARABIC LETTER HAMZA
	'\u094D':  "V", // DEVANAGARI SIGN VIRAMA
	'\u1B44':  "v", // BALINESE ADEG ADEG
	nonJoiner: "N",
	joiner:    "Z",
}

// The rules as RFC 5892 appendix A.1 and A.2 write them; a virama of type T
// joins through like any other such character.
var (
	afterVirama = regexp.MustCompile(`[Vv]$`)
	joinsAfter  = regexp.MustCompile(`[LD][TV]*$`)
	joinsBefore = regexp.MustCompile(`^[TV]*[RD]`)
)

// allowed reports whether the rules allow the joiner between the two kinds.
func allowed(kind, before, after string) bool {
	return afterVirama.MatchString(before) ||
		kind == "N" && joinsAfter.MatchString(before) && joinsBefore.MatchString(after)
}

// TestJoinersKeepTheirRules tries every joiner in every label of up to five
// characters of all kinds.
func TestJoinersKeepTheirRules(t *testing.T) {
	allowedOnes := 0
	var try func(label []rune, kinds string)
	try = func(label []rune, kinds string) {
		for i, kind := range kinds {
			if kind == 'N' || kind == 'Z' {
				want := allowed(kinds[i:i+1], kinds[:i], kinds[i+1:])
				require.Equal(t, want, contextAllows(label, i), "%+q at %d", string(label), i)
				if want {
					allowedOnes++
				}
			}
		}
		if len(label) < 5 {
			for r, kind := range joining {
				try(append(label[:len(label):len(label)], r), kinds+kind)
			}
		}
	}
	try(nil, "")
	require.Greater(t, allowedOnes, 10_000)
}

// TestJoinersAfterEveryCharacter: of the characters that a label may hold,
// those of canonical combining class 9 alone let both joiners follow, at the
// end of a label too.
func TestJoinersAfterEveryCharacter(t *testing.T) {
	c, viramas := new(Converter), 0
	idnatest.Scalars(func(r rune) {
		if propertiesOf(r).status() != pvalid || r < 0x80 {
			return
		}
		virama := norm.NFC.PropertiesString(string(r)).CCC() == 9
		if virama {
			viramas++
		}
		for _, label := range []string{"क%" + string(rune(joiner)) + "क", "क%" + string(rune(joiner)), "क%" + string(rune(nonJoiner))} {
			label = strings.ReplaceAll(label, "%", string(r))
			c.Reset()
			v := c.AppendLabel([]byte(label))
			if v.Rule != Bidi {
				require.Equal(t, virama, v.Rule == None, "%+q violates rule %d", label, v.Rule)
			}
			if v.Rule == None {
				idnatest.RequireValid(t, label, string(c.Host))
			} else {
				idnatest.RequireRefused(t, label, strconv.Itoa(int(v.Rule)))
			}
		}
	})
	require.Greater(t, viramas, 50)
}
