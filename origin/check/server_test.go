package check

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/check/client"
	"github.com/addrspec/addrspec/origin/check/pipeline"
)

// Before a run, what it costs and what is left is said.
func TestAnnounce(t *testing.T) {
	t.Parallel()
	left := int64(1234)
	usage := &client.Usage{}
	usage.Points.Remaining, usage.Points.Refill = &left, time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	for addresses, want := range map[int64]string{
		-1:   "One point for each different address of a batch; 1,234 left until 1 Dec 2026.\n",
		1:    "1 point at most; 1,234 left until 1 Dec 2026.\n",
		1234: "1,234 points at most; 1,234 left until 1 Dec 2026.\n",
		5000: "5,000 points at most; 1,234 left until 1 Dec 2026.\n" +
			"That may not be enough: the run ends when no points are left for a batch.\n",
	} {
		var out strings.Builder
		announce(&out, usage, addresses)
		require.Equal(t, want, out.String())
	}
	usage.Points.Remaining = nil
	var out strings.Builder
	announce(&out, usage, 5000)
	require.Equal(t, "5,000 points at most; the account has no limit.\n", out.String())
}

// A key may have white space around it, as the content of a file has that became ADDRSPEC_KEY.
func TestReadKeyTrims(t *testing.T) {
	t.Parallel()
	const key = "ask_000000000000000000000000000000002CGNRW"
	for _, given := range []string{key, key + "\n", "\t" + key + "\r\n"} {
		flags := ServerFlags{Key: given}
		read, err := flags.readKey()
		require.NoError(t, err, "%q", given)
		require.Equal(t, key, read)
	}
	flags := ServerFlags{Key: " \n"}
	_, err := flags.readKey()
	require.ErrorContains(t, err, "needs an API key")
}

// A stopped run names the flags to go on with, also those that it has from its key.
func TestStoppedRunNamesItsFlags(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	stop()
	for want, in := range map[string]*checkInput{
		"9 records written; go on with --resume 9 --policy own, and append to the output so far with >>": {},
		"9 records written; go on with --resume 9 --policy own, with the same input again, and append " +
			"to the output so far with >>": {stdinUsed: true},
		"9 records written": {stdinUsed: true, typed: true},
	} {
		j := &job{Command: &Command{Resume: 2}, in: in, resume: []string{"--policy", "own"}}
		err := j.stopped(ctx, ctx.Err(), pipeline.Counts{Records: 7}, &checkOutput{})
		require.EqualError(t, err, "interrupted: "+want)
	}
}
