// Package ndjson encodes and decodes an export of the ledger: the text that package
// archive describes. It knows the tables and no database.
package ndjson

import "strings"

// Schema is the version of the ledger's schema that the catalogue describes. A test
// compares the catalogue with both databases, so a migration has to extend it.
const Schema = 5

// A Table is one of the ledger's tables. Rows refer only to rows of tables before
// theirs.
type Table struct {
	Name     string
	Columns  []Column
	Key      []string // the primary key
	Numbered bool     // the database gives out the IDs, in the first column
}

// A Column is a column of a table.
type Column struct {
	Name string
	Kind Kind
}

// A Kind is how a column's values are written in an export.
type Kind string

const (
	Integer Kind = "integer"
	Text    Kind = "text"
	Boolean Kind = "boolean"
	Blob    Kind = "blob"
)

// Tables is the catalogue. It leaves out schema_version and writers, which belong
// to one PostgreSQL database and its processes.
var Tables = []Table{
	describe("plans", "name", "name text, rate integer, points integer, overage boolean, stored integer"),
	numbered("accounts", "id integer, email text, plan text, rate integer, points integer, created_ns integer, month integer, used integer, tat_ns integer, overage boolean, suspended_ns integer, stored integer"),
	numbered("keys", "id integer, account integer, name text, hint text, created_ns integer, revoked_ns integer, expires_ns integer, budget integer, rate integer, month integer, used integer, tat_ns integer, origins text, dashboard boolean"),
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
}

func describe(name, key, columns string) Table {
	t := Table{Name: name, Key: strings.Fields(key)}
	for c := range strings.SplitSeq(columns, ", ") {
		name, typ, _ := strings.Cut(c, " ")
		t.Columns = append(t.Columns, Column{name, Kind(typ)})
	}
	return t
}

func numbered(name, columns string) Table {
	t := describe(name, "id", columns)
	t.Numbered = true
	return t
}

// Names returns the names of the columns.
func (t Table) Names() []string {
	list := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		list[i] = c.Name
	}
	return list
}

// Kind returns the kind of a column.
func (t Table) Kind(name string) Kind {
	for _, c := range t.Columns {
		if c.Name == name {
			return c.Kind
		}
	}
	return ""
}
