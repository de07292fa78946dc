package edge_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/rig/contract"
	"github.com/addrspec/addrspec/origin/rig/origintest"
)

// platforms run functions of a cloud provider.
var platforms = []runtime{
	{name: "vercel-edge", start: local("vercel", "vercel-edge")},
	{name: "vercel-node", start: local("vercel", "vercel-node")},
	{name: "netlify", start: local("netlify", "netlify")},
	{name: "lambda", start: startLambda},
}

// Through a platform's local runtime, the worker gives the origin's responses, for the same
// points, also for addresses whose percent-encoding an URL parser could change.
func TestPlatformsRespondAsOrigin(t *testing.T) {
	leftToCI(t)
	o := startOrigin(t, "--dns", contract.Serve(t), "--dns-timeout", "500ms", "--dashboard=off")
	for _, platform := range platforms {
		t.Run(platform.name, func(t *testing.T) {
			w := platform.start(t, "http://"+o.hostPort)
			direct, edge := platform.name+"-direct@platform.test", platform.name+"-edge@platform.test"
			key := [2]string{o.accountWithPolicy(t, direct, ""), o.accountWithPolicy(t, edge, "")}
			for _, r := range platformRequests {
				if len(r.Body) > 64<<10 && strings.HasPrefix(platform.name, "vercel") {
					continue // its development server ends when a program stops reading a body
				}
				direct := o.send(t, r.With("X-API-Key: "+key[0], "X-Request-Id: platform"))
				edge := w.send(t, r.With("X-API-Key: "+key[1], "X-Request-Id: platform"))
				assert.Equal(t, direct.essence(), edge.essence(), "%s %s %.60s", r.Method, r.Target, r.Body)
			}
			o.requireSameUsage(t, direct, edge)
			for _, header := range []string{"X-Other: no key", "X-API-Key: ask_0", unknownKey} {
				r := get("/v1/email/a@mail.example", header, "X-Request-Id: platform")
				assert.Equal(t, o.send(t, r).essence(), w.send(t, r).essence(), header)
			}
			requireNoSecrets(t, w)
		})
	}
}

// platformRequests do without what platforms change before the worker sees it: repeated
// header fields, bare dot segments, and malformed HTTP.
var platformRequests = []request{
	get("/v1/email/jane.doe+news@gmial.com"), get("/v1/email/a@mail.example?details=true"), get("/v1/email/info@mail.example?policy=strict"),
	get("/v1/email/a%2F..%2Fb@mail.example"), get("/v1/email/%22a%2F%2Fb%22@mail.example"), get("/v1/email/a%00@mail.example"), get("/v1/email/a%252Fb@mail.example"),
	get("/v1/email/a%25b%3Fc%23d@mail.example"), get("/v1/email/%22a%5C%22b%20c%22@mail.example"), get("/v1/email/j%C3%A4ne@b%C3%BCcher.example"), get("/v1/email/%ff@mail.example"),
	get("/v1/email/a%2Bb@mail.example"), get("/v1/email/a+b@mail.example"), get("/v1/email/!$&'*+=~@mail.example"), get("/v1/email/a@[IPv6:2001:db8::1]"), get("/v1/email/"), get("/v1/email"),
	get("/v1/email/a@servfail.example"), get("/v1/email/a@none.example"), get("/v1/email/jane..doe@mail.example?details=true"), get("/v1/email/" + strings.Repeat("a", 300) + "@mail.example"),
	post(`{"emails":["a@mail.example","bad","a@servfail.example","A@mail.example"]}`), post(`{"emails":["info@mail.example"],"details":true,"policy":"strict"}`),
	post(`{"emails":["a@mail.example"],"policy":"strict"}`), post(`{"emails":["a@mail.example"]}`, "Idempotency-Key: one"), post(`{"emails":["a@mail.example"]}`, "Idempotency-Key: one"),
	post(`{"emails":[]}`), post(`{"emails":`), post(""), post(`{"emails":["` + strings.Repeat("a", 100_000) + `"]}`),
	get("/v1/usage"), get("/v1/emails"), get("/v2"), {Method: http.MethodPut, Target: "/v1/email/a@mail.example"},
	{Method: http.MethodHead, Target: "/v1/email/a@mail.example"}, {Method: http.MethodOptions, Target: "/v1/emails"}, {Method: http.MethodOptions, Target: "/v1/email/a@mail.example"},
	get("/healthz"),
}

// A wrong setting is the contract's 503, and is logged.
func TestPlatformsNameAWrongSetting(t *testing.T) {
	leftToCI(t)
	for _, platform := range platforms {
		t.Run(platform.name, func(t *testing.T) {
			w := platform.start(t, "http://127.0.0.1:9/path")
			requireUnavailable(t, w.send(t, get("/v1/email/jane@mail.example", wellFormedKey)))
			w.requireLogs(t, "settings: ADDRSPEC_ORIGIN must be the origin's base URL")
		})
	}
}

// A request starts an update of the lists. Netlify's local runtime is left out: it keeps no
// isolate.
func TestPlatformsUpdateTheLists(t *testing.T) {
	leftToCI(t)
	f, blob := startFeed(t), newer(t, "2031.01.01")
	f.sign(blob, 0)
	for _, platform := range platforms {
		if platform.name != "netlify" {
			t.Run(platform.name, func(t *testing.T) {
				platform.start(t, "http://127.0.0.1:9", f.settings()...).requireLists(t, versionOf(blob))
			})
		}
	}
}

// The pages say what a plan's limit is: 2 MB on Vercel's Pro, and far more elsewhere.
func TestPlatformsFitTheLimits(t *testing.T) {
	t.Parallel()
	for directory, files := range map[string][]string{
		"vercel-edge": {"middleware.js", "addrspec.wasm"}, "vercel-node": {"middleware.js", "addrspec.wasm"},
		"netlify": {"netlify/edge-functions/addrspec.js"}, "lambda": {"index.mjs", "addrspec.wasm"},
	} {
		var packed bytes.Buffer
		z := gzip.NewWriter(&packed)
		for _, file := range files {
			io.WriteString(z, readFile(t, filepath.Join(bundle(t), directory, file)))
		}
		require.NoError(t, z.Close())
		require.Less(t, packed.Len(), 1_500_000, directory)
		t.Logf("%s: %d bytes", directory, packed.Len())
	}
}

// local returns a function that runs the worker in a platform's local runtime.
func local(platform, directory string) func(testing.TB, string, ...string) *process {
	return func(t testing.TB, originURL string, settings ...string) *process {
		t.Helper()
		needs(t, "platforms/node_modules", "npm ci --prefix edge/platforms installs it")
		deno := filepath.Dir(toolPath(t, "deno", "runtimes/node_modules/.bin/deno"))
		cmd := exec.Command("node", "platforms/local.mjs", platform, filepath.Join(bundle(t), directory))
		cmd.Env = workerEnvironment(originURL, append(settings, "PATH="+deno+":"+os.Getenv("PATH"))...)
		return startServer(t, cmd)
	}
}

func workerEnvironment(originURL string, settings ...string) []string {
	env := append(os.Environ(), "ADDRSPEC_ORIGIN="+originURL, "ADDRSPEC_EDGE_SECRET="+secret,
		"DENO_DIR="+filepath.Join(os.TempDir(), "addrspec-test-deno"))
	return append(env, settings...)
}

// A lambda is the Runtime API of AWS Lambda, through which a function gets its events, and in
// front of it what makes events of requests as a function URL does.
type lambda struct {
	events  chan string
	results chan lambdaResult
}

type lambdaResult struct {
	StatusCode      int
	Headers         map[string]string
	Cookies         []string
	Body            string
	IsBase64Encoded bool
}

// startLambda runs the function in AWS's own runtime interface client if ADDRSPEC_ALL is set,
// since npm compiles that for minutes, and else in platforms/lambda.mjs.
func startLambda(t testing.TB, originURL string, settings ...string) *process {
	t.Helper()
	return lambdaBehind(t, "x.lambda-url.eu-west-1.on.aws", originURL, settings...)
}

func lambdaBehind(t testing.TB, domain, originURL string, settings ...string) *process {
	t.Helper()
	l := &lambda{events: make(chan string), results: make(chan lambdaResult)}
	api := httptest.NewServer(http.HandlerFunc(l.runtimeAPI))
	t.Cleanup(api.Close)
	cmd := exec.Command("node", "platforms/lambda.mjs", filepath.Join(bundle(t), "lambda"))
	if os.Getenv("ADDRSPEC_ALL") != "" {
		cmd = exec.Command("node", append(cmd.Args[1:], interfaceClient(t))...)
	}
	cmd.Env = workerEnvironment(originURL, append(settings, "AWS_LAMBDA_RUNTIME_API="+strings.TrimPrefix(api.URL, "http://"))...)
	p, _ := startProcess(t, cmd, origintest.OnDescriptor3)
	t.Cleanup(api.CloseClientConnections) // the function waits for its next event
	gateway := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { l.serve(t, domain, w, r) }))
	t.Cleanup(gateway.Close)
	p.hostPort = strings.TrimPrefix(gateway.URL, "http://")
	return p
}

// interfaceClient returns AWS's runtime interface client.
func interfaceClient(t testing.TB) string {
	t.Helper()
	const client = "platforms/node_modules/aws-lambda-ric/dist/index.mjs"
	needs(t, client, "npm ci --prefix edge/platforms installs it")
	if _, err := os.Stat(filepath.Join(filepath.Dir(client), "rapid-client.node")); err != nil {
		out, err := exec.Command("npm", "rebuild", "--prefix", "platforms", "--ignore-scripts=false", "aws-lambda-ric").CombinedOutput()
		if err != nil {
			t.Skipf("skipped: AWS's runtime interface client could not be compiled: %s", out)
		}
	}
	return client
}

// runtimeAPI is the part of the Runtime API that functions need.
func (l *lambda) runtimeAPI(w http.ResponseWriter, r *http.Request) {
	switch {
	case strings.HasSuffix(r.URL.Path, "/invocation/next"):
		select {
		case event := <-l.events:
			w.Header().Set("Lambda-Runtime-Aws-Request-Id", "1")
			w.Header().Set("Lambda-Runtime-Deadline-Ms", "9999999999999")
			w.Header().Set("Lambda-Runtime-Trace-Id", "Root=1-5bef4de7-ad49b0e87f6ef6c87fc2e700;Sampled=0") // the client needs it
			w.Header().Set("Lambda-Runtime-Invoked-Function-Arn", "arn:aws:lambda:eu-west-1:1:function:addrspec")
			io.WriteString(w, event)
		case <-r.Context().Done():
		}
	case strings.HasSuffix(r.URL.Path, "/response"):
		var result lambdaResult
		_ = json.NewDecoder(r.Body).Decode(&result)
		w.WriteHeader(http.StatusAccepted)
		l.results <- result
	default: // an error of the function
		w.WriteHeader(http.StatusAccepted)
		l.results <- lambdaResult{StatusCode: http.StatusBadGateway}
	}
}

// serve makes an event of a request, in payload format 2.0, and a response of its result.
func (l *lambda) serve(t testing.TB, domain string, w http.ResponseWriter, r *http.Request) {
	path, query, _ := strings.Cut(r.RequestURI, "?")
	if !strings.Contains(domain, ".lambda-url.") {
		path = r.URL.Path // an HTTP API decodes it
	}
	body, err := io.ReadAll(r.Body)
	assert.NoError(t, err)
	headers := map[string]string{"host": r.Host}
	for name, values := range r.Header {
		headers[strings.ToLower(name)] = strings.Join(values, ",")
	}
	event, err := json.Marshal(map[string]any{
		"version": "2.0", "rawPath": path, "rawQueryString": query, "headers": headers, "body": base64.StdEncoding.EncodeToString(body), "isBase64Encoded": true,
		"requestContext": map[string]any{"domainName": domain, "http": map[string]any{"method": r.Method, "path": path}},
	})
	assert.NoError(t, err)
	l.events <- string(event)
	result := <-l.results
	for name, value := range result.Headers {
		w.Header().Set(name, value)
	}
	w.WriteHeader(result.StatusCode)
	content, err := base64.StdEncoding.DecodeString(result.Body)
	assert.NoError(t, err)
	if _, err := w.Write(content); err != nil && r.Method != http.MethodHead {
		fmt.Fprintln(os.Stderr, err)
	}
}

// An HTTP API of API Gateway percent-decodes the path. The worker undoes it, but for what
// cannot be undone: bytes that are not UTF-8.
func TestLambdaBehindAnHTTPAPI(t *testing.T) {
	leftToCI(t)
	o := startOrigin(t, "--dns", contract.Serve(t))
	w := lambdaBehind(t, "x.execute-api.eu-west-1.amazonaws.com", "http://"+o.hostPort)
	key := "X-API-Key: " + o.account(t, "gateway@platform.test")
	for _, address := range []string{"a%2F..%2Fb@mail.example", "a%25b%23d@mail.example", "a%252Fb@mail.example", "j%C3%A4ne@b%C3%BCcher.example", "%22a%20b%22@mail.example", "a+b@mail.example"} {
		r := get("/v1/email/"+address+"?details=true", key, "X-Request-Id: gateway")
		require.Equal(t, o.send(t, r).body, w.send(t, r).body)
	}
}
