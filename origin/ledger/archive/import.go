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
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/addrspec/addrspec/origin/ledger/store"
)

var errDamaged = errors.New("the file is damaged; make the export again, or use another copy of it")

// firstSchema is the oldest schema whose exports have the tables of tables.go.
const firstSchema = 7

// Import reads an export, which may be compressed with gzip, into the database at url. It
// creates the database's schema if there is none, and refuses a ledger that has accounts;
// plans are replaced. What people give is judged as the commands judge it; policy judges the
// document of a policy. All rows are one transaction: unless Import returns nil, the ledger is as
// empty as before.
func Import(ctx context.Context, url string, r io.Reader, policy func(document string) error) (Counts, error) {
	d := &decoder{policy: policy, sum: sha256.New(), rows: Counts{}}
	if err := d.begin(r); err != nil {
		return nil, fmt.Errorf("line %d: %w", d.line, err)
	}
	s, err := store.Open(ctx, url, nil) // creates the schema
	if err == nil {
		err = s.Close()
	}
	if err != nil {
		return nil, err
	}
	db, err := begin(ctx, url, true)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	if db.postgres { // keeps other writers out, as the transaction does in SQLite
		const lock = "LOCK TABLE accounts, plans, challenges, attempts IN EXCLUSIVE MODE"
		if _, err := db.ExecContext(ctx, lock); err != nil {
			return nil, explain(err)
		}
	}
	var accounts int
	if err := db.QueryRowContext(ctx, "SELECT count(*) FROM accounts").Scan(&accounts); err != nil {
		return nil, explain(err)
	}
	if accounts > 0 {
		return nil, errors.New("the ledger has accounts already; import into a new database")
	}
	// What a ledger without accounts can have: the plans of a new one, and what visitors of the
	// sign-in page leave.
	_, err = db.ExecContext(ctx, "DELETE FROM plans; DELETE FROM challenges; DELETE FROM attempts")
	if err != nil {
		return nil, explain(err)
	}
	for i := range tables {
		t := &tables[i]
		err := d.table(t)
		if err == nil {
			err = db.fill(ctx, t, d)
		}
		if err == nil && t.numbered {
			statement := fmt.Sprintf("DELETE FROM sqlite_sequence WHERE name = '%s'; "+
				"INSERT INTO sqlite_sequence (name, seq) VALUES ('%[1]s', %d)", t.name, d.last)
			if db.postgres { // ALTER belongs to the transaction, as setval would not
				statement = fmt.Sprintf("ALTER TABLE %s ALTER COLUMN id RESTART WITH %d", t.name, d.last+1)
			}
			_, err = db.ExecContext(ctx, statement)
		}
		if err != nil {
			return nil, fmt.Errorf("table %s, line %d: %w", t.name, d.line, explain(err))
		}
	}
	if err := d.end(); err != nil {
		return nil, fmt.Errorf("line %d: %w", d.line, err)
	}
	return d.rows, explain(db.Commit())
}

// fill inserts the rows of a table: by COPY into PostgreSQL, which is a round trip away.
func (db *database) fill(ctx context.Context, t *table, d *decoder) (err error) {
	var wrong error // what the file is refused for
	if db.postgres {
		rows := pgx.CopyFromFunc(func() (row []any, err error) {
			row, wrong = d.row(t)
			if wrong != nil {
				err = errDamaged // which goes to the server's log
			}
			return row, err
		})
		err = db.conn.Raw(func(conn any) error {
			_, err := conn.(*stdlib.Conn).Conn().CopyFrom(ctx, pgx.Identifier{t.name}, t.columns, rows)
			return err
		})
	} else {
		var insert *sql.Stmt // the transaction closes it
		insert, err = db.PrepareContext(ctx, "INSERT INTO "+t.name+" ("+strings.Join(t.columns, ", ")+
			") VALUES (?"+strings.Repeat(", ?", len(t.columns)-1)+")")
		for err == nil {
			var row []any
			row, wrong = d.row(t)
			if row == nil || wrong != nil {
				break
			}
			_, err = insert.ExecContext(ctx, row...)
		}
	}
	switch {
	case wrong != nil:
		return wrong
	case err != nil:
		return fmt.Errorf("the database refuses a row up to this line: %w", explain(err))
	}
	return nil
}

// A decoder reads the lines of an export. Its memory is one line.
type decoder struct {
	policy func(document string) error
	in     *bufio.Scanner
	sum    hash.Hash // of the lines before the current one
	line   int       // the number of the current line
	rows   Counts
	last   int64 // the highest ID that the table has given out
}

// begin reads the first line, and makes the second the current one. It recognises gzip by
// its first two bytes (RFC 1952 section 2.3.1).
func (d *decoder) begin(r io.Reader) error {
	in := bufio.NewReaderSize(r, 1<<16)
	d.in = bufio.NewScanner(in)
	if start, err := in.Peek(2); err == nil && start[0] == 0x1f && start[1] == 0x8b {
		z, err := gzip.NewReader(in)
		if err != nil {
			return damaged(err.Error())
		}
		d.in = bufio.NewScanner(z)
	}
	d.in.Buffer(make([]byte, 1<<16), maxLine)
	if err := d.next(); err != nil {
		return err
	}
	var h header
	if err := json.Unmarshal(d.in.Bytes(), &h); err != nil || h.Format != formatName {
		return damaged("it does not begin an export of addrspec")
	}
	if h.Version != formatVersion || h.Schema < firstSchema || h.Schema > store.Version {
		return fmt.Errorf("the export was made by another release of addrspec: its format has version %d and its "+
			"schema %d, this release reads %d and %d to %d; import it with that release into SQLite, then start this one "+
			"on the file if it is newer", h.Version, h.Schema, formatVersion, firstSchema, store.Version)
	}
	return d.next()
}

// next makes the next line the current one. The end of the file is an error: the checksum is missing.
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
		return damaged("it is longer than " + strconv.Itoa(maxLine) + " bytes")
	default:
		return fmt.Errorf("%w: %w", err, errDamaged)
	}
}

func damaged(what string) error { return fmt.Errorf("%s: %w", what, errDamaged) }

func (d *decoder) table(t *table) error {
	var start tableLine
	if err := json.Unmarshal(d.in.Bytes(), &start); err != nil || start.Table != t.name ||
		!slices.Equal(start.Columns, t.columns) || (start.LastID != nil) != t.numbered {
		return damaged("it does not start the table with its columns")
	}
	if start.LastID != nil {
		d.last = *start.LastID
	}
	d.rows[t.name] = 0
	return nil
}

// row reads the next line and returns its values if it is a row: int64, string, bool,
// []byte, or nil for NULL. At the end of the table it returns nil.
func (d *decoder) row(t *table) ([]any, error) {
	if err := d.next(); err != nil || bytes.HasPrefix(d.in.Bytes(), []byte("{")) {
		return nil, err
	}
	var raw []json.RawMessage
	if err := json.Unmarshal(d.in.Bytes(), &raw); err != nil || len(raw) != len(t.columns) {
		return nil, damaged(fmt.Sprintf("it is not a row of %d values", len(t.columns)))
	}
	row := make([]any, len(raw))
	for i, kind := range t.kinds {
		if string(raw[i]) == "null" {
			continue
		}
		value := reflect.New(reflect.TypeOf(zero[kind]))
		if err := json.Unmarshal(raw[i], value.Interface()); err != nil {
			return nil, damaged("column " + t.columns[i] + ": it is not " + string(kind))
		}
		row[i] = value.Elem().Interface()
	}
	d.rows[t.name]++
	return row, t.judge(row, d.policy)
}

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
