package check

import "context"

const (
	// chunkRecords is the most records that one worker takes at a time.
	chunkRecords = 256
	// keptJSON is the largest buffer of a result that is kept for the next one, in
	// bytes. A usual result has about 400.
	keptJSON = 4 << 10
)

// A chunk is some records in a row.
type chunk struct {
	records  []Record
	outcomes []Outcome
	size     int64 // of the records, in bytes

	encoded []byte
	ready   int           // records that are encoded, all of them unless err is set
	err     error         // ends the run once what is before it is written
	done    chan struct{} // closed when the worker is finished with it
}

// empty makes c as good as new but for the memory that it keeps.
func (c *chunk) empty() *chunk {
	for n := range c.outcomes {
		kept := c.outcomes[n].JSON[:0]
		if cap(kept) > keptJSON {
			kept = nil
		}
		c.outcomes[n] = Outcome{JSON: kept}
	}
	clear(c.records)
	if cap(c.encoded) > chunkRecords*keptJSON {
		c.encoded = nil
	}
	*c = chunk{records: c.records[:0], outcomes: c.outcomes, encoded: c.encoded[:0], done: make(chan struct{})}
	return c
}

// measured sets the size of the records.
func (c *chunk) measured() *chunk {
	for n := range c.records {
		c.size += c.records[n].size()
	}
	return c
}

// finish checks and encodes the records.
func (c *chunk) finish(ctx context.Context, r *Run) {
	defer close(c.done)
	if c.err = r.Checker.Check(ctx, c.records, c.outcomes[:len(c.records)]); c.err != nil {
		return
	}
	for n := range c.records {
		if c.err = r.refuse(&c.records[n]); c.err != nil {
			return
		}
		if c.encoded, c.err = r.Format.Append(c.encoded, &c.records[n], &c.outcomes[n]); c.err != nil {
			return
		}
		c.ready++
	}
}
