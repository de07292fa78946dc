package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/check/pipeline"
	"github.com/addrspec/addrspec/wasm/host"
	"github.com/addrspec/addrspec/wasm/moduletest"
)

// connect serves a client in this process.
func connect(t *testing.T, o Options) *sdk.ClientSession {
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- Serve(context.Background(), o, in, out)
		out.Close()
	}()
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).
		Connect(context.Background(), &sdk.IOTransport{Reader: fromServer, Writer: toServer}, nil)
	require.NoError(t, err)
	t.Cleanup(func() {
		session.Close()
		require.NoError(t, <-ended)
	})
	return session
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

// newEngine returns the module.
func newEngine(t testing.TB) *host.Engine {
	engine, err := host.New(context.Background(), moduletest.Bytes(t), host.Options{CacheDir: moduletest.CacheDir(), Size: 1})
	require.NoError(t, err)
	t.Cleanup(func() { engine.Close(context.Background()) })
	return engine
}

// offline returns options that check with the module, and what the module says of addresses.
func offline(t testing.TB) (o Options, results func(q Query, emails ...string) []string) {
	engine := newEngine(t)
	o.Checker = func(ctx context.Context, q Query) (_ pipeline.Checker, err error) {
		local := &pipeline.Local{View: engine.View()}
		if q.Details {
			local.Flags = host.Details
		}
		if q.Policy != "" {
			local.Policy, err = engine.NewPolicy(ctx, q.Policy)
		}
		return local, err
	}
	return o, func(q Query, emails ...string) (list []string) {
		checker, err := o.Checker(t.Context(), q)
		require.NoError(t, err)
		records, outcomes := make([]pipeline.Record, len(emails)), make([]pipeline.Outcome, len(emails))
		for n := range emails {
			records[n].Email = emails[n]
		}
		require.NoError(t, checker.Check(t.Context(), records, outcomes))
		for _, o := range outcomes {
			list = append(list, string(o.JSON))
		}
		return list
	}
}

func TestToolsDescribeThemselves(t *testing.T) {
	for mode, says := range map[Mode]string{Offline: "mx is null", DNS: "looked up by DNS", Service: "one usage point"} {
		session := connect(t, Options{Release: "1.2", Mode: mode})
		about := session.InitializeResult()
		require.Equal(t, "addrspec", about.ServerInfo.Name)
		require.Equal(t, "1.2", about.ServerInfo.Version)
		require.Contains(t, about.Instructions, says)
		list, err := session.ListTools(context.Background(), nil)
		require.NoError(t, err)
		require.Len(t, list.Tools, 3)
		for _, tool := range list.Tools {
			require.Contains(t, tool.Description, says)
			input, err := json.Marshal(tool.InputSchema)
			require.NoError(t, err)
			require.Equal(t, mode == Service, strings.Contains(string(input), `"type":["object","null","string"]`), string(input))
			require.Contains(t, string(input), `"additionalProperties":false`)
			output, err := json.Marshal(tool.OutputSchema)
			require.NoError(t, err)
			require.Contains(t, string(output), `"verdict":{`)
			require.Equal(t, tool.Name == "check_email", strings.Contains(string(output), "so never reject a person for it alone"), "described once")
			require.Equal(t, mode != Service, tool.Annotations.ReadOnlyHint)
			require.Equal(t, mode != Service, tool.Annotations.IdempotentHint)
			require.Equal(t, mode != Offline, *tool.Annotations.OpenWorldHint)
			require.False(t, *tool.Annotations.DestructiveHint)
		}
	}
}

// Tools return the results of the checks, all their members, and with a policy its verdicts.
func TestToolsReturnResults(t *testing.T) {
	o, results := offline(t)
	session := connect(t, o)
	emails := []string{"Jane.Doe+news@gmial.com", "a..b@mail.example", "support@mailinator.com", "jörg@bücher.example",
		`"<&>\u0001"@x`, "@", "j.d+x@googlemail.com", `"a b"@localhost`}
	for document, counts := range map[string][]any{"null": nil, `{}`: {6, 0, 2},
		`{"block":{"reasons":["disposable"]},"review":{"domains":["googlemail.com"],"reasons":["role:support"]}}`: {4, 1, 3}} {
		policy := strings.TrimPrefix(document, "null")
		want, evidence := results(Query{Policy: policy}, emails...), results(Query{Policy: policy, Details: true}, emails...)
		items := make([]string, len(emails))
		for n, email := range emails {
			arguments := map[string]any{"email": email, "policy": json.RawMessage(document)}
			structured, text, isError := call(t, session, "check_email", arguments)
			require.False(t, isError, text)
			require.JSONEq(t, want[n], structured)
			require.NotContains(t, text, "\n")
			structured, _, isError = call(t, session, "explain", arguments)
			require.False(t, isError)
			var got, explained struct{ Result, Details json.RawMessage }
			require.NoError(t, json.Unmarshal([]byte(structured), &got))
			require.NoError(t, json.Unmarshal([]byte(evidence[n]), &explained))
			require.JSONEq(t, want[n], string(got.Result))
			require.JSONEq(t, string(explained.Details), string(got.Details))
			quoted, _ := json.Marshal(email)
			items[n] = fmt.Sprintf(`{"email":%s,"result":%s,"error":null}`, quoted, want[n])
		}
		batch, says := `{"total":8,"valid_count":6,"invalid_count":2,"error_count":0,"results":[`+strings.Join(items, ",")+`]`, ""
		if counts != nil {
			batch += fmt.Sprintf(`,"verdicts":{"allow":%d,"review":%d,"block":%d}`, counts...)
			says = fmt.Sprintf(" Verdicts: %d allow, %d review, %d block.", counts...)
		}
		structured, text, _ := call(t, session, "check_emails", map[string]any{"emails": append(emails, emails...), "policy": json.RawMessage(document)})
		require.JSONEq(t, batch+"}", structured)
		require.Contains(t, text, "8 addresses: 6 valid, 2 not valid, 0 not checked."+says+"\n")
	}
}

// The text of a tool has the facts of note, and nothing in it can pass for another line.
func TestTexts(t *testing.T) {
	o, _ := offline(t)
	session := connect(t, o)
	const decided = `{"review":{"reasons":["role"]}}`
	for _, c := range []struct {
		tool, email, policy, want string
	}{
		{"check_email", "jane@mail.example", "", `"jane@mail.example": valid address. The MX records of mail.example were not looked up.`},
		{"check_email", "a\x1b[31m\n@b", "", `"a\x1b[31m\n@b": not a valid address.`},
		{"check_email", "x@", decided, `"x@": verdict block (invalid); not a valid address.`},
		{"check_email", "support@gmial.com", decided, `"support@gmial.com": verdict review (role, review.reasons[0]); valid address. ` +
			"The MX records of gmial.com were not looked up. gmial.com looks like a misspelling of gmail.com. " +
			"It names a role (Support), so several people may read the mail, or nobody."},
		{"explain", "a..b@mail.example", "", `"a..b@mail.example": not a valid address. At byte 2: the local part has two dots in a row; remove one (RFC 5322 section 3.2.3).`},
		{"explain", "Jane <a@mail.example>", "", `without a name (RFC 5322 section 3.4.1). Did you mean "a@mail.example"?`},
		{"explain", "j.d+x@googlemail.com", `{}`, `"j.d+x@googlemail.com": verdict allow; valid address. The MX records of googlemail.com were ` +
			"not looked up. Anybody can open a mailbox at googlemail.com. The entry is googlemail.com, from "},
		{"explain", "j.d@googlemail.com", "", `The mailbox is jd@gmail.com: other spellings reach it too, by the rule "gmail" of its provider.`},
	} {
		arguments := map[string]any{"email": c.email}
		if c.policy != "" {
			arguments["policy"] = json.RawMessage(c.policy)
		}
		_, text, isError := call(t, session, c.tool, arguments)
		require.False(t, isError, text)
		require.Contains(t, text, c.want)
	}
}

// Wrong arguments, and policies that cannot decide, are errors of the tool that say what and where.
// The session goes on.
func TestRefusedArguments(t *testing.T) {
	o, _ := offline(t)
	session := connect(t, o)
	long := strings.Repeat("a", 5<<10)
	for _, c := range []struct{ tool, arguments, says string }{
		{"check_email", `{}`, "email"},
		{"check_email", `{"email":7}`, `want "string"`},
		{"check_email", `{"email":null}`, `want "string"`},
		{"check_email", `{"email":"a@b","mail":"x"}`, "mail"},
		{"check_email", `{"email":"` + long + `"}`, "address 1 of 1 has 5120 bytes"},
		{"check_emails", `{"emails":[]}`, "less than 1"},
		{"check_emails", `{"emails":["a"` + strings.Repeat(`,"a"`, 64) + `]}`, "greater than 64"},
		{"check_emails", `{"emails":["a"` + strings.Repeat(`,"a"`, 100_000) + `]}`, "greater than 64"},
		{"check_emails", `{"emails":null}`, `want "array"`},
		{"check_emails", `{"emails":[1]}`, `want "string"`},
		{"check_emails", `{"emails":["a@mail.example","` + long + `"]}`, "address 2 of 2"},
		{"explain", `{"email":"a@b","policy":"sign-up"}`, `has type "string"`},
		{"explain", `{"email":"a@b","policy":[]}`, `has type "array"`},
		{"explain", `{"email":"a@b","policy":{"block":{"reasons":["no_mx","role","disposible"]}}}`,
			`policy: block.reasons[2]: "disposible" is no reason; did you mean "disposable"?`},
		{"explain", `{"email":"a@b","policy":{"block":{"reasons":["role"]},"block":{}}}`, `policy: block: the member is there twice`},
		{"explain", `{"email":"a@b","policy":{"block":{"domains":` + strings.Repeat("[", 900) + strings.Repeat("]", 900) + `}}}`, `policy: block.domains[0]: `},
		{"explain", `{"email":"a@b","policy":{"block":{"reasons":["` + strings.Repeat("x", 64<<10) + `"]}}}`,
			`policy: it has 65562 bytes, and in a call it may have 65536; for a longer one, start the server with --policy FILE`},
	} {
		_, text, isError := call(t, session, c.tool, json.RawMessage(c.arguments))
		require.True(t, isError, c.says)
		require.Contains(t, text, c.says)
		require.Less(t, len(text), 500)
	}
	_, err := session.CallTool(context.Background(), &sdk.CallToolParams{Name: "delete_everything"})
	require.ErrorContains(t, err, "unknown tool")
	_, _, isError := call(t, session, "check_email", map[string]any{"email": "a@b"})
	require.False(t, isError)
}

// fixed is a checker with the same outcome for each address.
type fixed struct {
	outcome pipeline.Outcome
	err     error
	calls   atomic.Int64
}

func (f *fixed) Check(_ context.Context, records []pipeline.Record, outcomes []pipeline.Outcome) error {
	f.calls.Add(1)
	for n := range records {
		outcomes[n] = f.outcome
	}
	return f.err
}

// An address that could not be checked is an item with an error, and the error of a call about it
// alone; a check that fails is an error of the call.
func TestUnchecked(t *testing.T) {
	checker := &fixed{outcome: pipeline.Outcome{Code: "DNS_TIMEOUT", Message: "DNS lookup timed out for domain b"}}
	session := connect(t, Options{Mode: DNS, Checker: func(context.Context, Query) (pipeline.Checker, error) { return checker, nil }})
	structured, text, isError := call(t, session, "check_emails", map[string]any{"emails": []string{"a@b"}})
	require.False(t, isError)
	require.Contains(t, structured, `"results":[{"email":"a@b","error":{"code":"DNS_TIMEOUT","message":"DNS lookup timed out for domain b"},"result":null}]`)
	require.Equal(t, "1 address: 0 valid, 0 not valid, 1 not checked.\n"+`"a@b": not checked, DNS lookup timed out for domain b`, text)
	_, text, isError = call(t, session, "explain", map[string]any{"email": "a@b"})
	require.True(t, isError)
	require.Equal(t, "DNS_TIMEOUT: DNS lookup timed out for domain b. Nothing about the address follows from this; try again in a minute", text)
	checker.err = errors.New("no lists")
	_, text, isError = call(t, session, "check_emails", map[string]any{"emails": []string{"a@b", ""}})
	require.True(t, isError)
	require.Equal(t, "the check failed: no lists", text)
}
