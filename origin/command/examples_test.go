package command

import (
	"bytes"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/dashboard/docs"
	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/rig/contract"
	"github.com/addrspec/addrspec/origin/rig/ledgertest"
	"github.com/addrspec/addrspec/origin/rig/mxtest"
	"github.com/addrspec/addrspec/origin/rig/origintest"
	"github.com/addrspec/addrspec/origin/webhook"
)

const documentedURL = "http://127.0.0.1:8080"

// exampleZone is the DNS data of the addresses in the examples.
const exampleZone = `
	example.org.    300 IN SOA ns.example.org. hostmaster.example.org. 1 2 3 4 60
	example.org.    300 IN MX  10 mx1.example.org.
	address.example.org. 300 IN A 192.0.2.1
`

// interpreters has the programs that run the examples, by file name.
var interpreters = map[string][]string{
	"example.sh": {"sh"}, "main.go": {"go", "run"}, "example.py": {"python3"}, "example.mjs": {"node"},
}

// wanted is what each example prints; curl prints the JSON, of which these are
// parts.
var wanted = map[string]struct{ output, json string }{
	"check-email":   {"valid: true\nperhaps meant: hotmail.com\n", `"typo_suggestion":"hotmail.com"`},
	"check-emails":  {"jane@example.org valid: true typo: false\ninfo@hotmial.com valid: true typo: true\npoints: 2\n", `"usage_points":2`},
	"get-usage":     {"points: 0 of 100\n", `"limit":100`},
	"handle-errors": {"400 INVALID_EMAIL_FORMAT: The local part ends with a dot; remove it.\n", ""},
	"clean-list":    {"jane@example.org,keep\njane.@example.org,remove\ninfo@hotmial.com,ask\njohn@address.example.org,confirm\nxkqzvwjt@mailinator.com,doubt\n", ""},
}

// The examples of the documentation print what they should when they are run
// against a service.
func TestExamples(t *testing.T) {
	s := start(t, "--dns", mxtest.Start(t, exampleZone))
	for name, want := range wanted {
		for _, e := range examples(t, name) {
			t.Run(e.File, func(t *testing.T) {
				t.Parallel()
				key := s.exampleKey(t, e.File, ledgertest.Unlimited(), ledgertest.Limit(100))
				out, err := example(t, e, s.hostPort, key).Output()
				require.NoError(t, err)
				if filepath.Base(e.File) == "example.sh" {
					require.Contains(t, string(out), want.json)
				} else {
					require.Equal(t, want.output, string(out))
				}
			})
		}
	}
}

// If the response to a batch is lost, the example sends it again and it is charged once. It
// retries after the time that the service asks for.
func TestExamplesRetry(t *testing.T) {
	s := start(t, "--dns", mxtest.Start(t, exampleZone))
	for _, e := range examples(t, "retry-safely") {
		t.Run(e.File, func(t *testing.T) {
			t.Parallel()
			key := s.exampleKey(t, e.File, ledgertest.Unlimited(), ledgertest.Limit(100))
			lost, requests := proxyTo(t, s.hostPort, func(forward http.Handler, _ http.ResponseWriter, r *http.Request) {
				forward.ServeHTTP(httptest.NewRecorder(), r)
				panic(http.ErrAbortHandler)
			})
			out, err := example(t, e, lost, key).Output()
			require.NoError(t, err)
			require.Equal(t, "points: 2\n", string(out))
			require.EqualValues(t, 2, requests.Load())
			require.EqualValues(t, 2, ledgertest.Used(t, s.ledger, e.File+"@example.org"))
			slow := s.exampleKey(t, "slow."+e.File, ledgertest.Limit(1), ledgertest.Unlimited())
			late, _ := proxyTo(t, s.hostPort, func(forward http.Handler, w http.ResponseWriter, r *http.Request) {
				usage := httptest.NewRequest(http.MethodGet, "/v1/usage", nil) // takes the token of the second
				usage.Header.Set("X-API-Key", slow)
				forward.ServeHTTP(httptest.NewRecorder(), usage)
				forward.ServeHTTP(w, r)
				if w.Header().Get("Retry-After") == "" {
					t.Error("the first attempt got no time to wait")
				}
			})
			out, err = example(t, e, late, slow).Output()
			require.NoError(t, err)
			require.Equal(t, "points: 2\n", string(out))
		})
	}
}

// The command of the guide writes a line for each address.
func TestExampleChecksAFile(t *testing.T) {
	t.Parallel()
	e := examples(t, "check-file")[0]
	cmd := example(t, e, "", "")
	program := filepath.Join(cmd.Dir, "addrspec")
	require.NoError(t, os.Symlink(os.Args[0], program))
	cmd.Env = append(cmd.Env, programVariable+"=1", "PATH="+cmd.Dir+":"+os.Getenv("PATH"), "ADDRSPEC_DNS="+contract.Serve(t))
	require.NoError(t, cmd.Run())
	facts, err := os.ReadFile(filepath.Join(cmd.Dir, "facts.ndjson"))
	require.NoError(t, err)
	require.Equal(t, strings.Count(exampleList, "\n"), strings.Count(string(facts), "\n"))
	require.Contains(t, string(facts), `"typo_suggestion":"hotmail.com"`)
}

func examples(t *testing.T, name string) []docs.Example {
	t.Helper()
	list, err := docs.Examples(name)
	require.NoError(t, err)
	return list
}

func (s *instance) exampleKey(t *testing.T, account string, rate, points *book.Limit) string {
	key, _ := ledgertest.NewAccountOn(t, s.ledger, account+"@example.org", book.Terms{Rate: rate, Points: points})
	return key
}

// exampleList is the file addresses.txt of the examples.
const exampleList = "jane@example.org\njane.@example.org\ninfo@hotmial.com\njohn@address.example.org\nxkqzvwjt@mailinator.com\njane@example.org\n"

// example returns the command that runs an example in a directory of its own. Only
// the URL differs from what the documentation shows.
func example(t *testing.T, e docs.Example, hostPort, key string) *exec.Cmd {
	t.Helper()
	name := filepath.Base(e.File)
	program := interpreters[name]
	if _, err := exec.LookPath(program[0]); err != nil {
		t.Skipf("%s is not installed", program[0])
	}
	directory := t.TempDir()
	text := strings.ReplaceAll(e.Text, documentedURL, "http://"+hostPort)
	require.NoError(t, os.WriteFile(filepath.Join(directory, name), []byte(text), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(directory, "addresses.txt"), []byte(exampleList), 0o600))
	cmd := exec.Command(program[0], append(program[1:], name)...)
	cmd.Dir = directory
	cmd.Env = append(os.Environ(), "ADDRSPEC_KEY="+key)
	cmd.Stderr = logIfFailed(t)
	return cmd
}

// logIfFailed returns a buffer whose content is logged if the test fails.
func logIfFailed(t *testing.T) io.Writer {
	var b bytes.Buffer
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%s", &b)
		}
	})
	return &b
}

// proxyTo returns a proxy to a service, which handles its first request by a function.
func proxyTo(t *testing.T, hostPort string, first func(forward http.Handler, w http.ResponseWriter, r *http.Request)) (
	proxy string, requests *atomic.Int32) {
	requests = new(atomic.Int32)
	forward := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: hostPort})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if requests.Add(1) == 1 {
			first(forward, w, r)
			return
		}
		forward.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.Listener.Addr().String(), requests
}

// The receivers of the documentation accept what the service itself sends, also with the secret
// from before a rotation, and refuse all others.
func TestExamplesVerifyWebhooks(t *testing.T) {
	t.Parallel()
	l := ledgertest.Open(t, origintest.NewDatabase(t))
	for _, e := range examples(t, "verify-webhook") {
		t.Run(e.File, func(t *testing.T) {
			proxy := httptest.NewUnstartedServer(nil)
			proxy.StartTLS()
			defer proxy.Close()
			roots := x509.NewCertPool()
			roots.AddCert(proxy.Certificate())
			sender := webhook.New(l.Store(), webhook.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
				Local: &webhook.Local{Roots: roots}})
			_, account := ledgertest.NewAccountOn(t, l, e.File+"@example.org", book.Terms{})
			secret, err := sender.Set(t.Context(), account, proxy.URL+"/hook")
			require.NoError(t, err)
			newer, err := sender.Rotate(t.Context(), account)
			require.NoError(t, err)
			target := runReceiver(t, e, secret)
			receiver, err := url.Parse(target)
			require.NoError(t, err)
			proxy.Config.Handler = httputil.NewSingleHostReverseProxy(receiver)
			delivery, err := sender.Test(t.Context(), account)
			require.NoError(t, err)
			require.True(t, delivery.Delivered, delivery.Status)

			const body = `{"type":"usage.80","data":{"text":"é"}}`
			now := time.Now()
			hourAgo := now.Add(-time.Hour)
			for name, c := range map[string]struct {
				header http.Header
				body   string
				want   int
			}{
				"good":           {signed(t, secret, "msg_1", now, body), body, http.StatusNoContent},
				"another body":   {signed(t, secret, "msg_1", now, body), body + " ", http.StatusUnauthorized},
				"another secret": {signed(t, newer, "msg_1", now, body), body, http.StatusUnauthorized},
				"too old":        {signed(t, secret, "msg_1", hourAgo, body), body, http.StatusUnauthorized},
				"another id":     {setHeader(signed(t, secret, "msg_1", now, body), "Webhook-Id", "msg_2"), body, http.StatusUnauthorized},
				"another time": {setHeader(signed(t, secret, "msg_1", now, body), "Webhook-Timestamp", strconv.FormatInt(now.Unix()+1, 10)),
					body, http.StatusUnauthorized},
				"no signature": {setHeader(signed(t, secret, "msg_1", now, body), "Webhook-Signature", ""), body, http.StatusUnauthorized},
			} {
				response, _ := post(t, target, c.header, c.body)
				require.Equal(t, c.want, response.StatusCode, name)
			}
		})
	}
}

func setHeader(h http.Header, name, value string) http.Header {
	h.Set(name, value)
	return h
}

func runReceiver(t *testing.T, e docs.Example, secret string) (target string) {
	t.Helper()
	address, err := origintest.FreeAddress()
	require.NoError(t, err)
	_, port, err := net.SplitHostPort(address)
	require.NoError(t, err)
	cmd := example(t, e, "", "")
	if filepath.Base(e.File) == "main.go" { // "go run" does not pass on the end of the test
		build := exec.Command("go", "build", "-o", "receiver", "main.go")
		build.Dir = cmd.Dir
		out, err := build.CombinedOutput()
		require.NoError(t, err, "%s", out)
		program := exec.Command(filepath.Join(cmd.Dir, "receiver"))
		program.Env = cmd.Env
		cmd = program
	}
	cmd.Env = append(cmd.Env, "PORT="+port, "WEBHOOK_SECRET="+secret)
	cmd.Stdout, cmd.Stderr = io.Discard, io.Discard
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	awaitListener(t, address, e.File)
	return "http://" + address + "/"
}
