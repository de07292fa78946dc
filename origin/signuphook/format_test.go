package signuphook

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/wasm/result"
)

// A body that two readers could read differently, or that is not of the format, is
// refused.
func TestReadRefuses(t *testing.T) {
	generic, supabase := testHook(t, nil), testHook(t, map[string]any{"format": "supabase"})
	for _, body := range []string{"", " ", "null", "[]", `"x"`, "{", `{"email":"a@example.org"}x`, "\xef\xbb\xbf" + `{"email":"a@example.org"}`,
		`{}`, `{"email":null}`, `{"email":5}`, `{"email":["a@example.org"]}`, `{"email":"a@example.org","email":"b@example.org"}`,
		`{"email":"a@example.org","x":{"y":1,"y":2}}`, `{"email":"a@example.org","\u0065mail":"b@example.org"}`,
		`{"email":"` + "\xff" + `@example.org"}`, `{"email":"\ud800@example.org"}`, `{"email":"a@example.org","language":5}`,
		strings.Repeat(`{"x":`, 20_000)} {
		_, wrong := generic.Read([]byte(body), "msg_1")
		require.NotEmpty(t, wrong, "%.100s", body)
		require.NotContains(t, wrong, "b@example")
	}
	for _, body := range []string{`{"user":{"email":"a@example.org"}}`, `{"metadata":{"name":"before-user-created"}}`,
		`{"metadata":{"name":"send-email"},"user":{"email":"a@example.org"}}`, `{"email":"a@example.org"}`,
		`{"metadata":{"name":"before-user-created"},"user":null}`,
		`{"metadata":{"name":"before-user-created"},"user":{"email":"a@example.org","email":"b@example.org"}}`} {
		_, wrong := supabase.Read([]byte(body), "msg_1")
		require.NotEmpty(t, wrong, body)
	}
}

// Names of members are compared exactly: encoding/json would take EMAIL as well.
func TestReadComparesNamesExactly(t *testing.T) {
	c, wrong := testHook(t, nil).Read([]byte(` {"EMAIL":"b@example.org","email":"jane@example.org","more":{"email":"c@example.org"}}`), "msg_1")
	require.Empty(t, wrong)
	require.Equal(t, Call{ID: "msg_1", Email: "jane@example.org"}, c)
}

// A sign-up of Supabase is identified by metadata.uuid if that can be an ID.
func TestSupabaseID(t *testing.T) {
	h := testHook(t, map[string]any{"format": "supabase"})
	for uuid, want := range map[string]string{"8b34dcdd-9df1-4c10-850a-b3277c653040": "8b34dcdd-9df1-4c10-850a-b3277c653040", "": "msg_1", "a b": "msg_1", "a.1": "msg_1"} {
		c, wrong := h.Read([]byte(`{"metadata":{"name":"before-user-created","uuid":"`+uuid+`"},"user":{"email":"jane@example.org"}}`), "msg_1")
		require.Empty(t, wrong)
		require.Equal(t, want, c.ID)
	}
}

// Every reason denies, flags or is ignored as the policy says, in a fixed order.
func TestJudge(t *testing.T) {
	clean := result.Result{Valid: true, MX: true}
	with := func(change func(*result.Result)) *result.Result { r := clean; change(&r); return &r }
	cases := map[Reason]*result.Result{
		Invalid:    {},
		Disposable: with(func(r *result.Result) { r.Disposable = true }),
		NoMX:       with(func(r *result.Result) { r.MX = false }),
		Typo:       with(func(r *result.Result) { r.Typo, r.TypoSuggestion = true, "mail.example" }),
		Gibberish:  with(func(r *result.Result) { r.Gibberish = true }),
		Relay:      with(func(r *result.Result) { r.Relay = true }),
		Role:       with(func(r *result.Result) { r.Role = "Sales" }),
		Public:     with(func(r *result.Result) { r.Public = true }),
		Alias:      with(func(r *result.Result) { r.Alias = true }),
	}
	require.Len(t, cases, len(policyReasons)-1, "all but no_email")
	for reason, r := range cases {
		other := Invalid
		if reason == Invalid {
			other = Relay
		}
		deny, flag := testHook(t, map[string]any{"deny": []Reason{reason}}), testHook(t, map[string]any{"deny": nil, "flag": []Reason{reason}})
		ignore := testHook(t, map[string]any{"deny": []Reason{other}})
		require.Equal(t, []Reason{reason}, deny.Policy.Judge(r).Reasons)
		require.Equal(t, Deny, deny.Policy.Judge(r).Decision)
		require.Equal(t, []Reason{reason}, flag.Policy.Judge(r).Flags)
		require.Equal(t, Allow, flag.Policy.Judge(r).Decision)
		require.Equal(t, Verdict{Decision: Allow}, ignore.Policy.Judge(r), reason)
		require.Equal(t, Verdict{Decision: Allow}, deny.Policy.Judge(&clean))
	}
	all := testHook(t, map[string]any{"deny": []Reason{Alias, Typo}, "flag": []Reason{Role, Disposable}})
	v := all.Policy.Judge(&result.Result{Valid: true, MX: true, Alias: true, Typo: true, TypoSuggestion: "mail.example", Role: "Sales", Disposable: true})
	require.Equal(t, Verdict{Deny, []Reason{Typo, Alias}, []Reason{Disposable, Role}, "mail.example"}, v)
	require.JSONEq(t, `{"decision":"deny","reasons":["typo","alias"],"flags":["disposable","role"],"message":"This email address may be mistyped. Please check its domain.","suggestion":"mail.example"}`,
		string(all.Response(v, Call{})))
	require.Equal(t, Deny, testHook(t, map[string]any{"deny": []Reason{NoEmail}}).Policy.JudgeNoEmail().Decision)
	require.Equal(t, Allow, all.Policy.JudgeNoEmail().Decision)
}

// gibberish_score replaces the model's threshold.
func TestGibberishScore(t *testing.T) {
	h := testHook(t, map[string]any{"deny": []Reason{Gibberish}, "gibberish_score": 0.8})
	for score, want := range map[float64]Decision{0: Allow, 0.8: Allow, 0.81: Deny, 1: Deny} {
		require.Equal(t, want, h.Policy.Judge(&result.Result{Valid: true, GibberishScore: score, Gibberish: score > 0.5}).Decision, score)
	}
}

// The message is in the language that fits best, else in the hook's, else in English.
func TestMessages(t *testing.T) {
	h := testHook(t, map[string]any{"language": "fr", "messages": map[string]any{
		"de": map[string]string{"disposable": "de"}, "pt-BR": map[string]string{"disposable": "pt"}, "fr": map[string]string{"disposable": "fr", "typo": "fr typo"}}})
	v := Verdict{Decision: Deny, Reasons: []Reason{Disposable, Typo}}
	for asked, want := range map[string]string{"": "fr", "de": "de", "de-AT,de;q=0.9": "de", "pt": "pt", "ja": "fr", "ja, de;q=0.5": "de",
		"\x00": "fr", "en-": "fr", strings.Repeat("de,", 1000): "fr", "*": "fr"} {
		require.Equal(t, want, h.messages.message(&v, asked), asked)
	}
	require.Equal(t, "fr typo", h.messages.message(&Verdict{Decision: Deny, Reasons: []Reason{Typo}}, "de"))
	require.Equal(t, defaultMessages[NoMX], h.messages.message(&Verdict{Decision: Deny, Reasons: []Reason{NoMX}}, "de"))
	require.Empty(t, h.messages.message(&Verdict{Decision: Allow}, "de"))
}

// Each decision by on_error is marked.
func TestUncheckedVerdict(t *testing.T) {
	for onError, want := range map[string]string{
		"allow": `{"decision":"allow","reasons":[],"flags":["unchecked"],"message":null,"suggestion":null}`,
		"deny":  `{"decision":"deny","reasons":["unchecked"],"flags":[],"message":"Your email address could not be checked. Please try again shortly.","suggestion":null}`,
	} {
		h := testHook(t, map[string]any{"on_error": onError})
		require.JSONEq(t, want, string(h.Response(h.UncheckedVerdict(), Call{})))
	}
}

// No body makes a format panic, and each that is accepted is an object whose address
// encoding/json reads too.
func FuzzRead(f *testing.F) {
	generic, supabase := testHook(f, nil), testHook(f, map[string]any{"format": "supabase"})
	for _, body := range []string{`{"email":"jane@example.org","language":"de"}`, `{"email":"a","email":"b"}`, `{"email":"\ud83d\ude00@example.org"}`,
		`{"metadata":{"uuid":"8b34","name":"before-user-created"},"user":{"email":"jane@example.org","user_metadata":{"locale":"de"}}}`} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, h := range []*Hook{generic, supabase} {
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
