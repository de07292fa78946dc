package command

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/addrspec/addrspec/origin/check/output"
)

// tableFlag is the output format of commands that list rows.
type tableFlag struct {
	To string `enum:"table,csv,ndjson" default:"table" help:"Output format: table, csv (RFC 4180) or ndjson (one JSON object a line). In csv a single quote precedes a cell that a spreadsheet would evaluate as a formula."`
}

// print writes rows under their header. A string is text that a user may have chosen, such as
// an email or a name, and is escaped; nil is what does not exist. totals is a last row that
// only a table has: in the other formats it would be counted with the rest.
func (a *tableFlag) print(out io.Writer, header []string, rows [][]any, totals ...any) error {
	switch a.To {
	case "csv":
		w := csv.NewWriter(out)
		_ = w.Write(header) // Error has its error
		for _, row := range rows {
			_ = w.Write(cells(row, func(text string) string { return output.Printable(output.Formula(text)) }))
		}
		w.Flush()
		return w.Error()
	case "ndjson":
		w := bufio.NewWriter(out)
		for _, row := range rows {
			separator := "{"
			for i, value := range row {
				if text, ok := value.(string); ok {
					value = output.Printable(text)
				}
				data, err := json.Marshal(value)
				if err != nil {
					return err
				}
				fmt.Fprintf(w, "%s%q:%s", separator, strings.ReplaceAll(header[i], " ", "_"), data)
				separator = ","
			}
			w.WriteString("}\n")
		}
		return w.Flush()
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

func cells(row []any, escape func(string) string) []string {
	list := make([]string, len(row))
	for i, value := range row {
		switch v := value.(type) {
		case nil:
			list[i] = "-"
		case string:
			list[i] = escape(v)
		default:
			list[i] = fmt.Sprint(v)
		}
	}
	return list
}

// orNil returns the cell of a value: nil for the zero value, such as a limit that follows
// another.
func orNil[T comparable](value T) any {
	if value == *new(T) {
		return nil
	}
	return value
}

func day(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.Format(time.DateOnly)
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
