package complete

import (
	"bytes"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/require"
)

// program is a command line with what Candidates has to distinguish.
type program struct {
	Copy struct {
		To      string   `enum:"csv,table" default:"csv" help:"The format. It has two."`
		Into    string   `placeholder:"DIR" help:"Where."`
		Force   *bool    `negatable:"" help:"Replace files."`
		Count   int      `help:"How many."`
		Secret  string   `hidden:""`
		Mode    string   `arg:"" enum:"fast,safe" help:"How."`
		InFiles []string `arg:"" name:"file" help:"What."`
	} `cmd:"" help:"Copy files."`
	Key struct {
		List struct{} `cmd:"" help:"List keys."`
	} `cmd:"" help:"Keys."`
	Old struct{} `cmd:"" hidden:""`
}

func app(t testing.TB) *kong.Kong {
	parser, err := kong.New(new(program))
	require.NoError(t, err)
	return parser
}

func TestCandidates(t *testing.T) {
	for line, want := range map[string]string{
		"":                          "copy key",
		"c":                         "copy",
		"x":                         "",
		"key ":                      "list",
		"key list ":                 "",
		"nonsense ":                 "",
		"copy ":                     "fast safe",
		"copy s":                    "safe",
		"copy fast ":                Files,
		"copy fast a b c":           Files,
		"copy --t":                  "--to",
		"copy --":                   "--help --to --into --force --no-force --count",
		"copy --to ":                "csv table",
		"copy --to t":               "table",
		"copy --to=t":               "--to=table",
		"copy --to = t":             "table",
		"copy --to =":               "csv table",
		"copy --to csv ":            "fast safe",
		"copy --into ":              Dirs,
		"copy --into=":              "",
		"copy --count ":             "",
		"copy --force ":             "fast safe",
		"copy --nothing ":           "",
		"copy -- --":                "",
		"copy -- fast -":            Files,
		"copy --unknown=x ":         "",
		"copy --unknown=x --t":      "--to",
		strings.Repeat("x ", 1<<11): "",
	} {
		var words []string
		for _, c := range Candidates(app(t), strings.Split(line, " ")) {
			words = append(words, c.Word)
		}
		require.Equal(t, want, strings.Join(words, " "), line)
	}
	require.Len(t, Candidates(app(t), nil), 2)
}

func TestPrint(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, Print(&out, app(t), []string{"copy", "--t"}))
	require.Equal(t, "--to\tThe format\n", out.String())
}

// Whatever was typed, a candidate continues the last word.
func FuzzCandidates(f *testing.F) {
	model := app(f)
	f.Add("copy --to=t")
	f.Add("copy = = --to = ")
	f.Add("= =")
	f.Fuzz(func(t *testing.T, line string) {
		words := strings.Split(line, " ")
		last := words[len(words)-1]
		for _, c := range Candidates(model, words) {
			if last != "=" && c.Word != Files && c.Word != Dirs {
				require.True(t, strings.HasPrefix(c.Word, last), "%q of %q", c.Word, line)
			}
		}
	})
}
