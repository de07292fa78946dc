//go:build unix

package logging

import (
	"io"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// pipe returns the write end of a pipe whose reader keeps up.
func pipe(b *testing.B) io.Writer {
	in, out, err := os.Pipe()
	require.NoError(b, err)
	go io.Copy(io.Discard, in)
	b.Cleanup(func() { out.Close() })
	return out
}

// processorTime returns the CPU time of this process.
func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
