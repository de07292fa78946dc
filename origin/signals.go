package main

import (
	"os"
	"os/signal"
	"syscall"
)

// hangUps returns a channel of SIGHUP signals, on which the service reloads its
// files. Unhandled, the signal would end the process even when there is nothing
// to reload.
func hangUps() (arrived <-chan os.Signal, stop func()) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGHUP)
	return c, func() { signal.Stop(c) }
}

// ignoreBrokenPipe makes a write to standard output or standard error return an
// error once its reader has closed. By default Go's runtime then ends the process,
// which is right for a command in a pipe (os/signal, "SIGPIPE").
func ignoreBrokenPipe() { signal.Ignore(syscall.SIGPIPE) }
