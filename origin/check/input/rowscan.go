package input

// A rowScan is how far a row was scanned. All offsets are from its beginning.
type rowScan struct {
	at    int // the next byte
	state cellState
	start int // of the present cell
	spans []span
	many  bool // there are more cells than the limit
	multi bool // a cell has a line end
	brk   int  // the first line end in the present cell, or 0
	torn  bool // the present cell goes on after its closing quotation mark, in another line
}

// A span is where a cell is. A quoted one has its quotation marks.
type span struct {
	start, end int
	quoted     bool
}

// cellState is where in a cell the scan is.
type cellState uint8

const (
	atStart cellState = iota
	bare              // in a cell that is taken literally
	quoted
	closed // after a quotation mark that closes the cell, or is the first of two
)

// to scans on to the line end after the row, or to the end of rest. It stops at a
// torn cell: most likely a quotation mark is missing, and the one that ended the
// cell was to begin another.
func (s *rowScan) to(rest []byte, comma byte) (end int, whole bool) {
	for ; s.at < len(rest) && !s.torn; s.at++ {
		c := rest[s.at]
		lineEnd := c == '\n' || c == '\r'
		switch {
		case lineEnd && s.state != quoted:
			return s.at, true
		case s.state == bare && c != comma, s.state == quoted && c != '"' && !lineEnd: // most bytes; step does the same
		default:
			s.step(c, comma)
		}
	}
	return s.at, false
}

// step scans a byte within the row.
func (s *rowScan) step(c, comma byte) {
	switch {
	case s.state == quoted:
		s.stepQuoted(c)
	case c == comma:
		s.endCell(s.at)
	case c == '"' && s.state != bare:
		s.state = quoted // it opens the cell, or the one before it was doubled
	case s.state == closed && s.brk > 0:
		s.torn = true
	default:
		s.state = bare
	}
}

func (s *rowScan) stepQuoted(c byte) {
	switch c {
	case '"':
		s.state = closed
	case '\n', '\r':
		if s.multi = true; s.brk == 0 {
			s.brk = s.at
		}
	}
}

// endCell ends the present cell at end.
func (s *rowScan) endCell(end int) {
	if len(s.spans) < MaxCells {
		s.spans = append(s.spans, span{s.start, end, s.state == closed})
	} else {
		s.many = true
	}
	s.start, s.state, s.brk = end+1, atStart, 0
}
