// Command go checks email addresses with addrspec.wasm and package wasm/host,
// which uses wazero:
//
//	go run ./wasm/bindings/go addrspec.wasm [-0] [-d] [-l LISTS] [ADDRESS…]
//
// It prints one line of JSON for each address: its arguments or, without any, the
// lines of standard input. With -0, addresses in the input end with a zero byte
// instead; with -d, results have the member details; with -l, the lists are those
// of a newer lists.blob, whose signature minisign verifies.
package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"log"
	"os"
	"path/filepath"

	"github.com/addrspec/addrspec/wasm/host"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) < 2 {
		log.Fatal("usage: go addrspec.wasm [-0] [-d] [-l LISTS] [ADDRESS…]")
	}
	if err := run(context.Background(), os.Args[1], os.Args[2:], os.Stdin, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, file string, args []string, in io.Reader, out io.Writer) error {
	wasm, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	// One instance is enough for one goroutine. The default is one per processor;
	// an Engine is safe for concurrent use and replaces an instance that trapped.
	engine, err := host.New(ctx, wasm, host.Options{Size: 1, CacheDir: cacheDir()})
	if err != nil {
		return err
	}
	defer engine.Close(ctx)

	end, flags := byte('\n'), host.Flags(0)
options:
	for ; len(args) > 0; args = args[1:] {
		switch args[0] {
		case "-0":
			end = 0
		case "-d":
			flags |= host.Details
		case "-l":
			if err := setLists(ctx, engine, args[1:]); err != nil {
				return err
			}
			args = args[1:]
		default:
			break options
		}
	}
	buffered := bufio.NewWriter(out)
	defer buffered.Flush()
	var facts host.Facts
	for address := range addresses(args, in, end) {
		// Reuse the buffer of the previous result.
		if facts, err = engine.Check(ctx, facts.JSON[:0], address, flags); err != nil {
			return err
		}
		buffered.Write(append(facts.JSON, '\n'))
	}
	return nil
}

// setLists replaces the lists of all instances by the blob in the first of files.
func setLists(ctx context.Context, engine *host.Engine, files []string) error {
	if len(files) == 0 {
		return errors.New("-l needs a file")
	}
	blob, err := os.ReadFile(files[0])
	if err != nil {
		return err
	}
	return engine.SetLists(ctx, blob)
}

// cacheDir returns the folder for machine code, which `addrspec check` uses too,
// since compiling the module takes a second. It returns "", which means no cache,
// if the user has no cache folder.
func cacheDir() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "addrspec")
}

// addresses returns an iterator over the arguments or, without any, over the
// nonempty parts of the input, which end terminates.
func addresses(args []string, in io.Reader, end byte) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for _, address := range args {
			if !yield(address) {
				return
			}
		}
		for buffered := bufio.NewReader(in); len(args) == 0; {
			address, err := buffered.ReadBytes(end)
			address = bytes.TrimSuffix(address, []byte{end})
			if end == '\n' {
				address = bytes.TrimSuffix(address, []byte{'\r'})
			}
			if len(address) > 0 && !yield(string(address)) || err != nil {
				return
			}
		}
	}
}
