// Package seed fills a ledger with accounts whose pages show much, little and nothing,
// for screenshots, the browser's tests and people who work on pages.
package seed

import (
	"context"
	"fmt"
	"time"

	"github.com/addrspec/addrspec/origin/identity"
	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/ledger/store"
)

// A Person has pages to look at.
type Person struct {
	Name    string   `json:"name"`
	Account int64    `json:"account"` // 0 for a visitor
	Pages   []string `json:"pages"`
}

// A seeder fills one ledger.
type seeder struct {
	context.Context
	ledger *ledger.Ledger
	users  *identity.Identity
	today  book.Day
}

// Fill creates the accounts in a ledger without any, and returns who can sign in.
func Fill(ctx context.Context, l *ledger.Ledger) ([]Person, error) {
	now, err := l.Now(ctx)
	if err != nil {
		return nil, err
	}
	s := &seeder{ctx, l, identity.New(l), book.DayOf(now)}
	people := []Person{{Name: "visitor", Pages: []string{"/", "/docs", "/docs/all", "/docs/check-emails", "/docs/result", "/docs/errors", "/sign-in", "/sign-up", "/no-such-page"}}}
	for _, create := range []func() (Person, error){s.owner, s.newcomer, s.signedUp, s.operator} {
		person, err := create()
		if err != nil {
			return nil, err
		}
		people = append(people, person)
	}
	return people, nil
}

// owner has keys of every kind, a month of usage and most of the points used.
func (s *seeder) owner() (p Person, err error) {
	points := book.Limit(100_000)
	a, err := s.ledger.CreateAccount(s, "owner@shop.example", book.Terms{Plan: "pro", Points: &points})
	if err != nil {
		return p, err
	}
	if err := s.person(a, "Ada"); err != nil {
		return p, err
	}
	if err := s.policies(a.ID); err != nil {
		return p, err
	}
	shop, err := s.keys(a.ID)
	if err != nil {
		return p, err
	}
	key := fmt.Sprintf("/dashboard/keys/%d", shop)
	return Person{"owner", a.ID, []string{"/dashboard", "/dashboard/keys", key, key + "/revoke",
		"/dashboard/policies", "/dashboard/policies/sign-up", "/dashboard/policies/sign-up/delete", "/dashboard/policies/newsletter/delete", "/dashboard/usage", "/dashboard/try", "/dashboard/lists",
		"/dashboard/settings", "/dashboard/settings/password", "/dashboard/settings/webhook", "/dashboard/settings/totp", "/dashboard/settings/passkeys",
		"/dashboard/settings/recovery-codes", "/dashboard/settings/log", "/dashboard/settings/delete", "/confirm", "/sign-out"}}, nil
}

// person sets the password and the name of an account's user.
func (s *seeder) person(account book.Account, name string) error {
	user := identity.User{Account: account.ID, Email: account.Email}
	if err := s.users.SetPassword(s, user, "correct horse battery"); err != nil {
		return err
	}
	return s.users.SetName(s, account.ID, name)
}

// policies creates the policies of the owner.
func (s *seeder) policies(account int64) error {
	for _, p := range []struct{ name, document string }{
		{"sign-up", `{
  "allow":  {"domains": ["partner.example", "*.corp.example"]},
  "block":  {"domains": ["spam.example"], "reasons": ["disposable", "gibberish>=0.8", "no_mail"]},
  "review": {"reasons": ["role", "relay", "typo", "unknown_tld", "role:support"]}
}`},
		{"newsletter", `{"block": {"reasons": ["role:noreply"]}}`},
		{"a-policy-whose-name-has-all-sixty-four-characters-that-it-may-be", "{}"},
	} {
		if _, err := s.ledger.SetPolicy(s, account, p.name, p.document); err != nil {
			return err
		}
	}
	return nil
}

// keys creates the keys of the owner and their usage. It returns the busiest.
func (s *seeder) keys(account int64) (shop int64, err error) {
	var used int64 // this month, by all keys
	budget, rate := book.Limit(90_000), book.Limit(20)
	busy := book.KeyTerms{Budget: &budget, Rate: &rate, Expires: time.Now().AddDate(1, 0, 0), Policy: "sign-up"}
	for n, name := range []string{"warehouse", "<b>old</b> été", "a key whose name has all sixty-four characters that are allowed.", "sign-up form", "shop"} {
		terms := book.KeyTerms{}
		if name == "shop" {
			terms = busy
		}
		secret, k, err := s.ledger.CreateKey(s, account, name, terms)
		if err != nil {
			return 0, err
		}
		usedByKey, err := s.month(account, k.ID, int64(n), used)
		if err != nil {
			return 0, err
		}
		used += usedByKey
		switch name {
		case "<b>old</b> été":
			err = s.ledger.RevokeKey(s, account, k.ID)
		case "shop":
			shop = k.ID
			if err = s.charge(secret, 81_234-used); err == nil {
				_, _, err = s.ledger.RotateKey(s, account, k.ID, 24*time.Hour)
			}
		}
		if err != nil {
			return 0, err
		}
	}
	return shop, nil
}

// month adds usage of a key on the days before today; times 0 adds none. It returns the points of
// this month, which it adds to what the account's other keys have used.
func (s *seeder) month(account, key, times, others int64) (used int64, err error) {
	month := book.MonthOf(s.today.Time())
	err = s.ledger.Store().Transact(s, store.Transaction{Decide: func(time.Time) (list []store.Statement, _ error) {
		used = 0
		for ago := int64(1); ago < 30 && times > 0; ago++ {
			day, n := s.today-book.Day(ago), times*40*((ago*7)%11+1)
			if book.MonthOf(day.Time()) == month {
				used += n
			}
			list = append(list, store.Statement{Name: "add_usage", Args: []any{account, key, int64(day), n, n / 2, n / 90,
				n * 9 / 10, n / 10, n / 30, n / 2, n / 100, n / 20, n / 200, n / 50, int64(0)}})
		}
		return append(list,
			store.Statement{Name: "put_key", Args: []any{key, int64(month), used, int64(0)}},
			store.Statement{Name: "put_account", Args: []any{account, int64(month), others + used, int64(0), int64(0)}}), nil
	}})
	return used, err
}

// charge uses points of this month.
func (s *seeder) charge(secret string, points int64) error {
	r, _, err := s.ledger.Begin(s, secret, "")
	if err != nil {
		return err
	}
	defer r.End()
	if _, err := r.Claim(points, nil); err != nil {
		return err
	}
	_, err = r.Charge(ledger.Charge{Points: points, Found: book.Found{Valid: points}})
	return err
}

// newcomer has an account and nothing else.
func (s *seeder) newcomer() (Person, error) {
	a, err := s.ledger.CreateAccount(s, "newcomer@a-domain-of-some-length.example", book.Terms{Plan: "free"})
	return Person{"newcomer", a.ID, []string{"/dashboard", "/dashboard/keys", "/dashboard/policies", "/dashboard/usage", "/dashboard/try", "/dashboard/settings", "/dashboard/settings/password"}}, err
}

// signedUp has signed up, made a key, and proves the email by the link that follows.
func (s *seeder) signedUp() (Person, error) {
	u, err := s.users.SignUp(s, "signed-up@shop.example", "correct horse battery")
	if err == nil {
		_, _, err = s.ledger.CreateKey(s, u.Account, "made before", book.KeyTerms{})
	}
	return Person{"signed-up", u.Account, []string{"/dashboard/settings/proved"}}, err
}

// operator looks after the accounts.
func (s *seeder) operator() (p Person, err error) {
	former, err := s.ledger.CreateAccount(s, "former@shop.example", book.Terms{Plan: "free"})
	if err != nil {
		return p, err
	}
	if err := s.ledger.SuspendAccount(s, former.ID); err != nil {
		return p, err
	}
	a, err := s.ledger.CreateAccount(s, "operator@addrspec.example", book.Terms{Plan: "enterprise"})
	if err != nil {
		return p, err
	}
	return Person{"operator", a.ID, []string{"/dashboard/operator", "/dashboard/operator/accounts", "/dashboard/operator/accounts/1", fmt.Sprintf("/dashboard/operator/accounts/%d", former.ID),
		"/dashboard/operator/plans", "/dashboard/operator/health"}}, s.users.SetOperator(s, a.ID, true)
}
