// Command go checks email addresses, as a program of a user would, whose go.mod requires
// github.com/addrspec/addrspec:
//
//	go run . [-native] [-many] [-0] [-d] [-l LISTS] [ADDRESS…]
//
// It prints one line of JSON for each address: its arguments or, without any, the lines
// of standard input. With -0, addresses in the input end with a zero byte instead; with
// -d, results have the member details; with -l, the lists are those of a newer
// lists.blob, whose signature minisign verifies.
//
// module.go runs the embedded module by package wasm/host, many addresses a call with
// -many; native.go does without WebAssembly, by package core. The bytes are the same.
package main

import (
	"bufio"
	"bytes"
	"flag"
	"io"
	"log"
	"os"
)

// options are the flags.
type options struct {
	native, many, details bool
	lists                 []byte // nil for those that the program contains
}

// printer writes the results of addresses.
type printer interface {
	check(addresses []string, out *bufio.Writer) error
}

func main() {
	log.SetFlags(0)
	o := options{}
	flag.BoolVar(&o.native, "native", false, "check by package core, without the module")
	flag.BoolVar(&o.many, "many", false, "check many addresses in one call")
	flag.BoolVar(&o.details, "d", false, "add the details")
	zero := flag.Bool("0", false, "addresses in the input end with a zero byte")
	lists := flag.String("l", "", "file of newer lists")
	flag.Parse()
	if err := run(o, *lists, *zero, flag.Args(), os.Stdin, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// chunk is how many addresses are passed on together.
const chunk = 1000

func run(o options, lists string, zero bool, args []string, in io.Reader, out io.Writer) error {
	printer, err := open(o, lists)
	if err != nil {
		return err
	}
	buffered := bufio.NewWriter(out)
	defer buffered.Flush()
	if len(args) > 0 {
		return printer.check(args, buffered)
	}
	for list := range chunks(in, zero) {
		if err := printer.check(list, buffered); err != nil {
			return err
		}
	}
	return nil
}

// open returns the printer that the options choose.
func open(o options, lists string) (_ printer, err error) {
	if lists != "" {
		if o.lists, err = os.ReadFile(lists); err != nil {
			return nil, err
		}
	}
	if o.native {
		return openNative(o)
	}
	return openModule(o)
}

// chunks returns an iterator over the nonempty addresses of the input.
func chunks(in io.Reader, zero bool) func(yield func([]string) bool) {
	return func(yield func([]string) bool) {
		end := byte('\n')
		if zero {
			end = 0
		}
		var list []string
		for buffered := bufio.NewReader(in); ; {
			address, err := buffered.ReadBytes(end)
			address = bytes.TrimSuffix(address, []byte{end})
			if end == '\n' {
				address = bytes.TrimSuffix(address, []byte{'\r'})
			}
			if len(address) > 0 {
				list = append(list, string(address))
			}
			if len(list) == chunk || err != nil {
				if !yield(list) || err != nil {
					return
				}
				list = nil
			}
		}
	}
}
