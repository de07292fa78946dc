package book

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	blocking = `{"block": {"reasons": ["disposable"]}}`
	allowing = `{"allow": {"domains": ["*.example"]}}`
)

// mustPolicy sets a policy of the fixture's account.
func (f *fixture) mustPolicy(name, document string) Policy {
	f.Helper()
	return must(f.SetPolicy(f.ctx, f.account, name, document))(f)
}

func TestPoliciesAreKeptAndVersioned(t *testing.T) {
	eachDatabase(t, Terms{}, func(t *testing.T, f *fixture) {
		first := f.mustPolicy("sign-up", blocking)
		require.Equal(t, Policy{Account: f.account, Name: "sign-up", Document: blocking, Size: int64(len(blocking)), Version: 1, Changed: f.clock.Now().UTC()}, first)
		other := f.mustPolicy("a_1", `{"allow": {"domains": ["bücher.example"]}}`)
		require.Greater(t, other.Version, first.Version)
		f.clock.advance(time.Hour)
		require.Equal(t, first, f.mustPolicy("sign-up", blocking), "the same document changes nothing")
		second := f.mustPolicy("sign-up", allowing)
		require.Greater(t, second.Version, other.Version)
		require.Equal(t, f.clock.Now().UTC(), second.Changed)

		list := must(f.Policies(f.ctx, f.account))(t)
		other.Document, second.Document = "", ""
		require.EqualValues(t, 43, other.Size, "in bytes, not characters")
		require.Equal(t, []Policy{other, second}, list)

		require.NoError(t, f.DeletePolicy(f.ctx, f.account, "sign-up"))
		require.ErrorIs(t, f.DeletePolicy(f.ctx, f.account, "sign-up"), ErrNoPolicy)
		_, err := f.Policy(f.ctx, f.account, "sign-up")
		require.ErrorIs(t, err, ErrNoPolicy)
		require.Greater(t, f.mustPolicy("sign-up", blocking).Version, second.Version, "a version is never used again")

		lines := must(f.AuditLog(f.ctx, f.account, math.MaxInt64, MaxPage))(t)
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
	eachDatabase(t, Terms{}, func(t *testing.T, f *fixture) {
		_, err := f.ReplacePolicy(f.ctx, f.account, "sign-up", blocking, 1)
		require.ErrorIs(t, err, ErrPolicyChanged, "there is none")
		first := must(f.ReplacePolicy(f.ctx, f.account, "sign-up", blocking, 0))(t)
		_, err = f.ReplacePolicy(f.ctx, f.account, "sign-up", allowing, 0)
		require.ErrorIs(t, err, ErrPolicyChanged, "there is one")
		second := must(f.ReplacePolicy(f.ctx, f.account, "sign-up", allowing, first.Version))(t)
		require.Greater(t, second.Version, first.Version)
		_, err = f.ReplacePolicy(f.ctx, f.account, "sign-up", `{}`, first.Version)
		require.ErrorIs(t, err, ErrPolicyChanged)
		again, err := f.ReplacePolicy(f.ctx, f.account, "sign-up", allowing, first.Version)
		require.NoError(t, err, "the document is there already, as after a double click")
		require.Equal(t, second, again)
	})
}

func TestPoliciesHaveBounds(t *testing.T) {
	eachDatabase(t, Terms{}, func(t *testing.T, f *fixture) {
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
	eachDatabase(t, Terms{}, func(t *testing.T, f *fixture) {
		f.mustPolicy("sign-up", blocking)
		_, key := must2(f.CreateKey(f.ctx, f.account, "shop", KeyTerms{Policy: "sign-up"}))(t)
		require.Equal(t, "sign-up", must(f.Key(f.ctx, f.account, key.ID))(t).Policy)
		require.NoError(t, f.ChangeKey(f.ctx, f.account, f.key.ID, KeyChange{Terms: &KeyTerms{Policy: "sign-up"}}))

		err := f.DeletePolicy(f.ctx, f.account, "sign-up")
		require.ErrorIs(t, err, ErrPolicyInUse)
		require.ErrorContains(t, err, fmt.Sprintf("key %d:", f.key.ID))
		require.NoError(t, f.ChangeKey(f.ctx, f.account, f.key.ID, KeyChange{Terms: &KeyTerms{}}))
		require.ErrorIs(t, f.DeletePolicy(f.ctx, f.account, "sign-up"), ErrPolicyInUse)
		require.NoError(t, f.RevokeKey(f.ctx, f.account, key.ID), "a revoked key needs none")
		require.NoError(t, f.DeletePolicy(f.ctx, f.account, "sign-up"))
	})
}
