package main

import (
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"
)

// An account is an account with a key.
type account struct{ email, key string }

const unlimited = "unlimited"

// newAccount creates an account and a key with the operator's commands.
func (s *session) newAccount(name, rate, points string) (a account, err error) {
	a.email = name + "@soak.test"
	if _, err = s.operator("account", "create", "--email", a.email, "--rate", rate, "--points", points); err != nil {
		return a, err
	}
	text, err := s.operator("key", "create", "--account", a.email, "--name", "soak")
	words := strings.Fields(text)
	if err == nil {
		a.key = words[len(words)-1]
	}
	return a, err
}

// operator runs a command of the program on the session's database.
func (s *session) operator(args ...string) (string, error) {
	return output(s.ctx, s.environment, s.program, append(args, "--database", s.database)...)
}

// used returns the account's points of this month.
func (s *session) used(a account) (int64, error) {
	return s.sum([]string{"account", "list", "--to", "csv"}, "used", func(row map[string]string) bool { return row["email"] == a.email })
}

// history returns the sum of the account's usage history.
func (s *session) history(a account) (int64, error) {
	return s.sum([]string{"usage", "--account", a.email, "--first", "1970-01-01", "--last", "2999-12-31", "--to", "csv"},
		"points", func(map[string]string) bool { return true })
}

// sum adds up a column of a command's CSV output, in the rows for which counts
// returns true.
func (s *session) sum(command []string, column string, counts func(map[string]string) bool) (sum int64, err error) {
	text, err := s.operator(command...)
	if err != nil {
		return 0, err
	}
	records, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil || len(records) == 0 {
		return 0, fmt.Errorf("%v: not CSV: %w", command, err)
	}
	for _, record := range records[1:] {
		row := map[string]string{}
		for n, name := range records[0] {
			row[name] = record[n]
		}
		if counts(row) {
			n, err := strconv.ParseInt(row[column], 10, 64)
			if err != nil {
				return 0, err
			}
			sum += n
		}
	}
	return sum, nil
}
