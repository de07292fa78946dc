// Package prompt asks for the password of a secret key. It uses
// golang.org/x/term (BSD-3-Clause), which switches off a terminal's echo.
package prompt

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// longest is the most bytes of a password.
const longest = 1 << 10

// IsTerminal reports whether a person sees what is written to w, or types what is
// read from it.
func IsTerminal(w any) bool {
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// Password asks for a password on a terminal, without echo. From anything else
// it reads one line, as minisign does.
func Password(in io.Reader, out io.Writer, question string) (string, error) {
	if !IsTerminal(in) {
		text, err := bufio.NewReaderSize(io.LimitReader(in, longest), longest).ReadString('\n')
		text = strings.TrimRight(text, "\r\n")
		if text == "" {
			return "", errors.New("the key needs a password: run this on a terminal, or write the password to standard input as one line")
		}
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return text, err
	}
	fmt.Fprint(out, question)
	text, err := term.ReadPassword(int(in.(*os.File).Fd()))
	fmt.Fprintln(out)
	return string(text), err
}
