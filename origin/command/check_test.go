package command

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/rig/origintest"
	"github.com/addrspec/addrspec/wasm/moduletest"
)

// runCheck runs `addrspec check --offline` on input.
func runCheck(t testing.TB, in io.Reader, args ...string) (out, err string, code int) {
	var stdout, stderr bytes.Buffer
	args = append([]string{"check", "--offline", "--module", origintest.ModuleFile(t), "--cache-dir", moduletest.CacheDir()}, args...)
	code = run(context.Background(), args, streams{in, &stdout, &stderr})
	return stdout.String(), stderr.String(), code
}

func TestCheckKeepsOrder(t *testing.T) {
	t.Parallel()
	var in strings.Builder
	for n := range 10_000 {
		fmt.Fprintf(&in, "{\"email\":\"user%d@mail.example\",\"more\":[%d]}\n", n, n)
	}
	out, _, code := runCheck(t, strings.NewReader(in.String()), "--from", "ndjson", "--to", "ndjson", "-")
	require.Zero(t, code)
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	require.Len(t, lines, 10_000)
	for n, line := range lines {
		var fields map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &fields))
		require.Len(t, fields, 16)
		require.Equal(t, fmt.Sprintf("user%d@mail.example", n), fields["email"])
	}
}

func TestCheckReadsText(t *testing.T) {
	t.Parallel()
	out, _, code := runCheck(t, strings.NewReader("a@mail.example\r\n\n  spaced@mail.example\nlast@mail.example"), "--from", "text")
	require.Zero(t, code)
	lines := strings.Split(out, "\n")
	require.Len(t, lines, 5, "a line of output for each of input")
	require.Equal(t, `{"error":{"code":"NO_ADDRESS","message":"the row has no address"},"line":2}`, lines[1])
	require.Contains(t, lines[2], `{"email":"  spaced@mail.example",`)
}

func TestCheckDetails(t *testing.T) {
	t.Parallel()
	const emails = "a..b@mail.example\nok@mail.example\n"
	plain, _, code := runCheck(t, strings.NewReader(emails))
	require.Zero(t, code)
	detailed, _, code := runCheck(t, strings.NewReader(emails), "--details")
	require.Zero(t, code)
	without := strings.Split(plain, "\n")
	for n, line := range strings.Split(strings.TrimSuffix(detailed, "\n"), "\n") {
		before, details, found := strings.Cut(line, `,"details":`)
		require.True(t, found)
		require.Equal(t, without[n], before+"}", "the same bytes but for the member")
		require.True(t, json.Valid([]byte(strings.TrimSuffix(details, "}"))))
	}
	require.Contains(t, detailed, `"code":"local_part_two_dots","offset":2`)
}

func TestCheckWritesBeforeInputEnds(t *testing.T) {
	t.Parallel()
	in, feed := io.Pipe()
	results, out := io.Pipe()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		args := []string{"check", "--offline", "--module", origintest.ModuleFile(t), "--cache-dir", moduletest.CacheDir()}
		run(context.Background(), args, streams{in, out, io.Discard})
		out.Close()
	}()
	io.WriteString(feed, "first@mail.example\n")
	line := make([]byte, 32)
	_, err := io.ReadFull(results, line)
	require.NoError(t, err)
	require.Contains(t, string(line), "first@mail.example")
	go io.Copy(io.Discard, results)
	feed.Close()
	<-ended
}
