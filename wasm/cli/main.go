// Command cli is addrspec-cli.wasm: the offline checks as a WASI command, for
// shells and for programs that start others instead of embedding an engine.
//
//	wasmtime addrspec-cli.wasm [-0] [-a] [-d] [ADDRESS…]
//
// It prints the result for each address as one line of JSON with the 16 fields.
// The addresses are its arguments or, without arguments, the lines of standard
// input. It skips empty lines.
//
//	-0   addresses in the input end with a zero byte instead of a newline
//	-a   typo_suggestion is the whole corrected address, not its domain
//	-d   one more member, details, says why (wasm/ABI.md)
//
// It prints each result before it waits for more input, so a program can talk to
// it through pipes. The exit status is 0 after the last result, 1 if reading or
// writing failed, and 2 for wrong usage.
package main

import (
	"errors"
	"io"
	"os"
)

func main() {
	err := run(os.Args[1:], openInput(), openOutput())
	if err == nil {
		return
	}
	io.WriteString(openErrors(), "addrspec-cli: "+err.Error()+"\n")
	if errors.As(err, new(usageError)) {
		os.Exit(2)
	}
	os.Exit(1)
}

// usageError is an error in the arguments.
type usageError string

func (e usageError) Error() string {
	return string(e) + "\nusage: addrspec-cli [-0] [-a] [-d] [ADDRESS…]"
}

// options are the parsed arguments.
type options struct {
	end            byte // terminates an address in the input
	fullSuggestion bool
	details        bool
	addresses      []string
}

func parse(args []string) (options, error) {
	o := options{end: '\n'}
	for n, arg := range args {
		switch {
		case arg == "-0":
			o.end = 0
		case arg == "-a":
			o.fullSuggestion = true
		case arg == "-d":
			o.details = true
		case arg == "--":
			o.addresses = args[n+1:]
			return o, nil
		case len(arg) > 0 && arg[0] == '-':
			return o, usageError("unknown flag " + arg)
		default:
			o.addresses = args[n:]
			return o, nil
		}
	}
	return o, nil
}
