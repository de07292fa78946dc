// Command release builds everything that a release consists of:
//
//	go run ./wasm/release build [-o dist/release] [-sign SECRETKEYFILE] [-dirty]
//	go run ./wasm/release goproxy FOLDER      the Go module alone, as a file tree for GOPROXY
//	go run ./wasm/release verify [-o dist/release] [-warm]
//	                                          build the commit again in another folder, and compare
//	go run ./wasm/release tag                 make the tag that Go's module proxy reads
//	go run ./wasm/release version             print the version and the manifests that carry it
//	go run ./wasm/release version -check      fail unless all manifests carry it
//	go run ./wasm/release version set 0.4.0   write another one everywhere
//
// ./build.sh release builds the module first and then runs the first of these.
// README.md beside this file describes the files and how to publish them.
//
// Start reading at build.go: its steps are in the order in which they run, and each
// has a file of its own.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// commands are the sub-commands. Each gets the arguments after its name.
var commands = map[string]func(ctx context.Context, args []string, out io.Writer) error{
	"build":   buildCommand,
	"goproxy": goproxyCommand,
	"verify":  verifyCommand,
	"tag":     tagCommand,
	"version": versionCommand,
}

// usageError is an error of the command line.
type usageError struct{ error }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdout)
	if err == nil {
		return
	}
	fmt.Fprintln(os.Stderr, "release:", err)
	if errors.As(err, new(usageError)) {
		os.Exit(2)
	}
	os.Exit(1)
}

func run(ctx context.Context, args []string, out io.Writer) error {
	if len(args) == 0 {
		return usageError{errors.New("name a command: build, goproxy, verify, tag or version")}
	}
	command, ok := commands[args[0]]
	if !ok {
		return usageError{fmt.Errorf("there is no command %q; there are build, goproxy, verify, tag and version", args[0])}
	}
	return command(ctx, args[1:], out)
}
