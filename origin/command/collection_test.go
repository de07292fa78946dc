package command

import (
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// goals runs check on one address and returns the sizes of the heap, in MB, at which
// collections were due.
func goals(t *testing.T, environment ...string) (goals []int) {
	cmd := program("check", "--offline", "jane@example.org")
	cmd.Env = append(append(cmd.Env, "GODEBUG=gctrace=1"), environment...)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	for _, goal := range regexp.MustCompile(`, (\d+) MB goal`).FindAllStringSubmatch(string(out), -1) {
		megabytes, _ := strconv.Atoi(goal[1])
		goals = append(goals, megabytes)
	}
	return goals
}

// Once the module starts, the heap may grow to 32 MB, unless GOGC says otherwise. The
// command line, with heaps of at most 8 MB, is before.
func TestStartHardlyCollects(t *testing.T) {
	t.Parallel()
	for _, megabytes := range goals(t) {
		require.True(t, megabytes <= 8 || megabytes >= 30, megabytes)
	}
	require.Greater(t, len(goals(t, "GOGC=20")), 3)
}
