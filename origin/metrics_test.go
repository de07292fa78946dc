package main

import (
	"net/http"
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/contract"
)

var seriesNames = regexp.MustCompile(`addrspec_[a-z_]+`)

// Every series in an alert exists in /metrics.
func TestAlertsUseExistingMetrics(t *testing.T) {
	s := start(t, "--dns", contract.Serve(t))
	s.send(t, http.MethodGet, "/v1/email/x", "", "", nil)
	_, metrics := s.send(t, http.MethodGet, "/metrics", "", "", nil)
	alerts, err := os.ReadFile("deploy/alerts.yaml")
	require.NoError(t, err)
	names := seriesNames.FindAllString(string(alerts), -1)
	require.Greater(t, len(names), 5)
	for _, name := range names {
		require.Contains(t, metrics, "\n"+name, "the alert's series")
	}
}
