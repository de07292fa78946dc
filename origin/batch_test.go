package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/contract"
	"github.com/addrspec/addrspec/origin/mx/mxtest"
	"github.com/addrspec/addrspec/origin/origintest"
	"github.com/addrspec/addrspec/wasm/moduletest"
)

// mailList makes a list of n mixed addresses and counts those that are valid and
// those at a domain whose look-up fails.
func mailList(n int) (emails []string, valid, unknown int) {
	for i := range n {
		switch i % 10 {
		case 0:
			emails = append(emails, fmt.Sprintf("user%d..dots@mail.example", i))
		case 1:
			emails, unknown = append(emails, fmt.Sprintf("user%d@servfail.example", i)), unknown+1
		case 2:
			emails, valid = append(emails, fmt.Sprintf("user%d@none.example", i)), valid+1
		case 3:
			emails, valid = append(emails, fmt.Sprintf("user%d@[192.0.2.1]", i)), valid+1
		default:
			emails, valid = append(emails, fmt.Sprintf("user%d@d%d.bulk.example", i, i)), valid+1
		}
	}
	return emails, valid, unknown
}

func TestAThousandAddressesAddUp(t *testing.T) {
	s := start(t, "--dns", contract.Serve(t))
	key := s.newKey(t)
	emails, valid, unknown := mailList(1000)
	var sum envelope
	var mu sync.Mutex
	var clients sync.WaitGroup
	for start := 0; start < len(emails); start += 50 {
		clients.Go(func() {
			batch := emails[start : start+50]
			status, e, err := s.post(key, batch)
			mu.Lock()
			defer mu.Unlock()
			require.NoError(t, err)
			require.Equal(t, http.StatusOK, status)
			require.False(t, e.Partial)
			for n, result := range e.Results {
				require.Equal(t, batch[n], result.Email)
			}
			sum.Total, sum.Valid, sum.Invalid = sum.Total+e.Total, sum.Valid+e.Valid, sum.Invalid+e.Invalid
			sum.Errors, sum.Points = sum.Errors+e.Errors, sum.Points+e.Points
		})
	}
	clients.Wait()
	require.Equal(t, envelope{Total: 1000, Valid: valid, Invalid: 1000 - valid - unknown, Errors: unknown, Points: 1000}, sum)
	require.EqualValues(t, 1000, s.used(t), "points in the ledger")
}

// When the time is up a batch answers with what is finished and costs that much.
func TestDeadlineMakesABatchPartial(t *testing.T) {
	dns := mxtest.New(t, contract.Zone)
	dns.Respond("silent.example", mxtest.Silent)
	s := start(t, "--dns", dns.Addr, "--dns-timeout", "30s", "--batch-timeout", "400ms")
	key := s.newKey(t)
	status, e, err := s.post(key, []string{"a@silent.example", "b@mail.example", "c@silent.example", "d"})
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, status)
	require.True(t, e.Success && e.Partial)
	require.Equal(t, []int{2, 1, 1, 0, 2}, []int{e.Total, e.Valid, e.Invalid, e.Errors, e.Points})
	require.Equal(t, "b@mail.example", e.Results[0].Email)
	require.Equal(t, "d", e.Results[1].Email)
	require.EqualValues(t, 2, s.used(t))

	status, _, err = s.post(key, []string{"a@silent.example"})
	require.NoError(t, err)
	require.Equal(t, http.StatusServiceUnavailable, status, "nothing was finished")
	require.EqualValues(t, 2, s.used(t))
}

// SIGTERM ends serve with 0 after each request under way has its answer.
func TestStoppingAnswersWhatIsUnderWay(t *testing.T) {
	dns := mxtest.New(t, contract.Zone)
	dns.Respond("silent.example", mxtest.Silent)
	s := start(t, "--dns", dns.Addr, "--dns-timeout", "20s", "--batch-timeout", "20s")
	key := s.newKey(t)
	answered := make(chan envelope)
	go func() {
		_, e, _ := s.post(key, []string{"a@silent.example", "b@mail.example"})
		answered <- e
	}()
	require.Eventually(t, func() bool { return dns.Asked("silent.example") > 0 && dns.Asked("mail.example") > 0 }, 5*time.Second, time.Millisecond)
	time.Sleep(50 * time.Millisecond) // the answer for mail.example is on its way
	s.stop()
	e := <-answered
	require.True(t, e.Success && e.Partial)
	require.Equal(t, 1, e.Points)
	s.requireStopped(t)
	require.EqualValues(t, 1, s.used(t))
}

// A single request that would take longer than the grace is answered, too.
func TestStoppingAnswersASlowSingle(t *testing.T) {
	dns := mxtest.New(t, contract.Zone)
	dns.Respond("silent.example", mxtest.Silent)
	s := start(t, "--dns", dns.Addr, "--dns-timeout", "20s", "--grace", "2s")
	key := s.newKey(t)
	status := make(chan int)
	go func() {
		response, _ := s.send(t, http.MethodGet, "/v1/email/a@silent.example", key, "", nil)
		status <- response.StatusCode
	}()
	require.Eventually(t, func() bool { return dns.Asked("silent.example") > 0 }, 5*time.Second, time.Millisecond)
	s.stop()
	require.Equal(t, http.StatusServiceUnavailable, <-status)
	s.requireStopped(t)
	require.Zero(t, s.used(t))
}

func TestStartUpErrorsSayWhatToDo(t *testing.T) {
	taken := start(t, "--dns", contract.Serve(t)).hostPort
	dir := t.TempDir()
	notModule := filepath.Join(dir, "not.wasm")
	require.NoError(t, os.WriteFile(notModule, []byte("\x00asm\x01\x00\x00\x00"), 0o600))
	notFolder := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(notFolder, nil, 0o600))
	module := origintest.ModuleFile(t)
	database := "sqlite:" + filepath.Join(dir, "a.db")
	for name, c := range map[string]struct {
		args []string
		says []string
	}{
		"port taken":              {[]string{"--listen", taken}, []string{taken, "is taken", "--listen"}},
		"port not a port":         {[]string{"--listen", "127.0.0.1:x"}, []string{"--listen 127.0.0.1:x"}},
		"database unwritable":     {[]string{"--database", "sqlite:" + notFolder + "/a.db"}, []string{notFolder}},
		"database unknown":        {[]string{"--database", "mysql://x"}, []string{"sqlite:"}},
		"module missing":          {[]string{"--module", filepath.Join(dir, "none.wasm")}, []string{"--module", "none.wasm"}},
		"module not one":          {[]string{"--module", notModule}, []string{"--module", "not a module of addrspec", "addrspec_"}},
		"lists missing":           {[]string{"--lists", filepath.Join(dir, "none")}, []string{"--lists"}},
		"lists damaged":           {[]string{"--lists", notModule}, []string{"lists"}},
		"resolver not an address": {[]string{"--dns", "nowhere"}, []string{"nowhere", "host:port"}},
		"plans missing":           {[]string{"--plans", filepath.Join(dir, "none")}, []string{"plans", "none"}},
		"no connections":          {[]string{"--max-connections", "0"}, []string{"--max-connections 0", "at least 1"}},
		"no such flag":            {[]string{"--nonsense"}, []string{"nonsense", "--help"}},
	} {
		t.Run(name, func(t *testing.T) {
			var out, err bytes.Buffer
			args := append([]string{"serve", "--listen", "127.0.0.1:0", "--database", database, "--module", module,
				"--dns", "127.0.0.1:1", "--cache-dir", moduletest.CacheDir()}, c.args...)
			ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
			defer cancel()
			code := run(ctx, args, streams{strings.NewReader(""), &out, &err})
			require.NotZero(t, code, err.String())
			for _, words := range c.says {
				require.Contains(t, err.String(), words)
			}
		})
	}
}
