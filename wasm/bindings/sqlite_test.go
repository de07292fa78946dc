package bindings_test

import (
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/wasm/moduletest"
	"github.com/addrspec/addrspec/wasm/vectors"
)

// sqliteExtension builds the extension as a user does and returns its path without ".so",
// which SQLite adds.
func sqliteExtension(t *testing.T) string {
	t.Helper()
	if _, err := os.Stat("/usr/include/sqlite3ext.h"); err != nil {
		t.Skip("libsqlite3-dev is not installed")
	}
	prefix, archive, directory := libaddrspec(t), artifact(t, "sqlite"), t.TempDir()
	build(t, directory, "tar", "-xzf", archive, "--strip-components=1")
	build(t, directory, "make", "--silent", "ADDRSPEC="+prefix, "CFLAGS=-O2 -Werror")
	return filepath.Join(directory, "addrspec")
}

// pythonWithExtensions returns a Python whose sqlite3 can load extensions, which is an
// option of its build.
func pythonWithExtensions(t *testing.T) string {
	t.Helper()
	const probe = "import sqlite3; sqlite3.Connection.enable_load_extension"
	for _, python := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(python, "-c", probe).Run() == nil {
			return python
		}
	}
	t.Skip("no python3 has a sqlite3 that loads extensions")
	return ""
}

func TestSQLite(t *testing.T) {
	leftToCI(t)
	extension := sqliteExtension(t)
	t.Run("python", func(t *testing.T) {
		program := []string{pythonWithExtensions(t), filepath.Join(filepath.Dir(extension), "examples", "check.py"), extension}
		pack{many: program, single: with(program, "-1")}.requireSameBytes(t)
		build(t, ".", program[0], "sqlite/tests/test.py", extension, blobFile(t, moduletest.NewerLists(t)))
	})
	t.Run("shell", func(t *testing.T) { testSQLiteShell(t, extension) })
	t.Run("policies", func(t *testing.T) { testSQLitePolicies(t, extension) })
	t.Run("valgrind", func(t *testing.T) { testSQLiteUnderValgrind(t, extension) })
}

// shell runs statements in the shell of SQLite. It returns what it prints, errors included.
func shell(t *testing.T, extension, sql string) string {
	t.Helper()
	cmd := exec.Command(find(t, "sqlite3"), "-batch", ":memory:")
	cmd.Stdin = strings.NewReader(".nullvalue null\n.load " + extension + "\n" + sql)
	output, _ := cmd.CombinedOutput()
	return string(output)
}

func testSQLiteShell(t *testing.T, extension string) {
	requirePrints := func(want, sql string) {
		t.Helper()
		require.Equal(t, want+"\n", shell(t, extension, sql+";\n"))
	}
	requirePrints("1|0|0|null", "SELECT addrspec_valid('jane@example.org'), addrspec_valid('jane'), addrspec_valid(''), addrspec_valid(NULL)")
	requirePrints("jane@example.org|null|null", `SELECT addrspec_normalized('"Jane"@EXAMPLE.org'), addrspec_normalized('jane'), addrspec_normalized(NULL)`)
	requirePrints("jdoe@gmail.com|null|null", "SELECT addrspec_canonical('J.Doe+shop@googlemail.com'), addrspec_canonical('jane'), addrspec_canonical(NULL)")
	requirePrints(string(vectors.Native()("jane@hotmial.com", true)), "SELECT addrspec('jane@hotmial.com', 0, 1)")
	requirePrints("null|null|null|null", "SELECT addrspec(NULL), addrspec_require(NULL), addrspec_verdict(NULL, '{}'), addrspec_verdict('jane@b.c', NULL)")
	requirePrints(`{"x":{"action":"review","reason":"role","rule":"review.reasons[0]"}}`,
		`SELECT json_object('x', addrspec_verdict('info@example.org', '{"review": {"reasons": ["role"]}}'))`)
	requirePrints("object", "SELECT json_type(addrspec_version())")
	requirePrints("0|null", "SELECT addrspec_valid(x'6a616e65ff40622e63'), addrspec_normalized('jane' || char(0) || '@b.c')")
	requirePrints("0|null|block", "SELECT addrspec_valid(x), addrspec_canonical(x), addrspec_verdict(x, '{}') ->> 'action' FROM (SELECT hex(zeroblob(2000000)) || '@b.c' AS x)")
	require.Contains(t, shell(t, extension, "SELECT addrspec_require('jane.@example.org');\n"),
		"invalid email address: the local part ends with a dot; remove it (local_part_ends_with_dot at byte 4, RFC 5322 section 3.2.3)")
	require.Contains(t, shell(t, extension, `SELECT addrspec_verdict('a@b.c', '{"block": {"reasons": ["disposible"]}}');`+"\n"),
		`invalid policy: block.reasons[0]: "disposible" is no reason; did you mean "disposable"?`)
	require.Contains(t, shell(t, extension, "SELECT addrspec_lists(x'00');\n"), "the lists were refused")
	require.Contains(t, shell(t, extension, "SELECT addrspec_lists(NULL);\n"), "the lists are empty")
}

func testSQLitePolicies(t *testing.T, extension string) {
	cases, err := vectors.ReadPolicies("../vectors")
	require.NoError(t, err)
	var sql strings.Builder
	var want []string
	for _, p := range cases {
		if p.MX == nil && p.Address == nil && !p.Disposable && len(p.Exchanges) == 0 && !strings.Contains(p.Document+p.Email, "\x00") && p.Error == "" {
			quote := func(text string) string { return "CAST(x'" + hex.EncodeToString([]byte(text)) + "' AS TEXT)" }
			sql.WriteString("SELECT addrspec_verdict(" + quote(p.Email) + ", " + quote(p.Document) + ");\n")
			want = append(want, string(p.Verdict)+"\n")
		}
	}
	require.Greater(t, len(want), 20)
	require.Equal(t, strings.Join(want, ""), shell(t, extension, sql.String()))
}

// The connection frees its checker, and reads nothing that it did not write.
func testSQLiteUnderValgrind(t *testing.T, extension string) {
	valgrind := exec.Command(find(t, "valgrind"), "--quiet", "--error-exitcode=99", "--leak-check=full", "--errors-for-leak-kinds=definite,indirect,possible",
		find(t, "sqlite3"), "-batch", ":memory:")
	// From standard input: after an error in a file of .read the shell ends without closing.
	valgrind.Stdin = strings.NewReader(`.load ` + extension + `
CREATE TABLE t (email TEXT CHECK (addrspec_valid(email)), normalized TEXT AS (addrspec_normalized(email)) STORED);
INSERT INTO t (email) VALUES ('Jane@example.org'), ('info@hotmial.com');
INSERT INTO t (email) VALUES ('jane');
SELECT addrspec(email, 1), addrspec_canonical(email), addrspec_verdict(email, '{"block": {"reasons": ["typo"]}}') FROM t;
SELECT addrspec_require('jane'), addrspec_version();
`)
	output, _ := valgrind.CombinedOutput()
	require.Contains(t, string(output), "jane@example.org")
	require.NotEqual(t, 99, valgrind.ProcessState.ExitCode(), "%s", output)
}

func TestSQLiteIsReproducible(t *testing.T) { requireReproducible(t, "sqlite") }
