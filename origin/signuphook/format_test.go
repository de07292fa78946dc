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

// Supabase gets an error for a denial, and an empty object for all else.
func TestSupabaseResponse(t *testing.T) {
	h := testHook(t, map[string]any{"format": "supabase"})
	for decision, want := range map[Decision]string{Allow: `{}`, Review: `{}`,
		Deny: `{"error":{"http_code":403,"message":"Please use a permanent email address."}}`} {
		require.Equal(t, want, string(h.Response(Verdict{decision: decision, reason: "disposable"}, Call{})))
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
