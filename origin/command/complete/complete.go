// Package complete finds what may follow on a command line of kong, for the completion of a
// shell. A shell's script passes the words before the cursor to the hidden command
// [Command], and gets the candidates.
//
// It is our own because the library for kong (kongplete) has no descriptions in zsh and fish,
// and needs the kind of each value that is a file's name a second time.
package complete

import (
	"cmp"
	"embed"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// Command is the hidden command by which the scripts call the program.
const Command = "__complete"

// Files and Dirs are words of candidates in whose place the shell puts the names of files or
// directories.
const (
	Files = ":files"
	Dirs  = ":dirs"
)

// A Candidate may take the place of the last word.
type Candidate struct{ Word, Help string }

// Candidates returns what may take the place of the last of the words after the
// program's name.
func Candidates(parser *kong.Kong, words []string) (list []Candidate) {
	if len(words) == 0 || words[len(words)-1] == "=" {
		words = append(words, "")
	}
	words = slices.DeleteFunc(words, func(word string) bool { return word == "=" }) // bash splits --to=csv
	before, last := words[:len(words)-1], words[len(words)-1]
	trace, _ := kong.Trace(parser, before) // its error is in trace
	node := cmp.Or(trace.Selected(), parser.Model.Node)
	flags := map[string]*kong.Flag{}
	var names []Candidate
	for _, f := range slices.Concat(node.AllFlags(true)...) {
		flags["--"+f.Name] = f
		names = append(names, Candidate{"--" + f.Name, f.Help})
		if f.Tag.Negatable != "" {
			names = append(names, Candidate{"--no-" + f.Name, "The opposite of --" + f.Name + "."})
		}
	}
	ended := slices.Contains(before, "--")
	name, _, split := strings.Cut(last, "=")
	var previous *kong.Flag // whose value the last word is
	if len(before) > 0 && !ended {
		previous = flags[before[len(before)-1]]
	}
	switch {
	case previous != nil && !previous.IsBool():
		list = values(previous.Value, previous.PlaceHolder)
	case split && !ended && flags[name] != nil:
		for _, c := range values(flags[name].Value, "") { // the shell completes no file's name behind "="
			list = append(list, Candidate{name + "=" + c.Word, c.Help})
		}
	case strings.HasPrefix(last, "-") && !ended:
		list = names
	case trace.Error == nil:
		list = following(node, trace)
	}
	return slices.DeleteFunc(list, func(c Candidate) bool {
		return !strings.HasPrefix(c.Word, last) && c.Word != Files && c.Word != Dirs
	})
}

// following returns the commands below a node, or the values of its next argument.
func following(node *kong.Node, trace *kong.Context) (list []Candidate) {
	for _, child := range node.Children {
		if !child.Hidden {
			list = append(list, Candidate{child.Name, child.Help})
		}
	}
	given := 0
	for _, p := range trace.Path {
		if p.Positional != nil {
			given++
		}
	}
	args := node.Positional
	if n := len(args); n > 0 && (given < n || args[n-1].IsCumulative()) {
		arg := args[min(given, n-1)]
		list = append(list, values(arg, arg.Name)...)
	}
	return list
}

// values returns the values of a flag or an argument. A placeholder or a name that
// says FILE or DIR means names of files.
func values(v *kong.Value, hint string) (list []Candidate) {
	for _, word := range v.EnumSlice() {
		if word != "" { // an empty Enum is one empty word
			list = append(list, Candidate{Word: word})
		}
	}
	hint = strings.ToUpper(hint)
	switch {
	case len(list) > 0:
	case strings.Contains(hint, "FILE"):
		list = append(list, Candidate{Word: Files})
	case strings.Contains(hint, "DIR"):
		list = append(list, Candidate{Word: Dirs})
	}
	return list
}

// Scripts has the script of each shell, addrspec.<shell>.
//
//go:embed addrspec.bash addrspec.zsh addrspec.fish
var Scripts embed.FS

// Print writes the candidates for a script, one a line: the word, a tab and a
// sentence.
func Print(to io.Writer, parser *kong.Kong, words []string) error {
	for _, c := range Candidates(parser, words) {
		help, _, _ := strings.Cut(c.Help, ". ")
		if _, err := fmt.Fprintf(to, "%s\t%s\n", c.Word, strings.TrimSuffix(help, ".")); err != nil {
			return err
		}
	}
	return nil
}
