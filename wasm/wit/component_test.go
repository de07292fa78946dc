package wit_test

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/core"
	"github.com/addrspec/addrspec/lists"
	"github.com/addrspec/addrspec/wasm/build/compile"
	"github.com/addrspec/addrspec/wasm/moduletest"
	"github.com/addrspec/addrspec/wasm/vectors"
)

// response is what the component returns for one request.
type response struct {
	OK *struct {
		JSON       string
		Facts      map[string]bool
		MX         struct{ Offset, Length int }
		Disposable any // a place, or of exchanges a boolean
		Host       string
		Refusal    *vectors.Report

		Action, Reason, Rule string // of a verdict
	}
	Error any // the name of one, a sentence, or the members of a policy's
}

// component is a component that runs in Node with jco.
type component struct {
	requests  *json.Encoder
	responses *json.Decoder
}

// start builds the component and runs it.
func start(t *testing.T) component {
	t.Helper()
	if testing.Short() {
		t.Skip("left to ./build.sh test ci")
	}
	moduletest.Tool(t, "node")
	if _, err := os.Stat("node_modules"); err != nil {
		t.Skip("jco is not installed: run npm install in wasm/wit")
	}
	wasm, err := compile.Component(t.Context())
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "addrspec.component.wasm")
	require.NoError(t, os.WriteFile(file, wasm, 0o600))
	cmd := exec.CommandContext(t.Context(), "node", "run.mjs", file, t.TempDir())
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		in.Close()
		io.Copy(io.Discard, out)
		cmd.Wait()
	})
	return component{json.NewEncoder(in), json.NewDecoder(bufio.NewReader(out))}
}

// send sends one request and returns the response.
func (c component) send(t *testing.T, request any) response {
	t.Helper()
	require.NoError(t, c.requests.Encode(request))
	return c.receive(t)
}

func (c component) receive(t *testing.T) (r response) {
	t.Helper()
	require.NoError(t, c.responses.Decode(&r))
	return r
}

func (c component) replaceLists(t *testing.T, blob []byte) response {
	t.Helper()
	return c.send(t, map[string]string{"lists": base64.StdEncoding.EncodeToString(blob)})
}

// TestComponent runs its subtests on one instance, since building and starting the
// component takes 6 s of CPU time.
func TestComponent(t *testing.T) {
	c := start(t)
	// The first to fail ends the test, because it may leave responses unread. The
	// lists are replaced last, so that MatchesCore checks the embedded ones.
	_ = t.Run("MatchesCore", func(t *testing.T) { testMatchesCore(t, c) }) &&
		t.Run("Explain", func(t *testing.T) { testExplain(t, c) }) &&
		t.Run("Exchanges", func(t *testing.T) { testExchanges(t, c) }) &&
		t.Run("Policies", func(t *testing.T) { testPolicies(t, c) }) &&
		t.Run("RefusesLongAddress", func(t *testing.T) { testRefusesLongAddress(t, c) }) &&
		t.Run("ReplaceLists", func(t *testing.T) { testReplaceLists(t, c) })
}

// expected is what core returns for an address.
type expected struct {
	email, json string
	report      vectors.Report
}

func testMatchesCore(t *testing.T, c component) {
	native, report := vectors.Native(), vectors.NativeReport()
	golden, err := vectors.Read("../vectors")
	require.NoError(t, err)
	var all []expected
	for _, list := range golden {
		for _, v := range list {
			all = append(all, expected{v.Email, v.Result, report(v.Email)})
		}
	}
	fromVectors := len(all)
	for _, email := range vectors.Generate(5, 60_000) {
		if utf8.ValidString(email) { // a string of WIT is valid UTF-8
			all = append(all, expected{email, string(native(email, false)), report(email)})
		}
	}
	require.Greater(t, len(all)-fromVectors, 50_000)
	c.requireSame(t, all)
	full := c.send(t, []string{"jane@outloook.com", "address"})
	require.Equal(t, string(native("jane@outloook.com", true)), full.OK.JSON)
}

// requireSame requires the results and reports of core. It sends requests without
// waiting for the responses, which saves process switches.
func (c component) requireSame(t *testing.T, all []expected) {
	t.Helper()
	sent := make(chan error, 1)
	go func() {
		var err error
		for n := 0; n < len(all) && err == nil; n++ {
			err = c.requests.Encode([]string{all[n].email, "domain"})
		}
		sent <- err
	}()
	for _, want := range all {
		requireResponse(t, want, c.receive(t))
	}
	require.NoError(t, <-sent)
}

func requireResponse(t *testing.T, want expected, got response) {
	t.Helper()
	if got.OK == nil || got.OK.JSON != want.json {
		require.Equal(t, want.json, got, "%q", want.email)
	}
	mx := map[bool]string{true: "null", false: "false"}[got.OK.Host != ""]
	require.Equal(t, mx, got.OK.JSON[got.OK.MX.Offset:][:got.OK.MX.Length])
	require.Equal(t, got.OK.Refusal == nil, got.OK.Facts["valid"])
	have := vectors.Report{Email: want.email, Valid: got.OK.Refusal == nil, Host: got.OK.Host}
	if r := got.OK.Refusal; r != nil {
		have.Code, have.Offset, have.Section, have.Sentence = r.Code, r.Offset, r.Section, r.Sentence
	}
	if want.report != have {
		require.Equal(t, want.report, have)
	}
}

// testExplain compares explain with core for the golden details.
func testExplain(t *testing.T, c component) {
	native, report := vectors.NativeWith(), vectors.NativeReport()
	golden, err := vectors.ReadDetails("../vectors")
	require.NoError(t, err)
	for _, list := range golden {
		for _, v := range list {
			want := expected{v.Email, v.Result, report(v.Email)}
			requireResponse(t, want, c.send(t, []string{v.Email, "domain", "explain"}))
			want.json = string(native(v.Email, true, true))
			requireResponse(t, want, c.send(t, []string{v.Email, "address", "explain"}))
		}
	}
	require.Equal(t, "too-long", c.send(t, []string{strings.Repeat("x", 1<<20+1), "domain", "explain"}).Error)
}

// testExchanges compares exchanges with core, also for names that are none.
func testExchanges(t *testing.T, c component) {
	checker := core.New(lists.Default())
	for _, names := range []string{"burner.example mail.mailinator.com", "google.example aspmx.l.google.com alt1.aspmx.l.google.com", "own.example mx.own.example",
		"mixed.example mail.mailinator.com mx1.mail.example", "many.example mail.mailinator.com *", "none.example", "", " ", "x é \x00\u2028", "a.example " + strings.Repeat("b.example ", 5_000)} {
		for record, known := range map[bool]core.AddressRecord{false: core.AddressAbsent, true: core.AddressPresent} {
			host, rest, _ := strings.Cut(names, " ")
			want := checker.Exchanges([]byte(host))
			for name := range strings.FieldsSeq(rest) {
				want.Add([]byte(name))
			}
			got := c.send(t, map[string]any{"exchanges": names, "addressRecord": record})
			require.NotNil(t, got.OK, "%q: %s", names, got.Error)
			require.Equal(t, string(want.AppendJSON(nil, known)), got.OK.JSON)
			require.Equal(t, want.Disposable(), got.OK.Disposable)
		}
	}
	require.Equal(t, "too-long", c.send(t, map[string]any{"exchanges": strings.Repeat("x", 1<<20+1), "addressRecord": false}).Error)
}

// testPolicies decides about the cases that all hosts share, and about more slots and larger
// documents than there may be.
func testPolicies(t *testing.T, c component) {
	load := func(slot int, document string) response {
		return c.send(t, map[string]any{"slot": slot, "policy": document})
	}
	decide := func(slot int, email string, found map[string]bool) response {
		return c.send(t, map[string]any{"slot": slot, "email": email, "found": found})
	}
	require.Equal(t, "no-policy", decide(15, "jane@iana.org", nil).Error)
	cases, err := vectors.ReadPolicies("../vectors")
	require.NoError(t, err)
	for n, p := range cases {
		slot, loaded := n%16, load(n%16, p.Document)
		if p.Error != "" {
			require.Equal(t, p.Error, loaded.Error.(map[string]any)["sentence"], p.Document)
			continue
		}
		if strings.Contains(p.Document, "exchanges") {
			require.Contains(t, loaded.Error.(map[string]any)["sentence"], "it has exchanges, which decide does not take", p.Document)
			continue
		}
		require.Nil(t, loaded.Error, p.Document)
		mx, record := p.MX, p.Address
		got := decide(slot, p.Email, map[string]bool{"disposable": p.Disposable, "lookedUp": mx != nil, "mx": mx != nil && *mx,
			"addressLookedUp": record != nil, "addressRecord": record != nil && *record})
		require.NotNil(t, got.OK, got.Error)
		require.Equal(t, string(p.Verdict), got.OK.JSON, "%s %s", p.Document, p.Email)
		var want struct{ Action, Reason, Rule string }
		require.NoError(t, json.Unmarshal(p.Verdict, &want))
		require.Equal(t, want, struct{ Action, Reason, Rule string }{got.OK.Action, got.OK.Reason, got.OK.Rule})
	}
	require.Nil(t, load(0, `{"block":{"domains":["a.example"]}}`).Error)
	require.Nil(t, load(15, `{"review":{"domains":["a.example"]}}`).Error)
	require.Equal(t, map[string]any{"offset": 21.0, "sentence": `block.reasons[0]: "disposible" is no reason; did you mean "disposable"?`}, load(0, `{"block":{"reasons":["disposible"]}}`).Error)
	require.Contains(t, load(0, strings.Repeat(" ", 4<<20)).Error.(map[string]any)["sentence"], "it has more than 2665536 bytes")
	require.Contains(t, load(16, "{}").Error.(map[string]any)["sentence"], "the slots are 0 to 15")
	require.Equal(t, "block", decide(0, "jane@a.example", nil).OK.Action, "a refused document changes nothing")
	require.Equal(t, "review", decide(15, "jane@a.example", nil).OK.Action)
	require.Equal(t, "no-policy", decide(16, "jane@a.example", nil).Error)
	require.Equal(t, "too-long", decide(0, strings.Repeat("x", 1<<20+1), nil).Error)
	var many []string
	for n := range 10_000 {
		many = append(many, fmt.Sprintf(`"x%d.example"`, n))
	}
	require.Nil(t, load(7, `{"block":{"domains":[`+strings.Join(many, ",")+`]}}`).Error)
	require.Equal(t, "block.domains[9999]", decide(7, "jane@x9999.example", nil).OK.Rule)
	require.Nil(t, load(7, "{}").Error)
	require.Equal(t, "allow", decide(7, "jane@x9999.example", nil).OK.Action)
}

func testRefusesLongAddress(t *testing.T, c component) {
	require.NotNil(t, c.send(t, []string{strings.Repeat("x", 1<<20), "domain"}).OK)
	require.Equal(t, "too-long", c.send(t, []string{strings.Repeat("x", 1<<20+1), "domain"}).Error)
	require.Equal(t, "too-long", c.send(t, []string{strings.Repeat("é", 1<<20), "domain"}).Error)
	require.NotNil(t, c.send(t, []string{"jane@example.org", "domain"}).OK)
}

func testReplaceLists(t *testing.T, c component) {
	blob, err := os.ReadFile("../../lists/lists.blob")
	require.NoError(t, err)
	require.Empty(t, c.replaceLists(t, blob).Error)
	require.Contains(t, c.replaceLists(t, blob[1:]).Error, "damaged")
	require.Contains(t, c.replaceLists(t, make([]byte, 2<<20)).Error, "damaged", "larger than the input buffer")
	require.Contains(t, c.replaceLists(t, make([]byte, 4<<20+1)).Error, "larger than 4 MiB")
	require.NotNil(t, c.send(t, []string{"jane@example.org", "domain"}).OK)
}
