// Package archive copies a whole ledger: accounts, keys, usage, idempotency
// records, the people who sign in, webhooks.
//
// A backup is an SQLite file with all pages of the ledger at one moment
// (backup.go); it is the fastest copy and can be opened as it is. An export is a
// text that SQLite and PostgreSQL can both read and write (export.go, import.go).
// Both read one snapshot while servers charge. Neither creates or migrates what it
// reads.
//
// # The format of an export
//
// An export is UTF-8 text, one JSON value a line, optionally compressed with gzip.
// JSON lines can be written and read row by row, need no library in any language,
// and show a person what they contain. Version 1 has these lines, in this order:
//
//	{"format":"addrspec ledger","version":1,"schema":5}
//	{"table":"plans","columns":["name","rate","points","overage","stored"]}
//	["free",1,1000,false,268435456]
//	{"table":"accounts","columns":["id","email",…],"last_id":2}
//	[1,"jane@example.org",…]
//	{"rows":{"accounts":1,"plans":1,…},"sha256":"…"}
//
// The first line has the version of the format and of the schema. Every table of
// ndjson/catalogue.go follows, empty ones too, each with its columns in the catalogue's
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
