package command

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/rig/contract"
	"github.com/addrspec/addrspec/origin/rig/origintest"
	"github.com/addrspec/addrspec/origin/service"
	"github.com/addrspec/addrspec/wasm/moduletest"
)

func mcpProgram(t testing.TB, args ...string) (cmd *exec.Cmd, log *origintest.Log) {
	args = append([]string{"mcp", "--module", origintest.ModuleFile(t), "--cache-dir", moduletest.CacheDir()}, args...)
	cmd, log = exec.Command(os.Args[0], args...), new(origintest.Log)
	cmd.Env = append(os.Environ(), programVariable+"=1")
	cmd.Stderr = log
	return cmd, log
}

// connectMCP starts the program and connects to it as an assistant does.
func connectMCP(t testing.TB, args ...string) (*sdk.ClientSession, *origintest.Log) {
	t.Helper()
	cmd, log := mcpProgram(t, args...)
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).
		Connect(context.Background(), &sdk.CommandTransport{Command: cmd}, nil)
	require.NoError(t, err, log)
	t.Cleanup(func() { session.Close() })
	return session, log
}

// call calls a tool and returns its structured content as JSON, and its text.
func call(t testing.TB, session *sdk.ClientSession, tool string, arguments any) (structured, text string, isError bool) {
	t.Helper()
	result, err := session.CallTool(context.Background(), &sdk.CallToolParams{Name: tool, Arguments: arguments})
	require.NoError(t, err)
	require.Len(t, result.Content, 1)
	object, err := json.Marshal(result.StructuredContent)
	require.NoError(t, err)
	return string(object), result.Content[0].(*sdk.TextContent).Text, result.IsError
}

// Tools return what `check` writes. The policy of the command line decides, or that of a call in its
// place.
func TestMCPOffline(t *testing.T) {
	t.Parallel()
	const own = `{"review": {"domains": ["mail.example"], "reasons": ["gibberish>=0.8", "role:support"]}}`
	session, log := connectMCP(t, "--offline", "--policy", fileOf(t, "policy.json", signUpPolicy))
	for document, policy := range map[string]any{signUpPolicy: nil, own: json.RawMessage(own)} {
		for _, email := range []string{"jane@mail.example", "info@mail.corp.example", "a..b@mail.example", "xkqjzvwqp@burner.example"} {
			line, problem, _ := runCheck(t, nil, email, "--policy", fileOf(t, "policy.json", document), "--to", "ndjson")
			require.Contains(t, line, `"verdict"`, problem)
			structured, text, isError := call(t, session, "check_email", map[string]any{"email": email, "policy": policy})
			require.False(t, isError, text)
			require.JSONEq(t, line, structured)
		}
	}
	require.NoError(t, session.Close(), "it ends with 0 once its input ends")
	require.Equal(t, 1, strings.Count(log.String(), "\n"), "the log has one line, without addresses: %s", log)
	require.NotContains(t, log.String(), "example")
}

// An assistant learns whether a call costs points. Through a service, it costs a point for each
// different address, and what the service refuses is an error of the tool that says what to do.
func TestMCPThroughAService(t *testing.T) {
	dns := contract.Serve(t)
	s := start(t, "--dns", dns, "--dns-timeout", "3s")
	key, _ := s.limitedKey(t, 2)
	t.Setenv("ADDRSPEC_KEY", key)
	local, _ := connectMCP(t, "--dns", dns, "--dns-timeout", "3s")
	through, log := connectMCP(t, "--server", "http://"+s.hostPort)
	require.Contains(t, local.InitializeResult().Instructions, "looked up by DNS")
	require.Contains(t, through.InitializeResult().Instructions, "one usage point")
	require.Equal(t, service.Release, through.InitializeResult().ServerInfo.Version)
	email := map[string]any{"email": "jane@burner.example"}
	here, text, isError := call(t, local, "explain", email)
	require.False(t, isError, text)
	require.Contains(t, text, "Mail goes to mail.mailinator.com, a service of throw-away mailboxes.")
	there, _, _ := call(t, through, "explain", email)
	require.JSONEq(t, there, here)
	require.EqualValues(t, 1, s.used(t))
	three := map[string]any{"emails": []string{"c@mail.example", "d@mail.example", "e@mail.example"}}
	_, text, isError = call(t, through, "check_emails", three)
	require.True(t, isError)
	require.Contains(t, text, "The batch needs 3 usage points and 1 are left this month; they refill on 1 ")
	t.Setenv("ADDRSPEC_KEY", book.NewSecret())
	other, _ := connectMCP(t, "--server", "http://"+s.hostPort)
	_, text, isError = call(t, other, "check_email", email)
	require.True(t, isError)
	require.Contains(t, text, "This API key is not valid: it is unknown, expired or revoked")
	require.NotContains(t, log.String(), "mail.example")
	require.NotContains(t, log.String(), key[:12])
}

// Through a service, facts and errors are those of the same DNS here. It decides by a policy of the
// account, or by the key's default. A document of the call or of the command line decides here
// about what the service found.
func TestMCPDecidesThroughAService(t *testing.T) {
	const document = `{"block": {"domains": ["bücher.example"], "reasons": ["no_mail"]}, "review": {"reasons": ["no_mx", "role"]}}`
	dns := contract.Serve(t)
	s := start(t, "--dns", dns, "--dns-timeout", "3s")
	key, account := s.limitedKey(t, book.Unlimited)
	s.policyKey(t, account, "sign-up", document)
	other := s.policyKey(t, account, "other", `{"block": {"domains": ["mail.example"]}}`)
	emails := []string{"jane@mail.example", "hr@mail.example", "jane@missing.example", "jane@address.example",
		"jörg@bücher.example", "a@servfail.example", "b@silent.example", "a..b@mail.example", "x@[192.0.2.1]",
		"jane@mail.example"}
	file, server := fileOf(t, "policy.json", document), []string{"--server", "http://" + s.hostPort}
	local, _ := connectMCP(t, "--dns", dns, "--dns-timeout", "3s", "--policy", file)
	want, text, isError := call(t, local, "check_emails", map[string]any{"emails": emails})
	require.False(t, isError)
	require.Contains(t, want, `"verdicts":{"allow":1,"block":3,"review":3}`)
	require.Contains(t, text, "9 addresses: 6 valid, 1 not valid, 2 not checked.")
	require.Contains(t, text, `"b@silent.example": not checked, DNS lookup timed out for domain silent.example`)
	for name, c := range map[string]struct {
		key    string
		args   []string
		policy any
	}{
		"a file":                   {key, []string{"--policy", file}, nil},
		"a name":                   {other, []string{"--policy", "sign-up"}, nil},
		"the name of the call":     {other, []string{"--policy", file}, "sign-up"},
		"the document of the call": {other, []string{"--policy", "other"}, json.RawMessage(document)},
	} {
		t.Setenv("ADDRSPEC_KEY", c.key)
		session, _ := connectMCP(t, append(c.args, server...)...)
		got, text, isError := call(t, session, "check_emails", map[string]any{"emails": emails, "policy": c.policy})
		require.False(t, isError, "%s: %s", name, text)
		require.JSONEq(t, want, got, name)
	}
	t.Setenv("ADDRSPEC_KEY", other)
	session, _ := connectMCP(t, server...)
	structured, _, _ := call(t, session, "explain", map[string]any{"email": emails[0]})
	require.Contains(t, structured, `"verdict":{"action":"block","reason":"domain","rule":"block.domains[0]"}`, "the key's default")
	for policy, says := range map[any]string{
		"no-such": "The account has no policy no-such",
		"No Such": "policy: the name of a policy must have 1 to 64 of a-z",
		7:         "want one of",
	} {
		_, text, isError := call(t, session, "check_email", map[string]any{"email": emails[0], "policy": policy})
		require.True(t, isError, policy)
		require.Contains(t, text, says)
	}
}

// SIGTERM ends the program with 0, also while a call waits.
func TestMCPEndsAtSIGTERM(t *testing.T) {
	t.Parallel()
	cmd, log := mcpProgram(t, "--dns", contract.Serve(t), "--dns-timeout", "1m")
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	_, err = io.WriteString(in, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",`+
		`"capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`+"\n"+slowCall+"\n")
	require.NoError(t, err)
	_, err = bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	require.NoError(t, cmd.Wait(), log)
}
