// Command profile measures where a check spends its time and writes that as the CPU
// profile from which the Go compiler decides what to inline in the modules:
//
//	go run -trimpath ./wasm/build/profile wasm/build/compile/check.pgo
//
// In WebAssembly the compiler passes parameters and results in memory, so a call is
// expensive. The profile gives no other results, only other code:
// measure it again if the functions of a check change, and compare the speed.
package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/pprof"
	"strings"
	"time"

	"github.com/addrspec/addrspec/core"
	"github.com/addrspec/addrspec/lists"
)

// emails are addresses of the kinds that users type, the usual ones first.
var emails = []string{
	"jane.doe@example.org", "j.smith@gmail.com", "hans.mueller@stadtwerke-muenchen.de", "info@mycompany.de",
	"user1234@yahoo.co.uk", "Jane.Doe+news@mail.example.co.uk", "support-eu@example.org", "jane@gmial.com",
	"m.rossi84@some-company.co", "contact@firm.unknowntl", "jane doe@example.com", "x7k2q9@mail.example.net",
}

const duration = 20 * time.Second

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run -trimpath ./wasm/build/profile FILE")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "profile:", err)
		os.Exit(1)
	}
}

func run(file string) error {
	// -trimpath removes the paths of the sources on this machine from the profile.
	if _, source, _, _ := runtime.Caller(0); strings.HasPrefix(source, "/") {
		return errors.New("run it with -trimpath, so that the profile has no paths of this machine")
	}
	var raw bytes.Buffer
	if err := pprof.StartCPUProfile(&raw); err != nil {
		return err
	}
	checker := core.New(lists.Default())
	var buffer [8 << 10]byte
	for start := time.Now(); time.Since(start) < duration; {
		for _, email := range emails {
			for range 1000 {
				facts := checker.Check([]byte(email))
				core.AppendJSON(buffer[:0], &facts, false)
			}
		}
	}
	pprof.StopCPUProfile()
	r, err := gzip.NewReader(&raw)
	if err != nil {
		return err
	}
	text, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	// The path of this program is overwritten.
	program, err := os.Executable()
	if err != nil {
		return err
	}
	text = bytes.ReplaceAll(text, []byte(program), bytes.Repeat([]byte{'-'}, len(program)))
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	if _, err := w.Write(text); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return os.WriteFile(file, zipped.Bytes(), 0o644)
}
