// Package seed fills a ledger with accounts whose pages show much, little and nothing,
// for screenshots, the browser's tests and people who work on pages.
package seed

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/pquerna/otp/totp"

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

// A seeder fills one ledger. It keeps the first error and goes on.
type seeder struct {
	context.Context
	ledger *ledger.Ledger
	users  *identity.Identity
	today  book.Day
	used   int64 // this month, by the owner's keys
	err    error
}

func (s *seeder) check(err error) { s.err = cmp.Or(s.err, err) }

// Fill creates the accounts in a ledger without any, and returns who can sign in.
func Fill(ctx context.Context, l *ledger.Ledger) ([]Person, error) {
	now, err := l.Now(ctx)
	s := &seeder{Context: ctx, ledger: l, users: identity.New(l), today: book.DayOf(now), err: err}
	people := []Person{
		{"visitor", 0, []string{"/", "/docs", "/docs/all", "/docs/check-emails", "/docs/result", "/docs/errors", "/sign-in",
			"/sign-up", "/no-such-page"}},
		s.owner(),
		{"newcomer", s.account("newcomer@a-domain-of-some-length.example", book.Terms{Plan: "free"}), []string{"/dashboard",
			"/dashboard/keys", "/dashboard/policies", "/dashboard/usage", "/dashboard/try", "/dashboard/settings",
			"/dashboard/settings/password"}},
		s.signedUp(),
		s.careful(),
		s.operator(),
	}
	return people, s.err
}

func (s *seeder) account(email string, terms book.Terms) int64 {
	a, err := s.ledger.CreateAccount(s, email, terms)
	s.check(err)
	return a.ID
}

// owner has policies, keys of every kind, a month of usage and most of the points used.
func (s *seeder) owner() Person {
	const email = "owner@shop.example"
	points := book.Limit(100_000)
	a := s.account(email, book.Terms{Plan: "pro", Points: &points})
	s.check(s.users.SetPassword(s, identity.User{Account: a, Email: email}, "correct horse battery"))
	s.check(s.users.SetName(s, a, "Ada"))
	for _, p := range []struct{ name, document string }{
		{"sign-up", `{
  "allow":  {"domains": ["partner.example", "*.corp.example"]},
  "block":  {"domains": ["spam.example"], "reasons": ["disposable", "gibberish>=0.8", "no_mail"]},
  "review": {"reasons": ["role", "relay", "typo", "unknown_tld", "role:support"]}
}`},
		{"newsletter", `{"block": {"reasons": ["role:noreply"]}}`},
		{"a-policy-whose-name-has-all-sixty-four-characters-that-it-may-be", "{}"},
	} {
		_, err := s.ledger.SetPolicy(s, a, p.name, p.document)
		s.check(err)
	}
	budget, rate := book.Limit(90_000), book.Limit(20)
	busy := book.KeyTerms{Budget: &budget, Rate: &rate, Expires: time.Now().AddDate(1, 0, 0), Policy: "sign-up"}
	s.key(a, 0, "warehouse", book.KeyTerms{})
	_, old := s.key(a, 1, "<b>old</b> été", book.KeyTerms{})
	s.check(s.ledger.RevokeKey(s, a, old))
	s.key(a, 2, "a key whose name has all sixty-four characters that are allowed.", book.KeyTerms{})
	s.key(a, 3, "sign-up form", book.KeyTerms{})
	secret, shop := s.key(a, 4, "shop", busy)
	s.charge(secret, 81_234-s.used)
	_, _, err := s.ledger.RotateKey(s, a, shop, 24*time.Hour)
	s.check(err)
	key := fmt.Sprintf("/dashboard/keys/%d", shop)
	return Person{"owner", a, []string{"/dashboard", "/dashboard/keys", key, key + "/revoke", "/dashboard/policies",
		"/dashboard/policies/sign-up", "/dashboard/policies/sign-up/delete", "/dashboard/policies/newsletter/delete",
		"/dashboard/usage", "/dashboard/try", "/dashboard/lists", "/dashboard/settings", "/dashboard/settings/password",
		"/dashboard/settings/webhook", "/dashboard/settings/totp", "/dashboard/settings/passkeys",
		"/dashboard/settings/recovery-codes", "/dashboard/settings/log", "/dashboard/settings/delete", "/confirm", "/sign-out"}}
}

// key creates a key with so many times the usual usage on the days before today.
func (s *seeder) key(account, times int64, name string, terms book.KeyTerms) (secret string, id int64) {
	secret, k, err := s.ledger.CreateKey(s, account, name, terms)
	s.check(err)
	if times == 0 {
		return secret, k.ID
	}
	month, used := book.MonthOf(s.today.Time()), int64(0)
	s.check(s.ledger.Store().Transact(s, store.Transaction{Decide: func(time.Time) (list []store.Statement, _ error) {
		used = 0
		for ago := int64(1); ago < 30; ago++ {
			day, n := s.today-book.Day(ago), times*40*((ago*7)%11+1)
			if book.MonthOf(day.Time()) == month {
				used += n
			}
			list = append(list, store.Statement{Name: "add_usage", Args: []any{account, k.ID, int64(day), n, n / 2, n / 90,
				n * 9 / 10, n / 10, n / 30, n / 2, n / 100, n / 20, n / 200, n / 50, int64(0)}})
		}
		return append(list, store.Statement{Name: "put_key", Args: []any{k.ID, int64(month), used, int64(0)}},
			store.Statement{Name: "put_account", Args: []any{account, int64(month), s.used + used, int64(0), int64(0)}}), nil
	}}))
	s.used += used
	return secret, k.ID
}

// charge uses points of this month.
func (s *seeder) charge(secret string, points int64) {
	r, _, err := s.ledger.Begin(s, secret, "")
	s.check(err)
	if r == nil {
		return
	}
	defer r.End()
	_, err = r.Claim(points, nil)
	s.check(err)
	_, err = r.Charge(ledger.Charge{Points: points, Found: book.Found{Valid: points}})
	s.check(err)
}

// signedUp has signed up, made a key, and proves the email by the link that follows.
func (s *seeder) signedUp() Person {
	u, err := s.users.SignUp(s, "signed-up@shop.example", "correct horse battery")
	s.check(err)
	s.key(u.Account, 0, "made before", book.KeyTerms{})
	return Person{"signed-up", u.Account, []string{"/dashboard/settings/proved"}}
}

// careful has an authenticator app, whose code is asked for after the link.
func (s *seeder) careful() Person {
	u := identity.User{Account: s.account("careful@shop.example", book.Terms{Plan: "free"}), Email: "careful@shop.example"}
	s.check(s.users.SetPassword(s, u, "correct horse battery"))
	secret, _, err := identity.NewTOTP(u.Email, "")
	s.check(err)
	now, err := s.ledger.Now(s)
	s.check(err)
	code, err := totp.GenerateCode(secret, now)
	s.check(err)
	_, err = s.users.SetTOTP(s, u, secret, code)
	s.check(err)
	return Person{"careful", u.Account, []string{"/sign-in/code"}}
}

// operator looks after the accounts, one of which is suspended.
func (s *seeder) operator() Person {
	former := s.account("former@shop.example", book.Terms{Plan: "free"})
	s.check(s.ledger.SuspendAccount(s, former))
	a := s.account("operator@addrspec.example", book.Terms{Plan: "enterprise"})
	s.check(s.users.SetOperator(s, a, true))
	return Person{"operator", a, []string{"/dashboard/operator", "/dashboard/operator/accounts",
		"/dashboard/operator/accounts/1", fmt.Sprintf("/dashboard/operator/accounts/%d", former), "/dashboard/operator/plans",
		"/dashboard/operator/health"}}
}
