package command

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// threads is the metric of how many threads may run Go code at a time.
const threads = "go_sched_gomaxprocs_threads"

func TestOneThreadMoreThanProcessors(t *testing.T) {
	t.Setenv("GOMAXPROCS", "")
	runtime.SetDefaultGOMAXPROCS()
	require.EqualValues(t, runtime.GOMAXPROCS(0)+1, launch(t, nil).metric(t, threads))
}

func TestEnvironmentLimitsThreads(t *testing.T) {
	t.Setenv("GOMAXPROCS", "7")
	require.EqualValues(t, 7, launch(t, nil).metric(t, threads))
}
