package archive

import (
	"slices"
	"strings"
)

// A table is one of the ledger's tables. Rows refer only to rows of tables before
// theirs, except keys to policies.
type table struct {
	name     string
	columns  []column
	names    []string // of the columns
	key      []string // the columns of the primary key
	numbered bool     // the database gives out the IDs, in the first column
}

type column struct {
	name  string
	kind  kind
	null  bool              // NULL is allowed
	none  bool              // "" is allowed
	check func(v any) error // of the other values; nil: any
}

// A kind is how a column's values are written in an export.
type kind string

const (
	integer kind = "a whole number"
	text    kind = "a string"
	boolean kind = "true or false"
	blob    kind = "a string in base 64"
)

var zero = map[kind]any{integer: int64(0), text: "", boolean: false, blob: []byte(nil)}

// tables leaves out schema_version and writers, which belong to one PostgreSQL database
// and its processes. A test compares the list with both databases. A column has a name
// and a type of judge.go; "?" allows NULL, "*" the empty string.
var tables = []table{
	define("plans", "name", `name given, rate limit, points limit, overage boolean, stored count`),
	define("accounts", "+id", `
		id id, email given, plan given, rate limit?, points limit?, created_ns ns, month month, used count, tat_ns
		ns, overage boolean?, suspended_ns ns?, stored count, policies count`),
	define("keys", "+id", `
		id id, account id, name given, hint word*, created_ns ns, revoked_ns ns?, expires_ns ns?, budget
		limit?, rate limit?, month month, used count, tat_ns ns, origins given, dashboard boolean, policy given,
		test boolean`),
	define("secrets", "hash", `hash hash, key id, expires_ns ns?`),
	define("usage", "account day key", `
		account id, key id, day day, points count, requests count, errors count, valid count, invalid count,
		disposable count, public count, relay count, role count, gibberish count, typo count, lookup_errors count`),
	define("answers", "account id", `account id, id hash, body hash, answer blob, size count, expires_ns ns`),
	define("users", "account", `
		account id, name given, password given, operator boolean, totp secret*, totp_step count, handle
		word, created_ns ns`),
	define("sessions", "+id", `
		id id, hash hash, account id, client line*, created_ns ns, seen_ns ns, expires_ns ns, confirmed_ns ns,
		complete boolean`),
	define("links", "hash", `hash hash, account id, expires_ns ns`),
	define("recovery_codes", "account hash", `account id, hash hash`),
	define("passkeys", "id", `id word, account id, name given, credential json, created_ns ns, used_ns ns`),
	define("identities", "issuer subject", `issuer line, subject line, account id, created_ns ns`),
	define("challenges", "hash", `hash hash, data json, expires_ns ns`),
	define("attempts", "subject", `subject hash, tat_ns ns`),
	define("audit", "+id", `id id, account id, at_ns ns, actor actor, action line, subject line*`),
	define("webhooks", "account", `
		account id, url given, secret secret, previous secret*, rotated_ns ns, disabled_ns ns, created_ns ns`),
	define("deliveries", "account month percent", `
		account id, month month, percent percent, id word, body json, created_ns ns, next_ns ns, attempts
		count, done_ns ns, status line*`),
	define("policies", "account name", `
		account id, name given, document given, version count, changed_ns ns`),
}

// define returns a table. A "+" before its primary key says that the database numbers the rows.
func define(name, key, columns string) table {
	t := table{name: name, key: strings.Fields(strings.TrimPrefix(key, "+")), numbered: key[0] == '+'}
	for pair := range slices.Chunk(strings.Fields(strings.ReplaceAll(columns, ",", " ")), 2) {
		t.names = append(t.names, pair[0])
		plain := strings.TrimRight(pair[1], "?*")
		t.columns = append(t.columns, column{name: pair[0], kind: types[plain].kind, check: types[plain].check,
			null: strings.HasSuffix(pair[1], "?"), none: strings.HasSuffix(pair[1], "*")})
	}
	return t
}
