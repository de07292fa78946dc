package command

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// shellDirectory makes a directory with the program under its name, and some files.
func shellDirectory(t *testing.T) (directory string) {
	t.Helper()
	directory = t.TempDir()
	require.NoError(t, os.Symlink(os.Args[0], filepath.Join(directory, "addrspec")))
	for _, name := range []string{"plans file.json", "platform.txt", "$(touch danger)"} {
		require.NoError(t, os.WriteFile(filepath.Join(directory, name), nil, 0o600))
	}
	return directory
}

// inShell runs a script in a shell, or skips the test where it is missing.
func inShell(t *testing.T, directory string, command ...string) string {
	t.Helper()
	if _, err := exec.LookPath(command[0]); err != nil {
		t.Skipf("%s is not installed: apt-get install %s", command[0], command[0])
	}
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir = directory
	cmd.Env = append(os.Environ(), programVariable+"=1", "PATH="+directory+":"+os.Getenv("PATH"), "HOME="+directory)
	cmd.Stderr = logIfFailed(t)
	out, err := cmd.Output()
	require.NoError(t, err)
	return string(out)
}

// A completion is a line that ends where a person types Tab, and the words that must
// then be proposed.
type completion struct {
	line string
	want []string
}

// completions have one of each kind: a command, a command below another, a flag, a value, a file,
// and what nobody can complete. Package complete tests the rest.
var completions = []completion{
	{"addrspec acc", []string{"account"}},
	{"addrspec key r", []string{"revoke", "rotate"}},
	{"addrspec serve --dns-t", []string{"--dns-timeout"}},
	{"addrspec usage --to ", []string{"csv", "ndjson", "table"}},
	{"addrspec plan load plat", []string{"platform.txt"}},
	{"addrspec nonsense here ", nil},
}

func TestCompletionInBash(t *testing.T) {
	t.Parallel()
	directory := shellDirectory(t)
	for _, c := range append(slices.Clip(completions), completion{"addrspec usage --to=c", []string{"csv"}},
		completion{"addrspec version $(touch", nil}, completion{"addrspec plan load $(to", []string{"$(touch danger)"}}) {
		// bash sets these variables; "=" is a word of its own in COMP_WORDS.
		out := inShell(t, directory, "bash", "-c", `source <(addrspec completion bash); compopt() { :; }
			COMP_WORDS=(); for word in $1; do case $word in --*=*) COMP_WORDS+=("${word%%=*}" = "${word#*=}");; *) COMP_WORDS+=("$word");; esac; done
			[[ $1 == *" " ]] && COMP_WORDS+=("")
			COMP_CWORD=$(( ${#COMP_WORDS[@]} - 1 )); _addrspec addrspec
			(( ${#COMPREPLY[@]} )) && printf '%s\n' "${COMPREPLY[@]}" | sort || true`, "bash", c.line)
		require.Equal(t, c.want, nonEmptyLines(out), c.line)
	}
	requireNoDanger(t, directory)
}

func TestCompletionInFish(t *testing.T) {
	leftToCI(t)
	t.Parallel()
	directory := shellDirectory(t)
	for _, c := range completions {
		out := inShell(t, directory, "fish", "--no-config", "-c", `addrspec completion fish | source; complete -C $argv[1] | sort`, c.line)
		var words []string
		for _, line := range nonEmptyLines(out) {
			word, _, _ := strings.Cut(line, "\t")
			words = append(words, word)
		}
		require.Equal(t, c.want, words, c.line)
	}
	requireNoDanger(t, directory)
}

// zsh completes only at a terminal: its module zpty gives it one. The script works
// both from a start-up file and as the function _addrspec of a directory in $fpath.
func TestCompletionInZsh(t *testing.T) {
	leftToCI(t)
	t.Parallel()
	directory := shellDirectory(t)
	for _, c := range completions {
		out := inZsh(t, directory, `compinit -u -d $HOME/.zcompdump; source <(addrspec completion zsh)`, c.line)
		require.Equal(t, c.want, foundWords(out), "%s: %q", c.line, out)
	}
	for _, c := range completions[:2] {
		out := inZsh(t, directory, `mkdir -p f; addrspec completion zsh > f/_addrspec; fpath=($PWD/f $fpath); compinit -u -d $HOME/.zcompdump2`, c.line)
		require.Equal(t, c.want, foundWords(out), "%s: %q", c.line, out)
	}
	requireNoDanger(t, directory)
}

func inZsh(t *testing.T, directory, setUp, line string) string {
	return inShell(t, directory, "zsh", "-f", "-c", `
		zmodload zsh/zpty
		zpty shell "COLUMNS=300 zsh -f -i"
		zpty -w shell "PS1=; stty -echo; autoload -U compinit; $2"
		zpty -w shell 'compadd() { builtin compadd -A found "$@"; builtin compadd "$@"; for word in $found; do print -r -- "FOUND<$word>"; done }'
		zpty -w shell 'finish() { print "FINISHED"; zle kill-whole-line }; zle -N finish; bindkey "^X" finish; print RE""ADY'
		while zpty -r shell line '*READY*'; do break; done
		zpty -w -n shell "$1"$'\t'$'\x18'
		zpty -r shell line '*FINISHED*'
		print -r -- "$line"
		zpty -d shell`, "zsh", line, setUp)
}

// requireNoDanger fails if a file's name was run as a command.
func requireNoDanger(t *testing.T, directory string) {
	t.Helper()
	require.NoFileExists(t, filepath.Join(directory, "danger"))
}

func nonEmptyLines(text string) (list []string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			list = append(list, line)
		}
	}
	return list
}

func foundWords(text string) (list []string) {
	for _, part := range strings.Split(text, "FOUND<")[1:] {
		word, _, _ := strings.Cut(part, ">")
		list = append(list, word)
	}
	slices.Sort(list)
	return slices.Compact(list)
}
