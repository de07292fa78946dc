package archive

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/addrspec/addrspec/origin/ledger/store"
)

// errDamaged is the error of a file that is not a whole export.
var errDamaged = errors.New("the file is damaged; make the export again, or use another copy of it")

// errVersion is the error of an export that another release of addrspec made.
var errVersion = errors.New("the export was made by another release of addrspec")

// errNotEmpty is the error of an import into a ledger that has accounts.
var errNotEmpty = errors.New("the ledger has accounts already; import into a new database")

// firstSchema is the oldest schema whose exports have the tables of tables.go.
const firstSchema = 7

// Import reads an export, which may be compressed with gzip, into the database at url. It
// creates the database's schema if there is none, and refuses a ledger that has accounts;
// plans are replaced. Each value is judged as the commands judge it (judge.go), before its
// row is written; policy judges the document of a policy. All rows are one transaction: unless Import returns nil, the ledger is
// as empty as before.
func Import(ctx context.Context, url string, r io.Reader, policy func(document string) error) (Counts, error) {
	d := &decoder{sum: sha256.New(), rows: Counts{}}
	h, err := d.begin(r)
	if err != nil {
		return nil, fmt.Errorf("line %d: %w", d.line, err)
	}
	s, err := store.Open(ctx, url, nil) // creates the schema
	if err != nil {
		return nil, err
	}
	if err := s.Close(); err != nil {
		return nil, err
	}
	db, err := begin(ctx, url, true)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	if h.Schema < firstSchema || h.Schema > db.schema {
		return nil, fmt.Errorf("line 1: %w: its schema has version %d, this release reads %d to %d; import it with that "+
			"release into SQLite, then start this one on the file if it is newer", errVersion, h.Schema, firstSchema, db.schema)
	}
	if err := db.requireEmpty(ctx); err != nil {
		return nil, explain(err)
	}
	j := newJudge(policy)
	for i := range tables {
		t := &tables[i]
		w := &inserter{database: db, table: t}
		last, err := d.table(t, func(values []any) error {
			if err := j.judge(t, values, d.line); err != nil {
				return err
			}
			return w.add(ctx, values...)
		})
		if err == nil {
			err = w.add(ctx)
		}
		if err == nil && t.numbered {
			err = db.setLastID(ctx, t, last)
		}
		if err != nil {
			return nil, fmt.Errorf("table %s, line %d: %w", t.name, d.line, explain(err))
		}
	}
	if err := d.end(); err != nil {
		return nil, fmt.Errorf("line %d: %w", d.line, err)
	}
	if err := j.end(); err != nil {
		return nil, err
	}
	return d.rows, explain(db.Commit())
}

// requireEmpty keeps other writers out, and deletes what a ledger without accounts can
// have: the plans of a new one, and what visitors of the sign-in page leave.
func (db *database) requireEmpty(ctx context.Context) error {
	if db.postgres {
		const lock = "LOCK TABLE accounts, plans, challenges, attempts IN EXCLUSIVE MODE"
		if _, err := db.ExecContext(ctx, lock); err != nil {
			return err
		}
	}
	var accounts int
	if err := db.QueryRowContext(ctx, "SELECT count(*) FROM accounts").Scan(&accounts); err != nil {
		return err
	}
	if accounts > 0 {
		return errNotEmpty
	}
	for _, name := range []string{"plans", "challenges", "attempts"} {
		if _, err := db.ExecContext(ctx, "DELETE FROM "+name); err != nil {
			return err
		}
	}
	return nil
}

// setLastID makes the table give out IDs after last. In PostgreSQL ALTER belongs to the
// transaction, as setval would not.
func (db *database) setLastID(ctx context.Context, t *table, last int64) error {
	if db.postgres {
		_, err := db.ExecContext(ctx, fmt.Sprintf("ALTER TABLE %s ALTER COLUMN id RESTART WITH %d", t.name, last+1))
		return err
	}
	_, err := db.ExecContext(ctx, "DELETE FROM sqlite_sequence WHERE name = $1", t.name)
	if err == nil && last > 0 { // a table that has given out no ID has no row there
		_, err = db.ExecContext(ctx, "INSERT INTO sqlite_sequence (name, seq) VALUES ($1, $2)", t.name, last)
	}
	return err
}

// An inserter adds rows to a table. A statement inserts many into PostgreSQL, which is a
// round trip away, and one into SQLite, whose driver is slow with many values.
type inserter struct {
	*database
	*table
	values   []any
	bytes    int
	prepared *sql.Stmt
	size     int // the number of values that prepared inserts
}

// add adds a row. Without one it writes what is left.
func (w *inserter) add(ctx context.Context, row ...any) (err error) {
	const mostValues, mostBytes = 2000, 1 << 20
	w.values = append(w.values, row...)
	for _, v := range row {
		switch v := v.(type) {
		case string:
			w.bytes += len(v)
		case []byte:
			w.bytes += len(v)
		}
	}
	wait := w.postgres && len(row) > 0 && len(w.values) < mostValues && w.bytes < mostBytes
	if wait || len(w.values) == 0 {
		return nil
	}
	if w.size != len(w.values) {
		w.size = len(w.values)
		statement := []byte("INSERT INTO " + w.name + " (" + strings.Join(w.names(), ", ") + ")")
		if w.postgres && w.numbered {
			statement = append(statement, " OVERRIDING SYSTEM VALUE"...)
		}
		for i := range w.values {
			before := ", $"
			switch {
			case i == 0:
				before = " VALUES ($"
			case i%len(w.columns) == 0:
				before = "), ($"
			}
			statement = strconv.AppendInt(append(statement, before...), int64(i)+1, 10)
		}
		w.prepared, err = w.PrepareContext(ctx, string(append(statement, ')'))) // the transaction closes it
	}
	if err == nil {
		_, err = w.prepared.ExecContext(ctx, w.values...)
	}
	if err != nil {
		return fmt.Errorf("the database refuses a row up to this line: %w", explain(err))
	}
	w.values, w.bytes = w.values[:0], 0
	return nil
}

// A decoder reads the lines of an export. Its memory is one line.
type decoder struct {
	in   *bufio.Scanner
	sum  hash.Hash // of the lines before the current one
	line int       // the number of the current line
	rows Counts
}

// begin reads the first line, and makes the second the current one. It recognises gzip by
// its first two bytes (RFC 1952 section 2.3.1).
func (d *decoder) begin(r io.Reader) (h header, err error) {
	in := bufio.NewReaderSize(r, 1<<16)
	d.in = bufio.NewScanner(in)
	if start, err := in.Peek(2); err == nil && start[0] == 0x1f && start[1] == 0x8b {
		z, err := gzip.NewReader(in)
		if err != nil {
			return h, damaged(err.Error())
		}
		d.in = bufio.NewScanner(z)
	}
	d.in.Buffer(make([]byte, 1<<16), maxLine)
	if err := d.next(); err != nil {
		return h, err
	}
	if err := json.Unmarshal(d.in.Bytes(), &h); err != nil || h.Format != formatName {
		return h, damaged("it does not begin an export of addrspec")
	}
	if h.Version != formatVersion {
		return h, fmt.Errorf("%w: its format has version %d, this release reads %d; import it with the newer release",
			errVersion, h.Version, formatVersion)
	}
	return h, d.next()
}

// next makes the next line the current one. The end of the file is an error, because the
// line with the checksum ends an export.
func (d *decoder) next() error {
	if d.line > 0 {
		d.sum.Write(d.in.Bytes())
		d.sum.Write([]byte{'\n'})
	}
	d.line++
	if d.in.Scan() {
		if !utf8.Valid(d.in.Bytes()) {
			return damaged("it is not UTF-8")
		}
		return nil
	}
	switch err := d.in.Err(); err {
	case nil:
		return damaged("the file ends here, before the line with the checksum")
	case bufio.ErrTooLong:
		return damaged(fmt.Sprintf("it is longer than %d bytes", maxLine))
	default:
		return fmt.Errorf("%w: %w", err, errDamaged)
	}
}

func damaged(what string) error { return fmt.Errorf("%s: %w", what, errDamaged) }

// table reads the current line, which starts t, and the rows of t. It returns the highest
// ID that t has given out.
func (d *decoder) table(t *table, visit func([]any) error) (last int64, err error) {
	var start tableLine
	if err := json.Unmarshal(d.in.Bytes(), &start); err != nil || start.Table != t.name ||
		!slices.Equal(start.Columns, t.names()) || (start.LastID != nil) != t.numbered {
		return 0, damaged("it does not start the table with its columns")
	}
	if t.numbered {
		last = *start.LastID
	}
	if last < 0 || last > maxID {
		return 0, damaged("last_id is out of range")
	}
	d.rows[t.name] = 0
	before := int64(0) // the ID of the row before
	for {
		if err := d.next(); err != nil {
			return 0, err
		}
		if bytes.HasPrefix(d.in.Bytes(), []byte("{")) {
			return last, nil
		}
		row, err := t.parse(d.in.Bytes())
		switch {
		case err != nil:
			return 0, err
		case t.numbered && (row[0].(int64) <= before || row[0].(int64) > last):
			return 0, damaged("column id: it is not between that of the row before and last_id")
		}
		d.rows[t.name]++
		if err := visit(row); err != nil {
			return 0, err
		}
		if t.numbered {
			before = row[0].(int64)
		}
	}
}

// parse returns the values of a row: int64, string, bool, []byte, or nil for NULL.
func (t *table) parse(line []byte) ([]any, error) {
	var raw []json.RawMessage
	if err := json.Unmarshal(line, &raw); err != nil || len(raw) != len(t.columns) {
		return nil, damaged(fmt.Sprintf("it is not a row of %d values", len(t.columns)))
	}
	row := make([]any, len(raw))
	for i, c := range t.columns {
		var err error
		switch {
		case string(raw[i]) == "null" && c.null:
			continue
		case string(raw[i]) == "null":
			err = errDamaged
		case c.kind == integer:
			row[i], err = decode[int64](raw[i])
		case c.kind == boolean:
			row[i], err = decode[bool](raw[i])
		case c.kind == blob:
			row[i], err = decode[[]byte](raw[i])
		default:
			row[i], err = decode[string](raw[i])
		}
		if err != nil {
			return nil, damaged("column " + c.name + ": it is not " + string(c.kind))
		}
	}
	return row, nil
}

func decode[T any](raw []byte) (v T, err error) {
	err = json.Unmarshal(raw, &v)
	return v, err
}

// end reads the current line as the last one, and compares its counts and its checksum
// with the lines before it.
func (d *decoder) end() error {
	var last endLine
	switch err := json.Unmarshal(d.in.Bytes(), &last); {
	case err != nil:
		return damaged("it is not the line with the checksum")
	case !maps.Equal(last.Rows, d.rows):
		return damaged("rows are missing or were added: the counts differ")
	case last.SHA256 != hex.EncodeToString(d.sum.Sum(nil)):
		return damaged("the checksum differs: a line before this one was changed")
	case d.in.Scan():
		return damaged("there is text after the line with the checksum")
	}
	if err := d.in.Err(); err != nil { // such as a wrong checksum of gzip
		return damaged(err.Error())
	}
	return nil
}
