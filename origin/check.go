package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"

	"github.com/addrspec/addrspec/origin/check"
	"github.com/addrspec/addrspec/origin/check/input"
	"github.com/addrspec/addrspec/origin/check/output"
	"github.com/addrspec/addrspec/wasm/host"
)

// checkCmd checks addresses in this process, without a server.
type checkCmd struct {
	moduleFlags

	Offline bool   `help:"Do not query DNS: mx is always false. Required for now."`
	Details bool   `help:"Add the member details to each result: why it is so, and the versions of engine, lists and model."`
	From    string `enum:"text,ndjson" default:"text" help:"Input format: text (one address a line) or ndjson (objects with a key email)."`
	To      string `enum:"ndjson" default:"ndjson" help:"Output format: ndjson (one object of 16 fields a line, and details if asked for, in input order)."`
	File    string `arg:"" default:"-" help:"The file to read; - is standard input. Empty lines are skipped."`
}

// Run checks the addresses of the file.
func (c *checkCmd) Run(ctx context.Context, std streams) error {
	if !c.Offline {
		return errors.New("check cannot query DNS yet; add --offline")
	}
	in, err := c.open(std.in)
	if err != nil {
		return err
	}
	defer in.Close()
	engine, err := c.engine(ctx)
	if err != nil {
		return err
	}
	defer engine.Close(context.WithoutCancel(ctx))
	run := check.Run{
		Input:   input.New(in, input.Options{Format: c.From}),
		Checker: &check.Local{View: engine.View(), Flags: c.checkFlags()},
		Format:  &output.NDJSON{},
		Output:  std.out,
		Strict:  true,
		Workers: runtime.GOMAXPROCS(0),
	}
	_, err = run.Do(ctx)
	return err
}

func (c *checkCmd) open(stdin io.Reader) (io.ReadCloser, error) {
	if c.File == "-" {
		return io.NopCloser(stdin), nil
	}
	file, err := os.Open(c.File)
	if err != nil {
		return nil, fmt.Errorf("cannot read the addresses: %w", err)
	}
	return file, nil
}

// checkFlags returns the module's flags for every address.
func (c *checkCmd) checkFlags() host.Flags {
	if c.Details {
		return c.flags() | host.Details
	}
	return c.flags()
}
