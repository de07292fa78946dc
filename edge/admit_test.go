package edge_test

import (
	"fmt"
	"net/http"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/rig/contract"
	"github.com/addrspec/addrspec/origin/rig/ledgertest"
)

func TestAdmitWithoutSecretIs404(t *testing.T) {
	t.Parallel()
	o := startOrigin(t, "--dns", contract.Serve(t), "--edge-secret", "")
	for _, method := range []string{http.MethodPost, http.MethodGet} {
		a := o.send(t, request{Method: method, Target: "/v1/edge/admit", Header: []string{"X-Edge-Secret: "}})
		require.Equal(t, http.StatusNotFound, a.status)
	}
}

func TestAdmitRefusesInTheShapeOfTheOperation(t *testing.T) {
	t.Parallel()
	o := startOrigin(t, "--dns", contract.Serve(t))
	terms := book.Terms{Rate: ledgertest.Limit(1000), Points: ledgertest.Limit(1)}
	key, _ := ledgertest.NewAccountOn(t, o.ledger, "poor@admit.test", terms)
	// admit sends a worker's request for addresses without a domain to look up.
	admit := func(operation string, points int) response {
		return o.send(t, request{Method: http.MethodPost, Target: "/v1/edge/admit",
			Header: []string{"Content-Type: application/json", "X-Edge-Secret: " + secret, "X-API-Key: " + key},
			Body:   fmt.Sprintf(`{"operation":"%s","points":%d,"domains":[]}`, operation, points)})
	}
	poor := admit("batch", 2)
	require.Equal(t, http.StatusPaymentRequired, poor.status)
	require.Contains(t, poor.body, `"required":2,"remaining":1`)
	require.Equal(t, http.StatusOK, admit("single", 1).status)
	spent := admit("single", 1)
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
