package browser

import (
	"testing"

	"github.com/addrspec/addrspec/origin/ledger/pgtest"
	"github.com/addrspec/addrspec/origin/origintest"
)

// An owner's first hour. It is the one story of every run.
func TestLifeOfAKey(t *testing.T) {
	endpoint(t)
	script(t, "stories/key-life.mjs", serve(t, origintest.NewDatabase(t), "--demo").link)
}

func TestLifeOfAKeyOnPostgreSQL(t *testing.T) {
	leftToCI(t)
	endpoint(t)
	script(t, "stories/key-life.mjs", serve(t, pgtest.NeedDatabase(t), "--demo").link)
}

func TestStories(t *testing.T) {
	leftToCI(t)
	endpoint(t)
	s := serve(t, origintest.NewDatabase(t))
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
	leftToCI(t)
	endpoint(t)
	script(t, "stories/sign-up.mjs", serve(t, origintest.NewDatabase(t), "--signup", "open").url)
}
