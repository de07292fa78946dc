package archive

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/addrspec/addrspec/origin/identity"
	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/webhook"
)

// A table is one of the ledger's tables. Rows refer only to rows of tables before
// theirs, except keys to policies.
type table struct {
	name     string
	columns  []string
	kinds    []kind   // of the columns
	key      []string // the columns of the primary key
	numbered bool     // the database gives out the IDs, in the first column
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
// and its processes. A test compares the list with both databases.
var tables = []table{
	define("plans", "name", `name text, rate int, points int, overage bool, stored int`),
	define("accounts", "+id", `
		id int, email text, plan text, rate int, points int, created_ns int, month int, used int, tat_ns int,
		overage bool, suspended_ns int, stored int, policies int`),
	define("keys", "+id", `
		id int, account int, name text, hint text, created_ns int, revoked_ns int, expires_ns int, budget int, rate int,
		month int, used int, tat_ns int, origins text, dashboard bool, policy text, test bool`),
	define("secrets", "hash", `hash text, key int, expires_ns int`),
	define("usage", "account day key", `
		account int, key int, day int, points int, requests int, errors int, valid int, invalid int, disposable int,
		public int, relay int, role int, gibberish int, typo int, lookup_errors int`),
	define("answers", "account id", `account int, id text, body text, answer blob, size int, expires_ns int`),
	define("users", "account", `
		account int, name text, password text, operator bool, totp text, totp_step int, handle text, created_ns int`),
	define("sessions", "+id", `
		id int, hash text, account int, client text, created_ns int, seen_ns int, expires_ns int, confirmed_ns int,
		complete bool`),
	define("links", "hash", `hash text, account int, expires_ns int`),
	define("recovery_codes", "account hash", `account int, hash text`),
	define("passkeys", "id", `id text, account int, name text, credential text, created_ns int, used_ns int`),
	define("identities", "issuer subject", `issuer text, subject text, account int, created_ns int`),
	define("challenges", "hash", `hash text, data text, expires_ns int`),
	define("attempts", "subject", `subject text, tat_ns int`),
	define("audit", "+id", `id int, account int, at_ns int, actor text, action text, subject text`),
	define("webhooks", "account", `
		account int, url text, secret text, previous text, rotated_ns int, disabled_ns int, created_ns int`),
	define("deliveries", "account month percent", `
		account int, month int, percent int, id text, body text, created_ns int, next_ns int, attempts int, done_ns int,
		status text`),
	define("policies", "account name", `account int, name text, document text, version int, changed_ns int`),
}

// define returns a table. A "+" before its primary key says that the database numbers the rows.
func define(name, key, columns string) table {
	kinds := map[string]kind{"int": integer, "text": text, "bool": boolean, "blob": blob}
	t := table{name: name, key: strings.Fields(strings.TrimPrefix(key, "+")), numbered: key[0] == '+'}
	for pair := range slices.Chunk(strings.Fields(strings.ReplaceAll(columns, ",", " ")), 2) {
		t.columns, t.kinds = append(t.columns, pair[0]), append(t.kinds, kinds[pair[1]])
	}
	return t
}

// judge refuses what the commands, the API and the dashboard would not have taken from a person.
// Other values are the program's own: the checksum says whether they are as they were exported, and
// the database judges what is required and what refers to what.
func (t *table) judge(values []any, policy func(document string) error) error {
	given := func(column string) string {
		s, _ := values[slices.Index(t.columns, column)].(string)
		return s
	}
	number := func(column string) *int64 {
		n, ok := values[slices.Index(t.columns, column)].(int64)
		if !ok {
			return nil
		}
		return &n
	}
	limit := func(column string) *book.Limit { return (*book.Limit)(number(column)) }
	switch t.name {
	case "plans":
		none := new(int64)
		return book.CheckPlan(book.Plan{Name: given("name"), Rate: book.Limit(*cmp.Or(number("rate"), none)),
			Points: book.Limit(*cmp.Or(number("points"), none)), Stored: *cmp.Or(number("stored"), none)})
	case "accounts":
		email, own := given("email"), book.Plan{Name: given("plan"), Rate: 1}
		own.Rate, own.Points = *cmp.Or(limit("rate"), &own.Rate), *cmp.Or(limit("points"), &own.Points)
		if email != strings.ToLower(strings.TrimSpace(email)) {
			return errors.New("column email: it must be in lower case, without spaces")
		}
		return cmp.Or(book.CheckEmail(email), book.CheckPlan(own))
	case "keys":
		test, _ := values[slices.Index(t.columns, "test")].(bool)
		k := book.Key{Name: given("name"), Test: test, KeyTerms: book.KeyTerms{Budget: limit("budget"),
			Rate: limit("rate"), Policy: given("policy"), Origins: strings.Fields(given("origins"))}}
		if expires := number("expires_ns"); expires != nil {
			k.Expires = time.Unix(0, *expires)
		}
		err := book.CheckKey(&k)
		if err == nil && strings.Join(k.Origins, " ") != given("origins") { // CheckKey writes them in their usual form
			return errors.New("column origins: they are not in the form that browsers send")
		}
		return err
	case "users":
		return identity.CheckUser(given("name"), given("password"))
	case "passkeys":
		return identity.CheckPasskeyName(given("name"))
	case "webhooks":
		return webhook.CheckURL(given("url"))
	case "policies":
		return cmp.Or(book.CheckPolicyName(given("name")), policy(given("document")))
	}
	return nil
}
