package ledger

import "github.com/addrspec/addrspec/origin/ledger/commit"

// Stats are counters since Open and the present sizes of queues.
type Stats struct {
	commit.Stats
	Reads      int64 // queries that read views
	Voided     int64 // charges given back because their caller had left
	InProgress int   // requests between Begin and End now
	Views      int   // secrets in memory now
	Undecided  int   // charges that the next commit group voids
}

// Stats returns the counters and the present sizes of queues.
func (l *Ledger) Stats() Stats {
	c := l.views.Count()
	return Stats{l.writer.Stats(), l.reader.reads.Load(), c.Voided, c.InProgress, c.Secrets, c.Undecided}
}
