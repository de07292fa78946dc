package bindings_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/core"
	"github.com/addrspec/addrspec/wasm/moduletest"
	"github.com/addrspec/addrspec/wasm/vectors"
)

// A postgresql is an installation of PostgreSQL with the extension. It consists of copies
// and links of the system's, in a directory of its own: PostgreSQL finds its other files from
// the place of its programs, and no test writes to the system.
type postgresql struct {
	root    string // what is / for the installation
	sources string // of the extension
	system  string // the directory of the system's PostgreSQL
	library string // prefix of libaddrspec
}

// installPostgreSQL unpacks, builds and installs the extension as a user does.
func installPostgreSQL(t testing.TB) *postgresql {
	t.Helper()
	p := &postgresql{system: systemPostgreSQL(t)}
	p.root = publicDir(t)
	p.copySystem(t)
	test, isTest := t.(*testing.T)
	if !isTest {
		p.library, p.sources = os.Getenv("ADDRSPEC_C"), filepath.Join(p.root, "sources")
		require.NoError(t, os.CopyFS(p.sources, os.DirFS("postgresql")))
		require.NotEmpty(t, p.library, "set ADDRSPEC_C to the prefix of libaddrspec")
	} else {
		p.library = libaddrspec(test)
		archive := artifact(test, "postgresql")
		p.sources = filepath.Join(p.root, strings.TrimSuffix(filepath.Base(archive), ".tar.gz"))
		runs(t, p.root, "tar", "-xzf", archive)
	}
	p.make(t, "install")
	return p
}

// systemPostgreSQL returns the directory of a PostgreSQL that can build extensions, or skips
// the test.
func systemPostgreSQL(t testing.TB) string {
	t.Helper()
	if testing.Short() {
		t.Skip("left to ./build.sh test ci")
	}
	found, _ := filepath.Glob("/usr/include/postgresql/*/server/postgres.h")
	if len(found) == 0 {
		t.Skip("postgresql-server-dev is not installed")
	}
	version := filepath.Base(filepath.Dir(filepath.Dir(found[len(found)-1])))
	system := "/usr/lib/postgresql/" + version
	if _, err := os.Stat(system + "/bin/postgres"); err != nil {
		t.Skip("postgresql is not installed in " + system)
	}
	moduletest.Inputs(t, ".")
	return system
}

// publicDir returns a directory that other users can read.
func publicDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "addrspec-postgresql-")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	require.NoError(t, os.Chmod(dir, 0o755))
	return dir
}

func (p *postgresql) copySystem(t testing.TB) {
	t.Helper()
	const links = `set -e
mkdir -p "$1$2/lib" "$1$3/extension"
cp -R "$2/bin" "$1$2/"
ln -s "$2"/lib/* "$1$2/lib/"
ln -s "$3"/extension/* "$1$3/extension/"
for name in "$3"/*; do [ "${name##*/}" = extension ] || ln -s "$name" "$1$3/"; done`
	share := strings.Replace(p.system, "/lib/", "/share/", 1)
	runs(t, p.root, "sh", "-c", links, "sh", p.root, p.system, share)
}

// make runs make in the extension's sources.
func (p *postgresql) make(t testing.TB, arguments ...string) {
	t.Helper()
	runs(t, p.sources, append([]string{"make", "--silent", "PG_CONFIG=" + p.system + "/bin/pg_config",
		"DESTDIR=" + p.root, "ADDRSPEC=" + p.library, "PG_CFLAGS=-Werror"}, arguments...)...)
	runs(t, p.root, "chmod", "-R", "a+rX", p.root)
}

// program returns a command of the installation that runs as an ordinary user.
func (p *postgresql) program(t testing.TB, dir, name string, arguments ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(filepath.Join(p.root+p.system, "bin", name), arguments...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "PGUSER=postgres", "PGHOST="+dir, "PGDATABASE=postgres", "LC_ALL=C")
	asOrdinaryUser(t, cmd)
	return cmd
}

// asOrdinaryUser makes a command run as the user postgres if this process is root, as which
// PostgreSQL refuses to run.
func asOrdinaryUser(t testing.TB, cmd *exec.Cmd) {
	t.Helper()
	if os.Getuid() != 0 {
		return
	}
	ordinary, err := user.Lookup("postgres")
	if err != nil {
		t.Skipf("root needs a user postgres to run it: %v", err)
	}
	id, err := strconv.Atoi(ordinary.Uid)
	require.NoError(t, err)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(id), Gid: uint32(id)}}
	require.NoError(t, os.Chown(cmd.Dir, id, -1))
}

// runs runs a command that must succeed and returns its output.
func runs(t testing.TB, dir string, command ...string) string {
	t.Helper()
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir = dir
	return succeeds(t, cmd)
}

func succeeds(t testing.TB, cmd *exec.Cmd) string {
	t.Helper()
	output, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s\n%s", strings.Join(cmd.Args, " "), output)
	return string(output)
}

// A cluster is a running server, whose socket is in its directory.
type cluster struct {
	*postgresql
	dir     string
	log     *os.File
	stdin   io.Closer // the server stops when this closes, hence with this process
	process *exec.Cmd
}

func (p *postgresql) newCluster(t testing.TB) *cluster {
	t.Helper()
	c := &cluster{postgresql: p, dir: publicDir(t)}
	succeeds(t, p.program(t, c.dir, "initdb", "--no-sync", "--auth=trust", "--username=postgres", "--encoding=UTF8", "--locale=C", c.dir+"/data"))
	return c
}

// startPostgreSQL starts a server with the extension in the database postgres.
func startPostgreSQL(t testing.TB) *cluster {
	t.Helper()
	c := installPostgreSQL(t).newCluster(t)
	c.start(t)
	t.Cleanup(func() { c.stop(t) })
	c.connect(t).exec("CREATE EXTENSION addrspec")
	return c
}

func (c *cluster) start(t testing.TB) {
	t.Helper()
	var err error
	c.log, err = os.OpenFile(c.dir+"/log", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	require.NoError(t, err)
	const whileInputIsOpen = `"$@" & server=$!; cat; kill -INT $server; wait $server`
	server := c.program(t, c.dir, "postgres", "-D", c.dir+"/data", "-k", c.dir, "-c", "listen_addresses=", "-c", "fsync=off",
		"-c", "max_wal_size=8GB", "-c", "max_parallel_workers_per_gather=2", "-c", "log_min_error_statement=panic")
	c.process = exec.Command("sh", append([]string{"-c", whileInputIsOpen, "sh"}, server.Args...)...)
	c.process.Dir, c.process.Env, c.process.SysProcAttr, c.process.Stdout, c.process.Stderr = server.Dir, server.Env, server.SysProcAttr, c.log, c.log
	c.stdin, err = c.process.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, c.process.Start())
	require.Eventually(t, func() bool { return c.program(t, c.dir, "pg_isready").Run() == nil }, 2*time.Minute, 50*time.Millisecond)
}

func (c *cluster) stop(t testing.TB) {
	t.Helper()
	if c.process == nil {
		return
	}
	_ = c.stdin.Close()
	require.NoError(t, c.process.Wait())
	c.process = nil
	require.NoError(t, c.log.Close())
}

// A session is a connection to a server, which fails its test if a statement fails.
type session struct {
	*pgx.Conn
	t testing.TB
}

func (c *cluster) connect(t testing.TB, settings ...string) session {
	return c.connectTo(t, "postgres", settings...)
}

func (c *cluster) connectTo(t testing.TB, database string, settings ...string) session {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), "host="+c.dir+" user=postgres database="+database+" "+strings.Join(settings, " "))
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close(context.Background()) })
	return session{conn, t}
}

func (s session) exec(sql string, arguments ...any) {
	s.t.Helper()
	_, err := s.Exec(s.t.Context(), sql, arguments...)
	require.NoError(s.t, err, sql)
}

// texts returns the only column of a query.
func (s session) texts(sql string, arguments ...any) []string {
	s.t.Helper()
	rows, err := s.Query(s.t.Context(), sql, arguments...)
	require.NoError(s.t, err, sql)
	list, err := pgx.CollectRows(rows, pgx.RowTo[*string])
	require.NoError(s.t, err, sql)
	var all []string
	for _, text := range list {
		if text == nil {
			text = new(string)
			*text = "null"
		}
		all = append(all, *text)
	}
	return all
}

func (s session) text(sql string, arguments ...any) string {
	s.t.Helper()
	list := s.texts(sql, arguments...)
	require.Len(s.t, list, 1, sql)
	return list[0]
}

// fails requires that a statement fails with a SQLSTATE and returns the error.
func (s session) fails(state, sql string, arguments ...any) *pgconn.PgError {
	s.t.Helper()
	_, err := s.Exec(s.t.Context(), sql, arguments...)
	var failure *pgconn.PgError
	require.ErrorAs(s.t, err, &failure, sql)
	require.Equal(s.t, state, failure.Code, failure.Message)
	return failure
}

// fill creates a table of the addresses, in their order.
func (s session) fill(table string, addresses []string) {
	s.t.Helper()
	s.exec("CREATE TABLE " + table + " (n int, email text)")
	_, err := s.CopyFrom(s.t.Context(), pgx.Identifier{table}, []string{"n", "email"},
		pgx.CopyFromSlice(len(addresses), func(n int) ([]any, error) { return []any{n, addresses[n]}, nil }))
	require.NoError(s.t, err)
}

// storable returns a sample of addresses that a text of UTF-8 without zero bytes may have.
func storable(t testing.TB) []string {
	files, err := vectors.Read("../vectors")
	require.NoError(t, err)
	list := vectors.Generate(6, 50_000)
	for _, file := range files {
		for _, v := range file {
			list = append(list, v.Email)
		}
	}
	var all []string
	for _, email := range list {
		if utf8.ValidString(email) && !strings.Contains(email, "\x00") {
			all = append(all, email)
		}
	}
	return all
}

func TestPostgreSQL(t *testing.T) {
	c := startPostgreSQL(t)
	tests := []struct {
		name string
		test func(*testing.T, *cluster)
	}{
		{"installcheck", testInstallcheck}, {"same bytes", testSQLBytes}, {"policies", testSQLPolicies},
		{"encodings", testEncodings}, {"characters that an encoding lacks", testUntranslatable}, {"a million rows in parallel", testParallelPlan}, {"lists", testSQLLists},
		{"dump and restore", testDumpAndRestore}, {"pools and prepared statements", testPools}, {"50 backends", testBackends},
		{"a trigger", testTrigger}, {"ordinary users", testOrdinaryUsers}, {"no address in the log", testLog},
		{"cancel", testCancel}, {"without memory", testWithoutMemory}, {"a long address", testLongAddress},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { test.test(t, c) })
	}
}

// The tests that users run, on their own server.
func testInstallcheck(t *testing.T, c *cluster) {
	t.Setenv("PGHOST", c.dir)
	t.Setenv("PGUSER", "postgres")
	c.make(t, "installcheck")
}

func testSQLBytes(t *testing.T, c *cluster) {
	addresses := storable(t)
	db := c.connect(t)
	db.fill("sample", addresses)
	facts, details := vectors.Native(), vectors.NativeDetails()
	requireColumn := func(expression string, want func(email string) string) {
		t.Helper()
		got := db.texts("SELECT (" + expression + ")::text FROM sample ORDER BY n")
		require.Len(t, got, len(addresses))
		for n, email := range addresses {
			if got[n] != want(email) {
				require.Equal(t, want(email), got[n], "%s of %q", expression, email)
			}
		}
	}
	requireColumn("addrspec(email)", func(email string) string { return string(facts(email, false)) })
	requireColumn("addrspec(email, full_suggestion => true)", func(email string) string { return string(facts(email, true)) })
	requireColumn("addrspec(email, details => true)", func(email string) string { return string(details(email)) })
	requireColumn("addrspec_valid(email)", func(email string) string { return strconv.FormatBool(core.Check(email).Valid) })
	requireColumn("addrspec_normalized(email)", func(email string) string { return member(facts(email, false), "normalized") })
	requireColumn("addrspec_canonical(email)", func(email string) string { return member(details(email), "details", "canonical") })
}

// member returns a member of a JSON object that is a string, or null.
func member(object []byte, names ...string) string {
	var members map[string]json.RawMessage
	if json.Unmarshal(object, &members) != nil {
		return "no object"
	}
	value := members[names[0]]
	if len(names) > 1 {
		return member(value, names[1:]...)
	}
	text := "null"
	_ = json.Unmarshal(value, &text)
	return text
}

func testSQLPolicies(t *testing.T, c *cluster) {
	cases, err := vectors.ReadPolicies("../vectors")
	require.NoError(t, err)
	db, tried := c.connect(t), 0
	for _, p := range cases {
		if !json.Valid([]byte(p.Document)) || p.MX != nil || p.Address != nil || p.Disposable || len(p.Exchanges) > 0 || !utf8.ValidString(p.Document+p.Email) {
			continue
		}
		tried++
		const query = "SELECT addrspec_verdict($1, $2::text::json)::text"
		if p.Error != "" {
			require.Equal(t, "invalid policy: "+p.Error, db.fails("22023", query, p.Email, p.Document).Message)
		} else {
			require.Equal(t, string(p.Verdict), db.text(query, p.Email, p.Document))
		}
	}
	require.Greater(t, tried, 30)
}

// In a database that has no UTF-8, addresses are converted.
func testEncodings(t *testing.T, c *cluster) {
	db := c.connect(t)
	for encoding, bytes := range map[string]string{"LATIN1": `\xe9`, "EUC_JP": `\x8fabb1`, "UTF8": `\xc3a9`, "SQL_ASCII": `\xc3a9`} {
		t.Run(encoding, func(t *testing.T) {
			name := "in_" + strings.ToLower(encoding)
			db.exec("CREATE DATABASE " + name + " TEMPLATE template0 LOCALE 'C' ENCODING '" + encoding + "'")
			client := encoding
			if encoding != "SQL_ASCII" { // which has no conversion
				client = "UTF8"
			}
			db := c.connectTo(t, name, "client_encoding="+client)
			db.exec("CREATE EXTENSION addrspec")
			db.exec("CREATE TABLE t AS SELECT 'Jos' || convert_from('" + bytes + "', '" + encoding + "') || '@example.org' AS email")
			require.Equal(t, "josé@example.org", db.text("SELECT addrspec_normalized(email) FROM t"))
			require.Equal(t, string(vectors.Native()("José@example.org", false)), db.text("SELECT addrspec(email)::text FROM t"))
			refused := db.fails("23514", "SELECT (email || '@')::email_address FROM t")
			require.Equal(t, "The reason is second_at, at byte 17.", refused.Detail)
			require.Equal(t, "false", db.text("SELECT addrspec_valid(repeat(email, 100000))::text FROM t"))
		})
	}
	ascii := c.connectTo(t, "in_sql_ascii", "client_encoding=SQL_ASCII")
	ascii.exec(`CREATE TABLE broken AS SELECT 'jos' || convert_from('\xe9', 'SQL_ASCII') || '@example.org' AS email`)
	require.Equal(t, "malformed_utf8", ascii.text("SELECT addrspec(email, true) -> 'details' -> 'refusal' ->> 'code' FROM broken"))
}

// A character that the encoding of the database lacks is escaped in JSON, and an error as text: the
// lower case of İ is i with U+0307.
func testUntranslatable(t *testing.T, c *cluster) {
	for _, encoding := range []string{"LATIN5", "WIN1254", "EUC_JP"} {
		t.Run(encoding, func(t *testing.T) {
			name := "lacking_" + strings.ToLower(encoding)
			c.connect(t).exec("CREATE DATABASE " + name + " TEMPLATE template0 LOCALE 'C' ENCODING '" + encoding + "'")
			db := c.connectTo(t, name, "client_encoding=UTF8")
			db.exec("CREATE EXTENSION addrspec")
			db.exec("CREATE TABLE t AS SELECT 'İbrahim@example.org' AS email")
			escaped := func(json []byte) string { return strings.ReplaceAll(string(json), "\u0307", `\u0307`) }
			require.Equal(t, escaped(vectors.Native()("İbrahim@example.org", false)), db.text("SELECT addrspec(email)::text FROM t"))
			require.Equal(t, escaped(vectors.NativeDetails()("İbrahim@example.org")), db.text("SELECT addrspec(email, true)::text FROM t"))
			for _, function := range []string{"addrspec_normalized", "addrspec_canonical"} {
				failure := db.fails("22P05", "SELECT "+function+"(email) FROM t")
				require.Equal(t, "addrspec: the encoding "+encoding+" of this database lacks a character of the result", failure.Message)
				require.Equal(t, "A database of UTF8 has it. The JSON of addrspec(text) has it as an escape, for what reads the JSON outside the database.", failure.Hint)
			}
			db.fails("22P05", "SELECT addrspec(email) ->> 'valid' FROM t") // PostgreSQL's own
			require.Equal(t, "İbrahim@example.org", db.text("SELECT email::email_address::text FROM t"))
			require.Equal(t, "allow", db.text("SELECT addrspec_verdict(email, '{}') ->> 'action' FROM t"))
		})
	}
}

// A plan with workers gives the same.
func testParallelPlan(t *testing.T, c *cluster) {
	db := c.connect(t)
	db.exec("CREATE TABLE million AS SELECT s.email FROM generate_series(1, 1 + 1000000 / (SELECT count(*) FROM sample)) AS r, sample AS s")
	db.exec("ANALYZE million")
	require.Equal(t, "t", db.text("SELECT CASE WHEN count(*) >= 1000000 THEN 't' END FROM million"))
	db.exec("SET parallel_setup_cost = 0")
	valid := "SELECT count(*)::text FROM million WHERE addrspec_valid(email)"
	plan := strings.Join(db.texts("EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) "+valid), "\n")
	require.Regexp(t, `Workers Launched: [1-9]`, plan)
	all := `SELECT concat_ws(' ', count(*), sum(hashtext(addrspec_normalized(email))), sum(hashtext(addrspec(email)::text)), sum(hashtext(addrspec_canonical(email))),
		sum(hashtext(addrspec_verdict(email, '{"review": {"reasons": ["role"]}}') ->> 'action')), sum(addrspec_require('a' || n || '@b.c')::int)) FROM sample`
	db.exec("ALTER TABLE sample SET (parallel_workers = 2)")
	require.Contains(t, strings.Join(db.texts("EXPLAIN "+all), "\n"), "Workers Planned")
	parallel := []string{db.text(valid), db.text(all)}
	db.exec("SET max_parallel_workers_per_gather = 0")
	require.NotContains(t, strings.Join(db.texts("EXPLAIN "+valid), "\n"), "Workers")
	require.Equal(t, []string{db.text(valid), db.text(all)}, parallel)
	db.exec("DROP TABLE million")
}

// Newer lists change what depends on them, in all sessions and workers, and nothing else.
func testSQLLists(t *testing.T, c *cluster) {
	blob := moduletest.NewerLists(t)
	file := func(name string, content []byte) string {
		path := filepath.Join(c.dir, name)
		require.NoError(t, os.WriteFile(path, content, 0o644))
		return path
	}
	newer := file("newer.blob", blob)
	s := newSample(append([]string{"jane@" + moduletest.Swapped}, storable(t)[:500]...), "\x00", "").withLists(t, blob)
	db := c.connect(t)
	db.fill("swapped", s.addresses)
	const facts, normalized = "SELECT addrspec(email)::text || E'\\n' FROM swapped ORDER BY n", "SELECT addrspec_normalized(email) FROM swapped ORDER BY n"
	before, same := db.texts(facts), db.texts(normalized)
	other := c.connect(t)
	require.Equal(t, before, other.texts(facts))

	db.exec("ALTER SYSTEM SET addrspec.lists = '" + newer + "'")
	db.exec("SELECT pg_reload_conf()")
	require.Eventually(t, func() bool { return other.text("SHOW addrspec.lists") == newer }, time.Minute, 10*time.Millisecond)
	require.Equal(t, s.want[:len(s.addresses)], other.texts(facts))
	require.NotEqual(t, before, other.texts(facts))
	require.Equal(t, same, other.texts(normalized))
	other.exec("SET " + alwaysParallel(other) + " = on")
	require.Equal(t, s.want[:len(s.addresses)], other.texts(facts), "in a worker")
	other.exec("RESET " + alwaysParallel(other))
	other.exec("SET addrspec.lists = ''")
	require.Equal(t, before, other.texts(facts))
	other.exec("SET addrspec.lists = '" + newer + "'")
	require.Equal(t, s.want[:len(s.addresses)], other.texts(facts))

	damaged, large := file("damaged.blob", blob[:len(blob)-1]), file("large.blob", make([]byte, 4<<20+1))
	other.exec("SET addrspec.lists = '" + damaged + "'")
	require.Contains(t, other.fails("F0000", facts).Message, "the blob is damaged")
	require.Contains(t, other.fails("F0000", facts).Message, "the blob is damaged", "again")
	require.Equal(t, same, other.texts(normalized))
	other.exec("SET addrspec.lists = '" + large + "'")
	require.Contains(t, other.fails("F0000", facts).Message, "the lists are larger than 4 MiB")
	other.exec("SET addrspec.lists = ''")
	require.Equal(t, before, other.texts(facts))
	db.exec("ALTER SYSTEM RESET addrspec.lists")
	db.exec("SELECT pg_reload_conf()")
}

// alwaysParallel returns the name of the setting that runs queries in a worker.
func alwaysParallel(db session) string {
	if db.text("SELECT current_setting('server_version_num')") >= "160000" {
		return "debug_parallel_query"
	}
	return "force_parallel_mode"
}

// schema has each kind of object that calls the functions.
const schema = `
	CREATE TABLE customers (id int PRIMARY KEY, email email_address NOT NULL, other text CHECK (addrspec_valid(other)),
		normalized text GENERATED ALWAYS AS (addrspec_normalized(email)) STORED);
	CREATE UNIQUE INDEX customers_email ON customers (addrspec_normalized(email));
	CREATE VIEW roles AS SELECT id, addrspec(email) ->> 'role' AS role FROM customers;
	INSERT INTO customers SELECT n, 'Jane.' || n || '@Example.org', 'support@example.org' FROM generate_series(1, 1000) AS n`

func testDumpAndRestore(t *testing.T, c *cluster) {
	c.connect(t).exec("CREATE DATABASE dumped")
	db := c.connectTo(t, "dumped")
	db.exec("CREATE SCHEMA extensions; CREATE EXTENSION addrspec SCHEMA extensions; SET search_path = public, extensions")
	db.exec(schema)
	c.connect(t).exec("CREATE DATABASE restored")
	dump := func(database string) string {
		text, err := c.program(t, c.dir, "pg_dump", database).Output()
		require.NoError(t, err)
		return regexp.MustCompile(`(?m)^\\(un)?restrict .*$`).ReplaceAllString(string(text), "")
	}
	text := dump("dumped")
	restore := c.program(t, c.dir, "psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "restored")
	restore.Stdin = strings.NewReader(text)
	succeeds(t, restore)
	require.Equal(t, text, dump("restored"))
	requireSchemaWorks(t, c.connectTo(t, "restored"), "extensions.")
}

// requireSchemaWorks requires that the index finds rows and the constraints refuse.
func requireSchemaWorks(t *testing.T, db session, qualifier string) {
	t.Helper()
	db.exec("ANALYZE customers; SET enable_seqscan = off; SET enable_bitmapscan = off")
	find := "SELECT id::text FROM customers WHERE " + qualifier + "addrspec_normalized(email) = 'jane.7@example.org'"
	require.Contains(t, strings.Join(db.texts("EXPLAIN "+find), "\n"), "Index Scan using customers_email")
	require.Equal(t, "7", db.text(find))
	require.Equal(t, "customers_email", db.fails("23505", "INSERT INTO customers VALUES (0, '\"jane.7\"@EXAMPLE.ORG')").ConstraintName)
	require.Equal(t, "email_address_check", db.fails("23514", "INSERT INTO customers VALUES (0, 'jane')").ConstraintName)
	require.Equal(t, "customers_other_check", db.fails("23514", "INSERT INTO customers VALUES (0, 'jane@b.c', 'x')").ConstraintName)
	require.Equal(t, "null", db.text("SELECT role FROM roles WHERE id = 7"))
}

// A pool hands a backend from client to client, and statements stay prepared.
func testPools(t *testing.T, c *cluster) {
	db := c.connect(t)
	db.exec("CREATE TABLE pooled (email email_address)")
	db.exec("SET plan_cache_mode = force_generic_plan")
	db.exec("PREPARE add (text) AS INSERT INTO pooled VALUES ($1) RETURNING addrspec_normalized(email)")
	for n := range 50 {
		good := fmt.Sprintf("EXECUTE add ('Jane%d@example.org')", n)
		require.Equal(t, fmt.Sprintf("jane%d@example.org", n), db.text(good))
		require.Contains(t, db.fails("23514", "EXECUTE add ('jane')").Message, "the address has no @")
		db.exec("BEGIN; SAVEPOINT s")
		db.fails("23514", "EXECUTE add ('jane@@example.org')")
		db.exec("ROLLBACK TO s; EXECUTE add ('joe@example.org'); ROLLBACK")
	}
	db.exec("DISCARD ALL")
	require.Equal(t, "50", db.text("SELECT count(*)::text FROM pooled"))
	db.exec("DROP EXTENSION addrspec CASCADE; CREATE EXTENSION addrspec")
	require.Equal(t, "true", db.text("SELECT addrspec_valid('jane@example.org')::text"))
	db.exec("DROP TABLE IF EXISTS pooled")
}

// Each backend has a checker of its own, whose memory is bounded.
func testBackends(t *testing.T, c *cluster) {
	addresses := storable(t)[:2000]
	db := c.connect(t)
	db.fill("many", addresses)
	native, want := vectors.Native(), []string(nil)
	for _, email := range addresses {
		want = append(want, string(native(email, false)))
	}
	var all sync.WaitGroup
	grown := make([]int, 50)
	for n := range grown {
		session := c.connect(t)
		all.Go(func() {
			session.exec("LOAD 'addrspec'")
			before := privateMemory(t, session)
			session.text("SELECT addrspec_valid('jane@example.org')::text")
			grown[n] = privateMemory(t, session) - before
			if got := session.texts("SELECT addrspec(email)::text FROM many ORDER BY n"); !slices.Equal(want, got) {
				t.Errorf("backend %d has other results", n)
			}
		})
	}
	all.Wait()
	slices.Sort(grown)
	t.Logf("a backend grew by %d to %d KiB", grown[0], grown[len(grown)-1])
	require.Less(t, grown[len(grown)-1], 16<<10, "KiB") // pages that it shared until another backend ended count, too
	db.exec("DROP TABLE many")
}

// privateMemory returns how many KiB of memory are a backend's own.
func privateMemory(t *testing.T, db session) int {
	return kibibytes(t, db, "smaps_rollup", "Private_Dirty")
}

func kibibytes(t *testing.T, db session, file, name string) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", db.PgConn().PID(), file))
	if err != nil {
		t.Errorf("the memory of a backend: %v", err)
		return 0
	}
	found := regexp.MustCompile(`(?m)^` + name + `:\s+(\d+) kB`).FindSubmatch(status)
	if found == nil {
		t.Errorf("no %s in %s", name, status)
		return 0
	}
	n, _ := strconv.Atoi(string(found[1]))
	return n
}

func testTrigger(t *testing.T, c *cluster) {
	db := c.connect(t)
	db.exec(`CREATE TABLE watched (email text, canonical text, disposable boolean);
		CREATE FUNCTION judge() RETURNS trigger LANGUAGE plpgsql AS $$
		BEGIN
			PERFORM addrspec_require(NEW.email);
			NEW.canonical := addrspec_canonical(NEW.email);
			NEW.disposable := (addrspec(NEW.email) ->> 'disposable')::boolean;
			RETURN NEW;
		EXCEPTION WHEN check_violation THEN RETURN NULL;
		END $$;
		CREATE TRIGGER judge BEFORE INSERT OR UPDATE ON watched FOR EACH ROW EXECUTE FUNCTION judge();
		INSERT INTO watched SELECT CASE WHEN n % 2 = 0 THEN 'J.' || n || '+x@gmail.com' ELSE 'j@@' || n END FROM generate_series(1, 2000) AS n`)
	require.Equal(t, "1000 j1000@gmail.com false", db.text("SELECT count(*) || ' ' || min(canonical) || ' ' || bool_or(disposable) FROM watched"))
}

// A user who may create objects in a database may create the extension, but not set lists.
func testOrdinaryUsers(t *testing.T, c *cluster) {
	admin := c.connect(t)
	admin.exec("CREATE ROLE owner LOGIN")
	admin.exec("CREATE DATABASE owned OWNER owner")
	db := c.connectTo(t, "owned", "user=owner")
	require.Equal(t, "off", db.text("SHOW is_superuser"))
	db.exec("CREATE EXTENSION addrspec")
	require.Equal(t, "true", db.text("SELECT addrspec_valid('jane@example.org')::text"))
	db.fails("42501", "SET addrspec.lists = '/etc/passwd'")
	early := c.connectTo(t, "owned", "user=owner")
	early.exec("SET addrspec.lists = '/etc/passwd'") // before the library is loaded, which rejects it
	require.Equal(t, "jane@example.org", early.text("SELECT addrspec_canonical('jane@example.org')"))
	require.Equal(t, "", early.text("SHOW addrspec.lists"))
	early.fails("42602", "SET addrspec.list = 'x'")
}

// The error of a constraint goes to the log, without the address.
func testLog(t *testing.T, c *cluster) {
	db := c.connect(t)
	db.exec("CREATE TABLE logged (email email_address)")
	for _, email := range []string{"secret.person.@example.org", "secret person@example.org", "secretperson@exa_mple.org", "secretperson"} {
		failure := db.fails("23514", "INSERT INTO logged VALUES ($1)", email)
		require.NotContains(t, failure.Message+failure.Detail+failure.Hint+failure.Where, "secret")
	}
	log := string(readBytes(t, c.dir+"/log"))
	require.Contains(t, log, "ERROR:  invalid email address: the local part ends with a dot; remove it")
	require.NotContains(t, log, "secret")
}

func testCancel(t *testing.T, c *cluster) {
	db, other := c.connect(t), c.connect(t)
	pid := db.PgConn().PID()
	failed := make(chan error, 1)
	go func() {
		_, err := db.Exec(t.Context(), "DO $$ BEGIN LOOP PERFORM addrspec(repeat(' ', 1000000)); END LOOP; END $$")
		failed <- err
	}()
	const active = "SELECT count(*)::text FROM pg_stat_activity WHERE pid = $1 AND state = 'active'"
	require.Eventually(t, func() bool { return other.text(active, pid) == "1" }, time.Minute, 10*time.Millisecond)
	other.exec("SELECT pg_cancel_backend($1)", pid)
	var failure *pgconn.PgError
	require.ErrorAs(t, <-failed, &failure)
	require.Equal(t, "57014", failure.Code)
	require.Equal(t, "true", db.text("SELECT addrspec_valid('jane@example.org')::text"))
}

// A backend without memory for a checker reports an error, and checks as soon as it has some.
func testWithoutMemory(t *testing.T, c *cluster) {
	db := c.connect(t)
	db.exec("LOAD 'addrspec'")
	limit := func(bytes string) {
		cmd := exec.Command(find(t, "prlimit"), "--pid", strconv.Itoa(int(db.PgConn().PID())), "--as="+bytes+":")
		cmd.Dir = c.dir
		asOrdinaryUser(t, cmd)
		succeeds(t, cmd)
	}
	limit(strconv.Itoa(kibibytes(t, db, "status", "VmSize")<<10 + 2<<20))
	require.Equal(t, "addrspec: there is no memory for a checker", db.fails("53200", "SELECT addrspec_valid('jane@example.org')").Message)
	limit("unlimited")
	require.Equal(t, "true", db.text("SELECT addrspec_valid('jane@example.org')::text"))
}

// Of an address of hundreds of megabytes only the beginning is unpacked.
func testLongAddress(t *testing.T, c *cluster) {
	writer := c.connect(t)
	writer.exec("CREATE TABLE long AS SELECT repeat('x', 100000000) || '@example.org' AS email")
	db := c.connect(t)
	require.Equal(t, "f null null block", db.text(`SELECT concat_ws(' ', addrspec_valid(email), coalesce(addrspec_normalized(email), 'null'),
		coalesce(addrspec_canonical(email), 'null'), addrspec_verdict(email, '{}') ->> 'action') FROM long`))
	require.Contains(t, db.fails("23514", "SELECT email::email_address FROM long").Message, "too long")
	require.Less(t, kibibytes(t, db, "status", "VmHWM"), 64<<10, "KiB")
	writer.exec("DROP TABLE long")
}

// TestPostgreSQLUpgrade upgrades the engine, the extension, the lists and at last the server.
func TestPostgreSQLUpgrade(t *testing.T) {
	p := installPostgreSQL(t)
	p.installOlder(t)
	c := p.newCluster(t)
	c.start(t)
	t.Cleanup(func() { c.stop(t) })
	db := c.connect(t)
	db.exec("CREATE EXTENSION addrspec; CREATE EXTENSION amcheck")
	db.exec(schema)
	db.exec("INSERT INTO customers VALUES (2001, 'JOSÉ@example.org'), (2002, 'José@example.org'), (2003, 'ÉTIENNE@example.org')")
	require.Equal(t, "josÉ@example.org", db.text("SELECT normalized FROM customers WHERE id = 2001"))

	p.installSecond(t)
	db = c.connect(t)
	db.exec("ALTER EXTENSION addrspec UPDATE")
	require.Equal(t, "1.1", db.text("SELECT extversion FROM pg_extension WHERE extname = 'addrspec'"))
	db.exec("SET addrspec.lists = '" + blobFor(t, c) + "'")
	require.Equal(t, "object", db.text("SELECT json_typeof(addrspec_second())"))
	requireSchemaWorks(t, db, "")
	t.Run("affected rows", func(t *testing.T) { testAffectedRows(t, session{db.Conn, t}) })
	t.Run("pg_upgrade", func(t *testing.T) { testServerUpgrade(t, c) })
}

// installOlder installs the extension with the engine of testdata/older.c.
func (p *postgresql) installOlder(t *testing.T) {
	t.Helper()
	copyFile(t, "postgresql/testdata/older.c", filepath.Join(p.sources, "older.c"))
	p.make(t, "clean")
	p.make(t, "install", "OBJS=addrspec.o older.o", "LDFLAGS_SL=-Wl,--wrap=addrspec_check")
}

// installSecond installs the current engine as a second version of the extension.
func (p *postgresql) installSecond(t *testing.T) {
	t.Helper()
	p.make(t, "clean")
	p.make(t, "install")
	extension := filepath.Join(p.root, strings.Replace(p.system, "/lib/", "/share/", 1), "extension")
	const second = `CREATE FUNCTION addrspec_second() RETURNS json AS 'MODULE_PATHNAME', 'sql_version' LANGUAGE C STABLE;`
	require.NoError(t, os.WriteFile(extension+"/addrspec--1.0--1.1.sql", []byte(second), 0o644))
	control := strings.Replace(string(readBytes(t, "postgresql/addrspec.control")), "'1.0'", "'1.1'", 1)
	require.NoError(t, os.WriteFile(extension+"/addrspec.control", []byte(control), 0o644))
}

func blobFor(t *testing.T, c *cluster) string {
	path := filepath.Join(c.dir, "lists.blob")
	require.NoError(t, os.WriteFile(path, moduletest.NewerLists(t), 0o644))
	return path
}

// What README.md advises after an upgrade of the engine.
func testAffectedRows(t *testing.T, db session) {
	const check = "SELECT bt_index_check('customers_email', true)"
	require.Contains(t, db.fails("XX001", check).Message, "lacks matching index tuple")
	const affected = "SELECT id::text FROM customers WHERE normalized IS DISTINCT FROM addrspec_normalized(email) ORDER BY id"
	require.Equal(t, []string{"2001", "2003"}, db.texts(affected))
	require.Equal(t, "customers_email", db.fails("23505", "REINDEX INDEX customers_email").ConstraintName)
	const twins = `SELECT string_agg(id::text, ' ' ORDER BY id) FROM (SELECT id, addrspec_normalized(email) || '' AS n FROM customers) AS c GROUP BY n HAVING count(*) > 1`
	require.Equal(t, "2001 2002", db.text(twins))
	db.exec("DELETE FROM customers WHERE id = 2001")
	db.exec("REINDEX INDEX customers_email")
	db.exec("UPDATE customers SET email = email WHERE normalized IS DISTINCT FROM addrspec_normalized(email)")
	db.exec(check)
	require.Empty(t, db.texts(affected))
	require.Equal(t, "2003", db.text("SELECT id::text FROM customers WHERE addrspec_normalized(email) = 'étienne@example.org'"))
}

// pg_upgrade takes the tables over as files.
func testServerUpgrade(t *testing.T, c *cluster) {
	upgraded := c.newCluster(t)
	c.stop(t)
	bin := filepath.Join(c.root+c.system, "bin")
	cmd := c.program(t, upgraded.dir, "pg_upgrade", "-b", bin, "-B", bin, "-d", c.dir+"/data", "-D", upgraded.dir+"/data", "-U", "postgres", "-s", upgraded.dir)
	require.Contains(t, succeeds(t, cmd), "Upgrade Complete")
	upgraded.start(t)
	t.Cleanup(func() { upgraded.stop(t) })
	requireSchemaWorks(t, upgraded.connect(t), "")
}

func TestPostgreSQLIsReproducible(t *testing.T) { requireReproducible(t, "postgresql") }

// html5 is the expression that browsers check <input type=email> with (HTML, section
// 4.10.5.1.5), which is the usual one in constraints.
const html5 = `^[a-zA-Z0-9.!#$%&''*+/=?^_` + "`" + `{|}~-]+@[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$`

// BenchmarkPostgreSQL loads a million rows into a table with each constraint. ADDRSPEC_C
// must be set, since a benchmark builds no library.
func BenchmarkPostgreSQL(b *testing.B) {
	c := startPostgreSQL(b)
	db := c.connect(b)
	db.exec("COPY (SELECT 'firstname.lastname' || n || '@company' || n % 1000 || '.example' FROM generate_series(1, 1000000) AS n) TO '" + c.dir + "/rows'")
	columns := []struct{ name, column string }{
		{"no check", "email text"},
		{"regular expression", "email text CHECK (email ~ '" + html5 + "')"},
		{"domain", "email email_address"},
		{"valid", "email text CHECK (addrspec_valid(email))"},
		{"domain and normalized", "email email_address, normalized text GENERATED ALWAYS AS (addrspec_normalized(email)) STORED"},
		{"facts in a column", "email text, facts json"},
	}
	for _, column := range columns {
		b.Run(column.name, func(b *testing.B) {
			db := c.connect(b)
			statements := "COPY t (email) FROM '" + c.dir + "/rows'"
			if strings.Contains(column.column, "facts") {
				db.exec("CREATE TEMP TABLE rows (email text)")
				db.exec("COPY rows FROM '" + c.dir + "/rows'")
				statements = "INSERT INTO t SELECT email, addrspec(email) FROM rows"
			}
			before := processorTime(b, db)
			for b.Loop() {
				db.exec("DROP TABLE IF EXISTS t; CREATE UNLOGGED TABLE t (" + column.column + ")")
				db.exec(statements)
			}
			b.ReportMetric(1e6*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
			b.ReportMetric((processorTime(b, db)-before)/float64(b.N), "cpu-µs/row")
		})
	}
}

// processorTime returns the seconds of processor time of a backend (proc_pid_stat(5)).
func processorTime(b *testing.B, db session) float64 {
	stat := string(readBytes(b, fmt.Sprintf("/proc/%d/stat", db.PgConn().PID())))
	fields := strings.Fields(stat[strings.LastIndex(stat, ")")+1:])
	user, err := strconv.Atoi(fields[11])
	require.NoError(b, err)
	system, err := strconv.Atoi(fields[12])
	require.NoError(b, err)
	return float64(user+system) / 100
}
