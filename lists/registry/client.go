package registry

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// Bounds of a client's run.
const (
	timeout   = 5 * time.Minute
	maxOutput = 16 << 20 // bytes of standard output
	maxError  = 4 << 10  // bytes of standard error that are quoted
)

// run runs a registry's client and returns its standard output. The error quotes
// what the client wrote to standard error.
func run(client string, args ...string) ([]byte, error) {
	if _, err := exec.LookPath(client); err != nil {
		return nil, fmt.Errorf("%s is not installed: it fetches the packages of this registry", client)
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	out, stderr := &limited{max: maxOutput}, &limited{max: maxError}
	cmd := exec.CommandContext(ctx, client, args...)
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = out, stderr, 5*time.Second
	err := cmd.Run()
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		err = fmt.Errorf("no end after %v", timeout)
	case err == nil && out.full:
		err = fmt.Errorf("it printed more than %d bytes", maxOutput)
	}
	if err != nil {
		said := strings.TrimSpace(stderr.buffer.String())
		return nil, fmt.Errorf("%s %s: %w\n%s", client, strings.Join(args, " "), err, said)
	}
	return out.buffer.Bytes(), nil
}

// limited is a buffer that drops what exceeds max bytes, so that a client that
// prints without end fills no memory.
type limited struct {
	buffer bytes.Buffer // not embedded: io.Copy would use its ReadFrom, without a limit
	max    int
	full   bool
}

func (b *limited) Write(p []byte) (int, error) {
	kept := p[:min(len(p), b.max-b.buffer.Len())]
	b.full = b.full || len(kept) < len(p)
	b.buffer.Write(kept)
	return len(p), nil
}
