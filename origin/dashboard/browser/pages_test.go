package browser

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/rig/ledgertest"
	"github.com/addrspec/addrspec/origin/rig/origintest"
	"github.com/addrspec/addrspec/origin/rig/preview/seed"
)

// A visit is what pages.mjs looks at.
type visit struct {
	seed.Person
	Link string `json:"link"` // signs in; empty for a visitor
}

// visits starts a seeded service and returns who looks at which of its pages.
func visits(t testing.TB) (origin, people string) {
	t.Helper()
	s := serve(t, origintest.NewDatabase(t), "--signup", "open")
	l := ledgertest.Open(t, s.database)
	found, err := seed.Fill(t.Context(), l)
	require.NoError(t, err)
	var list []visit
	for _, p := range found {
		v := visit{Person: p}
		if p.Account != 0 {
			v.Link = s.linkTo(t, l, p.Account)
		}
		list = append(list, v)
	}
	text, err := json.Marshal(list)
	require.NoError(t, err)
	return s.url, string(text)
}

// axe finds nothing on any page, in light, dark and on a phone.
func TestEveryPageIsAccessible(t *testing.T) {
	leftToCI(t)
	endpoint(t)
	url, people := visits(t)
	out := script(t, "pages.mjs", url, people)
	require.Regexp(t, `^[1-9][0-9]* pages`, out)
	t.Log(out)
}

// TestScreenshots takes a picture of every page, in the directory that
// ADDRSPEC_SCREENSHOTS names.
func TestScreenshots(t *testing.T) {
	directory := os.Getenv("ADDRSPEC_SCREENSHOTS")
	if directory == "" {
		t.Skip("ADDRSPEC_SCREENSHOTS names no directory; ./build.sh screenshots does")
	}
	require.NoError(t, os.MkdirAll(directory, 0o755))
	url, people := visits(t)
	script(t, "pages.mjs", url, people, directory)
}
