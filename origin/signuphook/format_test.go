package signuphook

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A body that two readers could read differently, or that is not of the format, is
// refused.
func TestReadRefuses(t *testing.T) {
	generic, supabase, mailer := testHook(t, nil), testHook(t, map[string]any{"format": "supabase"}), testHook(t, map[string]any{"format": "supabase-mailer"})
	for _, body := range []string{"", " ", "null", "[]", `"x"`, "{", `{"email":"a@example.org"}x`, "\xef\xbb\xbf" + `{"email":"a@example.org"}`,
		`{}`, `{"email":null}`, `{"email":5}`, `{"email":["a@example.org"]}`, `{"email":"a@example.org","email":"b@example.org"}`,
		`{"email":"a@example.org","x":{"y":1,"y":2}}`, `{"email":"a@example.org","\u0065mail":"b@example.org"}`,
		`{"email":"` + "\xff" + `@example.org"}`, `{"email":"\ud800@example.org"}`,
		strings.Repeat(`{"x":`, 20_000)} {
		for _, h := range []*Hook{generic, mailer} {
			_, wrong := h.Read([]byte(body), "msg_1")
			require.NotEmpty(t, wrong, "%.100s", body)
			require.NotContains(t, wrong, "b@example")
		}
	}
	_, wrong := generic.Read([]byte(`{"email":"a@example.org","language":5}`), "msg_1")
	require.NotEmpty(t, wrong)
	for _, body := range []string{`{"user":{"email":"a@example.org"}}`, `{"metadata":{"name":"before-user-created"}}`,
		`{"metadata":{"name":"send-email"},"user":{"email":"a@example.org"}}`, `{"email":"a@example.org"}`,
		`{"metadata":{"name":"before-user-created"},"user":null}`,
		`{"metadata":{"name":"before-user-created"},"user":{"email":"a@example.org","email":"b@example.org"}}`} {
		_, wrong := supabase.Read([]byte(body), "msg_1")
		require.NotEmpty(t, wrong, body)
	}
}

// Names of members are compared exactly: encoding/json would take EMAIL as well. A sign-up of
// Supabase is identified by metadata.uuid if that can be an ID.
func TestRead(t *testing.T) {
	const uuid = "8b34dcdd-9df1-4c10-850a-b3277c653040"
	ofSupabase := func(uuid string) string {
		return `{"metadata":{"name":"before-user-created","uuid":"` + uuid + `"},"user":{"email":"jane@example.org"}}`
	}
	for _, c := range [][3]string{
		{"generic", ` {"EMAIL":"b@example.org","email":"jane@example.org","more":{"email":"c@example.org"}}`, "msg_1"},
		{"supabase", ofSupabase(uuid), uuid},
		{"supabase", ofSupabase(""), "msg_1"},
		{"supabase", ofSupabase("a b"), "msg_1"},
		{"supabase", ofSupabase("a.1"), "msg_1"},
	} {
		got, wrong := testHook(t, map[string]any{"format": c[0]}).Read([]byte(c[1]), "msg_1")
		require.Empty(t, wrong)
		require.Equal(t, Call{ID: c[2], Email: "jane@example.org"}, got)
	}
}

// Supabase gets an error for a denial, and an empty object for all else. Its mailer gets whether to send.
// no_email decides about a user without an address, and each decision by on_error is marked.
func TestResponses(t *testing.T) {
	verdict := func(d Decision) func(*Hook) Verdict {
		return func(*Hook) Verdict { return Verdict{decision: d, reason: "disposable"} }
	}
	type own = map[string]any
	for _, c := range []struct {
		own     own
		verdict func(*Hook) Verdict
		want    string
	}{
		{own{"format": "supabase"}, verdict(Allow), `{}`},
		{own{"format": "supabase"}, verdict(Review), `{}`},
		{own{"format": "supabase"}, verdict(Deny),
			`{"error":{"http_code":403,"message":"Please use a permanent email address."}}`},
		{own{"format": "supabase-mailer"}, verdict(Allow), `{"valid":true}`},
		{own{"format": "supabase-mailer"}, verdict(Review), `{"valid":true}`},
		{own{"format": "supabase-mailer"}, verdict(Deny), `{"valid":false}`},
		{own{"on_error": "allow"}, (*Hook).UncheckedVerdict,
			`{"decision":"allow","reasons":[],"flags":["unchecked"],"message":null,"suggestion":null,"canonical":null}`},
		{own{"on_error": "deny"}, (*Hook).UncheckedVerdict, `{"decision":"deny","reasons":["unchecked"],"flags":[],` +
			`"message":"Your email address could not be checked. Please try again shortly.","suggestion":null,"canonical":null}`},
		{nil, (*Hook).NoEmailVerdict, `{"decision":"allow","reasons":[],"flags":[],"message":null,"suggestion":null,"canonical":null}`},
		{own{"no_email": "allow"}, (*Hook).NoEmailVerdict,
			`{"decision":"allow","reasons":[],"flags":[],"message":null,"suggestion":null,"canonical":null}`},
		{own{"no_email": "review"}, (*Hook).NoEmailVerdict,
			`{"decision":"allow","reasons":[],"flags":["no_email"],"message":null,"suggestion":null,"canonical":null}`},
		{own{"no_email": "deny"}, (*Hook).NoEmailVerdict, `{"decision":"deny","reasons":["no_email"],"flags":[],` +
			`"message":"Please sign up with an email address.","suggestion":null,"canonical":null}`},
	} {
		h := testHook(t, c.own)
		require.JSONEq(t, c.want, string(h.Response(c.verdict(h), Call{})))
	}
}

// The message is in the language that fits best, else in the hook's, else in English.
func TestMessages(t *testing.T) {
	h := testHook(t, map[string]any{"language": "fr", "messages": map[string]any{
		"de": map[string]string{"disposable": "de"}, "pt-BR": map[string]string{"disposable": "pt"}, "fr": map[string]string{"disposable": "fr", "typo": "fr typo"}}})
	v := Verdict{decision: Deny, reason: "disposable"}
	for asked, want := range map[string]string{"": "fr", "de": "de", "de-AT,de;q=0.9": "de", "pt": "pt", "ja": "fr", "ja, de;q=0.5": "de",
		"\x00": "fr", "en-": "fr", strings.Repeat("de,", 1000): "fr", "*": "fr"} {
		require.Equal(t, want, h.messages.message(&v, asked), asked)
	}
	require.Equal(t, "fr typo", h.messages.message(&Verdict{decision: Deny, reason: "typo"}, "de"))
	require.Equal(t, defaultMessages["no_mx"], h.messages.message(&Verdict{decision: Deny, reason: "no_mx"}, "de"))
	require.Equal(t, defaultMessages[Domain], h.messages.message(&Verdict{decision: Deny, reason: "of a later module"}, "de"), "Supabase ignores an error without a message")
	require.Empty(t, h.messages.message(&Verdict{decision: Review, reason: "no_mx"}, "de"))
}

// No body makes a format panic, and each that is accepted is an object whose address
// encoding/json reads too.
func FuzzRead(f *testing.F) {
	generic, supabase, mailer := testHook(f, nil), testHook(f, map[string]any{"format": "supabase"}), testHook(f, map[string]any{"format": "supabase-mailer"})
	for _, body := range []string{`{"email":"jane@example.org","language":"de"}`, `{"email":"a","email":"b"}`, `{"email":"\ud83d\ude00@example.org"}`,
		`{"metadata":{"uuid":"8b34","name":"before-user-created"},"user":{"email":"jane@example.org","user_metadata":{"locale":"de"}}}`} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, h := range []*Hook{generic, supabase, mailer} {
			c, wrong := h.Read(body, "msg_1")
			if wrong != "" {
				continue
			}
			require.True(t, json.Valid(body))
			require.Regexp(t, `^[A-Za-z0-9_-]{1,128}$`, c.ID)
			require.True(t, json.Valid(h.Response(h.UncheckedVerdict(), c)))
		}
	})
}
