package service

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/rig/origintest"
	"github.com/addrspec/addrspec/origin/service/logging"
)

// A part that does not close does not keep the process.
func TestCloseEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log origintest.Log
		s := &Service{log: &logging.Log{Logger: slog.New(slog.NewTextHandler(&log, nil))}}
		responds := make(chan struct{})
		s.later(func() { <-responds })
		s.Close()
		require.True(t, log.Contains("did not close in time"), log.String())
		close(responds)
	})
}

func TestServeWarnsOfSettings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		listen, operator string
		batch            time.Duration
		message          string // "" for no warning
	}{
		{"127.0.0.1:8080", "", 10 * time.Second, ""},
		{"localhost:8080", "[::1]:9090", 5 * time.Second, ""},
		{"[::ffff:127.0.0.1]:8080", "127.0.0.1:9090", 5 * time.Second, ""},
		{"0.0.0.0:8080", "", 10 * time.Second, "no TLS: terminate TLS in a proxy"},
		{":8080", "127.0.0.1:9090", 10 * time.Second, "no TLS: terminate TLS in a proxy"},
		{"api.example.org:8080", "", 10 * time.Second, "no TLS: terminate TLS in a proxy"},
		{"127.0.0.1:8080", "0.0.0.0:9090", 10 * time.Second, ""},
		{"127.0.0.1:8080", "", time.Second, "set --batch-timeout above --dns-timeout"},
	} {
		var log bytes.Buffer
		config := Config{Listen: c.listen, OperatorListen: c.operator, BatchTimeout: c.batch, DNSTimeout: 5 * time.Second}
		config.warn(slog.New(slog.NewTextHandler(&log, nil)))
		if c.message == "" {
			require.Empty(t, log.String(), "%+v", c)
			continue
		}
		require.Equal(t, 1, strings.Count(log.String(), "\n"), "%+v: %s", c, &log)
		require.Contains(t, log.String(), c.message)
	}
}

func TestKnownMX(t *testing.T) {
	for given, want := range map[string][]string{
		"": {"gmail.com", "outlook.com", "yahoo.com"}, "none": nil, "a.example,b.example": {"a.example", "b.example"}, "none,a.example": {"none", "a.example"},
	} {
		f := KnownMXFlag{DNSWithMX: strings.FieldsFunc(given, func(r rune) bool { return r == ',' })}
		require.Equal(t, want, f.KnownMX(), given)
	}
}

// What the service opens fits into any limit: a sufficient one changes nothing, and a
// lower one leaves some to connections and to lookups.
func TestFilesFit(t *testing.T) {
	var log origintest.Log
	for _, operator := range []string{"", "127.0.0.1:9090"} {
		for limit := 96; limit < 20_000; limit += 61 {
			c := &Config{MaxConnections: 4096, DNSConcurrency: 256, DNS: []string{"192.0.2.1:53"}, OperatorListen: operator}
			operators := 0
			if operator != "" {
				operators = operatorConnections(limit)
			}
			needed := operators + FilesNeeded(c.MaxConnections, c.DNSConcurrency)
			c.fitFiles(limit, slog.New(slog.NewTextHandler(&log, nil)))
			if limit >= needed {
				require.Equal(t, [2]int{4096, 256}, [2]int{c.MaxConnections, c.DNSConcurrency})
				continue
			}
			used := operators + c.MaxConnections + c.DNSConcurrency + min(otherFiles, limit/4)
			require.LessOrEqual(t, used, limit)
			require.Equal(t, limit, used, "none is left over")
			require.Positive(t, c.MaxConnections)
			require.Positive(t, c.DNSConcurrency)
		}
	}
	few := &Config{MaxConnections: 10, DNSConcurrency: 4, DNS: []string{"192.0.2.1:53"}}
	few.fitFiles(400, slog.New(slog.NewTextHandler(&log, nil)))
	require.Equal(t, [2]int{10, 4}, [2]int{few.MaxConnections, few.DNSConcurrency})
}

func TestRedactedDatabaseURL(t *testing.T) {
	t.Parallel()
	flag := DatabaseFlag{Database: "postgres://me:hunter2@db/x?password=hunter2&sslpassword=hunter2"}
	require.NotContains(t, flag.Redacted(), "hunter2")
	require.Contains(t, flag.Redacted(), "db/x")
	flag = DatabaseFlag{Database: "postgres://me:hunter2@db:not a port/x"}
	require.NotContains(t, flag.Redacted(), "hunter2")
}

// Lists of two weeks get advice, of half a year an error.
func TestCheckListsAge(t *testing.T) {
	t.Parallel()
	read := time.Date(2026, time.November, 20, 0, 0, 0, 0, time.UTC)
	for age, want := range map[int][2]bool{13: {true, true}, 14: {false, true}, 179: {false, true}, 180: {false, false}} {
		now := read.AddDate(0, 0, age)
		_, aging := CheckListsAge("2026.11.20-1a2b3c4d", AgingLists, now)
		_, stale := CheckListsAge("2026.11.20-1a2b3c4d", StaleLists, now)
		require.Equal(t, want, [2]bool{aging == nil, stale == nil}, age)
	}
	_, err := CheckListsAge("2026.11.20-1a2b3c4d", AgingLists, read.AddDate(1, 0, 0))
	for _, says := range []string{"365 days old", "addrspec lists update", "./build.sh lists --latest"} {
		require.ErrorContains(t, err, says)
	}
	_, err = CheckListsAge("0", AgingLists, read)
	require.Error(t, err)
}
