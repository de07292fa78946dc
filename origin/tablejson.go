package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/addrspec/addrspec/origin/ledger"
)

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
	case int, int64, bool, ledger.Limit:
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
// are escaped, as escape.Printable replaces them in a table.
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
