package ledger

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/rig/pgtest"
)

func TestAccounts(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		clock := clockAt(startTime)
		l, ctx := open(t, url, withFake(clock)), t.Context()
		free, err := l.CreateAccount(ctx, " Owner@Example.COM ", Terms{})
		require.NoError(t, err)
		require.Equal(t, Account{ID: free.ID, Email: "owner@example.com", Plan: "free", Rate: 1, Points: 1000, Own: Terms{Plan: "free"}, Created: clock.Now()}, free)
		custom, err := l.CreateAccount(ctx, "other@example.com", Terms{Plan: "pro", Points: limit(Unlimited)})
		require.NoError(t, err)
		require.Equal(t, []Limit{5, Unlimited}, []Limit{custom.Rate, custom.Points}, "limits that are not given are the plan's")

		found, err := l.AccountByEmail(ctx, "OWNER@example.com")
		require.NoError(t, err)
		require.Equal(t, free, found)
		list, err := l.Accounts(ctx, AccountPage{})
		require.NoError(t, err)
		require.Equal(t, []Account{free, custom}, list)
		list, err = l.Accounts(ctx, AccountPage{After: free.ID})
		require.NoError(t, err)
		require.Equal(t, []Account{custom}, list, "the next page")
		list, err = l.Accounts(ctx, AccountPage{Limit: 1})
		require.NoError(t, err)
		require.Equal(t, []Account{free}, list)
		for part, want := range map[string][]Account{"OTHER@": {custom}, "example": {free, custom}, "%": nil} {
			list, err = l.Accounts(ctx, AccountPage{Search: part})
			require.NoError(t, err)
			require.Equal(t, want, list, part)
		}
		again, err := l.Account(ctx, custom.ID)
		require.NoError(t, err)
		require.Equal(t, custom, again)
		_, err = l.Account(ctx, 4711)
		require.ErrorIs(t, err, ErrNoAccount)
	})
}

func TestAccountErrors(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		l, ctx := open(t, url), t.Context()
		create := func(email string, terms Terms) error {
			_, err := l.CreateAccount(ctx, email, terms)
			return err
		}
		require.NoError(t, create("a@example.com", Terms{}))
		require.ErrorIs(t, create("A@example.com", Terms{}), ErrAccountExists)
		err := create("b@example.com", Terms{Plan: "gold"})
		require.ErrorIs(t, err, ErrNoPlan)
		require.ErrorContains(t, err, `"gold"; the plans are enterprise, free, pro`)
		require.ErrorContains(t, create("b@example.com", Terms{Rate: limit(0)}), "the rate 0")
		require.ErrorContains(t, create("b@example.com", Terms{Points: limit(-2)}), "points a month")
		for _, email := range []string{"", "nobody", "a b@example.com", "a\n@example.com", "\xff@example.com", strings.Repeat("a", 251) + "@b.c"} {
			require.ErrorIs(t, create(email, Terms{}), errEmail, "%q", email)
		}
		_, err = l.AccountByEmail(ctx, "nobody@example.com")
		require.ErrorIs(t, err, ErrNoAccount)
		_, _, err = l.CreateKey(ctx, 4711, "test", KeyTerms{})
		require.ErrorIs(t, err, ErrNoAccount)
	})
}

func TestKeys(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		f := newFixture(t, url, unlimitedTerms)
		second, k2, err := f.CreateKey(f.ctx, f.account, "second", KeyTerms{})
		require.NoError(t, err)
		require.Equal(t, second[:8], k2.Hint)
		f.request(1)

		f.clock.advance(time.Hour)
		require.NoError(t, f.RevokeKey(f.ctx, f.account, k2.ID))
		revoked := f.clock.Now()
		f.clock.advance(time.Hour)
		require.NoError(t, f.RevokeKey(f.ctx, f.account, k2.ID), "revoking again changes nothing")
		require.ErrorIs(t, f.RevokeKey(f.ctx, f.account, 4711), ErrNoKey)
		require.ErrorIs(t, f.RevokeKey(f.ctx, f.account+1, f.key.ID), ErrNoKey, "a key of another account")

		f.key.LastDay, k2.Revoked = DayOf(f.clock.Now()), revoked
		keys, err := f.ListKeys(f.ctx, f.account, KeyPage{Revoked: true})
		require.NoError(t, err)
		require.Equal(t, []Key{k2, f.key}, keys, "newest first")
		keys, err = f.ListKeys(f.ctx, f.account, KeyPage{})
		require.NoError(t, err)
		require.Equal(t, []Key{f.key}, keys, "without the revoked one")

		for _, name := range []string{"", "a\x00b", strings.Repeat("n", 65)} {
			_, _, err = f.CreateKey(f.ctx, f.account, name, KeyTerms{})
			require.ErrorContains(t, err, "the name of a key", "%q", name)
		}
	})
}

// A suspension by another replica refuses the next request and the charge of one
// in progress. After it the keys are good again.
func TestSuspendAndResume(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		f, list := newReplicas(t, url, unlimitedTerms, 2)
		other := list[1]
		require.Equal(t, Good, f.retryable(1, 1).Kind)
		under := f.mustBegin()
		require.NoError(t, other.SuspendAccount(f.ctx, f.account))
		suspended := f.clock.Now()
		require.Equal(t, UnknownKey, f.retryable(1, 1).Kind, "a replay")
		require.Equal(t, UnknownKey, f.request(1).Kind)
		require.Equal(t, UnknownKey, f.finish(under, 1).Kind)
		f.clock.advance(maxRefuse + 1)
		require.NoError(t, other.SuspendAccount(f.ctx, f.account), "again")
		a, err := f.Account(f.ctx, f.account)
		require.NoError(t, err)
		require.Equal(t, suspended, a.Suspended)

		require.NoError(t, other.ResumeAccount(f.ctx, f.account))
		require.NoError(t, other.ResumeAccount(f.ctx, f.account), "again")
		f.clock.advance(maxRefuse + 1)
		require.Equal(t, Good, f.request(1).Kind)
		a, err = f.Account(f.ctx, f.account)
		require.NoError(t, err)
		require.Zero(t, a.Suspended)
		require.ErrorIs(t, f.SuspendAccount(f.ctx, 4711), ErrNoAccount)
		require.ErrorIs(t, f.ResumeAccount(f.ctx, 4711), ErrNoAccount)
	})
}

func TestAccountUsage(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		f := newFixture(t, url, Terms{Rate: limit(7), Points: limit(20)})
		require.Equal(t, Good, f.request(3).Kind)
		under := f.mustBegin()
		require.Equal(t, 1, f.InProgress(f.account))
		require.Zero(t, f.InProgress(4711))
		under.End()
		require.Zero(t, f.InProgress(f.account))
		u, err := f.AccountUsage(f.ctx, f.account)
		require.NoError(t, err)
		require.Equal(t, AccountUsage{Used: 3, Limit: 20, Rate: 7, Refill: midnight("2026-12-01")}, u)
		f.clock.until("2026-12-31T12:00:00Z")
		u, err = f.AccountUsage(f.ctx, f.account)
		require.NoError(t, err)
		require.Equal(t, AccountUsage{Limit: 20, Rate: 7, Refill: midnight("2027-01-01")}, u)
		_, err = f.AccountUsage(f.ctx, 4711)
		require.ErrorIs(t, err, ErrNoAccount)
	})
}

// Each change of an account and its keys is in the audit log once, with who made
// it, and one that changes nothing is not.
func TestChangesAreAudited(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		f := newFixture(t, url, unlimitedTerms)
		owner, operator := WithActor(f.ctx, Owner), WithActor(f.ctx, Operator)
		_, k, err := f.CreateKey(owner, f.account, "laptop", KeyTerms{})
		require.NoError(t, err)
		name := "phone"
		for range 2 {
			require.NoError(t, f.ChangeKey(owner, f.account, k.ID, KeyChange{Name: &name}))
			require.NoError(t, f.ChangeKey(owner, f.account, k.ID, KeyChange{Terms: &KeyTerms{Budget: limit(5)}}))
		}
		_, _, err = f.RotateKey(owner, f.account, k.ID, 0)
		require.NoError(t, err)
		for range 2 {
			require.NoError(t, f.RevokeKey(owner, f.account, k.ID))
		}
		for range 2 {
			require.NoError(t, f.SuspendAccount(operator, f.account))
		}
		for range 2 {
			require.NoError(t, f.ResumeAccount(operator, f.account))
		}
		for range 2 {
			require.NoError(t, f.ChangeTerms(operator, f.account, Terms{Plan: "pro", Points: limit(7), Overage: yes()}))
		}
		_, _, err = f.DashboardSecret(f.ctx, f.account)
		require.NoError(t, err)

		log, err := f.AuditLog(f.ctx, f.account, 0, 100)
		require.NoError(t, err)
		var lines []string
		for _, line := range log {
			lines = append(lines, string(line.Actor)+" "+line.Action+" "+line.Subject)
			require.Equal(t, f.clock.Now(), line.At)
		}
		require.Equal(t, []string{
			"operator account.change plan pro, points 7, overage",
			"operator account.resume ", "operator account.suspend ",
			"owner key.revoke 2 phone", "owner key.rotate 2 phone", "owner key.change 2 phone", "owner key.rename 2 phone (was laptop)",
			"owner key.create 2 laptop",
			"shell key.create 1 test", "shell account.create plan free, rate unlimited, points unlimited",
		}, lines)
		page, err := f.AuditLog(f.ctx, f.account, log[1].ID, 1)
		require.NoError(t, err)
		require.Equal(t, log[2:3], page, "the next page")
	})
}

// The owner of a suspended account can revoke keys, and neither change nor delete the
// account; its email is not free. Operators can.
func TestSuspendedOwnerChangesNothing(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		f := newFixture(t, url, unlimitedTerms)
		owner, operator := WithActor(f.ctx, Owner), WithActor(f.ctx, Operator)
		_, leaked, err := f.CreateKey(owner, f.account, "leaked", KeyTerms{})
		require.NoError(t, err)
		require.NoError(t, f.SuspendAccount(operator, f.account))
		name := "renamed"
		for what, change := range map[string]func(context.Context) error{
			"create": func(ctx context.Context) error {
				_, _, err := f.CreateKey(ctx, f.account, "late", KeyTerms{})
				return err
			},
			"rename": func(ctx context.Context) error {
				return f.ChangeKey(ctx, f.account, f.key.ID, KeyChange{Name: &name})
			},
			"rotate": func(ctx context.Context) error {
				_, _, err := f.RotateKey(ctx, f.account, f.key.ID, 0)
				return err
			},
		} {
			require.ErrorIs(t, change(owner), ErrSuspended, what)
			require.NoError(t, change(operator), what)
		}
		require.ErrorIs(t, f.DeleteAccount(owner, f.account), ErrSuspended)
		require.NoError(t, f.RevokeKey(owner, f.account, leaked.ID))
		_, err = f.CreateAccount(f.ctx, "Owner@Example.com", Terms{})
		require.ErrorIs(t, err, ErrAccountExists)
	})
}

// An account keeps the newest lines of each action, so that a thief who renames a key often
// removes no trace of anything else. Another account's lines remain.
func TestAuditLogIsBounded(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		f := newFixture(t, url, unlimitedTerms)
		other := f.otherAccount("other@example.com")
		require.NoError(t, f.RevokeKey(f.ctx, f.account, f.key.ID))
		_, k, err := f.CreateKey(f.ctx, f.account, "stolen", KeyTerms{})
		require.NoError(t, err)
		f.exec(fmt.Sprintf(`INSERT INTO audit (account, at_ns, actor, action, subject)
			WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
			SELECT %d, 1, 'owner', 'key.rename', '' FROM n`, f.account))
		for n := range 5 {
			name := fmt.Sprint("name ", n)
			require.NoError(t, f.ChangeKey(f.ctx, f.account, k.ID, KeyChange{Name: &name}))
		}
		log, err := f.AuditLog(f.ctx, f.account, 0, 2000)
		require.NoError(t, err)
		require.Equal(t, fmt.Sprint(k.ID, " name 4 (was name 3)"), log[0].Subject)
		count := map[string]int{}
		for _, line := range log {
			count[line.Action]++
		}
		require.Equal(t, map[string]int{"key.rename": maxAudit, "key.revoke": 1, "key.create": 2, "account.create": 1}, count)
		log, err = f.AuditLog(f.ctx, other.account, 0, 10)
		require.NoError(t, err)
		require.Len(t, log, 2)
	})
}

// otherAccount returns a fixture for another account on the same ledger.
func (f *fixture) otherAccount(email string) *fixture {
	f.Helper()
	other := *f
	a, err := f.CreateAccount(f.ctx, email, unlimitedTerms)
	require.NoError(f, err)
	other.account = a.ID
	other.secret, other.key, err = f.CreateKey(f.ctx, a.ID, "test", KeyTerms{})
	require.NoError(f, err)
	return &other
}

// isStall reports whether a request failed because the machine was too busy to commit
// in time.
func isStall(err error) bool { return errors.Is(err, ErrUnavailable) || errors.Is(err, ErrUndecided) }

const (
	blocking = `{"block": {"reasons": ["disposable"]}}`
	allowing = `{"allow": {"domains": ["*.example"]}}`
)

// mustPolicy sets a policy of the fixture's account.
func (f *fixture) mustPolicy(name, document string) Policy {
	f.Helper()
	p, err := f.SetPolicy(f.ctx, f.account, name, document)
	require.NoError(f, err)
	return p
}

func TestPoliciesAreKeptAndVersioned(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		f := newFixture(t, url, Terms{})
		first := f.mustPolicy("sign-up", blocking)
		require.Equal(t, Policy{Account: f.account, Name: "sign-up", Document: blocking, Size: int64(len(blocking)), Version: 1, Changed: f.clock.Now().UTC()}, first)
		other := f.mustPolicy("a_1", `{"allow": {"domains": ["bücher.example"]}}`)
		require.Greater(t, other.Version, first.Version)
		f.clock.advance(time.Hour)
		require.Equal(t, first, f.mustPolicy("sign-up", blocking), "the same document changes nothing")
		second := f.mustPolicy("sign-up", allowing)
		require.Greater(t, second.Version, other.Version)
		require.Equal(t, f.clock.Now().UTC(), second.Changed)

		list, err := f.Policies(f.ctx, f.account)
		require.NoError(t, err)
		other.Document, second.Document = "", ""
		require.EqualValues(t, 43, other.Size, "in bytes, not characters")
		require.Equal(t, []Policy{other, second}, list)

		require.NoError(t, f.DeletePolicy(f.ctx, f.account, "sign-up"))
		require.ErrorIs(t, f.DeletePolicy(f.ctx, f.account, "sign-up"), ErrNoPolicy)
		_, err = f.Policy(f.ctx, f.account, "sign-up")
		require.ErrorIs(t, err, ErrNoPolicy)
		require.Greater(t, f.mustPolicy("sign-up", blocking).Version, second.Version, "a version is never used again")

		lines, err := f.AuditLog(f.ctx, f.account, math.MaxInt64, MaxPage)
		require.NoError(t, err)
		var actions []string
		for _, line := range lines {
			if strings.HasPrefix(line.Action, "policy.") {
				actions = append(actions, line.Action+" "+line.Subject)
			}
		}
		require.Equal(t, []string{"policy.set sign-up", "policy.delete sign-up", "policy.set sign-up", "policy.set a_1", "policy.set sign-up"}, actions)
	})
}

// Who edits a version that another one has replaced meanwhile does not replace that.
func TestPolicyIsReplacedFromItsVersion(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		f := newFixture(t, url, Terms{})
		_, err := f.ReplacePolicy(f.ctx, f.account, "sign-up", blocking, 1)
		require.ErrorIs(t, err, ErrPolicyChanged, "there is none")
		first, err := f.ReplacePolicy(f.ctx, f.account, "sign-up", blocking, 0)
		require.NoError(t, err)
		_, err = f.ReplacePolicy(f.ctx, f.account, "sign-up", allowing, 0)
		require.ErrorIs(t, err, ErrPolicyChanged, "there is one")
		second, err := f.ReplacePolicy(f.ctx, f.account, "sign-up", allowing, first.Version)
		require.NoError(t, err)
		require.Greater(t, second.Version, first.Version)
		_, err = f.ReplacePolicy(f.ctx, f.account, "sign-up", `{}`, first.Version)
		require.ErrorIs(t, err, ErrPolicyChanged)
		again, err := f.ReplacePolicy(f.ctx, f.account, "sign-up", allowing, first.Version)
		require.NoError(t, err, "the document is there already, as after a double click")
		require.Equal(t, second, again)
	})
}

func TestPoliciesHaveBounds(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		f := newFixture(t, url, Terms{})
		for _, name := range []string{"", "A", "ä", "a b", "a/b", "a\x00", "../a", "a'; DROP TABLE policies; --", strings.Repeat("a", 65), "a\n"} {
			_, err := f.SetPolicy(f.ctx, f.account, name, blocking)
			require.ErrorIs(t, err, errPolicyName, "%q", name)
			_, err = f.Policy(f.ctx, f.account, name)
			require.Error(t, err, "%q", name)
		}
		for _, document := range []string{"", "{\x00}", "{\xff}"} {
			_, err := f.SetPolicy(f.ctx, f.account, "odd", document)
			require.ErrorIs(t, err, errDocument, "%q", document)
		}
		_, err := f.SetPolicy(f.ctx, 4711, "a", blocking)
		require.ErrorIs(t, err, ErrNoAccount)

		for n := range MaxPolicies {
			f.mustPolicy(fmt.Sprint("policy-", n), blocking)
		}
		_, err = f.SetPolicy(f.ctx, f.account, "another", blocking)
		require.ErrorIs(t, err, ErrTooManyPolicies)
		f.mustPolicy("policy-7", allowing)

		long := strings.Repeat(" ", MaxPolicyStorage-(MaxPolicies-1)*len(blocking))
		f.mustPolicy("policy-7", long)
		_, err = f.SetPolicy(f.ctx, f.account, "policy-7", long+" ")
		require.ErrorIs(t, err, ErrPolicyStorage)
	})
}

func TestAPolicyThatAKeyUsesRemains(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		f := newFixture(t, url, Terms{})
		for _, name := range []string{"missing", "Odd name", strings.Repeat("a", 65)} {
			_, _, err := f.CreateKey(f.ctx, f.account, "shop", KeyTerms{Policy: name})
			wrong, ok := errors.AsType[*FieldError](err)
			require.True(t, ok, "%v", err)
			require.Equal(t, "policy", wrong.Field)
			err = f.ChangeKey(f.ctx, f.account, f.key.ID, KeyChange{Terms: &KeyTerms{Policy: name}})
			require.IsType(t, &FieldError{}, err)
		}
		f.mustPolicy("sign-up", blocking)
		_, key, err := f.CreateKey(f.ctx, f.account, "shop", KeyTerms{Policy: "sign-up"})
		require.NoError(t, err)
		stored, err := f.Key(f.ctx, f.account, key.ID)
		require.NoError(t, err)
		require.Equal(t, "sign-up", stored.Policy)
		require.NoError(t, f.ChangeKey(f.ctx, f.account, f.key.ID, KeyChange{Terms: &KeyTerms{Policy: "sign-up"}}))

		err = f.DeletePolicy(f.ctx, f.account, "sign-up")
		require.ErrorIs(t, err, ErrPolicyInUse)
		require.ErrorContains(t, err, fmt.Sprintf("key %d:", f.key.ID))
		require.NoError(t, f.ChangeKey(f.ctx, f.account, f.key.ID, KeyChange{Terms: &KeyTerms{}}))
		require.ErrorIs(t, f.DeletePolicy(f.ctx, f.account, "sign-up"), ErrPolicyInUse)
		require.NoError(t, f.RevokeKey(f.ctx, f.account, key.ID), "a revoked key needs none")
		require.NoError(t, f.DeletePolicy(f.ctx, f.account, "sign-up"))
	})
}

func TestTheOwnerOfASuspendedAccountCannotChangePolicies(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		f := newFixture(t, url, Terms{})
		f.mustPolicy("sign-up", blocking)
		require.NoError(t, f.SuspendAccount(f.ctx, f.account))
		owner := WithActor(f.ctx, Owner)
		_, err := f.SetPolicy(owner, f.account, "sign-up", allowing)
		require.ErrorIs(t, err, ErrSuspended)
		require.ErrorIs(t, f.DeletePolicy(owner, f.account, "sign-up"), ErrSuspended)
		p, err := f.Policy(f.ctx, f.account, "sign-up")
		require.NoError(t, err)
		require.Equal(t, blocking, p.Document)
		f.mustPolicy("sign-up", allowing) // the operator may
	})
}
