// Package archive copies a whole ledger: accounts, keys, usage, idempotency
// records, the people who sign in, webhooks, policies.
//
// A backup is an SQLite file with all pages of the ledger at one moment
// (backup.go); it is the fastest copy and can be opened as it is. An export is a
// text that SQLite and PostgreSQL can both read and write (export.go).
// Both read one snapshot while servers charge. Neither creates or migrates what it
// reads.
//
// # The format of an export
//
// An export is UTF-8 text, one JSON value a line, optionally compressed with gzip.
// JSON lines can be written and read row by row, need no library in any language,
// and show a person what they contain. Version 1 has these lines, in this order:
//
//	{"format":"addrspec ledger","version":1,"schema":7}
//	{"table":"plans","columns":["name","rate","points","overage","stored"]}
//	["free",1,1000,false,268435456]
//	{"table":"accounts","columns":["id","email",…],"last_id":2}
//	[1,"jane@example.org",…]
//	{"rows":{"accounts":1,"plans":1,…},"sha256":"…"}
//
// The first line has the version of the format and of the schema. Every table of
// the catalogue below follows, empty ones too, each with its columns in its
// order and its rows in the order of its primary key, compared as bytes. last_id is
// the highest ID that the table has given out; IDs are not reused. A row has one
// value a column: a number, a string, true or false, null, or for bytes a string in
// base 64. The last line counts the rows of each table and has the SHA-256 of all
// bytes before it, so a truncated or altered file is always found. Equal ledgers
// have equal exports, byte for byte, whichever database they are in.
//
// The package leaves out the moment and the place of copies (cron, systemd), their
// encryption and PostgreSQL's own tool pg_dump. Errors name tables, columns and
// lines, and no value of a row.
package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/addrspec/addrspec/origin/ledger/store"
)

// A source reads one snapshot of a ledger.
type source interface {
	// lastID returns the highest ID that a numbered table has given out.
	lastID(ctx context.Context, t table) (int64, error)
	// each calls visit for every row, in the order of the primary key.
	each(ctx context.Context, t table, visit func([]any) error) error
	io.Closer
}

// Export writes the ledger of the database at url to w, from one snapshot. A server
// may charge meanwhile. Its memory does not depend on the size of the ledger.
func Export(ctx context.Context, url string, w io.Writer) (Counts, error) {
	s, err := openSource(ctx, url)
	if err != nil {
		return nil, err
	}
	e := newEncoder(w)
	err = exportAll(ctx, s, e)
	return e.Rows, errors.Join(err, s.Close())
}

func openSource(ctx context.Context, url string) (source, error) {
	if path, ok := sqlitePath(url); ok {
		return openSQLiteSource(ctx, path)
	}
	if !strings.HasPrefix(url, "postgres:") && !strings.HasPrefix(url, "postgresql:") {
		return nil, errors.New(`the database's URL must be "sqlite:PATH" or "postgres://USER@HOST/NAME"`)
	}
	return openPostgresSource(ctx, url)
}

func exportAll(ctx context.Context, s source, e *encoder) error {
	if err := e.Header(); err != nil {
		return err
	}
	for _, t := range tables {
		if err := exportTable(ctx, s, e, t); err != nil {
			return err
		}
	}
	return e.End()
}

// exportTable reads last_id after the snapshot was taken, so it is at least the ID
// of every row.
func exportTable(ctx context.Context, s source, e *encoder, t table) (err error) {
	var last int64
	if t.Numbered {
		if last, err = s.lastID(ctx, t); err != nil {
			return err
		}
	}
	if err := e.Begin(t, last); err != nil {
		return err
	}
	return s.each(ctx, t, func(values []any) error { return e.Row(t, values) })
}

// errNotEmpty is the error of an import into a ledger that has accounts.
var errNotEmpty = errors.New("the ledger has accounts already; import into a new database")

// A target writes a ledger in one transaction.
type target interface {
	// fill adds rows until next returns nil.
	fill(ctx context.Context, t table, next func() ([]any, error)) error
	// setLastID makes the table give out IDs after last.
	setLastID(ctx context.Context, t table, last int64) error
	// commit makes the rows durable. Close without commit leaves no row.
	commit(ctx context.Context) error
	io.Closer
}

// Import reads an export, which may be compressed with gzip, into the database at
// url. It creates the database's schema if there is none, and refuses a ledger that
// has accounts; plans are replaced. Unless it returns nil, the ledger is as empty as
// before.
func Import(ctx context.Context, url string, r io.Reader) (Counts, error) {
	in, err := uncompressed(r)
	if err != nil {
		return nil, err
	}
	d := newDecoder(in)
	if err := d.Header(); err != nil {
		return nil, err
	}
	t, err := openTarget(ctx, url)
	if err != nil {
		return nil, err
	}
	err = importAll(ctx, t, d)
	if err == nil {
		err = t.commit(ctx)
	}
	return d.Rows, errors.Join(err, t.Close())
}

func openTarget(ctx context.Context, url string) (target, error) {
	s, err := store.Open(ctx, url, nil) // creates the schema
	if err != nil {
		return nil, err
	}
	if err := s.Close(); err != nil {
		return nil, err
	}
	if path, ok := sqlitePath(url); ok {
		return openSQLiteTarget(ctx, path)
	}
	return openPostgresTarget(ctx, url)
}

func importAll(ctx context.Context, to target, d *decoder) error {
	for _, t := range tables {
		if err := d.Begin(t); err != nil {
			return err
		}
		if err := to.fill(ctx, t, func() ([]any, error) { return d.Row(t) }); err != nil {
			return explainRows(err, t, d.Line)
		}
		if t.Numbered {
			if err := to.setLastID(ctx, t, d.LastID); err != nil {
				return err
			}
		}
	}
	return d.End()
}

// explainRows adds the table to an error of the database.
func explainRows(err error, t table, line int) error {
	if errors.Is(err, errDamaged) {
		return err
	}
	return fmt.Errorf("table %s, up to line %d: the database refused the rows: %w", t.Name, line, err)
}

// schemaVersion is the version of the ledger's schema that the catalogue describes. A test
// compares the catalogue with both databases, so a migration has to extend it.
const schemaVersion = 7

// A table is one of the ledger's tables. Rows refer only to rows of tables before
// theirs.
type table struct {
	Name     string
	Columns  []column
	Key      []string // the primary key
	Numbered bool     // the database gives out the IDs, in the first column
}

// A column is a column of a table.
type column struct {
	Name string
	Kind kind
}

// A kind is how a column's values are written in an export.
type kind string

const (
	integer kind = "integer"
	text    kind = "text"
	boolean kind = "boolean"
	blob    kind = "blob"
)

// tables is the catalogue. It leaves out schema_version and writers, which belong
// to one PostgreSQL database and its processes.
var tables = []table{
	describe("plans", "name", "name text, rate integer, points integer, overage boolean, stored integer"),
	numbered("accounts", "id integer, email text, plan text, rate integer, points integer, created_ns integer, month integer, used integer, tat_ns integer, overage boolean, suspended_ns integer, stored integer, policies integer"),
	numbered("keys", "id integer, account integer, name text, hint text, created_ns integer, revoked_ns integer, expires_ns integer, budget integer, rate integer, month integer, used integer, tat_ns integer, origins text, dashboard boolean, policy text, test boolean"),
	describe("secrets", "hash", "hash text, key integer, expires_ns integer"),
	describe("usage", "account day key", "account integer, key integer, day integer, points integer, requests integer, errors integer, valid integer, invalid integer, disposable integer, public integer, relay integer, role integer, gibberish integer, typo integer, lookup_errors integer"),
	describe("answers", "account id", "account integer, id text, body text, answer blob, size integer, expires_ns integer"),
	describe("users", "account", "account integer, name text, password text, operator boolean, totp text, totp_step integer, handle text, created_ns integer"),
	numbered("sessions", "id integer, hash text, account integer, client text, created_ns integer, seen_ns integer, expires_ns integer, confirmed_ns integer, complete boolean"),
	describe("links", "hash", "hash text, account integer, expires_ns integer"),
	describe("recovery_codes", "account hash", "account integer, hash text"),
	describe("passkeys", "id", "id text, account integer, name text, credential text, created_ns integer, used_ns integer"),
	describe("identities", "issuer subject", "issuer text, subject text, account integer, created_ns integer"),
	describe("challenges", "hash", "hash text, data text, expires_ns integer"),
	describe("attempts", "subject", "subject text, tat_ns integer"),
	numbered("audit", "id integer, account integer, at_ns integer, actor text, action text, subject text"),
	describe("webhooks", "account", "account integer, url text, secret text, previous text, rotated_ns integer, disabled_ns integer, created_ns integer"),
	describe("deliveries", "account month percent", "account integer, month integer, percent integer, id text, body text, created_ns integer, next_ns integer, attempts integer, done_ns integer, status text"),
	describe("policies", "account name", "account integer, name text, document text, version integer, changed_ns integer"),
}

func describe(name, key, columns string) table {
	t := table{Name: name, Key: strings.Fields(key)}
	for c := range strings.SplitSeq(columns, ", ") {
		name, typ, _ := strings.Cut(c, " ")
		t.Columns = append(t.Columns, column{name, kind(typ)})
	}
	return t
}

func numbered(name, columns string) table {
	t := describe(name, "id", columns)
	t.Numbered = true
	return t
}

// names returns the names of the columns.
func (t table) names() []string {
	list := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		list[i] = c.Name
	}
	return list
}

// kindOf returns the kind of a column.
func (t table) kindOf(name string) kind {
	for _, c := range t.Columns {
		if c.Name == name {
			return c.Kind
		}
	}
	return ""
}
