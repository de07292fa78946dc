package command

import (
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/require"
)

// The parser of a command alone sets what the parser of all commands does, for each example
// of each command.
func TestAloneParsesAlike(t *testing.T) {
	exampleDirectory(t)
	var lines [][]string
	for _, line := range []string{
		"check", "check jane@example.org list.csv -", "check --offline -- -x@mail.example",
		"check --dns 127.0.0.1:53,127.0.0.2:53 --dns-timeout 2s --workers 3 --fail-on invalid,typo a@mail.example",
		"check --resume=7 --details --typo-suggestion address --module m.wasm --lists l.blob --cache-dir d",
		"key create --account a@mail.example --name -5 --rate 2", "doctor --dns-timeout -5s",
	} {
		lines = append(lines, strings.Fields(line))
	}
	eachCommand(model(t).Model.Node, func(n *kong.Node) {
		for _, e := range commandExamples[commandPath(n)] {
			lines = append(lines, arguments(t, e))
		}
	})
	std := streams{in: strings.NewReader(""), out: new(strings.Builder), err: new(strings.Builder)}
	for _, args := range lines {
		if args[0] == "help" || args[0] == "man" {
			continue // they print all commands
		}
		command, ok := parseAlone(t.Context(), args, std)
		require.True(t, ok, args)
		want, err := parse(model(t), args)
		require.NoError(t, err)
		require.Equal(t, want.Selected().Target.Interface(), command.Selected().Target.Interface(), args)
	}
}

// What it cannot do is left to the parser of all commands, and nothing is printed.
func TestAloneLeavesErrors(t *testing.T) {
	t.Parallel()
	out := new(strings.Builder)
	for _, line := range []string{
		"", "help", "man", "serv", "Serve", "--help check", "check --help", "check -h", "check --version", "check --nope", "check --workers x", "check --resume -x",
		"account", "account --help", "account creat", "account create", "account create --help", "key create --account", "serve extra", "serve --listen", "version --to xml",
	} {
		_, ok := parseAlone(t.Context(), strings.Fields(line), streams{strings.NewReader(""), out, out})
		require.False(t, ok, line)
	}
	require.Empty(t, out.String())
}
