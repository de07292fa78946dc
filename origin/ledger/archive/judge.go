package archive

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/addrspec/addrspec/origin/identity"
	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/webhook"
)

// A rule returns an error for a value that is not one of its type.
type rule func(j *judge, v any) error

// A valueType is what the columns of tables.go may have as their type.
type valueType struct {
	kind kind
	rule rule
}

const (
	maxID     = 1<<62 - 1 // leaves room for IDs to come
	maxCount  = 1 << 53   // no sum of some overflows
	firstDay  = -719_528  // 0000-01-01: releases until schema 7 put requests before an account's first charge into month 0
	wordBytes = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
)

// end is after all times, as it is for the commands: a time has a Unix time in nanoseconds.
var end = time.Date(2201, 1, 1, 0, 0, 0, 0, time.UTC)

// types are the types of columns. The rules are those of the commands, of the API and of
// the dashboard; values that no person gives have the form in which the program makes them.
// The name and the terms of a key are judged together.
var types = map[string]valueType{
	"boolean": {boolean, nil},
	"blob":    {blob, nil},
	"id":      number(within(1, maxID)),
	"count":   number(within(0, maxCount)),
	"ns":      number(within(0, end.UnixNano()-1)), // a time
	"month":   number(within(0, monthOf(end)-1)),
	"day":     number(within(firstDay, end.Unix()/86400-1)),
	"rate":    number(func(n int64) error { return book.CheckPlan(book.Plan{Name: "x", Rate: book.Limit(n)}) }),
	"points": number(func(n int64) error {
		return book.CheckPlan(book.Plan{Name: "x", Rate: 1, Points: book.Limit(n)})
	}),
	"storage": number(func(n int64) error { return book.CheckPlan(book.Plan{Name: "x", Rate: 1, Stored: n}) }),
	"percent": number(func(n int64) error { return unless(n == 0 || n == 80 || n == 100, "it must be 0, 80 or 100") }),
	"account": reference("there is no such account", func(j *judge, id int64) bool { return j.accounts[id] != nil }),
	"key":     reference("there is no such key", func(j *judge, id int64) bool { return j.keys[id] != 0 }),
	"user":    reference("there is no such user", func(j *judge, id int64) bool { return j.users[id] }),

	"plan":     words(func(s string) error { return book.CheckPlan(book.Plan{Name: s, Rate: 1}) }),
	"name":     {text, nil}, // judged with its row
	"policy":   words(book.CheckPolicyName),
	"document": {text, func(j *judge, v any) error { return j.policy(v.(string)) }},
	"url":      words(webhook.CheckURL),
	"person":   words(func(s string) error { return identity.CheckUser(s, "") }),
	"password": words(func(s string) error { return identity.CheckUser("", s) }),
	"passkey":  words(identity.CheckPasskeyName),
	"email": words(func(s string) error {
		return cmp.Or(book.CheckEmail(s), unless(s == strings.ToLower(strings.TrimSpace(s)), "it must be in lower case"))
	}),
	"actor": words(func(s string) error {
		known := []book.Actor{book.Owner, book.Operator, book.Shell, book.Service}
		return unless(slices.Contains(known, book.Actor(s)), "it must be owner, operator, shell or service")
	}),
	"hash": words(func(s string) error {
		return unless(len(s) == 64 && strings.Trim(s, "0123456789abcdef") == "", "it must have 64 digits of 0-9 and a-f")
	}),
	"word": words(func(s string) error {
		right := s != "" && len(s) <= 2048 && strings.Trim(s, wordBytes) == ""
		return unless(right, "it must have 1 to 2048 of A-Z, a-z, 0-9, - and _")
	}),
	"secret": words(func(s string) error {
		odd := func(r rune) bool { return r <= ' ' || r > '~' }
		right := s != "" && len(s) <= 1024 && !strings.ContainsFunc(s, odd)
		return unless(right, "it must have 1 to 1024 of ASCII, and no spaces")
	}),
	"line": words(func(s string) error {
		return unless(s != "" && len(s) <= 16<<10 && !strings.ContainsFunc(s, unicode.IsControl),
			"it must have 1 to 16384 bytes and no control characters")
	}),
	"json": words(func(s string) error { return unless(json.Valid([]byte(s)), "it must be JSON") }),
}

func number(check func(int64) error) valueType {
	return valueType{integer, func(_ *judge, v any) error { return check(v.(int64)) }}
}

func reference(wrong string, known func(*judge, int64) bool) valueType {
	return valueType{integer, func(j *judge, v any) error { return unless(known(j, v.(int64)), wrong) }}
}

func words(check func(string) error) valueType {
	return valueType{text, func(_ *judge, v any) error { return check(v.(string)) }}
}

func within(least, most int64) func(int64) error {
	return func(n int64) error {
		return unless(least <= n && n <= most, fmt.Sprintf("it must be %d to %d", least, most))
	}
}

func unless(right bool, wrong string) error {
	if right {
		return nil
	}
	return errors.New(wrong)
}

func monthOf(t time.Time) int64 { return int64(t.Year()*12+int(t.Month())) - 1 }

// A judge judges rows, and what rows of several tables say together. Its memory is some 40
// bytes for each account, key and user.
type judge struct {
	policy   func(document string) error // judges a document
	plans    map[string]book.Plan
	accounts map[int64]*account   // by ID
	keys     map[int64]int64      // the account, by ID
	users    map[int64]bool       // by account
	defaults map[policyName]int   // the lines of keys whose policy was not read yet
	excesses map[[2]int64]*excess // by account and key; the key 0 is for the account's own
}

// An account whose deletion has begun is suspended, and may have lost its history and its
// policies already.
type account struct {
	policies  int64 // how often one was changed
	suspended bool
}

type policyName struct {
	account int64
	name    string
}

// An excess is the points of an account or a key that has used more than its limit. It may
// have: the limit was lowered since, or overage was allowed. But it cannot have used more
// than the usage history has, because each charge adds to both.
type excess struct {
	where             string
	month, used, seen int64 // seen are the month's points in the usage history
}

func newJudge(policy func(document string) error) *judge {
	return &judge{policy, map[string]book.Plan{}, map[int64]*account{}, map[int64]int64{}, map[int64]bool{},
		map[policyName]int{}, map[[2]int64]*excess{}}
}

// judge judges a row, whose line has the number line.
func (j *judge) judge(t *table, values []any, line int) error {
	row := make(map[string]any, len(values))
	for i, c := range t.columns {
		row[c.name] = values[i]
		if values[i] == nil || c.rule == nil || c.none && values[i] == "" {
			continue
		}
		if err := c.rule(j, values[i]); err != nil {
			return fmt.Errorf("column %s: %w", c.name, err)
		}
	}
	id, _ := row["id"].(int64)
	owner, _ := row["account"].(int64)
	switch t.name {
	case "plans":
		overage := row["overage"].(bool)
		j.plans[row["name"].(string)] = book.Plan{Points: *limitOf(row["points"]), Overage: overage}
	case "accounts":
		plan, found := j.plans[row["plan"].(string)]
		if !found {
			return errors.New("column plan: there is no such plan")
		}
		points, overage := cmp.Or(limitOf(row["points"]), &plan.Points), plan.Overage
		if own, ok := row["overage"].(bool); ok {
			overage = own
		}
		a := &account{row["policies"].(int64), row["suspended_ns"] != nil}
		j.accounts[id] = a
		if *points != book.Unlimited && !overage && !a.suspended {
			j.compare(id, 0, row, *points, line)
		}
	case "keys":
		j.keys[id] = owner
		return j.judgeKey(id, owner, row, line)
	case "usage":
		key, month := row["key"].(int64), monthOf(time.Unix(row["day"].(int64)*86400, 0).UTC())
		for _, of := range []int64{0, key} {
			if e := j.excesses[[2]int64{owner, of}]; e != nil && e.month == month {
				e.seen += row["points"].(int64)
			}
		}
		return unless(j.keys[key] == owner, "column key: the key is another account's")
	case "answers":
		size := int64(len(row["answer"].([]byte)))
		return unless(row["size"] == size, "column size: it is not the length of the answer")
	case "users":
		j.users[owner] = true
	case "policies":
		delete(j.defaults, policyName{owner, row["name"].(string)})
		changes := j.accounts[owner].policies
		return unless(row["version"].(int64) <= changes, "column version: it is over the account's number of changes")
	}
	return nil
}

func limitOf(v any) *book.Limit {
	if n, ok := v.(int64); ok {
		return (*book.Limit)(&n)
	}
	return nil
}

// compare remembers an account or a key that has used more than its limit.
func (j *judge) compare(account, key int64, row map[string]any, limit book.Limit, line int) {
	if used := row["used"].(int64); used > int64(limit) {
		where := "table accounts"
		if key != 0 {
			where = "table keys"
		}
		j.excesses[[2]int64{account, key}] = &excess{fmt.Sprintf("%s, line %d", where, line), row["month"].(int64), used, 0}
	}
}

func (j *judge) judgeKey(id, account int64, row map[string]any, line int) error {
	origins, policy := row["origins"].(string), row["policy"].(string)
	k := book.Key{Name: row["name"].(string), Test: row["test"].(bool), KeyTerms: book.KeyTerms{
		Budget: limitOf(row["budget"]), Rate: limitOf(row["rate"]), Policy: policy, Origins: strings.Fields(origins)}}
	if expires, ok := row["expires_ns"].(int64); ok {
		k.Expires = time.Unix(0, expires)
	}
	if err := book.CheckKey(&k); err != nil {
		field, _ := errors.AsType[*book.FieldError](err)
		return fmt.Errorf("column %s: %w", field.Field, err)
	}
	if strings.Join(k.Origins, " ") != origins { // CheckKey writes them in their usual form
		return errors.New("column origins: they are not in the form that browsers send")
	}
	if j.accounts[account].suspended {
		return nil
	}
	if policy != "" && row["revoked_ns"] == nil {
		j.defaults[policyName{account, policy}] = line
	}
	if k.Budget != nil {
		j.compare(account, id, row, *k.Budget, line)
	}
	return nil
}

// end returns what is wrong once all rows were judged.
func (j *judge) end() error {
	for _, line := range j.defaults {
		return fmt.Errorf("table keys, line %d, column policy: the account has no such policy", line)
	}
	for _, e := range j.excesses {
		if e.used > e.seen {
			return fmt.Errorf("%s, column used: it is over the limit, and the usage history has only %d points in that month",
				e.where, e.seen)
		}
	}
	return nil
}
