package output

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/check/pipeline"
	"github.com/addrspec/addrspec/wasm/host"
)

// BenchmarkAppend is the time to encode a record, beside the time that the module
// takes for the same address.
func BenchmarkAppend(b *testing.B) {
	local := newChecker(b, 0)
	records := benchRecords(1000)
	outcomes := make([]pipeline.Outcome, len(records))
	require.NoError(b, local.Check(context.Background(), records, outcomes))
	b.Run("module", func(b *testing.B) {
		for n := range b.N {
			local.View.Check(context.Background(), nil, records[n%len(records)].Email, host.Flags(0))
		}
	})
	l := layout{',', []string{"id", "name", "email"}, 3}
	for name, f := range map[string]pipeline.Format{"ndjson": &NDJSON{}, "ndjson-keep": &NDJSON{Keep: true, Layout: l},
		"csv": &CSV{Layout: l}, "csv-safe": &CSV{Layout: l, Safe: true}, "table": &Table{Width: 80}} {
		b.Run(name, func(b *testing.B) {
			f.Head(nil)
			var dst []byte
			b.ReportAllocs()
			for n := range b.N {
				dst, _ = f.Append(dst[:0], &records[n%len(records)], &outcomes[n%len(records)])
			}
		})
	}
}

func benchRecords(count int) (records []pipeline.Record) {
	for n := range count {
		email := fmt.Sprintf("jane.doe%d@example%d.org", n, n%10)
		if n%10 == 0 {
			email = fmt.Sprintf("jane..doe%d@example.org", n)
		}
		records = append(records, pipeline.Record{Line: int64(n), Email: email, Cells: []string{fmt.Sprint(n), "Doe, Jane", email}})
	}
	return records
}
