package edge_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/rig/contract"
)

// BenchmarkPolicy measures requests with a policy, which the worker forwards, beside those
// without: the latency, and the processor time of worker and origin. The policy has ten reasons.
func BenchmarkPolicy(b *testing.B) {
	o := startOrigin(b, "--dns", contract.Serve(b))
	key := o.account(b, "bench@policy.test")
	a, err := o.ledger.AccountByEmail(b.Context(), "bench@policy.test")
	require.NoError(b, err)
	rules := `"reasons": ["disposable", "relay", "typo", "role:marketing", "gibberish>=0.9", "no_mx", "quoted", "literal", "unknown_tld", "special_use"]`
	_, err = o.ledger.SetPolicy(b.Context(), a.ID, "rules", `{"review": {`+rules+`}}`)
	require.NoError(b, err)
	byDefault, _, err := o.ledger.CreateKey(b.Context(), a.ID, "default", book.KeyTerms{Policy: "rules"})
	require.NoError(b, err)
	w := startWorkerd(b, "http://"+o.hostPort)
	for _, size := range []int{1, 16, 64} {
		for _, policy := range []string{"none", "rules", "default"} {
			b.Run(fmt.Sprintf("%d/%s", size, policy), func(b *testing.B) {
				key := key
				if policy == "default" {
					key = byDefault
				}
				send := func() { fetchVerdicts(b, w, key, size, policy) }
				send() // the worker remembers the key from now on
				before := [2]float64{w.processorTime(b), o.processorTime(b)}
				for b.Loop() {
					send()
				}
				n := float64(b.N)
				b.ReportMetric((w.processorTime(b)-before[0])/n, "worker-µs/op")
				b.ReportMetric((o.processorTime(b)-before[1])/n, "origin-µs/op")
			})
		}
	}
}

// fetchVerdicts checks as many addresses, one of them in a GET, by a policy.
func fetchVerdicts(b *testing.B, w *process, key string, size int, policy string) {
	named := policy != "none" && policy != "default"
	r, err := http.NewRequest(http.MethodGet, "http://"+w.hostPort+"/v1/email/jane.doe@mail.example", nil)
	if size > 1 {
		emails := make([]string, size)
		for n := range emails {
			emails[n] = fmt.Sprintf(`"jane.doe%d@d%d.bulk.example"`, n, n)
		}
		body := `{"emails":[` + strings.Join(emails, ",") + `]`
		if named {
			body += `,"policy":"` + policy + `"`
		}
		r, err = http.NewRequest(http.MethodPost, "http://"+w.hostPort+"/v1/emails", strings.NewReader(body+"}"))
		r.Header.Set("Content-Type", "application/json")
	} else if named {
		r.URL.RawQuery = "policy=" + policy
	}
	require.NoError(b, err)
	verdicts := size
	if policy == "none" {
		verdicts = 0
	}
	require.Equal(b, verdicts, bytes.Count(do(b, r, key), []byte(`"verdict":{`)))
}

// processorTime returns the processor time that the process has used, in µs.
func (p *process) processorTime(t testing.TB) float64 {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.pid))
	if err != nil {
		t.Skip("skipped: this system does not show the time of a process: ", err)
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	var ticks float64
	for _, field := range fields[11:13] { // utime and stime of proc(5)
		n, err := strconv.ParseFloat(field, 64)
		require.NoError(t, err)
		ticks += n
	}
	return ticks * 10_000
}

// do returns the body of the response, which must be 200.
func do(b *testing.B, r *http.Request, key string) []byte {
	r.Header.Set("X-API-Key", key)
	response, err := http.DefaultClient.Do(r)
	require.NoError(b, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	require.NoError(b, err)
	require.Equal(b, http.StatusOK, response.StatusCode, "%.300s", body)
	return body
}
