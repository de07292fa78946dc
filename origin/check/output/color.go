package output

import (
	"io"
	"os"

	"golang.org/x/term"

	"github.com/addrspec/addrspec/origin/result"
)

// Whether to color a table.
const (
	ColorAuto   = "auto" // on a terminal, unless NO_COLOR is set or TERM is dumb
	ColorAlways = "always"
	ColorNever  = "never"
)

// Colored reports whether to color what is written to out. NO_COLOR counts if it
// is not empty (no-color.org), and a flag is stronger than it.
func Colored(mode string, out io.Writer) bool {
	switch mode {
	case ColorAlways:
		return true
	case ColorNever:
		return false
	}
	return IsTerminal(out) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// IsTerminal reports whether a stream is a terminal.
func IsTerminal(stream any) bool {
	file, ok := stream.(interface{ Fd() uintptr })
	return ok && term.IsTerminal(int(file.Fd()))
}

// TerminalWidth returns the number of columns of a terminal, or 0 if out is none.
func TerminalWidth(out io.Writer) int {
	if !IsTerminal(out) {
		return 0
	}
	width, _, err := term.GetSize(int(out.(interface{ Fd() uintptr }).Fd()))
	if err != nil {
		return 0
	}
	return width
}

// A style is a sequence "select graphic rendition" (ECMA-48 section 8.3.117), or "".
type style string

const (
	bold   style = "\x1b[1m"
	red    style = "\x1b[31m"
	green  style = "\x1b[32m"
	yellow style = "\x1b[33m"
	reset        = "\x1b[0m"
)

// tones are the styles of verdicts.
var tones = map[string]style{result.ToneGood: green, result.ToneWarn: yellow, result.ToneBad: red}
