package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEveryToolIsPinnedAndHasAnAdapter(t *testing.T) {
	text := func(path string) string {
		b, err := os.ReadFile(path)
		require.NoError(t, err)
		return string(b)
	}
	for _, tool := range tools {
		version, err := tool.version()
		require.NoError(t, err)
		require.Regexp(t, `^v?\d+\.\d+(\.\d+)?$`, version, tool.name)
		switch tool.registry {
		case "npm":
			require.Regexp(t, `\n\t(async )?"?`+tool.name+`"?(\(|:)`, text("node/serve.mjs"))
		case "PyPI":
			require.Contains(t, text("python/serve.py"), "\ndef "+strings.ReplaceAll(tool.name, "-", "_")+"():")
		}
	}
}

func TestLockFilesHaveAnIntegrityForEveryPackage(t *testing.T) {
	requirements, err := filepath.Glob("python/requirements/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, requirements)
	for _, file := range requirements {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Regexp(t, `^(\S+==\S+( \\\n    --hash=sha256:[0-9a-f]{64})+\n)+$`, string(text), file)
	}
}

// A row without a result does not move the results of others, and after the adapter's end
// there are none.
func TestAdapterResults(t *testing.T) {
	const adapter = `
while read -r row; do
	case $row in
	*crash*) echo 'out of memory' >&2; exit 3 ;;
	*garbage*) echo 'Loading model...' ;;
	*blank*) echo ;;
	*none*) echo '{"none":"too short"}' ;;
	*) echo '{"yes":true,"text":"t","score":1.5}' ;;
	esac
done`
	var rows []row
	for value := range strings.FieldsSeq(`a"b\c garbage blank none a crash a`) {
		rows = append(rows, row{"valid", value})
	}
	accepted := result{Yes: true, Text: "t", Score: 1.5}
	results := askAdapter(rows, "sh", "-c", adapter)
	require.Len(t, results, len(rows))
	for i, why := range []string{"", "the adapter's line is not a result", "the adapter's line is not a result", "too short", "",
		"the adapter ended: exit status 3", "the adapter ended: exit status 3"} {
		if why == "" {
			require.Equal(t, accepted, results[i])
		} else {
			require.Contains(t, results[i].None, why)
		}
	}
}

func TestAdapterSeesNoSecret(t *testing.T) {
	for _, variable := range os.Environ() {
		name, value, _ := strings.Cut(variable, "=")
		t.Setenv(name, value) // restored after the test
	}
	t.Setenv("ADDRSPEC_EDGE_SECRET", "hidden")
	path := os.Getenv("PATH")
	hideEnvironment()
	require.Empty(t, os.Getenv("ADDRSPEC_EDGE_SECRET"))
	require.Equal(t, path, os.Getenv("PATH"))
}

func TestNetMailTakesNoDisplayName(t *testing.T) {
	for value, want := range map[string]bool{
		"jane@example.com": true, "Jane <jane@example.com>": false, "<jane@example.com>": false, "jane": false,
	} {
		require.Equal(t, want, askNetMail(value).Yes, value)
	}
}

// With ADDRSPEC_ALL the tools are installed from their registries, and asked rows for which
// every tool has the same result.
func TestTools(t *testing.T) {
	if os.Getenv("ADDRSPEC_ALL") == "" {
		t.Skip("left to ./build.sh test all: installs packages of others")
	}
	known := map[string][2]string{
		"valid":      {"jane@example.com", "jane@@example.com"},
		"random":     {"xkqzjwvvbqhd", "christopher"},
		"typo":       {"gmaiil.com", "gmail.com"},
		"disposable": {"mailinator.com", "example.org"},
		"public":     {"gmail.com", "example.org"},
		"role":       {"info", "jane"},
		"canonical":  {"janedoe@gmail.com", "jane.doe+x@gmail.com"},
	}
	require.NoError(t, install())
	for _, tool := range tools {
		t.Run(tool.registry+" "+tool.name, func(t *testing.T) {
			for question := range strings.FieldsSeq(tool.questions) {
				results := tool.ask([]row{{question, known[question][0]}, {question, known[question][1]}})
				yes, no := results[0], results[1]
				require.Empty(t, yes.None+no.None)
				switch question {
				case "typo":
					require.Equal(t, "gmail.com", yes.Text)
					require.Empty(t, no.Text)
				case "canonical":
					require.Equal(t, yes.Text, no.Text)
				default:
					require.True(t, yes.Yes && !no.Yes, question)
					require.True(t, question != "random" || yes.Score > no.Score)
				}
			}
		})
	}
}
