package command

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/require"
)

// rendered returns the man page as a terminal shows it. groff must have no warning.
func rendered(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("groff"); err != nil {
		t.Skip("groff is not installed: apt-get install groff")
	}
	page, problem, code := operator(t, "man")
	require.Zero(t, code, problem)
	var warnings strings.Builder
	cmd := exec.Command("groff", "-man", "-Tutf8", "-ww", "-P-cbou")
	cmd.Stdin, cmd.Stderr = strings.NewReader(page), &warnings
	text, err := cmd.Output()
	require.NoError(t, err)
	require.Empty(t, warnings.String())
	return string(text)
}

// The man page has every command, flag and example, and what a man page should have.
func TestManPage(t *testing.T) {
	t.Parallel()
	text := rendered(t)
	joined := strings.NewReplacer("\u2010\n", "-", "\u2212", "-").Replace(text)
	words := strings.Join(strings.Fields(joined), " ")
	for _, section := range strings.Split("NAME,SYNOPSIS,DESCRIPTION,COMMANDS,EXIT STATUS,ENVIRONMENT,FILES,EXAMPLES", ",") {
		require.Contains(t, text, "\n"+section+"\n")
	}
	eachCommand(model(t).Model.Node, func(n *kong.Node) {
		require.Contains(t, words, "addrspec "+n.Path())
		for _, f := range n.Flags {
			if f.Tag.Negatable == "" && !f.Hidden {
				require.Contains(t, words, "--"+f.Name)
			}
		}
		for _, e := range commandExamples[n.Path()] {
			require.Contains(t, words, e.line)
		}
	})
}
