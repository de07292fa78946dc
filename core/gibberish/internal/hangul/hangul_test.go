package hangul

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestIsTyped(t *testing.T) {
	for name, want := range map[string]bool{
		"rlaalstn": true, "gksrmf": true, "gkrtod": true, "rlaalstn1984": true, "rhdiddl": true, "dkwnaak": true, "rkqtdl": true,
		"rnr.alstn": true, "eoqkrdl": true,
		"gks": false /* one syllable */, "maria": false, "rlaalstnr1rr": false, "rkxxxxk": false, "k": false, "rrk": false,
		"rkkk": false, "": false, "2024": false, "rlaälstn": false,
	} {
		require.Equal(t, want, IsTyped([]byte(name)), name)
	}
}

// IsTyped agrees with a pattern of syllables, which the module has no room for.
func FuzzIsTyped(f *testing.F) {
	const syllable = `[qwertasdfgzxcv](hk|ho|hl|nj|np|nl|ml|[yuiophjklbnm])(rt|sw|sg|f[rafqtxvg]|qt|[qwertasdfgzxcv])?`
	word, words := regexp.MustCompile(`^(`+syllable+`)+$`), regexp.MustCompile(`^(`+syllable+`){2,}$`)
	f.Add("rlaalstn")
	f.Add("gkrtod.rkqtdl77")
	f.Add("maria")
	f.Fuzz(func(t *testing.T, name string) {
		runs := strings.FieldsFunc(name, func(r rune) bool { return r < 'a' || r > 'z' })
		all := !slices.ContainsFunc(runs, func(run string) bool { return !word.MatchString(run) })
		several := len(runs) > 1 || len(runs) == 1 && words.MatchString(runs[0])
		require.Equal(t, all && several, IsTyped([]byte(name)), "%q", name)
	})
}
