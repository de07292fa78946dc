package book

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// Each change of an account and its keys is in the audit log once, with who made
// it, and one that changes nothing is not.
func TestChangesAreAudited(t *testing.T) {
	eachDatabase(t, unlimitedTerms, func(t *testing.T, f *fixture) {
		owner, operator := WithActor(f.ctx, Owner), WithActor(f.ctx, Operator)
		_, k := must2(f.CreateKey(owner, f.account, "laptop", KeyTerms{}))(t)
		name := "phone"
		for range 2 {
			require.NoError(t, f.ChangeKey(owner, f.account, k.ID, KeyChange{Name: &name}))
			require.NoError(t, f.ChangeKey(owner, f.account, k.ID, KeyChange{Terms: &KeyTerms{Budget: limit(5)}}))
		}
		must2(f.RotateKey(owner, f.account, k.ID, 0))(t)
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
			require.NoError(t, f.ChangeTerms(operator, f.account, Terms{Plan: "pro", Points: limit(7), Overage: new(true)}))
		}
		err := f.CreateDashboardKey(f.ctx, f.account)
		require.NoError(t, err)

		log := must(f.AuditLog(f.ctx, f.account, 0, 100))(t)
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
		require.Equal(t, log[2:3], must(f.AuditLog(f.ctx, f.account, log[1].ID, 1))(t), "the next page")
	})
}

// An account keeps the newest lines of each action, so that a thief who renames a key often
// removes no trace of anything else. Another account's lines remain.
func TestAuditLogIsBounded(t *testing.T) {
	eachDatabase(t, unlimitedTerms, func(t *testing.T, f *fixture) {
		other := must(f.CreateAccount(f.ctx, "other@example.com", Terms{}))(t)
		require.NoError(t, f.RevokeKey(f.ctx, f.account, f.key.ID))
		_, k := must2(f.CreateKey(f.ctx, f.account, "stolen", KeyTerms{}))(t)
		f.exec(fmt.Sprintf(`INSERT INTO audit (account, at_ns, actor, action, subject)
			WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
			SELECT %d, 1, 'owner', 'key.rename', '' FROM n`, f.account))
		for n := range 5 {
			name := fmt.Sprint("name ", n)
			require.NoError(t, f.ChangeKey(f.ctx, f.account, k.ID, KeyChange{Name: &name}))
		}
		log := must(f.AuditLog(f.ctx, f.account, 0, 2000))(t)
		require.Equal(t, fmt.Sprint(k.ID, " name 4 (was name 3)"), log[0].Subject)
		count := map[string]int{}
		for _, line := range log {
			count[line.Action]++
		}
		require.Equal(t, map[string]int{"key.rename": maxAudit, "key.revoke": 1, "key.create": 2, "account.create": 1}, count)
		require.Len(t, must(f.AuditLog(f.ctx, other.ID, 0, 10))(t), 1)
	})
}
