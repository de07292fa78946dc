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
	key      []string // the columns of the primary key
	numbered bool     // the database gives out the IDs, in the first column
}

// A column is a column of a table.
type column struct {
	name string
	kind kind
	null bool // NULL is allowed
	none bool // "" is allowed
	rule rule // of the other values
}

// A kind is how a column's values are written in an export.
type kind string

const (
	integer kind = "a whole number"
	text    kind = "a string"
	boolean kind = "true or false"
	blob    kind = "a string in base 64"
)

// tables leaves out schema_version and writers, which belong to one PostgreSQL database
// and its processes. A test compares the list with both databases. A column has a name
// and a type of the map types; "?" allows NULL, "*" the empty string.
var tables = []table{
	define("plans", "name", `name plan, rate rate, points points, overage boolean, stored storage`),
	define("accounts", "+id", `
		id id, email email, plan name, rate rate?, points points?, created_ns ns, month month, used count, tat_ns
		ns, overage boolean?, suspended_ns ns?, stored count, policies count`),
	define("keys", "+id", `
		id id, account account, name name, hint word*, created_ns ns, revoked_ns ns?, expires_ns ns?, budget
		count?, rate count?, month month, used count, tat_ns ns, origins line*, dashboard boolean, policy word*,
		test boolean`),
	define("secrets", "hash", `hash hash, key key, expires_ns ns?`),
	define("usage", "account day key", `
		account account, key key, day day, points count, requests count, errors count, valid count, invalid count,
		disposable count, public count, relay count, role count, gibberish count, typo count, lookup_errors count`),
	define("answers", "account id", `account account, id hash, body hash, answer blob, size count, expires_ns ns`),
	define("users", "account", `
		account account, name person*, password password*, operator boolean, totp secret*, totp_step count, handle
		word, created_ns ns`),
	define("sessions", "+id", `
		id id, hash hash, account user, client line*, created_ns ns, seen_ns ns, expires_ns ns, confirmed_ns ns,
		complete boolean`),
	define("links", "hash", `hash hash, account user, expires_ns ns`),
	define("recovery_codes", "account hash", `account user, hash hash`),
	define("passkeys", "id", `id word, account user, name passkey, credential json, created_ns ns, used_ns ns`),
	define("identities", "issuer subject", `issuer line, subject line, account user, created_ns ns`),
	define("challenges", "hash", `hash hash, data json, expires_ns ns`),
	define("attempts", "subject", `subject hash, tat_ns ns`),
	define("audit", "+id", `id id, account account, at_ns ns, actor actor, action line, subject line*`),
	define("webhooks", "account", `
		account account, url url, secret secret, previous secret*, rotated_ns ns, disabled_ns ns, created_ns ns`),
	define("deliveries", "account month percent", `
		account account, month month, percent percent, id word, body json, created_ns ns, next_ns ns, attempts
		count, done_ns ns, status line*`),
	define("policies", "account name", `
		account account, name policy, document document, version count, changed_ns ns`),
}

// define returns a table whose primary key has the columns of key. A "+" says that the
// database numbers the rows.
func define(name, key, columns string) table {
	t := table{name: name, key: strings.Fields(strings.TrimPrefix(key, "+")), numbered: key[0] == '+'}
	for pair := range slices.Chunk(strings.Fields(strings.ReplaceAll(columns, ",", " ")), 2) {
		plain := strings.TrimRight(pair[1], "?*")
		t.columns = append(t.columns, column{name: pair[0], kind: types[plain].kind, rule: types[plain].rule,
			null: strings.HasSuffix(pair[1], "?"), none: strings.HasSuffix(pair[1], "*")})
	}
	return t
}

func (t *table) names() []string {
	list := make([]string, len(t.columns))
	for i, c := range t.columns {
		list[i] = c.name
	}
	return list
}
