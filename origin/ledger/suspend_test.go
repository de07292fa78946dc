package ledger

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/pgtest"
)

// A suspension by another replica refuses the next request and the charge of one
// under way. After it the keys are good again.
func TestSuspendAndResume(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		f, list := newReplicas(t, url, unlimitedTerms, 2)
		other := list[1]
		require.Equal(t, Good, f.retryable(1, 1).Verdict)
		under := f.mustBegin()
		require.NoError(t, other.SuspendAccount(f.ctx, f.account))
		suspended := f.clock.Now()
		require.Equal(t, UnknownKey, f.retryable(1, 1).Verdict, "a replay")
		require.Equal(t, UnknownKey, f.request(1).Verdict)
		require.Equal(t, UnknownKey, f.finish(under, 1).Verdict)
		f.clock.advance(maxRefuse + 1)
		require.NoError(t, other.SuspendAccount(f.ctx, f.account), "again")
		a, err := f.Account(f.ctx, f.account)
		require.NoError(t, err)
		require.Equal(t, suspended, a.Suspended)

		require.NoError(t, other.ResumeAccount(f.ctx, f.account))
		require.NoError(t, other.ResumeAccount(f.ctx, f.account), "again")
		f.clock.advance(maxRefuse + 1)
		require.Equal(t, Good, f.request(1).Verdict)
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
		require.Equal(t, Good, f.request(3).Verdict)
		under := f.mustBegin()
		require.Equal(t, 1, f.UnderWay(f.account))
		require.Zero(t, f.UnderWay(4711))
		under.End()
		require.Zero(t, f.UnderWay(f.account))
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
		require.NoError(t, f.ChangeTerms(operator, f.account, Terms{Plan: "pro", Points: limit(7), Overage: yes()}))
		_, err = f.ResetAccount(f.ctx, f.account)
		require.NoError(t, err)
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
			"shell account.reset 2026-11",
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

// An account keeps its newest lines of the audit log; another account's lines remain.
func TestAuditLogIsBounded(t *testing.T) {
	f := newFixture(t, "sqlite:"+t.TempDir()+"/x.db", unlimitedTerms)
	other := f.otherAccount("other@example.com")
	f.exec(fmt.Sprintf(`INSERT INTO audit (account, at_ns, actor, action, subject)
		WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
		SELECT %d, 1, 'shell', 'key.create', '' FROM n`, maxAudit, f.account))
	for n := range 5 {
		name := fmt.Sprint("name ", n)
		require.NoError(t, f.ChangeKey(f.ctx, f.account, f.key.ID, KeyChange{Name: &name}))
	}
	log, err := f.AuditLog(f.ctx, f.account, 0, 2*maxAudit)
	require.NoError(t, err)
	require.Len(t, log, maxAudit)
	require.Equal(t, "1 name 4 (was name 3)", log[0].Subject)
	log, err = f.AuditLog(f.ctx, other.account, 0, 10)
	require.NoError(t, err)
	require.Len(t, log, 2)
}
