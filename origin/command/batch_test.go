package command

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/rig/contract"
	"github.com/addrspec/addrspec/origin/rig/mxtest"
)

// mailList returns n mixed addresses, with the number of valid ones and of those
// whose lookup fails.
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

func TestConcurrentBatches(t *testing.T) {
	t.Parallel()
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
			for tries := 0; status == http.StatusServiceUnavailable && tries < 20; tries++ {
				status, e, err = s.post(key, batch) // a busy machine did not commit within a second
			}
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
	// A charge that was undecided, and whose batch was sent again, is given back.
	require.Eventually(t, func() bool { return s.used(t) == 1000 }, hung, 50*time.Millisecond, "points in the ledger")
}

// After --batch-timeout a batch returns the finished items and costs that many
// points.
func TestBatchTimeout(t *testing.T) {
	t.Parallel()
	dns := mxtest.New(t, contract.Zone)
	dns.Respond("silent.example", mxtest.Silent)
	s := start(t, "--dns", dns.Addr, "--dns-timeout", "30s", "--batch-timeout", "3s")
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
