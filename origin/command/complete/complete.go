// Package complete completes command lines of a kong model in bash, zsh and fish.
//
// The shell's script asks the program itself: it runs it with the word Command and
// the words typed so far, as the programs made with Cobra do, so that flags and
// values are those of the installed version. It is our own because the libraries for
// kong (kongplete, kong-completion) build on posener/complete, which gives no
// descriptions to zsh and fish and edits the user's start-up files.
package complete

import (
	"embed"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// Command is the program's first argument when a shell asks for candidates.
const Command = "__complete"

// Replies that are not candidates: the shell completes names of files or directories.
const (
	Files = ":files"
	Dirs  = ":dirs"
)

// A Candidate may take the place of the last word.
type Candidate struct{ Word, Help string }

// maxWords is how many words are read; a longer line has no candidates.
const maxWords = 1000

// Candidates returns what may take the place of the last of the words after the
// program's name.
func Candidates(app *kong.Application, words []string) []Candidate {
	words = withoutEquals(words)
	if len(words) > maxWords {
		return nil
	}
	s := state{node: app.Node}
	for _, word := range words[:len(words)-1] {
		s.read(word)
	}
	return s.candidates(words[len(words)-1])
}

// withoutEquals drops the words "=": bash splits --to=csv into three words.
func withoutEquals(words []string) (list []string) {
	last := ""
	for i, word := range words {
		last = word
		if word != "=" {
			list = append(list, word)
		} else if i == len(words)-1 {
			last = ""
		}
	}
	if len(words) == 0 || last == "" && words[len(words)-1] == "=" {
		list = append(list, "")
	}
	return list
}

// A state is what the words so far have selected.
type state struct {
	node       *kong.Node
	value      *kong.Value // of the flag that was the last word
	hint       string      // its placeholder
	positional int
	ended      bool // by "--"
}

// read takes one word.
func (s *state) read(word string) {
	switch {
	case s.value != nil:
		s.value = nil
	case word == "--" && !s.ended:
		s.ended = true
	case strings.HasPrefix(word, "-") && word != "-" && !s.ended:
		if f := s.flag(word); f != nil && !f.IsBool() {
			s.value, s.hint = f.Value, f.PlaceHolder
		}
	default:
		s.readCommand(word)
	}
}

func (s *state) readCommand(word string) {
	for _, child := range s.node.Children {
		if child.Name == word || slices.Contains(child.Aliases, word) {
			s.node = child
			return
		}
	}
	s.positional++
}

// flag returns the flag named --word, without a value in the same word.
func (s *state) flag(word string) *kong.Flag {
	for _, group := range s.node.AllFlags(true) {
		for _, f := range group {
			if "--"+f.Name == word {
				return f
			}
		}
	}
	return nil
}

func (s *state) candidates(word string) []Candidate {
	name, value, split := strings.Cut(word, "=")
	switch {
	case s.value != nil:
		return matching(values(s.value, s.hint), word)
	case split && !s.ended && s.flag(name) != nil:
		f := s.flag(name)
		return prefixed(name+"=", matching(values(f.Value, f.PlaceHolder), value))
	case strings.HasPrefix(word, "-") && !s.ended:
		return matching(s.flags(), word)
	}
	return matching(s.words(), word)
}

// flags returns the flags that may be given next.
func (s *state) flags() (list []Candidate) {
	for _, group := range s.node.AllFlags(true) {
		for _, f := range group {
			list = append(list, Candidate{"--" + f.Name, f.Help})
			if f.Tag.Negatable != "" {
				list = append(list, Candidate{"--no-" + f.Name, "The opposite of --" + f.Name + "."})
			}
		}
	}
	return list
}

// words returns the commands, or the values of the next argument.
func (s *state) words() (list []Candidate) {
	for _, child := range s.node.Children {
		if !child.Hidden && s.positional == 0 {
			list = append(list, Candidate{child.Name, child.Help})
		}
	}
	args := s.node.Positional
	if n := len(args); n > 0 && (s.positional < n || args[n-1].IsCumulative()) {
		arg := args[min(s.positional, n-1)]
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

// matching returns the candidates that begin with a word, and Files and Dirs.
func matching(list []Candidate, word string) []Candidate {
	return slices.DeleteFunc(list, func(c Candidate) bool {
		return !strings.HasPrefix(c.Word, word) && c.Word != Files && c.Word != Dirs
	})
}

// prefixed returns the candidates as whole words. The shell cannot complete the
// name of a file behind --flag= itself, so these are left out.
func prefixed(prefix string, list []Candidate) (whole []Candidate) {
	for _, c := range list {
		if c.Word != Files && c.Word != Dirs {
			whole = append(whole, Candidate{prefix + c.Word, c.Help})
		}
	}
	return whole
}

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
