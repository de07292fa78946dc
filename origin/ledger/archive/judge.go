package archive

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/addrspec/addrspec/origin/identity"
	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/webhook"
)

// A valueType is what the columns of tables.go may have as their type. What a person gives
// is judged with its row, by the rules of the commands, of the API and of the dashboard.
// Other values have the form in which the program makes them.
type valueType struct {
	kind  kind
	check func(v any) error // nil: any value
}

const (
	maxID    = 1<<62 - 1 // leaves room for IDs to come
	maxCount = 1 << 53   // no sum of some overflows
	maxText  = 16 << 10  // bytes
	firstDay = -719_528  // 0000-01-01: until schema 7 requests before an account's first charge had month 0
)

// end is after all times, as it is for the commands: a time has a Unix time in nanoseconds.
var end = time.Date(2201, 1, 1, 0, 0, 0, 0, time.UTC)

var types = map[string]valueType{
	"boolean": {boolean, nil},
	"blob":    {blob, nil},
	"given":   {text, nil},    // judged with its row
	"limit":   {integer, nil}, // likewise
	"id":      within(1, maxID),
	"count":   within(0, maxCount),
	"ns":      within(0, end.UnixNano()-1), // a time
	"month":   within(0, int64(end.Year())*12-1),
	"day":     within(firstDay, end.Unix()/86400-1),
	"percent": within(0, 100),
	"actor":   matching(`^(owner|operator|shell|service)$`),
	"hash":    matching(`^[0-9a-f]{64}$`),
	"word":    matching(`^[A-Za-z0-9_-]+$`),
	"secret":  matching(`^[!-~]+$`),
	"line":    matching(`^[^\p{Cc}]+$`),
	"json": {text, func(v any) error {
		if !json.Valid([]byte(v.(string))) {
			return errors.New("it must be JSON")
		}
		return nil
	}},
}

func within(least, most int64) valueType {
	return valueType{integer, func(v any) error {
		if n := v.(int64); n < least || n > most {
			return fmt.Errorf("it must be %d to %d", least, most)
		}
		return nil
	}}
}

func matching(pattern string) valueType {
	form := regexp.MustCompile(pattern)
	return valueType{text, func(v any) error {
		if s := v.(string); len(s) > maxText || !form.MatchString(s) {
			return fmt.Errorf("it must match %s and have at most %d bytes", pattern, maxText)
		}
		return nil
	}}
}

func (t *table) judge(values []any, policy func(document string) error) error {
	row := make(map[string]any, len(values))
	for i, c := range t.columns {
		row[c.name] = values[i]
		if values[i] == nil || c.check == nil || c.none && values[i] == "" {
			continue
		}
		if err := c.check(values[i]); err != nil {
			return fmt.Errorf("column %s: %w", c.name, err)
		}
	}
	given := func(column string) string { return row[column].(string) }
	limit := func(column string) *book.Limit {
		if row[column] == nil {
			return nil
		}
		return new(book.Limit(row[column].(int64)))
	}
	switch t.name {
	case "plans":
		return book.CheckPlan(book.Plan{Name: given("name"), Rate: *limit("rate"), Points: *limit("points"),
			Stored: row["stored"].(int64)})
	case "accounts":
		email, own := given("email"), book.Plan{Name: given("plan"), Rate: 1}
		own.Rate, own.Points = *cmp.Or(limit("rate"), &own.Rate), *cmp.Or(limit("points"), &own.Points)
		if email != strings.ToLower(strings.TrimSpace(email)) {
			return errors.New("column email: it must be in lower case, without spaces")
		}
		return cmp.Or(book.CheckEmail(email), book.CheckPlan(own))
	case "keys":
		k := book.Key{Name: given("name"), Test: row["test"].(bool), KeyTerms: book.KeyTerms{Budget: limit("budget"),
			Rate: limit("rate"), Policy: given("policy"), Origins: strings.Fields(given("origins"))}}
		if expires, ok := row["expires_ns"].(int64); ok {
			k.Expires = time.Unix(0, expires)
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

// contradictions are what rows can say together that no charge and no command makes them
// say, with a query for accounts of which they do. References from row to row are the
// database's to check.
//
// An account or a key may have used more than its limit, because the limit was lowered
// since, but not more than the usage history has, because each charge adds to both. An
// account whose deletion has begun is suspended, and may have lost its history and its
// policies.
var contradictions = []struct{ wrong, query string }{
	{"table usage, column key: the key is another account's",
		"SELECT u.account FROM usage u JOIN keys k ON k.id = u.key WHERE k.account <> u.account"},
	{"table answers, column size: it is not the length of the answer",
		"SELECT account FROM answers WHERE size <> length(answer)"},
	{"table policies, column version: it is over the account's number of changes",
		"SELECT a.id FROM policies p JOIN accounts a ON a.id = p.account WHERE p.version > a.policies"},
	{"table keys, column policy: the account has no such policy",
		`SELECT a.id FROM keys k JOIN accounts a ON a.id = k.account
		WHERE k.policy <> '' AND k.revoked_ns IS NULL AND a.suspended_ns IS NULL
		AND NOT EXISTS (SELECT 1 FROM policies p WHERE p.account = k.account AND p.name = k.policy)`},
	{"table accounts, column used: it is over the limit, and over the points of that month in the usage history",
		`SELECT a.id FROM accounts a JOIN plans p ON p.name = a.plan
		WHERE coalesce(a.points, p.points) BETWEEN 0 AND a.used - 1 AND NOT coalesce(a.overage, p.overage)
		AND a.suspended_ns IS NULL
		AND a.used > (SELECT coalesce(sum(u.points), 0) FROM usage u WHERE u.account = a.id AND a.month = MONTH)`},
	{"table keys, column used: it is over the budget, and over the points of that month in the usage history",
		`SELECT a.id FROM keys k JOIN accounts a ON a.id = k.account WHERE k.used > k.budget AND a.suspended_ns IS NULL
		AND k.used > (SELECT coalesce(sum(u.points), 0) FROM usage u WHERE u.key = k.id AND k.month = MONTH)`},
}

func (db *database) judge(ctx context.Context) error {
	month := "strftime('%Y', u.day * 86400, 'unixepoch') * 12 + strftime('%m', u.day * 86400, 'unixepoch') - 1"
	if db.postgres {
		const date = "FROM date '1970-01-01' + u.day::int)"
		month = "extract(year " + date + " * 12 + extract(month " + date + " - 1"
	}
	for _, c := range contradictions {
		var account int64
		query := strings.ReplaceAll(c.query, "MONTH", month) + " LIMIT 1"
		switch err := db.QueryRowContext(ctx, query).Scan(&account); {
		case err == nil:
			return fmt.Errorf("account %d: %s", account, c.wrong)
		case !errors.Is(err, sql.ErrNoRows):
			return err
		}
	}
	return nil
}
