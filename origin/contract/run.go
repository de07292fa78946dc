package contract

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/contract/description"
	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/ledger/ledgertest"
)

// Run runs every case against the service at hostPort, whose accounts are in l.
// Every answer must be as openapi.json describes it; survey records what was seen.
func Run(t *testing.T, hostPort string, l *ledger.Ledger, survey *description.Survey) {
	RunCases(t, Cases(t), hostPort, l, survey)
}

// RunCases is [Run] for some of the cases. added are names of headers that a proxy
// in front of the service adds, and that openapi.json does not describe.
func RunCases(t *testing.T, cases []Case, hostPort string, l *ledger.Ledger, survey *description.Survey, added ...string) {
	for n, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			account, key := c.open(t, l, n)
			answers := make([]description.Answer, len(c.Steps))
			for n, step := range c.Steps {
				answers[n] = step.run(t, fmt.Sprintf("step %d", n+1), hostPort, key)
			}
			for _, name := range added {
				for n := range answers {
					answers[n].Header.Del(name)
				}
			}
			for n := range answers { // not between the steps, of which some must follow within a second
				require.NoError(t, survey.Check(answers[n]), "step %d: body %s", n+1, excerpt(answers[n].Body))
			}
			used, err := l.AccountByEmail(context.Background(), account)
			require.NoError(t, err)
			require.Equal(t, c.Used, used.Used, "points used at the end")
		})
	}
}

// open creates the case's account and key.
func (c *Case) open(t *testing.T, l *ledger.Ledger, n int) (account, key string) {
	terms := ledger.Terms{Rate: ledgertest.Unlimited(), Points: ledgertest.Unlimited(), Overage: c.Account.Overage}
	if c.Account.Rate != nil {
		terms.Rate = c.Account.Rate
	}
	if c.Account.Points != nil {
		terms.Points = c.Account.Points
	}
	account = fmt.Sprintf("case-%d-%d@contract.test", n, time.Now().UnixNano())
	key, id := ledgertest.NewAccountOn(t, l, account, terms)
	ctx := context.Background()
	keys, err := l.ListKeys(ctx, id, ledger.KeyPage{})
	require.NoError(t, err)
	if c.Origins != nil {
		require.NoError(t, l.ChangeKey(ctx, id, keys[0].ID, ledger.KeyChange{Terms: &ledger.KeyTerms{Origins: c.Origins}}))
	}
	if c.Revoked {
		require.NoError(t, l.RevokeKey(ctx, id, keys[0].ID))
	}
	return account, key
}

func (s *Step) run(t *testing.T, name, hostPort, key string) description.Answer {
	status, headers, body := s.Request.send(t, hostPort, key)
	require.Equal(t, s.Answer.Status, status, "%s: status, with body %s", name, excerpt(body))
	s.Answer.checkHeaders(t, name, headers)
	if s.Answer.Body != nil {
		require.NoError(t, match(s.Answer.Body, body), "%s: body %s", name, excerpt(body))
	}
	return description.Answer{Method: s.Request.method(), Target: s.Request.Target, Status: status, Header: headers, Body: body}
}

// excerpt shortens a body for the message of a failure.
func excerpt(body []byte) string {
	const most = 600
	if len(body) <= most {
		return string(body)
	}
	return string(body[:most]) + "..."
}

func decodeStrict(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	return d.Decode(into)
}
