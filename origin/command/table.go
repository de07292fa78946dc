package command

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"text/tabwriter"
	"unicode"
	"unicode/utf16"

	"github.com/dustin/go-humanize"

	"github.com/addrspec/addrspec/lists/feed/prompt"
	"github.com/addrspec/addrspec/origin/check/output"
	"github.com/addrspec/addrspec/origin/ledger/book"
)

// tableFlag is the output format of commands that list rows.
type tableFlag struct {
	To string `enum:"table,csv,ndjson" default:"table" help:"Output format: table, csv (RFC 4180) or ndjson (one JSON object a line). In csv a single quote precedes a cell that a spreadsheet would evaluate as a formula."`
}

// print writes rows under their header. A string in a row is text that a user
// chose, such as an email or a name, and is escaped; other values are not. totals
// is a last row that only a table has: in the other formats it would be counted
// with the rest.
func (a *tableFlag) print(out io.Writer, header []string, rows [][]any, totals ...any) error {
	switch a.To {
	case "csv":
		return printCSV(out, header, rows)
	case "ndjson":
		return printNDJSON(out, header, rows)
	}
	if totals != nil {
		rows = append(rows, totals)
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, strings.ToUpper(strings.Join(header, "\t")))
	for _, row := range rows {
		fmt.Fprintln(w, strings.Join(cells(row, output.Printable), "\t"))
	}
	return w.Flush()
}

func printCSV(out io.Writer, header []string, rows [][]any) error {
	w := csv.NewWriter(out)
	if err := w.Write(header); err != nil {
		return err
	}
	for _, row := range rows {
		if err := w.Write(cells(row, escapeFormula)); err != nil {
			return err
		}
	}
	w.Flush()
	return w.Error()
}

// escapeFormula makes text harmless in a spreadsheet and on a terminal.
func escapeFormula(text string) string { return output.Printable(output.Formula(text)) }

// cells returns a row's values as text, with the strings escaped.
func cells(row []any, escape func(string) string) []string {
	list := make([]string, len(row))
	for i, value := range row {
		if text, ok := value.(string); ok {
			list[i] = escape(text)
		} else {
			list[i] = fmt.Sprint(value)
		}
	}
	return list
}

// printNDJSON writes an object a line, whose members are the columns in order. A
// dash, the cell of what does not exist, is null.
func printNDJSON(out io.Writer, header []string, rows [][]any) error {
	w := bufio.NewWriter(out)
	for _, row := range rows {
		for i, value := range row {
			separator := byte(',')
			if i == 0 {
				separator = '{'
			}
			w.WriteByte(separator)
			w.Write(jsonText(strings.ReplaceAll(header[i], " ", "_")))
			w.WriteByte(':')
			w.Write(jsonCell(value))
		}
		w.WriteString("}\n")
	}
	return w.Flush()
}

// jsonCell returns a cell as JSON: numbers and booleans as they are, and what is
// printed as a word as a string.
func jsonCell(value any) []byte {
	switch v := value.(type) {
	case ownLimit:
		if v.Limit != nil {
			return jsonCell(*v.Limit)
		}
	case int, int64, bool, book.Limit:
		if data, err := json.Marshal(value); err == nil {
			return data
		}
	}
	given := fmt.Sprint(value)
	if _, chosen := value.(string); !chosen && given == string(dash) {
		return []byte("null")
	}
	return jsonText(given)
}

// jsonText returns a JSON string in which characters that could control a terminal
// are escaped, as output.Printable replaces them in a table.
func jsonText(text string) []byte {
	var data bytes.Buffer
	encoder := json.NewEncoder(&data)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(text); err != nil {
		return []byte("null") // a string always encodes
	}
	var safe []byte
	for _, r := range string(bytes.TrimSuffix(data.Bytes(), []byte("\n"))) {
		if unicode.IsGraphic(r) {
			safe = append(safe, string(r)...)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			safe = fmt.Appendf(safe, "\\u%04x", unit)
		}
	}
	return safe
}

// shellQuote quotes a word for a POSIX shell if it needs to be, and for zsh, which
// replaces =word.
func shellQuote(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:,@+=%", r)
	}
	if word != "" && word[0] != '=' && !strings.ContainsFunc(word, func(r rune) bool { return !plain(r) }) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// A progressLine shows how far a copy of the ledger is, on a terminal only.
type progressLine struct {
	line      *output.Line // nil: not a terminal
	done, all atomic.Int64 // bytes; all is 0 if it is not known
}

func newProgressLine(out io.Writer, what string) *progressLine {
	p := &progressLine{}
	if prompt.IsTerminal(out) {
		p.line = output.NewLine(out, func() string {
			done, all := p.done.Load(), p.all.Load()
			if all > 0 {
				return fmt.Sprintf("%s: %d %%", what, done*100/all)
			}
			return what + ": " + humanize.Bytes(uint64(done))
		})
		p.line.Start()
	}
	return p
}

// copied shows how much of an SQLite file is copied. A copy may be smaller than the file,
// and the check that follows has no steps to show.
func (p *progressLine) copied(done, all int64) {
	p.done.Store(done)
	p.all.Store(all)
}

// Write counts bytes.
func (p *progressLine) Write(b []byte) (int, error) {
	p.done.Add(int64(len(b)))
	return len(b), nil
}

// end removes the line. It replaces the error of a copy that a signal ended.
func (p *progressLine) end(err error) error {
	if p.line != nil {
		p.line.Stop()
	}
	if errors.Is(err, context.Canceled) {
		return errors.New("interrupted; nothing was changed")
	}
	return err
}
