package host_test

import (
	"context"
	"strings"
	"testing"

	"github.com/addrspec/addrspec/core"
	"github.com/addrspec/addrspec/lists"
	"github.com/addrspec/addrspec/wasm/host"
	"github.com/addrspec/addrspec/wasm/moduletest"
)

// BenchmarkLongest is the cost per byte of the longest address that the module
// takes: it is refused by its length, so what remains is to copy it and to
// escape it. To copy a string of that length is set beside it.
func BenchmarkLongest(b *testing.B) {
	for name, unit := range map[string]string{"letters": "a", "comments": "(c)", "Han": "漢", "control characters": "\x01", "quotes": `a"`, "not UTF-8": "\xff"} {
		email := strings.Repeat(unit, 1<<20/len(unit))
		b.Run(name+"/native", func(b *testing.B) {
			checker, line := core.New(lists.Default()), []byte(nil)
			b.SetBytes(int64(len(email)))
			for b.Loop() {
				facts := checker.Check([]byte(email))
				line, _ = core.AppendJSON(line[:0], &facts, false)
			}
		})
		b.Run(name+"/wazero", func(b *testing.B) {
			engine := newEngine(b, moduletest.Bytes(b), host.Options{Size: 1})
			var answer host.Answer
			var err error
			b.SetBytes(int64(len(email)))
			for b.Loop() {
				if answer, err = engine.Check(context.Background(), answer.JSON[:0], email, 0); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/copy", func(b *testing.B) {
			var line []byte
			b.SetBytes(int64(len(email)))
			for b.Loop() {
				line = append(line[:0], email...)
			}
		})
	}
}
