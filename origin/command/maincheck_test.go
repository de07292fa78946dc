package command

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The small parser sets what the parser of all commands does.
func TestCheckAloneParsesAlike(t *testing.T) {
	t.Parallel()
	std := streams{in: strings.NewReader(""), out: new(strings.Builder), err: new(strings.Builder)}
	for _, line := range []string{
		"check", "check jane@example.org list.csv -", "check --offline -- -x@mail.example",
		"check --dns 127.0.0.1:53,127.0.0.2:53 --dns-timeout 2s --workers 3 --fail-on invalid,typo a@mail.example",
		"check --resume=7 --details --typo-suggestion address --module m.wasm --lists l.blob --cache-dir d",
	} {
		args := strings.Fields(line)
		command, ok := parseCheck(t.Context(), args, std)
		require.True(t, ok, line)
		parser, err := newParser(t.Context(), std, new(int))
		require.NoError(t, err)
		want, err := parse(parser, args)
		require.NoError(t, err)
		require.Equal(t, want.Selected().Target.Interface(), command.Selected().Target.Interface(), line)
	}
}

// What it cannot run is left to the parser of all commands, and nothing is printed.
func TestCheckAloneLeavesErrors(t *testing.T) {
	t.Parallel()
	out := new(strings.Builder)
	for _, line := range []string{"", "serve", "--help check", "check --help", "check -h", "check --version", "check --nope", "check --workers x", "check --resume -x"} {
		_, ok := parseCheck(t.Context(), strings.Fields(line), streams{strings.NewReader(""), out, out})
		require.False(t, ok, line)
	}
	require.Empty(t, out.String())
}
