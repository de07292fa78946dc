// Command go checks email addresses with addrspec.wasm in Go, through the
// project's own host package on wazero:
//
//	go run ./wasm/bindings/go addrspec.wasm [-0] [ADDRESS…]
//
// It answers each address, its arguments or the lines of standard input, with a
// line of JSON. With -0, addresses in the input end with a zero octet instead.
package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"log"
	"os"

	"github.com/addrspec/addrspec/wasm/host"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) < 2 {
		log.Fatal("usage: go addrspec.wasm [-0] [ADDRESS…]")
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
	// An engine holds as many instances as there are processors and may be
	// asked from any goroutine; one that traps is replaced.
	engine, err := host.New(ctx, wasm, host.Options{Size: 1})
	if err != nil {
		return err
	}
	defer engine.Close(ctx)

	end := byte('\n')
	if len(args) > 0 && args[0] == "-0" {
		end, args = 0, args[1:]
	}
	buffered := bufio.NewWriter(out)
	defer buffered.Flush()
	var answer host.Answer
	for address := range addresses(args, in, end) {
		// The answer takes the place of the one before it in the buffer.
		if answer, err = engine.Check(ctx, answer.JSON[:0], address, 0); err != nil {
			return err
		}
		buffered.Write(append(answer.JSON, '\n'))
	}
	return nil
}

// addresses gives the arguments or, where there are none, what stands in the
// input before each end.
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
