// Command speed prints how many nanoseconds a check takes in Go, for the performance
// table (origin/bench), which compares the module with it:
//
//	go run ./core/speed facts|json|mail LENGTH ADDRESS
//
// facts determines all facts, json also writes them as the module does, and mail only
// parses the address with net/mail, which is the limit. LENGTH is how long to measure,
// such as 500ms. It is a program of its own since the origin does not link package core.
package main

import (
	"errors"
	"fmt"
	"net/mail"
	"os"
	"time"

	"github.com/addrspec/addrspec/core"
	"github.com/addrspec/addrspec/lists"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "speed:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 3 || works[args[0]] == nil {
		return errors.New("usage: speed facts|json|mail LENGTH ADDRESS")
	}
	span, err := time.ParseDuration(args[1])
	if err != nil {
		return fmt.Errorf("LENGTH: %w", err)
	}
	fmt.Printf("%.1f\n", nanoseconds(span, works[args[0]](args[2])))
	return nil
}

// works returns for each word what is measured.
var works = map[string]func(email string) func(){
	"facts": func(email string) func() {
		checker, input := core.New(lists.Default()), []byte(email)
		return func() { checker.Check(input) }
	},
	"json": func(email string) func() {
		checker, input, line := core.New(lists.Default()), []byte(email), []byte(nil)
		return func() {
			facts := checker.Check(input)
			line, _ = core.AppendJSON(line[:0], &facts, false)
		}
	},
	"mail": func(email string) func() {
		return func() { _, _ = mail.ParseAddress(email) }
	},
}

// nanoseconds returns how long one call of f takes, on average over span. It reads
// the clock rarely, in steps that grow.
func nanoseconds(span time.Duration, f func()) float64 {
	f() // what only the first call does
	begun, calls := time.Now(), 0
	for step := 1; time.Since(begun) < span; step = min(2*step, 1024) {
		for range step {
			f()
		}
		calls += step
	}
	return float64(time.Since(begun).Nanoseconds()) / float64(calls)
}
