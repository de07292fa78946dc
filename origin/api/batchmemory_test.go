package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
)

// Batches that use the same memory in turn respond with their own addresses only.
func TestBatchesShareMemory(t *testing.T) {
	address := newFakes(t).listen(t, 10)
	var group errgroup.Group
	for client := range 4 {
		group.Go(func() error {
			for n := range 40 {
				size := 1 + (n*37+client*11)%maxUnique
				if err := requireOwnResponse(address, size, fmt.Sprintf("c%dn%d", client, n)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	require.NoError(t, group.Wait())
}

// requireOwnResponse sends a batch of size addresses with own in them, of which some
// are too long to be valid, and the JSON of some has no room in the memory.
func requireOwnResponse(address string, size int, own string) error {
	var emails []string
	for n := range size {
		emails = append(emails, fmt.Sprintf("%s.%d@%sexample.org", own, n, strings.Repeat(own+".", n%60)))
	}
	body, _ := json.Marshal(map[string]any{"emails": emails})
	request, _ := http.NewRequest(http.MethodPost, "http://"+address+"/v1/emails", strings.NewReader(string(body)))
	request.Header.Set("Content-Type", contentJSON)
	request.Header.Set("X-API-Key", goodKey)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	var resp struct{ Results []struct{ Email string } }
	if err := json.NewDecoder(response.Body).Decode(&resp); err != nil {
		return err
	}
	for n, email := range emails {
		if n >= len(resp.Results) || resp.Results[n].Email != email {
			return fmt.Errorf("status %d, %d results for %d addresses; number %d is not %s", response.StatusCode, len(resp.Results), size, n, email)
		}
	}
	return nil
}

// Each share has its own room, a small one no more than it needs.
func TestRoom(t *testing.T) {
	m := new(batchMemory)
	first, second := m.room(0, share), m.room(share, share)
	require.Equal(t, share*usualJSON, cap(first))
	require.NotSame(t, &first[:1][0], &second[:1][0])
	require.Equal(t, 15*usualJSON, cap(m.room(2*share, 15)))
	require.Nil(t, m.json[2])
	m.release()
	require.Equal(t, batchMemory{}, *m)
	m.release() // nothing is put back twice
}
