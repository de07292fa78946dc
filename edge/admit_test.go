package edge_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/rig/contract"
	"github.com/addrspec/addrspec/origin/rig/ledgertest"
)

// admit returns a worker's request to the origin. An empty key is not sent.
func admit(key, body string) request {
	headers := []string{"Content-Type: application/json", "X-Edge-Secret: " + secret}
	if key != "" {
		headers = append(headers, "X-API-Key: "+key)
	}
	return request{Method: http.MethodPost, Target: "/v1/edge/admit", Header: headers, Body: body}
}

const oneDomain = `{"operation":"batch","points":1,"domains":[{"name":"mail.example","addresses":1}]}`

func TestAdmitAuthentication(t *testing.T) {
	t.Parallel()
	o := startOrigin(t, "--dns", contract.Serve(t))
	key := o.account(t, "guard@admit.test")
	without := admit(key, oneDomain)
	without.Header = without.Header[:1]
	for name, c := range map[string]struct {
		request request
		status  int
		code    string
	}{
		"no secret":                 {without, 403, "INVALID_EDGE_SECRET"},
		"no secret and no key":      {request{Method: http.MethodPost, Target: "/v1/edge/admit"}, 403, "INVALID_EDGE_SECRET"},
		"a wrong secret":            {without.With("X-Edge-Secret: "+secret+"x", "X-API-Key: "+key), 403, "INVALID_EDGE_SECRET"},
		"an empty secret":           {without.With("X-Edge-Secret: ", "X-API-Key: "+key), 403, "INVALID_EDGE_SECRET"},
		"no key":                    {admit("", oneDomain), 401, "INVALID_API_KEY"},
		"a key of the wrong form":   {admit("ask_", oneDomain), 401, "INVALID_API_KEY"},
		"an unknown key":            {admit("ask_000000000000000000000000000000002CGNRW", oneDomain), 401, "INVALID_API_KEY"},
		"another method":            {request{Method: http.MethodGet, Target: "/v1/edge/admit"}, 405, "METHOD_NOT_ALLOWED"},
		"a bad body, the key first": {admit("ask_", "{"), 401, "INVALID_API_KEY"},
		"a bad body":                {admit(key, "{"), 400, "INVALID_REQUEST"},
		"another media type":        {request{Method: http.MethodPost, Target: "/v1/edge/admit", Header: []string{"X-Edge-Secret: " + secret, "X-API-Key: " + key}, Body: "{}"}, 415, "UNSUPPORTED_MEDIA_TYPE"},
		"a body over the limit":     {admit(key, strings.Repeat(" ", 1<<20+1)), 413, "BODY_TOO_LARGE"},
	} {
		t.Run(name, func(t *testing.T) {
			a := o.send(t, c.request)
			require.Equal(t, c.status, a.status, a.body)
			require.Contains(t, a.body, `"`+c.code+`"`)
		})
	}
	require.Zero(t, o.used(t, "guard@admit.test"))
	require.Equal(t, http.StatusOK, o.send(t, admit(key, oneDomain)).status)
	requireNoSecrets(t, o.process)
}

func TestAdmitWithoutSecretIs404(t *testing.T) {
	t.Parallel()
	o := startOrigin(t, "--dns", contract.Serve(t), "--edge-secret", "")
	for _, method := range []string{http.MethodPost, http.MethodGet} {
		a := o.send(t, request{Method: method, Target: "/v1/edge/admit", Header: []string{"X-Edge-Secret: "}})
		require.Equal(t, http.StatusNotFound, a.status)
	}
}

func TestAdmit(t *testing.T) {
	o := startOrigin(t, "--dns", contract.Serve(t), "--dns-timeout", "300ms")
	for name, c := range map[string]struct {
		body   string
		status int
		want   string
		used   int64
	}{
		"in order, each of its kind": {admitBody("batch", 7, "mail.example", "none.example", "silent.example", "servfail.example", "null.example", "absent.example"),
			200, `{"mx":[true,false,"DNS_TIMEOUT","DNS_FAILURE",false,false],"partial":false}`, 7},
		"no domain to ask":          {admitBody("batch", 3), 200, `{"mx":[],"partial":false}`, 3},
		"64 domains":                {admitBody("batch", 64, bulk(64)...), 200, `"partial":false}`, 64},
		"a U-label is no A-label":   {admitBody("batch", 1, "b\u00fccher.example"), 200, `{"mx":["DNS_FAILURE"],"partial":false}`, 1},
		"a single":                  {admitBody("single", 1, "mail.example"), 200, `{"mx":[true],"partial":false}`, 1},
		"a single literal":          {admitBody("single", 1), 200, `{"mx":[],"partial":false}`, 1},
		"a single without response": {admitBody("single", 1, "silent.example"), 503, `"REQUEST_CANCELLED"`, 0},
		"a single that failed":      {admitBody("single", 1, "servfail.example"), 503, `"REQUEST_CANCELLED"`, 0},
		"bad input at the worker":   {admitBody("batch", 0), 200, `{"mx":[],"partial":false}`, 0},
		"65 domains":                {admitBody("batch", 64, bulk(65)...), 400, `"INVALID_REQUEST"`, 0},
	} {
		t.Run(name, func(t *testing.T) {
			email := strings.NewReplacer(" ", "-", ",", "").Replace(name) + "@admit.test"
			a := o.send(t, admit(o.account(t, email), c.body))
			require.Equal(t, c.status, a.status, a.body)
			require.Contains(t, a.body, c.want)
			require.Equal(t, fmt.Sprint(c.used), a.header.Get("X-Usage-Current"))
			require.Equal(t, c.used, o.used(t, email))
		})
	}
}

func TestAdmitRefusesInTheShapeOfTheOperation(t *testing.T) {
	t.Parallel()
	o := startOrigin(t, "--dns", contract.Serve(t))
	terms := book.Terms{Rate: ledgertest.Limit(1000), Points: ledgertest.Limit(1)}
	key, _ := ledgertest.NewAccountOn(t, o.ledger, "poor@admit.test", terms)
	poor := o.send(t, admit(key, admitBody("batch", 2)))
	require.Equal(t, http.StatusPaymentRequired, poor.status)
	require.Contains(t, poor.body, `"required":2,"remaining":1`)
	require.Equal(t, http.StatusOK, o.send(t, admit(key, admitBody("single", 1))).status)
	spent := o.send(t, admit(key, admitBody("single", 1)))
	require.Equal(t, http.StatusTooManyRequests, spent.status)
	require.Contains(t, spent.body, `"title":"Too Many Requests","detail":"Rate limit exceeded:`)
	require.Empty(t, spent.header.Values("Retry-After"), "clients would wait for days")

	w := startWorkerd(t, "http://"+o.hostPort)
	edge := w.send(t, get("/v1/email/a@mail.example", "X-API-Key: "+key))
	require.Equal(t, http.StatusTooManyRequests, edge.status)
	require.Empty(t, edge.header.Values("Retry-After"), "the worker adds none")
	require.Equal(t, seconds.ReplaceAllString(spent.body, "N"), seconds.ReplaceAllString(edge.body, "N"))
	batch := w.send(t, post(`{"emails":["a@mail.example"]}`, "X-API-Key: "+key))
	require.Equal(t, http.StatusPaymentRequired, batch.status)
	require.Contains(t, batch.body, `"required":1,"remaining":0`)
	require.EqualValues(t, 1, o.used(t, "poor@admit.test"))
}

var seconds = regexp.MustCompile(`\d+`)

// admitBody returns the body of a worker's request, with one address at each domain.
func admitBody(operation string, points int, domains ...string) string {
	list := make([]string, len(domains))
	for n, name := range domains {
		list[n] = fmt.Sprintf(`{"name":"%s","addresses":1}`, name)
	}
	return fmt.Sprintf(`{"operation":"%s","points":%d,"domains":[%s]}`, operation, points, strings.Join(list, ","))
}

func bulk(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("d%d.bulk.example", i)
	}
	return names
}
