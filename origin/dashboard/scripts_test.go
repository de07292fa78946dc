package dashboard

import (
	"encoding/csv"
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// needsNode skips the test where the tools of the edge worker, which also check
// these scripts, are not installed.
func needsNode(t *testing.T) {
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("Node is not installed")
	}
	if _, err := os.Stat("../../edge/node_modules/.bin/tsc"); err != nil {
		t.Skip("edge/node_modules is missing: npm ci --prefix edge")
	}
}

// dependOn makes go test repeat a test when a file of folder changes, which only
// the program that it runs reads.
func dependOn(t *testing.T, folder string) {
	files, err := filepath.Glob(folder + "/*")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		_, err := os.ReadFile(file)
		require.NoError(t, err)
	}
}

// TestScriptsAreStrict checks the types of the tests' scripts; package browser
// checks those of assets.
func TestScriptsAreStrict(t *testing.T) {
	needsNode(t)
	dependOn(t, "assets")
	dependOn(t, "scripttest")
	out, err := exec.Command("../../edge/node_modules/.bin/tsc", "-p", ".").CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// TestScriptUnits runs the unit tests of the scripts in Node.
func TestScriptUnits(t *testing.T) {
	needsNode(t)
	dependOn(t, "assets")
	dependOn(t, "scripttest")
	dependOn(t, "../check/input/testdata")
	cmd := exec.Command("node", "--test", "scripttest/")
	cmd.Env = append(os.Environ(), "ADDRSPEC_TABLES="+writeTables(t))
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "# fail 0")
	require.Contains(t, string(out), "# skipped 0")
}

// writeTables writes 500 tables as encoding/csv writes them, with their rows.
func writeTables(t *testing.T) (file string) {
	type table struct {
		Text string     `json:"text"`
		Rows [][]string `json:"rows"`
	}
	random := rand.New(rand.NewPCG(1, 2))
	tables := make([]table, 500)
	for n := range tables {
		var text strings.Builder
		w := csv.NewWriter(&text)
		w.UseCRLF = n%2 == 1
		rows := randomRows(random, w.UseCRLF)
		require.NoError(t, w.WriteAll(rows))
		tables[n] = table{text.String(), rows}
	}
	encoded, err := json.Marshal(tables)
	require.NoError(t, err)
	file = filepath.Join(t.TempDir(), "tables.json")
	require.NoError(t, os.WriteFile(file, encoded, 0o600))
	return file
}

// randomRows returns rows of what is hard in CSV. A writer with CRLF writes LF in
// cells as CRLF.
func randomRows(random *rand.Rand, crlf bool) [][]string {
	newline := "\n"
	if crlf {
		newline = "\r\n"
	}
	parts := []string{`"`, ",", ";", newline, "a", "é", "😀", " ", "\t", `""`, "@"}
	rows := make([][]string, 1+random.IntN(6))
	for n := range rows {
		rows[n] = make([]string, 2+random.IntN(3))
		for m := range rows[n] {
			for range random.IntN(6) {
				rows[n][m] += parts[random.IntN(len(parts))]
			}
		}
	}
	return rows
}
