package command

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/rig/contract"
	"github.com/addrspec/addrspec/origin/rig/origintest"
	"github.com/addrspec/addrspec/origin/service"
	"github.com/addrspec/addrspec/wasm/moduletest"
)

// mcpProgram returns `addrspec mcp` in a process of its own.
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

func TestMCPDescribesItself(t *testing.T) {
	t.Setenv("ADDRSPEC_KEY", book.NewSecret())
	for _, mode := range []struct {
		args           []string
		readOnly, open bool
		says           string
	}{
		{[]string{"--offline"}, true, false, "mx is null"},
		{[]string{"--dns", "127.0.0.1:1"}, true, true, "looked up by DNS"},
		{[]string{"--server", "http://127.0.0.1:1"}, false, true, "one usage point"},
	} {
		session, _ := connectMCP(t, mode.args...)
		about := session.InitializeResult()
		require.Equal(t, "addrspec", about.ServerInfo.Name)
		require.Equal(t, service.Release, about.ServerInfo.Version)
		require.Contains(t, about.Instructions, mode.says)
		list, err := session.ListTools(context.Background(), nil)
		require.NoError(t, err)
		require.Len(t, list.Tools, 3)
		for _, tool := range list.Tools {
			require.Contains(t, tool.Description, mode.says)
			input, err := json.Marshal(tool.InputSchema)
			require.NoError(t, err)
			require.Equal(t, mode.args[0] == "--server", strings.Contains(string(input), `"type":["object","null","string"]`), string(input))
			require.Contains(t, string(input), `"additionalProperties":false`)
			output, err := json.Marshal(tool.OutputSchema)
			require.NoError(t, err)
			require.Contains(t, string(output), `"verdict":{`)
			require.Equal(t, mode.readOnly, tool.Annotations.ReadOnlyHint)
			require.Equal(t, mode.readOnly, tool.Annotations.IdempotentHint)
			require.Equal(t, mode.open, *tool.Annotations.OpenWorldHint)
			require.False(t, *tool.Annotations.DestructiveHint)
		}
		require.NoError(t, session.Close(), "it ends with 0 once its input ends")
	}
}

// Tools return the facts of `check`.
func TestMCPOffline(t *testing.T) {
	t.Parallel()
	session, log := connectMCP(t, "--offline")
	emails := []string{"Jane.Doe+news@gmial.com", "a..b@mail.example", "support@mailinator.com", "jörg@bücher.example", `"<&>\u0001"@x`, "@"}
	var want []string
	for _, email := range emails {
		object, _ := json.Marshal(map[string]string{"email": email})
		line, problem, code := runCheck(t, strings.NewReader(string(object)), "--from", "ndjson")
		require.Zero(t, code, problem)
		want = append(want, strings.TrimSpace(line))
	}
	for n, email := range emails {
		structured, text, isError := call(t, session, "check_email", map[string]any{"email": email})
		require.False(t, isError, text)
		require.JSONEq(t, want[n], structured)
		require.NotContains(t, text, "\n")
	}
	structured, text, isError := call(t, session, "check_emails", map[string]any{"emails": append(emails, emails...)})
	require.False(t, isError, text)
	var batch struct {
		Total, Valid_count, Invalid_count, Error_count int
		Results                                        []struct{ Result, Error json.RawMessage }
	}
	require.NoError(t, json.Unmarshal([]byte(structured), &batch))
	require.Equal(t, []int{6, 4, 2, 0}, []int{batch.Total, batch.Valid_count, batch.Invalid_count, batch.Error_count})
	for n := range emails {
		require.JSONEq(t, want[n], string(batch.Results[n].Result))
		require.Equal(t, "null", string(batch.Results[n].Error))
	}
	require.Contains(t, text, `"support@mailinator.com": valid; MX not looked up; disposable provider; role account (Support).`)
	require.Equal(t, 1, strings.Count(log.String(), "\n"), "the log has one line, without addresses: %s", log)
}

func TestMCPExplains(t *testing.T) {
	t.Parallel()
	session, _ := connectMCP(t, "--offline")
	structured, text, _ := call(t, session, "explain", map[string]any{"email": "a..b@mail.example"})
	require.Contains(t, structured, `"code":"local_part_two_dots","offset":2,"section":"RFC 5322 section 3.2.3"`)
	require.Contains(t, text, "At byte 2: the local part has two dots in a row; remove one (RFC 5322 section 3.2.3).")
	_, text, _ = call(t, session, "explain", map[string]any{"email": "j.d+x@googlemail.com"})
	require.Contains(t, text, `The mailbox is "jd@gmail.com" by the rule gmail.`)
	for _, email := range []string{"infouk@gmial.com", "xkqjzvw@mailinator.com", `"a b"@localhost`} {
		object, _ := json.Marshal(map[string]string{"email": email})
		line, _, _ := runCheck(t, strings.NewReader(string(object)), "--from", "ndjson", "--details")
		var want struct{ Details json.RawMessage }
		require.NoError(t, json.Unmarshal([]byte(line), &want))
		structured, _, _ = call(t, session, "explain", map[string]any{"email": email})
		var got struct{ Details json.RawMessage }
		require.NoError(t, json.Unmarshal([]byte(structured), &got))
		require.JSONEq(t, string(want.Details), string(got.Details), "every member of the evidence")
	}
	_, text, _ = call(t, session, "explain", map[string]any{"email": `"a b"@mail.example`})
	require.Contains(t, text, "Unusual: the part before the @ is in quotation marks; ")
	require.NotContains(t, text, "Mail goes to", "nothing was looked up")
}

// With a policy each tool has the verdict of `check --policy`: that of the command line, or of
// the call in its place.
func TestMCPDecides(t *testing.T) {
	t.Parallel()
	const own = `{"review": {"domains": ["mail.example"], "reasons": ["gibberish>=0.8", "role:support"]}}`
	session, log := connectMCP(t, "--offline", "--policy", fileOf(t, "policy.json", signUpPolicy))
	emails := []string{"jane@mail.example", "info@mail.corp.example", "a..b@mail.example", "support@mailinator.com", "xkqjzvwqp@burner.example"}
	for document, arguments := range map[string]map[string]any{
		signUpPolicy: {},
		own:          {"policy": json.RawMessage(own)},
		`{}`:         {"policy": json.RawMessage(`{}`)},
	} {
		file := fileOf(t, "policy.json", document)
		var counts struct{ Allow, Review, Block int }
		for _, email := range emails {
			arguments["email"] = email
			line, _, _ := runCheck(t, nil, email, "--policy", file, "--to", "ndjson")
			structured, text, isError := call(t, session, "check_email", arguments)
			require.False(t, isError, text)
			require.JSONEq(t, line, structured)
			var got struct{ Verdict struct{ Action string } }
			require.NoError(t, json.Unmarshal([]byte(line), &got))
			require.Contains(t, text, `: verdict "`+got.Verdict.Action+`"`)
			why, _, _ := call(t, session, "explain", arguments)
			var explained struct{ Result json.RawMessage }
			require.NoError(t, json.Unmarshal([]byte(why), &explained))
			require.JSONEq(t, line, string(explained.Result))
			counts.Allow += strings.Count(line, `"action":"allow"`)
			counts.Review += strings.Count(line, `"action":"review"`)
			counts.Block += strings.Count(line, `"action":"block"`)
		}
		delete(arguments, "email")
		arguments["emails"] = emails
		structured, text, isError := call(t, session, "check_emails", arguments)
		require.False(t, isError, text)
		require.Contains(t, structured, fmt.Sprintf(`"verdicts":{"allow":%d,"block":%d,"review":%d}`, counts.Allow, counts.Block, counts.Review))
		require.Contains(t, text, fmt.Sprintf("Verdicts: %d allow, %d review, %d block.\n", counts.Allow, counts.Review, counts.Block))
	}
	require.NotContains(t, log.String(), "example")
}

// A service decides by a policy of the account, or by the key's default. A document of the
// call or of the command line decides here about what the service found.
func TestMCPDecidesThroughAService(t *testing.T) {
	const document = `{"block": {"domains": ["bücher.example"], "reasons": ["no_mail"]}, "review": {"reasons": ["no_mx", "role"]}}`
	dns := contract.Serve(t)
	s := start(t, "--dns", dns, "--dns-timeout", "3s")
	key, account := s.limitedKey(t, book.Unlimited)
	_, err := s.ledger.SetPolicy(t.Context(), account, "sign-up", document)
	require.NoError(t, err)
	_, err = s.ledger.SetPolicy(t.Context(), account, "other", `{"block": {"domains": ["mail.example"]}}`)
	require.NoError(t, err)
	other, _, err := s.ledger.CreateKey(t.Context(), account, "other", book.KeyTerms{Policy: "other"})
	require.NoError(t, err)
	emails := []string{"jane@mail.example", "hr@mail.example", "jane@missing.example", "jane@address.example", "jörg@bücher.example", "a@servfail.example", "a..b@mail.example"}
	file, server := fileOf(t, "policy.json", document), []string{"--server", "http://" + s.hostPort}
	local, _ := connectMCP(t, "--dns", dns, "--dns-timeout", "3s", "--policy", file)
	want, _, isError := call(t, local, "check_emails", map[string]any{"emails": emails})
	require.False(t, isError)
	require.Contains(t, want, `"verdicts":{"allow":1,"block":3,"review":2}`)
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

// A policy that cannot decide is an error of the tool that names the place. The session goes
// on, however many policies it has seen.
func TestMCPRefusesAPolicy(t *testing.T) {
	t.Parallel()
	session, log := connectMCP(t, "--offline")
	for document, says := range map[string]string{
		`{"block": {"reasons": ["no_mx", "role", "disposible"]}}`: `policy: block.reasons[2]: "disposible" is no reason; did you mean "disposable"?`,
		`{"block": {"domains": ["a.*.example"]}}`:                 `policy: block.domains[0]: `,
		`{"allow": {"reasons": ["role"]}}`:                        `policy: allow.reasons: `,
		`{"block": {"reasons": ["role"]}, "block": {}}`:           `policy: block: the member is there twice`,
		`{"block": 7}`: `policy: block: `,
		`{"blok": {}}`: `policy: the document: "blok" is no member of a policy; did you mean "block"?`,
		`{"block": {"reasons": ["` + strings.Repeat("x", 64<<10) + `"]}}`:                     `policy: it has 65562 bytes, and in a call it may have 65536`,
		`{"block": {"domains": ` + strings.Repeat("[", 900) + strings.Repeat("]", 900) + `}}`: `policy: block.domains[0]: `,
		`"sign-up"`: `has type "string"`,
		`[]`:        `has type "array"`,
	} {
		for _, tool := range []string{"check_email", "explain"} {
			_, text, isError := call(t, session, tool, map[string]any{"email": "jane@mail.example", "policy": json.RawMessage(document)})
			require.True(t, isError, document)
			require.Contains(t, text, says)
			require.Less(t, len(text), 500)
		}
	}
	for n := range 100 {
		policy := fmt.Sprintf(`{"block": {"domains": ["x%d.example"]}}`, n)
		structured, text, isError := call(t, session, "check_email", map[string]any{"email": fmt.Sprintf("jane@x%d.example", n), "policy": json.RawMessage(policy)})
		require.False(t, isError, text)
		require.Contains(t, structured, `"action":"block"`)
	}
	structured, _, isError := call(t, session, "check_email", map[string]any{"email": "jane@mail.example", "policy": nil})
	require.False(t, isError)
	require.NotContains(t, structured, "verdict")
	require.Equal(t, 1, strings.Count(log.String(), "\n"), log)
}

// MX records by DNS: facts and errors are those of a service.
func TestMCPLooksMXUp(t *testing.T) {
	dns := contract.Serve(t)
	s := start(t, "--dns", dns, "--dns-timeout", "3s")
	t.Setenv("ADDRSPEC_KEY", s.newKey(t))
	local, _ := connectMCP(t, "--dns", dns, "--dns-timeout", "3s")
	through, _ := connectMCP(t, "--server", "http://"+s.hostPort)
	emails := map[string]any{"emails": []string{"jane@mail.example", "x@MAIL.example", "x@nowhere.example", "a@servfail.example", "b@silent.example", "a..b@mail.example", "x@[192.0.2.1]", "jörg@bücher.example"}}
	here, text, isError := call(t, local, "check_emails", emails)
	require.False(t, isError, text)
	there, _, _ := call(t, through, "check_emails", emails)
	require.JSONEq(t, there, here)
	require.Contains(t, text, "8 addresses: 5 valid, 1 not valid, 2 not checked.")
	require.Contains(t, text, `"jane@mail.example": valid; the domain has MX records.`)
	require.Contains(t, text, `"x@nowhere.example": valid; the domain has no MX record (mail goes to its address record, if it has one).`)
	require.Contains(t, text, `"b@silent.example": not checked, DNS lookup timed out for domain silent.example`)
	_, text, isError = call(t, local, "check_email", map[string]any{"email": "a@servfail.example"})
	require.True(t, isError)
	require.Contains(t, text, "DNS_FAILURE: DNS lookup failed for domain servfail.example. Nothing about the address follows")
	for email, want := range map[string]string{
		"jane@burner.example":   "disposable provider. Unusual: the top-level domain does not exist; the domain is reserved for local use, tests or examples. Mail goes to mail.mailinator.com, a service of throw-away mailboxes.",
		"jane@google.example":   "Mail goes to aspmx.l.google.com of Google Workspace, a mail suite for companies.",
		"jane@address.example":  "Mail goes to the address record of the domain.",
		"jane@null.example":     "No address record takes mail for the domain.",
		"a@unreachable.example": "The lookup of the domain's address record failed, so it is not known whether mail goes there.",
	} {
		here, text, isError := call(t, local, "explain", map[string]any{"email": email})
		require.False(t, isError, text)
		require.Contains(t, text, want)
		there, _, _ := call(t, through, "explain", map[string]any{"email": email})
		require.JSONEq(t, there, here)
	}
}

// A service charges a point for each different address. What it refuses is an error
// of the tool, which says what to do.
func TestMCPThroughAService(t *testing.T) {
	s := start(t, "--dns", contract.Serve(t))
	key, _ := s.limitedKey(t, 5)
	t.Setenv("ADDRSPEC_KEY", key)
	session, log := connectMCP(t, "--server", "http://"+s.hostPort)
	structured, _, isError := call(t, session, "explain", map[string]any{"email": "support@mail.example"})
	require.False(t, isError)
	require.Contains(t, structured, `"mx":true`)
	require.Contains(t, structured, `"word":"support"`)
	_, _, isError = call(t, session, "check_emails", map[string]any{"emails": []string{"a@mail.example", "b@mail.example", "a@mail.example"}})
	require.False(t, isError)
	require.EqualValues(t, 3, s.used(t))
	_, text, isError := call(t, session, "check_emails", map[string]any{"emails": []string{"c@mail.example", "d@mail.example", "e@mail.example"}})
	require.True(t, isError)
	require.Contains(t, text, "too few usage points are left this month: 2, and the next batch needs 3; they refill on 1 ")
	t.Setenv("ADDRSPEC_KEY", book.NewSecret())
	other, _ := connectMCP(t, "--server", "http://"+s.hostPort)
	_, text, isError = call(t, other, "check_email", map[string]any{"email": "jane@mail.example"})
	require.True(t, isError)
	require.Contains(t, text, "INVALID_API_KEY")
	require.NotContains(t, log.String(), "mail.example")
	require.NotContains(t, log.String(), key[:12])
}

// Wrong arguments are errors of the tool; the session goes on.
func TestMCPRefusesWrongArguments(t *testing.T) {
	t.Parallel()
	session, _ := connectMCP(t, "--offline")
	for name, c := range map[string]struct {
		tool      string
		arguments any
		says      string
	}{
		"a number":        {"check_email", map[string]any{"email": 7}, "want \"string\""},
		"nothing":         {"check_email", nil, "email"},
		"null":            {"check_email", map[string]any{"email": nil}, "want \"string\""},
		"another member":  {"check_email", map[string]any{"email": "a@b", "mail": "x"}, "mail"},
		"5 KiB":           {"check_email", map[string]any{"email": strings.Repeat("a", 5<<10)}, "address 1 of 1 has 5120 bytes"},
		"no addresses":    {"check_emails", map[string]any{"emails": []string{}}, "less than 1"},
		"65 addresses":    {"check_emails", map[string]any{"emails": make([]string, 65)}, "greater than 64"},
		"100,000":         {"check_emails", map[string]any{"emails": make([]string, 100_000)}, "greater than 64"},
		"addresses null":  {"check_emails", map[string]any{"emails": nil}, "want \"array\""},
		"a string":        {"check_emails", map[string]any{"emails": "a@mail.example"}, "want \"array\""},
		"numbers":         {"check_emails", map[string]any{"emails": []int{1}}, "want \"string\""},
		"one of them 5 K": {"check_emails", map[string]any{"emails": []string{"a@mail.example", strings.Repeat("a", 5<<10)}}, "address 2 of 2"},
	} {
		_, text, isError := call(t, session, c.tool, c.arguments)
		require.True(t, isError, name)
		require.Contains(t, text, c.says, name)
		require.Less(t, len(text), 500, name)
	}
	_, err := session.CallTool(context.Background(), &sdk.CallToolParams{Name: "delete_everything"})
	require.ErrorContains(t, err, "unknown tool")
	_, _, isError := call(t, session, "check_email", map[string]any{"email": "jane@mail.example"})
	require.False(t, isError)
}

const (
	mcpInitialize  = `{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}` + "\n"
	mcpInitialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"
)

func mcpCall(id int) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"check_email","arguments":{"email":"user%[1]d@mail.example"}}}`+"\n", id)
}

// A line that is no message gets an error, and the session goes on. Standard output has
// nothing but the protocol.
func TestMCPGoesOnAfterForeignInput(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		line string
		code int
		says string
	}{
		"garbage":         {"hello", -32700, "not JSON"},
		"half a JSON":     {`{"jsonrpc":"2.0",`, -32700, "not JSON"},
		"NUL":             {"\x00", -32700, "not JSON"},
		"binary":          {"\x00\xff\xfe", -32700, "not UTF-8"},
		"not UTF-8":       {strings.TrimSpace(strings.Replace(mcpCall(7), "user7", "\xff", 1)), -32700, "not UTF-8"},
		"two on a line":   {`{"jsonrpc":"2.0","method":"x"} {}`, -32700, "not JSON"},
		"not a message":   {`{"email":"jane@mail.example"}`, -32600, "not a message"},
		"another version": {`{"jsonrpc":"1.0","id":1,"method":"ping"}`, -32600, "not a message"},
		"a batch":         {"[" + strings.TrimSpace(mcpCall(7)) + "]", -32600, "a batch is none"},
		"null":            {"null", -32600, "not a message"},
		"an empty batch":  {"[]", -32600, "a batch is none"},
		"a number":        {"7", -32600, "not a message"},
		"a deep call":     {`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"check_email","arguments":{"email":"jane@mail.example","policy":` + strings.Repeat(`{"a":`, 5000) + "7" + strings.Repeat("}", 5003), -32600, "not a message"},
		"3 MiB":           {`{"jsonrpc":"2.0","id":7,"method":"` + strings.Repeat("a", 3<<20) + `"}`, -32600, "longer than 2097152 bytes"},
		"5 MiB of zeros":  {strings.Repeat("\x00", 5<<20), -32600, "longer than 2097152 bytes"},
	} {
		cmd, log := mcpProgram(t, "--offline")
		cmd.Stdin = strings.NewReader(c.line + "\n" + mcpInitialize + "\r\n" + mcpInitialized + c.line + "\n" + mcpCall(1) + c.line)
		out, err := cmd.Output()
		require.NoError(t, err, "%s: %s", name, log)
		refused, ids := 0, []any{}
		for line := range strings.Lines(string(out)) {
			var response struct {
				ID    any
				Error *struct {
					Code    int
					Message string
				}
			}
			require.NoError(t, json.Unmarshal([]byte(line), &response), name)
			if ids = append(ids, response.ID); response.Error == nil {
				continue
			}
			refused++
			require.Equal(t, c.code, response.Error.Code, name)
			require.Contains(t, response.Error.Message, c.says, name)
			require.NotContains(t, line, "mail.example")
		}
		require.Equal(t, 3, refused, "%s: %s", name, out)
		require.ElementsMatch(t, []any{nil, "i", nil, 1.0, nil}, ids, name)
	}
}

// A flood of calls gets a response in full, in little memory, though the client reads
// nothing until it has sent everything.
func TestMCPFlood(t *testing.T) {
	t.Parallel()
	calls := shorter(20_000, 4000)
	cmd, _ := mcpProgram(t, "--offline")
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	var sending errgroup.Group
	begun := make(chan struct{})
	sending.Go(func() error {
		text := bufio.NewWriter(in)
		text.WriteString(mcpInitialize + mcpInitialized)
		for n := range calls {
			if n == 2000 {
				close(begun)
			}
			text.WriteString(mcpCall(n))
			text.WriteString(mcpCall(n)) // an id that may be in use
		}
		return text.Flush()
	})
	select {
	case <-begun:
		t.Error("2,000 calls were read before any response was")
	case <-time.After(2 * time.Second): // real time: a slow machine reads no more in it
	}
	succeeded := map[float64]bool{}
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for len(succeeded) < calls && lines.Scan() {
		var resp struct{ ID any }
		require.NoError(t, json.Unmarshal(lines.Bytes(), &resp))
		if id, ok := resp.ID.(float64); ok {
			succeeded[id] = true
		}
	}
	require.Len(t, succeeded, calls)
	require.NoError(t, sending.Wait())
	if peak := peakMemory(t, cmd.Process.Pid); peak > 400<<10 {
		t.Errorf("peak memory %d KiB", peak)
	}
	go io.Copy(io.Discard, out)
	in.Close()
	require.NoError(t, cmd.Wait())
}

// peakMemory returns the peak memory of a process in KiB, or 0 where the system does
// not say it.
func peakMemory(t *testing.T, pid int) (kib int) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if errors.Is(err, fs.ErrNotExist) {
		return 0
	}
	require.NoError(t, err)
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	_, err = fmt.Sscan(rest, &kib)
	require.NoError(t, err)
	return kib
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
	_, err = io.WriteString(in, mcpInitialize+mcpInitialized+strings.Replace(mcpCall(1), "mail.example", "silent.example", 1))
	require.NoError(t, err)
	_, err = bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	require.NoError(t, cmd.Wait(), log)
}
