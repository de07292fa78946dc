// Package output writes checked records: as a [Table] for people, as [CSV], or as
// [NDJSON]. Beside the records, on standard error, are a [Summary], a [Progress]
// bar and the [BadLines] that could not be read.
//
// The formats append to a slice, and several goroutines encode at a time. This is
// why CSV is not written by encoding/csv, which writes to one stream.
//
// Widths of text on a terminal are measured by github.com/rivo/uniseg (MIT, no
// dependencies): it finds grapheme clusters, which must not be cut, and their
// widths in one step. The progress bar is our own: it estimates the share that is
// done from two counts, bytes read and records written, and the libraries draw from
// one.
package output

// BadLine is the code of a record without an address, such as a line that is not
// JSON.
const BadLine = "BAD_LINE"

// A Layout is what is known of an input after its first record was read. A reader
// of package input is one.
type Layout interface {
	Comma() byte      // the separator of CSV, 0 of other formats
	Header() []string // the names of the columns of CSV, nil without a header
	Width() int       // how many columns CSV has
}

// isCSV reports whether records have cells. A nil layout is that of arguments.
func isCSV(l Layout) bool { return l != nil && l.Comma() != 0 }
