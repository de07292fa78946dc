package result

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/wasm/host"
	"github.com/addrspec/addrspec/wasm/vectors"
)

// A policy decides about a result as about the facts that it was made of.
func TestSubject(t *testing.T) {
	engine := newEngine(t)
	cases, err := vectors.ReadPolicies("../vectors")
	require.NoError(t, err)
	decided := 0
	for _, c := range cases {
		if c.Error != "" {
			continue
		}
		decided++
		facts, err := engine.Check(t.Context(), nil, c.Email, host.Details)
		require.NoError(t, err)
		r, err := Parse(facts.JSON)
		require.NoError(t, err)
		r.Disposable = r.Disposable || c.Disposable
		if c.MX != nil {
			r.MX, r.MXNull = *c.MX, false
		}
		if c.Address != nil {
			r.Details.Exchange = &Exchange{AddressRecord: c.Address}
		}
		policy, err := engine.NewPolicy(t.Context(), c.Document)
		require.NoError(t, err)
		s := r.Subject(facts.Host)
		s.Exchanges = strings.Join(c.Exchanges, " ") // a result does not name them all
		verdict, err := engine.View().Verdict(t.Context(), nil, policy, s)
		require.NoError(t, err)
		require.Equal(t, string(c.Verdict), string(verdict), "%s %s", c.Document, c.Email)
	}
	require.Greater(t, decided, 50)
}

// What no module of ours reports is a verdict too.
func TestSubjectOfAForeignResult(t *testing.T) {
	engine := newEngine(t)
	policy, err := engine.NewPolicy(t.Context(), `{"block":{"reasons":["no_mail"]},"review":{"reasons":["gibberish>=0.9","role:hr","quoted"]}}`)
	require.NoError(t, err)
	for text, want := range map[string]string{
		`{"valid":true,"mx":false}`: `"allow"`,
		`{"valid":true,"mx":false,"details":{"exchange":{"address_record":false}}}`: `"block"`,
		`{"valid":true,"mx":false,"details":{"exchange":{"address_record":true}}}`:  `"allow"`,
		`{"valid":true,"mx":false,"details":{"exchange":{"address_record":null}}}`:  `"allow"`,
		`{"valid":true,"mx":true,"details":{"exchange":{"address_record":false}}}`:  `"allow"`,
		`{"valid":true,"mx":true,"details":{"form":["later","quoted","quoted"]}}`:   `"review"`,
		`{"valid":true,"mx":true,"role":"HR"}`:                                      `"review"`,
		`{"valid":true,"mx":true,"role":"Later","gibberish_score":-1e300}`:          `"allow"`,
		`{"valid":true,"mx":true,"gibberish_score":1e300}`:                          `"review"`,
	} {
		r, err := Parse([]byte(text))
		require.NoError(t, err)
		verdict, err := engine.View().Verdict(t.Context(), nil, policy, r.Subject("mail.example"))
		require.NoError(t, err)
		require.True(t, json.Valid(verdict))
		require.True(t, strings.HasPrefix(string(verdict), `{"action":`+want), "%s: %s", text, verdict)
	}
}
