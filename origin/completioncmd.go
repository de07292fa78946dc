package main

import (
	"context"
	"io"

	"github.com/alecthomas/kong"

	"github.com/addrspec/addrspec/origin/complete"
)

// completionCmd prints the script of a shell.
type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Run prints the script.
func (c *completionCmd) Run(_ context.Context, std streams) error {
	script, err := complete.Script(c.Shell)
	if err != nil {
		return err
	}
	_, err = std.out.Write(script)
	return err
}

// printCandidates answers a shell that completes a command line. It prints nothing
// if it cannot, so that the user's line stays as it is.
func printCandidates(to io.Writer, app *kong.Application, words []string) (code int) {
	if len(words) > 1 && words[0] == "help" {
		words = words[1:]
	}
	if err := complete.Print(to, app, words); err != nil {
		return 1
	}
	return 0
}
