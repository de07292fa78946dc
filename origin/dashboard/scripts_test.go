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

	"github.com/addrspec/addrspec/wasm/moduletest"
)

// needsNode skips the test without Node, and names the files that it runs.
func needsNode(t *testing.T) {
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("Node is not installed")
	}
	moduletest.Inputs(t, "assets", "scripttest", "../check/input/testdata")
}

// TestScriptsAreStrict checks the types of the tests' scripts; package browser
// checks those of assets.
func TestScriptsAreStrict(t *testing.T) {
	if testing.Short() {
		t.Skip("left to ./build.sh test ci")
	}
	needsNode(t)
	const tsc = "../../edge/node_modules/.bin/tsc"
	if _, err := os.Stat(tsc); err != nil {
		t.Skip("edge/node_modules is missing: npm ci --prefix edge")
	}
	moduletest.Inputs(t, "tsconfig.json")
	out, err := exec.Command(tsc, "-p", ".").CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// TestScriptUnits runs the unit tests of the scripts in Node.
func TestScriptUnits(t *testing.T) {
	needsNode(t)
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
