package main

import (
	"os"
	"os/signal"
	"syscall"
)

// hangUps delivers SIGHUP, on which the service reloads its files. Without a
// receiver the signal would end the process, also when there is nothing to
// reload.
func hangUps() (arrived <-chan os.Signal, stop func()) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGHUP)
	return c, func() { signal.Stop(c) }
}

// surviveClosedOutput makes a write to standard output or standard error fail
// once its reader has gone. By default Go's runtime ends the process then, as
// is right for a command in a pipe (os/signal, "SIGPIPE").
func surviveClosedOutput() { signal.Ignore(syscall.SIGPIPE) }
