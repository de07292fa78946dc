package clients_test

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/rig/ledgertest"
	"github.com/addrspec/addrspec/origin/rig/origintest"
)

// clientCase is a call of a client that we ship, and what it must return.
type clientCase struct {
	Name        string
	Call        string // check, check_many or usage
	Emails      json.RawMessage
	Count       int // of addresses at bulk.example, in place of Emails
	Details     bool
	Policy      *string
	MaxWait     *float64 `json:"max_wait"`
	Concurrency int      // 4 if 0, as in the clients
	Stop        bool     // the caller leaves after the first item
	// The account and its key.
	Rate, Points  *book.Limit
	Policies      map[string]json.RawMessage
	Revoked, Test bool
	// Faults are those of the first requests; those after them reach the service.
	Faults []string

	Items json.RawMessage // null if only their number and order are compared
	Got   *int            // how many, if not all
	Error *struct {
		Status int     `json:"status"`
		Code   *string `json:"code"`
		Points bool    `json:"points"`
	}
	Usage          json.RawMessage
	Used           *int64
	Requests, Most *int // how many reach the address of the service, exactly or at most
}

// A faulty is an address of the service where requests of a key meet faults.
type faulty struct {
	*httptest.Server
	service string
	mu      sync.Mutex
	faults  map[string][]string
	seen    map[string]int
}

func newFaulty(t *testing.T, service string) *faulty {
	f := &faulty{service: service, faults: map[string][]string{}, seen: map[string]int{}}
	f.Server = httptest.NewServer(f)
	t.Cleanup(f.Close)
	return f
}

func (f *faulty) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	key, fault := r.Header.Get("X-Api-Key"), ""
	f.mu.Lock()
	f.seen[key]++
	if len(f.faults[key]) > 0 {
		fault, f.faults[key] = f.faults[key][0], f.faults[key][1:]
	}
	f.mu.Unlock()
	switch fault {
	case "429":
		w.Header().Set("Retry-After", "1")
		respond(w, 429, `{"status":429,"title":"Too Many Requests","detail":"wait"}`)
	case "429 points":
		respond(w, 429, `{"status":429,"title":"Too Many Requests","detail":"the points of the month are used up"}`)
	case "409":
		respond(w, 409, `{"success":false,"error":{"code":"IDEMPOTENCY_CONFLICT","message":"in progress"}}`)
	case "500":
		respond(w, 500, `{"status":500,"error":"a defect","code":"INTERNAL_ERROR"}`)
	case "503":
		w.Header().Set("Retry-After", "1")
		respond(w, 503, `{"status":503,"error":"an outage","code":"REQUEST_CANCELLED"}`)
	case "page":
		respond(w, 404, `<html>not here</html>`)
	case "redirect":
		w.Header().Set("Location", f.URL+"/elsewhere")
		respond(w, http.StatusTemporaryRedirect, "")
	case "drop":
		panic(http.ErrAbortHandler)
	default:
		f.forward(w, r, fault)
	}
}

func respond(w http.ResponseWriter, status int, body string) {
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body)
}

// forward sends a request to the service, which charges it, and spoils the response.
func (f *faulty) forward(w http.ResponseWriter, r *http.Request, fault string) {
	body, _ := io.ReadAll(r.Body)
	if fault == "partial" { // as if time had run out after the first address
		var batch map[string]any
		_ = json.Unmarshal(body, &batch)
		batch["emails"] = batch["emails"].([]any)[:1]
		body, _ = json.Marshal(batch)
	}
	request, _ := http.NewRequestWithContext(r.Context(), r.Method, f.service+r.URL.Path, bytes.NewReader(body))
	request.Header = r.Header.Clone()
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	defer response.Body.Close()
	text, _ := io.ReadAll(response.Body)
	switch fault {
	case "cut":
		panic(http.ErrAbortHandler)
	case "partial":
		text = bytes.Replace(text, []byte(`"partial":false`), []byte(`"partial":true`), 1)
	}
	maps.Copy(w.Header(), response.Header)
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(response.StatusCode)
	if fault == "cut body" {
		_, _ = w.Write(text[:len(text)/2])
		panic(http.ErrAbortHandler)
	}
	_, _ = w.Write(text)
}

// runClient runs all cases in one process of a client, and compares what it returns.
func runClient(t *testing.T, name string, client *exec.Cmd) {
	text, err := os.ReadFile("../clients.json")
	require.NoError(t, err)
	var cases []clientCase
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	require.NoError(t, decoder.Decode(&cases))
	s := start(t)
	proxy := newFaulty(t, s.url)
	in, err := client.StdinPipe()
	require.NoError(t, err)
	out, err := client.StdoutPipe()
	require.NoError(t, err)
	client.Stderr = os.Stderr
	require.NoError(t, client.Start())
	t.Cleanup(func() { _ = in.Close(); _ = client.Wait() })
	results := bufio.NewScanner(out)
	results.Buffer(nil, 1<<20)
	for n, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			account := fmt.Sprintf("%s-%d@clients.test", name, n)
			key := s.open(t, c, account)
			proxy.mu.Lock()
			proxy.faults[key] = c.Faults
			proxy.mu.Unlock()
			emails, wait := c.Emails, 60.0
			if c.Count > 0 {
				emails = bulk(c.Count)
			}
			if c.MaxWait != nil {
				wait = *c.MaxWait
			}
			asked, err := json.Marshal(map[string]any{"url": proxy.URL, "key": key, "call": c.Call, "emails": emails,
				"details": c.Details, "policy": c.Policy, "max_wait": wait, "concurrency": cmp.Or(c.Concurrency, 4), "stop": c.Stop})
			require.NoError(t, err)
			_, err = in.Write(append(asked, '\n'))
			require.NoError(t, err)
			require.True(t, results.Scan(), "the client ended")
			c.require(t, results.Bytes())
			if c.Requests != nil {
				require.Equal(t, *c.Requests, proxy.seen[key])
			}
			if c.Most != nil {
				require.LessOrEqual(t, proxy.seen[key], *c.Most)
			}
			if c.Used != nil {
				used, err := s.ledger.AccountByEmail(t.Context(), account)
				require.NoError(t, err)
				require.Equal(t, *c.Used, used.Used)
			}
		})
	}
}

// open creates the account and the key of a case.
func (s service) open(t *testing.T, c clientCase, account string) (key string) {
	terms := book.Terms{Rate: ledgertest.Unlimited(), Points: ledgertest.Unlimited()}
	if c.Rate != nil {
		terms.Rate = c.Rate
	}
	if c.Points != nil {
		terms.Points = c.Points
	}
	key, id := ledgertest.NewAccountOn(t, s.ledger, account, terms)
	for name, document := range c.Policies {
		_, err := s.ledger.SetPolicy(t.Context(), id, name, string(document))
		require.NoError(t, err)
	}
	if c.Test {
		secret, _, err := s.ledger.CreateTestKey(t.Context(), id, "test", book.KeyTerms{})
		require.NoError(t, err)
		return secret
	}
	if c.Revoked {
		keys, err := s.ledger.ListKeys(t.Context(), id, book.KeyPage{})
		require.NoError(t, err)
		require.NoError(t, s.ledger.RevokeKey(t.Context(), id, keys[0].ID))
	}
	return key
}

func bulk(count int) json.RawMessage {
	emails := make([]string, count)
	for n := range emails {
		emails[n] = fmt.Sprintf("jane.%d@%d.bulk.example", n, n%7)
	}
	text, _ := json.Marshal(emails)
	return text
}

// require compares what a client returned.
func (c *clientCase) require(t *testing.T, text []byte) {
	var got struct {
		Items        []json.RawMessage
		Error, Usage json.RawMessage
	}
	require.NoError(t, json.Unmarshal(text, &got), "%s", text)
	requireJSON := func(want any, got json.RawMessage) {
		text, err := json.Marshal(want)
		require.NoError(t, err)
		require.JSONEq(t, string(text), string(got), "%s", text)
	}
	if c.Error != nil || got.Error != nil {
		require.NotNil(t, c.Error, "%s", text)
		requireJSON(c.Error, got.Error)
	}
	if c.Usage != nil {
		requireJSON(c.Usage, got.Usage)
	}
	if c.Items != nil {
		items, err := json.Marshal(got.Items)
		require.NoError(t, err)
		requireJSON(c.Items, items)
	}
	if c.Count == 0 {
		return
	}
	var emails []string
	require.NoError(t, json.Unmarshal(bulk(c.Count), &emails))
	if c.Got != nil {
		emails = emails[:*c.Got]
	}
	require.Len(t, got.Items, len(emails))
	for n, item := range got.Items {
		require.Contains(t, string(item), `"`+emails[n]+`"`)
	}
}

// The clients of our packages pay nothing twice and lose nothing, whatever happens on the way.
func TestPythonPackageClient(t *testing.T) {
	leaveToCI(t)
	for _, kind := range []string{"sync", "async"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			runClient(t, kind, origintest.PythonPackage(t, "python/cases.py", kind))
		})
	}
}

func TestNodePackageClient(t *testing.T) {
	leaveToCI(t)
	t.Parallel()
	directory := t.TempDir()
	require.NoError(t, os.Symlink(origintest.NodePackage(t), filepath.Join(directory, "node_modules")))
	text, err := os.ReadFile("typescript/cases.mjs")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(directory, "cases.mjs"), text, 0o600))
	runClient(t, "node", exec.Command("node", filepath.Join(directory, "cases.mjs")))
}
