package peers

import (
	"math"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// testAdapter is a shell script that returns a result by the value of a row. It must read rows
// one by one and may not need more than a POSIX shell.
const testAdapter = `
while read -r row; do
	case $row in
	*crash*) echo 'out of memory' >&2; exit 3 ;;
	*hang*) sleep 60 ;;
	*garbage*) echo 'Loading model...' ;;
	*blank*) echo ;;
	*long*) head -c 100000 /dev/zero | tr '\0' x; echo ;;
	*none*) echo '{"none":"too short"}' ;;
	*) echo '{"yes":true,"text":"t","score":1.5}' ;;
	esac
done`

func startTest(t *testing.T) *Process {
	p, err := start(func() *command { return adapter(exec.Command("sh", "-c", testAdapter)) })
	require.NoError(t, err)
	t.Cleanup(p.Stop)
	p.rowTime = 2 * time.Minute
	return p
}

var accepted = Result{Yes: true, Text: "t", Score: 1.5}

func TestResultsAreInOrder(t *testing.T) {
	p := startTest(t)
	require.Equal(t, accepted, p.Ask(Valid, `a"b\c`))
	require.Equal(t, Result{None: "too short"}, p.Ask(Random, "none"))
	require.Equal(t, accepted, p.Ask(Valid, "a"))
}

func TestAfterRowWithoutResultTheNextHasOne(t *testing.T) {
	for value, reason := range map[string]string{
		"crash":   "the adapter ended: out of memory",
		"hang":    "no result in 500ms",
		"garbage": "the adapter's line is not a result",
		"blank":   "the adapter's line is not a result",
		"long":    "token too long",
	} {
		p := startTest(t)
		require.Equal(t, accepted, p.Ask(Valid, "a"), value)
		if value == "hang" {
			p.rowTime = 500 * time.Millisecond
		}
		require.Contains(t, p.Ask(Valid, value).None, reason)
		p.rowTime = 2 * time.Minute
		require.Equal(t, accepted, p.Ask(Valid, "a"), value)
	}
}

func TestAdapterIsNotStartedForever(t *testing.T) {
	p := startTest(t)
	for range maxRestarts + 1 {
		require.Equal(t, "the adapter ended: out of memory", p.Ask(Valid, "crash").None)
	}
	require.Equal(t, "the adapter has ended too often", p.Ask(Valid, "a").None)
}

func TestAdapterSeesNoSecret(t *testing.T) {
	t.Setenv("ADDRSPEC_EDGE_SECRET", "hidden")
	c := adapter(exec.Command("env"))
	out, err := c.Output()
	require.NoError(t, err)
	require.NotContains(t, string(out), "hidden")
	require.Contains(t, string(out), "PATH="+os.Getenv("PATH"))
}

func TestLogIsBounded(t *testing.T) {
	var log tail
	log.Write([]byte(strings.Repeat("x", 3*maxLog) + "\nlast\n"))
	require.Equal(t, "last", log.lastLine())
	require.Len(t, log.text, maxLog)
}

func FuzzResult(f *testing.F) {
	f.Add([]byte(`{"yes":true,"score":1e308}`))
	f.Add([]byte(`{"none":"x","text":null}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		result, err := parseResult(text)
		if err != nil {
			require.Equal(t, Result{}, result)
			return
		}
		require.False(t, math.IsInf(result.Score, 0) || math.IsNaN(result.Score)) // JSON has neither
	})
}
