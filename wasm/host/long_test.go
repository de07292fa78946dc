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

// BenchmarkLongest measures the cost per byte of the longest address that fits
// the module. It is refused by its length, so the cost is that of copying and
// escaping it. The benchmark /copy measures copying alone.
func BenchmarkLongest(b *testing.B) {
	for name, unit := range map[string]string{"letters": "a", "comments": "(c)", "Han": "漢", "control characters": "\x01", "quotes": `a"`, "not UTF-8": "\xff"} {
		email := strings.Repeat(unit, 1<<20/len(unit))
		b.Run(name+"/native", func(b *testing.B) {
			checker, line := core.New(lists.Default()), []byte(nil)
			b.SetBytes(int64(len(email)))
			for b.Loop() {
				native := checker.Check([]byte(email))
				line, _ = core.AppendJSON(line[:0], &native, false)
			}
		})
		b.Run(name+"/wazero", func(b *testing.B) {
			engine := newEngine(b, moduletest.Bytes(b), host.Options{Size: 1})
			var facts host.Facts
			var err error
			b.SetBytes(int64(len(email)))
			for b.Loop() {
				if facts, err = engine.Check(context.Background(), facts.JSON[:0], email, 0); err != nil {
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
