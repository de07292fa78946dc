package command

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/lists/feed/feedtest"
	"github.com/addrspec/addrspec/origin/rig/contract"
	"github.com/addrspec/addrspec/origin/service"
)

var listsThreshold = regexp.MustCompile(`addrspec_lists_age_seconds > (\d+) \* 86400\n`)

// The alert on old lists fires at the age at which doctor advises, and the metric
// of a service with such lists reaches it.
func TestAlertOnOldLists(t *testing.T) {
	t.Parallel()
	alerts, err := os.ReadFile("../deploy/alerts.yaml")
	require.NoError(t, err)
	found := listsThreshold.FindStringSubmatch(string(alerts))
	require.NotNil(t, found)
	limit, err := strconv.ParseFloat(found[1], 64)
	require.NoError(t, err)
	require.Equal(t, service.AgingLists.Hours()/24, limit)
	for age, fires := range map[int]bool{13: false, 14: true} {
		file := filepath.Join(t.TempDir(), "lists.blob")
		day := time.Now().UTC().AddDate(0, 0, -age).Format("2006.01.02")
		require.NoError(t, os.WriteFile(file, feedtest.Dated(ownLists(t), day), 0o600))
		s := start(t, "--dns", contract.Serve(t), "--lists", file)
		require.Equal(t, fires, s.metric(t, "addrspec_lists_age_seconds") > limit*86400, age)
	}
}
