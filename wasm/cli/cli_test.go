package main

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/wasm/vectors"
)

func answers(addresses ...string) string {
	native, all := vectors.Native(), []byte(nil)
	for _, address := range addresses {
		all = append(append(all, native(address, false)...), '\n')
	}
	return string(all)
}

func TestRunAnswersEachAddress(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
		in   string
		want string
	}{
		{"lines", nil, "a@b\nc@d\n", answers("a@b", "c@d")},
		{"a last line without end", nil, "a@b\nc@d", answers("a@b", "c@d")},
		{"lines with CR LF", nil, "a@b\r\nc@d\r\n", answers("a@b", "c@d")},
		{"empty lines", nil, "\n\r\na@b\n\n", answers("a@b")},
		{"nothing", nil, "", ""},
		{"zero octets, so lines may stand in addresses", []string{"-0"}, "a\r\n b@c\x00d@e\x00", answers("a\r\n b@c", "d@e")},
		{"arguments, and no input", []string{"a@b", "-0"}, "c@d\n", answers("a@b", "-0")},
		{"arguments that look like flags", []string{"--", "-0@b"}, "", answers("-0@b")},
		{"the longest address", nil, strings.Repeat("x", maxAddress) + "\r\n", answers(strings.Repeat("x", maxAddress))},
	} {
		t.Run(c.name, func(t *testing.T) {
			for how, in := range map[string]io.Reader{
				"at once":        strings.NewReader(c.in),
				"octet by octet": iotest.OneByteReader(strings.NewReader(c.in)),
				"with its end":   iotest.DataErrReader(strings.NewReader(c.in)),
			} {
				var out bytes.Buffer
				require.NoError(t, run(c.args, in, &out), how)
				require.Equal(t, c.want, out.String(), how)
			}
		})
	}
}

func TestRunSuggestsTheWholeAddress(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, run([]string{"-a"}, strings.NewReader("jane@outloook.com\n"), &out))
	require.Equal(t, string(vectors.Native()("jane@outloook.com", true))+"\n", out.String())
}

func TestRunFails(t *testing.T) {
	require.ErrorAs(t, run([]string{"-x"}, nil, nil), new(usageError))
	tooLong := strings.NewReader("a@b\n" + strings.Repeat("x", maxAddress+1) + "\n")
	require.ErrorContains(t, run(nil, tooLong, io.Discard), "address 2 is longer than 1 MiB")
	broken := iotest.ErrReader(io.ErrClosedPipe)
	require.ErrorIs(t, run(nil, broken, io.Discard), io.ErrClosedPipe)
	_, full := io.Pipe()
	full.Close()
	require.ErrorIs(t, run(nil, strings.NewReader("a@b\n"), full), io.ErrClosedPipe)
}

// An answer comes before the next question need be asked.
func TestRunAnswersWithoutWaiting(t *testing.T) {
	questions, ask := io.Pipe()
	answer, out := io.Pipe()
	done := make(chan error)
	go func() { done <- run(nil, questions, out) }()
	for range 3 {
		_, err := io.WriteString(ask, "a@b\nc@") // and half of another
		require.NoError(t, err)
		got := make([]byte, len(answers("a@b")))
		_, err = io.ReadFull(answer, got)
		require.NoError(t, err)
		require.Equal(t, answers("a@b"), string(got))
		_, err = io.WriteString(ask, "d\n")
		require.NoError(t, err)
		_, err = io.ReadFull(answer, got)
		require.NoError(t, err)
		require.Equal(t, answers("c@d"), string(got))
	}
	ask.Close()
	require.NoError(t, <-done)
}
