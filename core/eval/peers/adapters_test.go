package peers

import (
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// known are rows that every tool answers alike.
var known = map[Question]struct{ yes, no string }{
	Valid:      {"jane@example.com", "jane@@example.com"},
	Random:     {"xkqzjwvvbqhd", "christopher"},
	Disposable: {"mailinator.com", "example.org"},
	Public:     {"gmail.com", "example.org"},
	Role:       {"info", "jane"},
}

// With ADDRSPEC_ALL the peers are installed from their registries. One that cannot
// be is skipped by name.
func TestAdaptersAnswer(t *testing.T) {
	if os.Getenv("ADDRSPEC_ALL") == "" {
		t.Skip("left to ./build.sh test all: installs packages of others")
	}
	i := &Installer{Root: ".", Build: "../../../dist/eval"}
	for _, p := range All() {
		t.Run(p.String(), func(t *testing.T) {
			process, err := i.Start(context.Background(), p)
			if err != nil {
				t.Skip(err)
			}
			defer process.Stop()
			for _, question := range p.Questions {
				requireAnswers(t, process, question)
			}
		})
	}
}

func requireAnswers(t *testing.T, p *Process, question Question) {
	switch question {
	case Typo:
		require.Equal(t, Answer{Text: "gmail.com"}, p.Ask(Typo, "gmaiil.com"))
		require.Empty(t, p.Ask(Typo, "gmail.com").Text)
	case Canonical:
		require.Equal(t, p.Ask(Canonical, "janedoe@gmail.com"), p.Ask(Canonical, "jane.doe+x@gmail.com"))
	default:
		yes, no := p.Ask(question, known[question].yes), p.Ask(question, known[question].no)
		require.Empty(t, yes.None+no.None)
		require.True(t, yes.Yes, question)
		require.False(t, no.Yes, question)
		require.True(t, question != Random || yes.Score > no.Score)
	}
}
