package browser

import (
	"testing"

	"github.com/addrspec/addrspec/origin/ledger/pgtest"
)

// An owner's first hour, on both databases.
func TestLifeOfAKey(t *testing.T) {
	endpoint(t)
	pgtest.EachDatabase(t, func(t *testing.T, database string) {
		script(t, "stories/key-life.mjs", serve(t, database, "--demo").link)
	})
}

func TestStories(t *testing.T) {
	endpoint(t)
	s := serve(t, "sqlite:"+t.TempDir()+"/a.db")
	for _, story := range []struct {
		name     string
		operator bool
	}{{"no-script", false}, {"keyboard", false}, {"operator", true}, {"sessions", false}, {"list", false}, {"totp", false}, {"passkey", false}} {
		t.Run(story.name, func(t *testing.T) {
			script(t, "stories/"+story.name+".mjs", s.account(t, story.name+"@example.com", story.operator))
		})
	}
}

func TestSignUp(t *testing.T) {
	endpoint(t)
	script(t, "stories/sign-up.mjs", serve(t, "sqlite:"+t.TempDir()+"/a.db", "--signup", "open").url)
}
