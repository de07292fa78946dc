package signuphook

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"
)

// signedHeader returns the headers of a signed body.
func signedHeader(t *testing.T, secret, id string, at time.Time, body string) http.Header {
	t.Helper()
	signer, err := standardwebhooks.NewWebhook(secret)
	require.NoError(t, err)
	signature, err := signer.Sign(id, at, []byte(body))
	require.NoError(t, err)
	return http.Header{"Webhook-Id": {id}, "Webhook-Timestamp": {strconv.FormatInt(at.Unix(), 10)}, "Webhook-Signature": {signature}}
}

// check checks headers and signature, as the route does.
func check(h *Hook, body string, header http.Header) string {
	_, wrong := h.CheckHeaders(header, time.Now())
	if wrong == "" {
		wrong = h.Verify([]byte(body), header)
	}
	return wrong
}

func TestVerify(t *testing.T) {
	h := testHook(t, nil)
	const body = `{"email":"jane@example.org"}`
	now := time.Now()
	signed := func(change func(http.Header)) http.Header {
		header := signedHeader(t, testSecret, "msg_1", now, body)
		change(header)
		return header
	}
	set := func(name, value string) http.Header { return signed(func(h http.Header) { h.Set(name, value) }) }
	good := signed(func(http.Header) {}).Get("Webhook-Signature")
	other := "v1," + strings.Repeat("A", 43) + "="
	accepted := []http.Header{
		signed(func(http.Header) {}),
		set("Webhook-Signature", other+" "+good), set("Webhook-Signature", good+" "+other),
		set("Webhook-Signature", good+", "+other), set("Webhook-Signature", "v1a,x "+other+", "+good),
		signedHeader(t, testSecret, "msg_1", now.Add(-299*time.Second), body), signedHeader(t, testSecret, "msg_1", now.Add(299*time.Second), body),
	}
	for n, header := range accepted {
		require.Empty(t, check(h, body, header), n)
	}
	stamp := strconv.FormatInt(now.Unix(), 10)
	refused := map[string][]http.Header{
		wrongHeaders: {{}, set("Webhook-Id", ""), set("Webhook-Timestamp", ""), set("Webhook-Signature", ""),
			signed(func(h http.Header) { h.Add("Webhook-Id", "msg_2") }), signed(func(h http.Header) { h.Add("Webhook-Signature", good) }),
			signed(func(h http.Header) { h.Add("Webhook-Timestamp", stamp) }), set("Webhook-Signature", strings.Repeat(other+" ", 30)+good)},
		wrongID: {set("Webhook-Id", "msg.1"), set("Webhook-Id", "msg 1"), set("Webhook-Id", "{}"), set("Webhook-Id", "ü"), set("Webhook-Id", strings.Repeat("x", 129))},
		wrongTimestamp: {signedHeader(t, testSecret, "msg_1", now.Add(-302*time.Second), body), signedHeader(t, testSecret, "msg_1", now.Add(302*time.Second), body),
			set("Webhook-Timestamp", "+"+stamp), set("Webhook-Timestamp", stamp+".0"), set("Webhook-Timestamp", "x"), set("Webhook-Timestamp", "-1"),
			set("Webhook-Timestamp", "99999999999999999999"), set("Webhook-Timestamp", "999999999999"), set("Webhook-Timestamp", stamp+"000")},
		wrongSignature: {set("Webhook-Signature", other), set("Webhook-Signature", good[3:]), set("Webhook-Signature", "v2"+good[2:]), set("Webhook-Signature", "v1,"), set("Webhook-Signature", "v1"), set("Webhook-Signature", good[:len(good)-1]),
			set("Webhook-Id", "msg_2"), set("Webhook-Timestamp", strconv.FormatInt(now.Unix()-1, 10)),
			signedHeader(t, "whsec_"+strings.Repeat("A", 32), "msg_1", now, body), signedHeader(t, testSecret, "msg_1", now, body+" ")},
	}
	for want, list := range refused {
		for n, header := range list {
			require.Equal(t, want, check(h, body, header), n)
		}
	}
}

// A secret may be written as Supabase or as Standard Webhooks writes it, and two with any usual
// separator. Both are accepted while one replaces the other.
func TestVerifySecrets(t *testing.T) {
	newer, other := "whsec_"+strings.Repeat("B", 32), "whsec_"+strings.Repeat("C", 32)
	for text, accepted := range map[string]bool{
		testSecret:                          false,
		"v1," + testSecret + "\r\n":         false,
		newer + "," + testSecret:            true,
		"v1," + testSecret + ",v1," + newer: true,
		"v1," + testSecret + "|v1," + newer: true,
		testSecret + "\n" + newer + "\n":    true,
	} {
		v, err := parseSecrets(text)
		require.NoError(t, err, text)
		for secret, want := range map[string]bool{testSecret: true, newer: accepted, other: false} {
			wrong := check(&Hook{verifier: v}, "{}", signedHeader(t, secret, "msg_1", time.Now(), "{}"))
			require.Equal(t, want, wrong == "", "%q: %s", text, wrong)
			wrong = check(&Hook{verifier: v, seat: seat{bearer: true}}, "{}", http.Header{"Authorization": {"Bearer " + secret}})
			require.Equal(t, want, wrong == "", "%q: %s", text, wrong)
		}
	}
}

// A caller that cannot sign sends the secret, once and whole. A signature is not enough then, and the secret
// is not enough for a caller that signs.
func TestBearer(t *testing.T) {
	mailer := testHook(t, map[string]any{"format": "supabase-mailer"})
	for _, scheme := range []string{"Bearer ", "bearer ", "BEARER "} {
		require.Empty(t, check(mailer, "{}", http.Header{"Authorization": {scheme + testSecret}}), scheme)
	}
	good := "Bearer " + testSecret
	signed := signedHeader(t, testSecret, "msg_1", time.Now(), "{}")
	for _, header := range []http.Header{{}, signed, {"Authorization": {""}}, {"Authorization": {"Bearer"}}, {"Authorization": {"Bearer "}},
		{"Authorization": {testSecret}}, {"Authorization": {"Basic " + testSecret}}, {"Authorization": {good[:len(good)-1]}},
		{"Authorization": {good + "="}}, {"Authorization": {good + "," + good}}, {"Authorization": {good, good}},
		{"Authorization": {"Bearer v1," + testSecret}}, {"Authorization": {"Bearer  " + testSecret}}, {"X-Api-Key": {testSecret}}} {
		require.Equal(t, wrongBearer, check(mailer, "{}", header), header)
	}
	require.Equal(t, wrongHeaders, check(testHook(t, nil), "{}", http.Header{"Authorization": {good}}))
}

func FuzzCheckHeaders(f *testing.F) {
	f.Add("msg_1", "1763860000", "v1,AAAA", "Bearer "+testSecret)
	signing, mailer := testHook(f, nil), testHook(f, map[string]any{"format": "supabase-mailer"})
	f.Fuzz(func(t *testing.T, id, at, signature, authorization string) {
		got, wrong := signing.CheckHeaders(http.Header{"Webhook-Id": {id}, "Webhook-Timestamp": {at}, "Webhook-Signature": {signature}}, time.Unix(1763860000, 0))
		if wrong == "" {
			require.Equal(t, id, got)
			require.Regexp(t, `^[A-Za-z0-9_-]{1,128}$`, got)
		}
		got, wrong = mailer.CheckHeaders(http.Header{"Authorization": {authorization}}, time.Unix(1763860000, 0))
		require.Empty(t, got)
		require.Equal(t, strings.EqualFold(authorization, "Bearer "+testSecret) && strings.HasSuffix(authorization, " "+testSecret), wrong == "")
	})
}
