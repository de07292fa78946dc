//go:build unix

package doctor

import (
	"context"
	"fmt"

	"golang.org/x/sys/unix"
)

// otherFiles is what the service opens besides connections and look-ups: database,
// log, lists, pipes.
const otherFiles = 256

// Limits looks at whether the process may open a file for every connection and
// look-up. Go raises the soft limit to the hard one at its start.
func Limits(connections, lookups int) Check {
	return Check{"limits", func(context.Context) (string, error) {
		var limit unix.Rlimit
		if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
			return "", err
		}
		needed := uint64(connections + lookups + otherFiles)
		if uint64(limit.Max) < needed { // FreeBSD has int64
			return "", fmt.Errorf("a process may open %d files, and --max-connections %d with --dns-concurrency %d need %d: raise the limit (LimitNOFILE= in the unit, ulimit -Hn), or lower --max-connections",
				limit.Max, connections, lookups, needed)
		}
		return fmt.Sprintf("%d connections and %d look-ups fit into %d open files", connections, lookups, limit.Max), nil
	}}
}
