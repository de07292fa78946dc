package command

import (
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestResumeLine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		line commandLine
		want string
	}{
		{commandLine{"check", "list.csv"}, "addrspec check --resume 7 list.csv"},
		{commandLine{"check", "check"}, "addrspec check --resume 7 check"},
		{commandLine{"check", "--resume", "3", "list.csv"}, "addrspec check --resume 7 list.csv"},
		{commandLine{"check", "list.csv", "--resume=3"}, "addrspec check --resume 7 list.csv"},
		{commandLine{"check", "--key", "ask_secret", "--server=https://a.example"}, "addrspec check --resume 7 --server=https://a.example"},
		{commandLine{"check", "--key=ask_secret", "a"}, "addrspec check --resume 7 a"},
		{commandLine{"check", "-o", "my file", "--", "-x", "--key"}, "addrspec check --resume 7 -o 'my file' -- -x --key"},
	} {
		require.Equal(t, c.want, c.line.resume(7))
	}
}

// The shell reads a quoted word as it was.
func FuzzShellQuote(f *testing.F) {
	for _, word := range []string{"", "a b", "it's", "$HOME", "`id`", "a\nb", "*", "~", "!x", "\\", "-n", "#"} {
		f.Add(word)
	}
	f.Fuzz(func(t *testing.T, word string) {
		for _, r := range word {
			if r == 0 {
				t.Skip("no word has a NUL")
			}
		}
		out, err := exec.Command("sh", "-c", "printf %s. "+shellQuote(word)).Output()
		require.NoError(t, err)
		require.Equal(t, word+".", string(out))
	})
}
