package main

import (
	"context"
	"io"

	"github.com/alecthomas/kong"
)

// checkAlone is the command line without the other commands, which kong takes 3 ms of a
// start of check (37 ms) to learn.
type checkAlone struct {
	Check checkCmd `cmd:""`
}

// parseCheck parses a command line of check that needs nothing else: no help, and no
// error to report. For any other it returns false, and the parser of all commands has to
// read it.
func parseCheck(ctx context.Context, args []string, std streams) (command *kong.Context, ok bool) {
	if len(args) == 0 || args[0] != "check" {
		return nil, false
	}
	defer recoverExit() // from a flag that prints help
	parser, err := newParserOf(ctx, new(checkAlone), std, new(int), kong.Writers(io.Discard, io.Discard))
	if err != nil {
		return nil, false
	}
	command, err = parse(parser, args)
	return command, err == nil
}
