package wit_test

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/wasm/build/compile"
	"github.com/addrspec/addrspec/wasm/vectors"
)

// response is what the component returns for one request.
type response struct {
	OK *struct {
		JSON    string
		MXAt    int
		Host    string
		Refusal *vectors.Report
	}
	Error string
}

// component is a component that runs in Node with jco.
type component struct {
	t         *testing.T
	requests  *json.Encoder
	responses *json.Decoder
}

// start builds the component and runs it.
func start(t *testing.T) component {
	t.Helper()
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("node is not installed")
	}
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
	return component{t, json.NewEncoder(in), json.NewDecoder(bufio.NewReader(out))}
}

func (c component) send(request any) (r response) {
	c.t.Helper()
	require.NoError(c.t, c.requests.Encode(request))
	require.NoError(c.t, c.responses.Decode(&r))
	return r
}

func (c component) replaceLists(blob []byte) response {
	return c.send(map[string]string{"lists": base64.StdEncoding.EncodeToString(blob)})
}

// requireSame requires the result and the report of core.
func (c component) requireSame(email string, want string, report vectors.Report) {
	got := c.send([]string{email, "domain"})
	if got.OK == nil || got.OK.JSON != want {
		require.Equal(c.t, want, got, "%q", email)
	}
	require.True(c.t, strings.HasPrefix(got.OK.JSON[got.OK.MXAt:], `false,"disposable"`))
	have := vectors.Report{Email: email, Valid: got.OK.Refusal == nil, Host: got.OK.Host}
	if r := got.OK.Refusal; r != nil {
		have.Code, have.Offset, have.Section, have.Sentence = r.Code, r.Offset, r.Section, r.Sentence
	}
	require.Equal(c.t, report, have)
}

func TestComponentMatchesCore(t *testing.T) {
	c, native, report := start(t), vectors.Native(), vectors.NativeReport()
	golden, err := vectors.Read("../vectors")
	require.NoError(t, err)
	for _, list := range golden {
		for _, v := range list {
			c.requireSame(v.Email, v.Answer, report(v.Email))
		}
	}
	checked := 0
	for _, email := range vectors.Generate(5, 60_000) {
		if utf8.ValidString(email) { // a string of WIT is valid UTF-8
			c.requireSame(email, string(native(email, false)), report(email))
			checked++
		}
	}
	require.Greater(t, checked, 50_000)
	full := c.send([]string{"jane@outloook.com", "address"})
	require.Equal(t, string(native("jane@outloook.com", true)), full.OK.JSON)
}

func TestComponentRefusesLongAddress(t *testing.T) {
	c := start(t)
	require.NotNil(t, c.send([]string{strings.Repeat("x", 1<<20), "domain"}).OK)
	require.Equal(t, "too-long", c.send([]string{strings.Repeat("x", 1<<20+1), "domain"}).Error)
	require.Equal(t, "too-long", c.send([]string{strings.Repeat("é", 1<<20), "domain"}).Error)
	require.NotNil(t, c.send([]string{"jane@example.org", "domain"}).OK)
}

func TestComponentReplaceLists(t *testing.T) {
	c := start(t)
	blob, err := os.ReadFile("../../lists/lists.blob")
	require.NoError(t, err)
	require.Empty(t, c.replaceLists(blob).Error)
	require.Contains(t, c.replaceLists(blob[1:]).Error, "damaged")
	require.Contains(t, c.replaceLists(make([]byte, 2<<20)).Error, "damaged", "larger than the input buffer")
	require.Contains(t, c.replaceLists(make([]byte, 4<<20+1)).Error, "larger than 4 MiB")
	require.NotNil(t, c.send([]string{"jane@example.org", "domain"}).OK)
}
