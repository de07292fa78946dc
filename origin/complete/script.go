package complete

import (
	"embed"
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"
)

// Shells are the shells that have a script.
const Shells = "bash,zsh,fish"

//go:embed addrspec.bash addrspec.zsh addrspec.fish
var scripts embed.FS

// Script returns the script for one of Shells.
func Script(shell string) ([]byte, error) { return scripts.ReadFile("addrspec." + shell) }

// Print writes the candidates for a script, one a line: the word, a tab and a
// sentence.
func Print(to io.Writer, app *kong.Application, words []string) error {
	for _, c := range Candidates(app, words) {
		help, _, _ := strings.Cut(c.Help, ". ")
		if _, err := fmt.Fprintf(to, "%s\t%s\n", c.Word, strings.TrimSuffix(help, ".")); err != nil {
			return err
		}
	}
	return nil
}
