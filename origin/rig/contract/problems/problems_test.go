package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The committed files are the generator's output.
func TestGeneratedFilesAreCurrent(t *testing.T) {
	files, err := render()
	require.NoError(t, err)
	require.Len(t, files, 3)
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(top, name))
		require.NoError(t, err)
		require.True(t, string(want) == string(got), "%s is not what problems.json gives: run go generate ./origin/rig/contract/problems", name)
	}
}

func TestTable(t *testing.T) {
	table, err := readTable()
	require.NoError(t, err)
	seen := map[string]bool{}
	for _, p := range table.Problems {
		require.False(t, seen[p.Code], "%s occurs twice", p.Code)
		seen[p.Code] = true
		require.Regexp(t, regexp.MustCompile(`^[A-Z_]*$`), p.Code)
		require.Equal(t, p.Status == 429, p.Code == "", "only 429 has no code")
		require.True(t, shapeOf(p) == p.Shape, `problems.json: %s needs "shape": %q`, p.Name, shapeOf(p))
	}
}

// shapeOf returns the shape that the contract requires: that of the operation for a
// problem with the input, C for 429, A for the others. A malformed request has no
// operation.
func shapeOf(p problem) string {
	switch {
	case p.Status == 429:
		return "C"
	case p.Status >= 401 && p.Status <= 405 && p.Status != 402, p.Status >= 500, p.Code == "BAD_REQUEST":
		return "A"
	}
	return "input"
}

// A sentence that only one of the two uses belongs in its own code.
func TestBothUseEverySentence(t *testing.T) {
	table, err := readTable()
	require.NoError(t, err)
	origin := sources(t, "origin/api/*.go", "") + sources(t, "origin/api/wire/*.go", goFile) + sources(t, "origin/mx/*.go", mxFile)
	worker := sources(t, "edge/*/*.ts", typeScriptFile)
	for _, s := range table.Sentences {
		require.True(t, uses(origin, goName(s)), "the origin does not use %s", s.Name)
		used := uses(worker, "SENTENCES."+s.Name) || strings.Contains(worker, `"`+s.Name+`"`)
		require.True(t, used, "edge does not use %s", s.Name)
	}
}

func uses(text, name string) bool {
	return regexp.MustCompile(`\b` + regexp.QuoteMeta(name) + `\b`).MatchString(text)
}

// sources returns the text of the files that match pattern, without the file but.
func sources(t *testing.T, pattern, but string) (text string) {
	files, err := filepath.Glob(filepath.Join(top, pattern))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		content, err := os.ReadFile(file)
		require.NoError(t, err)
		if file != filepath.Join(top, but) {
			text += string(content)
		}
	}
	return text
}

func TestExpression(t *testing.T) {
	for text, want := range map[string]string{
		`a "b"`:      `"a \"b\""`,
		`$a is`:      `a + " is"`,
		`it is $a`:   `"it is " + a`,
		`x $a y $bc`: `"x " + a + " y " + bc`,
	} {
		require.Equal(t, want, expression(sentence{Text: text}))
	}
}

func TestMember(t *testing.T) {
	long := strings.Repeat("x", lineWidth)
	for text, want := range map[string]string{
		"it is":      `  s: "it is",`,
		"$a is $bc":  "  s: (a: string, bc: string) => `${a} is ${bc}`,",
		long:         "  s:\n    \"" + long + `",`,
		"$a " + long: "  s: (a: string) =>\n    `${a} " + long + "`,",
	} {
		require.Equal(t, want, member(sentence{Name: "s", Text: text}))
	}
}
