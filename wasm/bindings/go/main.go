// Command go checks email addresses, as a program of a user would, whose go.mod requires
// github.com/addrspec/addrspec:
//
//	go run . [-native] [-many] [-0] [-d] [-l LISTS] [-p] [ADDRESS…]
//
// It prints one line of JSON for each address: its arguments or, without any, the lines
// of standard input. With -0, addresses in the input end with a zero byte instead; with
// -d, results have the member details; with -l, the lists are those of a newer
// lists.blob, whose signature minisign verifies. With -p, the input has six texts for each
// address, which end with a zero byte: the document of a policy, the address, of mx, its
// address record and disposable exchanges 1, 0 or nothing, as far as they were looked up, and
// the names of the exchanges with spaces between; it prints the verdict or, if the document is
// no policy, the place, its offset and the sentence, with tabs between.
//
// module.go runs the embedded module by package wasm/host, many addresses a call with
// -many; native.go does without WebAssembly, by package core. The bytes are the same.
package main

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"strings"
)

// options are the flags.
type options struct {
	native, many, details bool
	lists                 []byte // nil for those that the program contains
}

// printer writes the results of addresses.
type printer interface {
	check(addresses []string, out *bufio.Writer) error
	// verdict returns the verdict of the document of a policy, or why it is none.
	verdict(document, email string, found found) string
}

// found is what a program has looked up: nil if it has not.
type found struct {
	mx, addressRecord *bool
	disposable        bool   // the exchanges are those of throw-away services
	exchanges         string // their names, with spaces between
}

func main() {
	log.SetFlags(0)
	o := options{}
	flag.BoolVar(&o.native, "native", false, "check by package core, without the module")
	flag.BoolVar(&o.many, "many", false, "check many addresses in one call")
	flag.BoolVar(&o.details, "d", false, "add the details")
	zero := flag.Bool("0", false, "addresses in the input end with a zero byte")
	lists := flag.String("l", "", "file of newer lists")
	policies := flag.Bool("p", false, "print verdicts: the input has policies and what was looked up")
	flag.Parse()
	run := run
	if *policies {
		run = runPolicies
	}
	if err := run(o, *lists, *zero, flag.Args(), os.Stdin, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// runPolicies prints a verdict for each six texts of the input.
func runPolicies(o options, lists string, _ bool, _ []string, in io.Reader, out io.Writer) error {
	printer, err := open(o, lists)
	if err != nil {
		return err
	}
	text, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	texts := strings.Split(string(text), "\x00")
	for ; len(texts) > 6; texts = texts[6:] {
		found := found{fact(texts[2]), fact(texts[3]), texts[4] == "1", texts[5]}
		fmt.Fprintln(out, printer.verdict(texts[0], texts[1], found))
	}
	return nil
}

// wrong returns why a document is no policy.
func wrong(place string, offset int, err error) string {
	return fmt.Sprintf("%s\t%d\t%s", place, offset, err)
}

func fact(text string) *bool {
	if text == "" {
		return nil
	}
	is := text == "1"
	return &is
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
func open(o options, lists string) (printer, error) {
	if lists != "" {
		blob, err := os.ReadFile(lists)
		if err != nil {
			return nil, err
		}
		o.lists = blob
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
