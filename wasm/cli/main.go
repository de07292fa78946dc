// Command cli is addrspec-cli.wasm: the offline checks as a WASI command, for
// shells and for hosts that run programs but embed no engine.
//
//	wasmtime addrspec-cli.wasm [-0] [-a] [ADDRESS…]
//
// It answers each address with one line of JSON, the 16 fields, in order. The
// addresses are its arguments or, where there are none, the lines of standard
// input; empty lines are passed over.
//
//	-0   addresses in the input end with a zero octet, not with a line
//	-a   typo_suggestion is the whole corrected address, not its domain
//
// It answers each address as soon as it has come, so it can be asked through
// pipes. It exits with 0 after the last answer, with 1 where reading or writing
// failed, and with 2 where it was called wrongly.
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

// usageError says that the command was called wrongly.
type usageError string

func (e usageError) Error() string {
	return string(e) + "\nusage: addrspec-cli [-0] [-a] [ADDRESS…]"
}

// options are what the flags say.
type options struct {
	end            byte // of an address in the input
	fullSuggestion bool
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
		case arg == "--":
			o.addresses = args[n+1:]
			return o, nil
		case len(arg) > 0 && arg[0] == '-':
			return o, usageError("there is no flag " + arg)
		default:
			o.addresses = args[n:]
			return o, nil
		}
	}
	return o, nil
}
