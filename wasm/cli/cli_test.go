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

// results returns the expected output for addresses.
func results(addresses ...string) string {
	native, all := vectors.Native(), []byte(nil)
	for _, address := range addresses {
		all = append(append(all, native(address, false)...), '\n')
	}
	return string(all)
}

func TestRun(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
		in   string
		want string
	}{
		{"lines", nil, "a@b\nc@d\n", results("a@b", "c@d")},
		{"a last line without newline", nil, "a@b\nc@d", results("a@b", "c@d")},
		{"lines with CR LF", nil, "a@b\r\nc@d\r\n", results("a@b", "c@d")},
		{"empty lines", nil, "\n\r\na@b\n\n", results("a@b")},
		{"nothing", nil, "", ""},
		{"zero bytes, so addresses may contain line breaks", []string{"-0"}, "a\r\n b@c\x00d@e\x00", results("a\r\n b@c", "d@e")},
		{"arguments, and no input", []string{"a@b", "-0"}, "c@d\n", results("a@b", "-0")},
		{"arguments that look like flags", []string{"--", "-0@b"}, "", results("-0@b")},
		{"the longest address", nil, strings.Repeat("x", maxAddress) + "\r\n", results(strings.Repeat("x", maxAddress))},
	} {
		t.Run(c.name, func(t *testing.T) {
			for how, in := range map[string]io.Reader{
				"at once":                   strings.NewReader(c.in),
				"byte by byte":              iotest.OneByteReader(strings.NewReader(c.in)),
				"with EOF in the last read": iotest.DataErrReader(strings.NewReader(c.in)),
			} {
				var out bytes.Buffer
				require.NoError(t, run(c.args, in, &out), how)
				require.Equal(t, c.want, out.String(), how)
			}
		})
	}
}

func TestRunFullSuggestion(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, run([]string{"-a"}, strings.NewReader("jane@outloook.com\n"), &out))
	require.Equal(t, string(vectors.Native()("jane@outloook.com", true))+"\n", out.String())
}

func TestRunDetails(t *testing.T) {
	native := vectors.NativeWith()
	for flags, full := range map[string]bool{"-d": false, "-d -a": true} {
		var out bytes.Buffer
		require.NoError(t, run(strings.Fields(flags), strings.NewReader("j.doe+x@googlemail.com\njane@outloook.com\na\"b@c\n"), &out))
		want := ""
		for _, email := range []string{"j.doe+x@googlemail.com", "jane@outloook.com", "a\"b@c"} {
			want += string(native(email, full, true)) + "\n"
		}
		require.Equal(t, want, out.String(), flags)
	}
}

func TestRunErrors(t *testing.T) {
	require.ErrorAs(t, run([]string{"-x"}, nil, nil), new(usageError))
	tooLong := strings.NewReader("a@b\n" + strings.Repeat("x", maxAddress+1) + "\n")
	require.ErrorContains(t, run(nil, tooLong, io.Discard), "address 2 is longer than 1 MiB")
	broken := iotest.ErrReader(io.ErrClosedPipe)
	require.ErrorIs(t, run(nil, broken, io.Discard), io.ErrClosedPipe)
	_, full := io.Pipe()
	full.Close()
	require.ErrorIs(t, run(nil, strings.NewReader("a@b\n"), full), io.ErrClosedPipe)
}

// run must print a result without waiting for the next address.
func TestRunFlushes(t *testing.T) {
	in, addresses := io.Pipe()
	printed, out := io.Pipe()
	done := make(chan error)
	go func() { done <- run(nil, in, out) }()
	for range 3 {
		_, err := io.WriteString(addresses, "a@b\nc@") // and a part of the next
		require.NoError(t, err)
		got := make([]byte, len(results("a@b")))
		_, err = io.ReadFull(printed, got)
		require.NoError(t, err)
		require.Equal(t, results("a@b"), string(got))
		_, err = io.WriteString(addresses, "d\n")
		require.NoError(t, err)
		_, err = io.ReadFull(printed, got)
		require.NoError(t, err)
		require.Equal(t, results("c@d"), string(got))
	}
	addresses.Close()
	require.NoError(t, <-done)
}
