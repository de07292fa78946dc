package client

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// An answer that is not that of the service to this batch is an error, after one
// attempt.
func TestForeignAnswers(t *testing.T) {
	a, b := itemText("user0@mail.example", false), itemText("user1@mail.example", false)
	change := func(old, new string) string { return envelopeOf(false, strings.Replace(a, old, new, 1), b) }
	for name, body := range map[string]string{
		"nothing":              "",
		"HTML":                 "<html><body>Welcome to the hotel</body></html>",
		"cut off":              envelopeOf(false, a, b)[:300],
		"other JSON":           `{"ok":true}`,
		"array":                `[]`,
		"not a success":        strings.Replace(envelopeOf(false, a, b), `"success":true`, `"success":false`, 1),
		"too few":              envelopeOf(false, a),
		"too many":             envelopeOf(false, a, b, b),
		"none, partial":        envelopeOf(true),
		"wrong order":          envelopeOf(false, b, a),
		"twice the same":       envelopeOf(false, a, a),
		"another address":      envelopeOf(false, a, itemText("eve@mail.example", false)),
		"result of another":    change(`{"email":"user0@mail.example","valid"`, `{"email":"eve@mail.example","valid"`),
		"no member mx":         change(`"mx":true,`, ``),
		"mx null":              change(`"mx":true`, `"mx":null`),
		"valid a string":       change(`"valid":true`, `"valid":"true"`),
		"score a string":       change(`0.07`, `"0.07"`),
		"result null":          change(resultOf("user0@mail.example", false), `null`),
		"unknown status":       change(`"success"`, `"perhaps"`),
		"error without a code": change(`"success"`, `"error"`),
		"larger than any":      strings.Repeat(" ", maxAnswer) + envelopeOf(false, a, b),
	} {
		t.Run(name, func(t *testing.T) {
			c, f := newFake(t, func(seen) (*http.Response, error) { return response(200, body) })
			_, err := c.Batch(context.Background(), emails(2), false)
			require.ErrorAs(t, err, new(*BadAnswer))
			require.NotContains(t, err.Error(), "mail.example")
			require.Len(t, f.requests, 1)
		})
	}
}

func TestForeignUsage(t *testing.T) {
	for _, body := range []string{"", "<html>", "{}", `{"points":{"refill":7}}`} {
		c, _ := newFake(t, func(seen) (*http.Response, error) { return response(200, body) })
		_, err := c.Usage(context.Background())
		require.ErrorAs(t, err, new(*BadAnswer), body)
	}
}

// Whatever a service answers, what is returned are valid lines about the addresses
// that were sent.
func FuzzReadBatch(f *testing.F) {
	a, b := itemText("user0@mail.example", true), itemText("user1@mail.example", true)
	for _, seed := range []string{envelopeOf(false, a, b), envelopeOf(true, b), envelopeOf(false, b, a), `{"success":true,"results":[{}]}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		found := map[string]Item{}
		if err := readBatch(body, emails(2), true, found); err != nil {
			require.Empty(t, found)
			return
		}
		require.NotEmpty(t, found)
		for email, item := range found {
			require.Contains(t, emails(2), email)
			if item.Code != "" {
				continue
			}
			var r struct{ Email string }
			require.NoError(t, json.Unmarshal(item.Result, &r))
			require.Equal(t, email, r.Email)
			require.NotContains(t, string(item.Result), "\n")
		}
	})
}

// Whatever an error answer contains, its error is short and cannot control a
// terminal.
func FuzzProblem(f *testing.F) {
	for _, seed := range []string{downBody, busyBody, "<html>", `{"error":{"code":"\u001b[31m","message":"\u202e"}}`, `{"error":7}`} {
		f.Add(503, []byte(seed))
		f.Add(402, []byte(seed))
		f.Add(429, []byte(seed))
	}
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		text := problemOf(reply{status, http.Header{}, body}).Error()
		require.Less(t, len([]rune(text)), 3*maxSentence)
		require.NotContains(t, text, "\x1b")
		require.NotContains(t, text, "\n")
	})
}

// A number of a header is never negative, and never from another item.
func FuzzQuantity(f *testing.F) {
	f.Add(`"rate";r=4;t=1, "points";r=988;t=864000`)
	f.Add(`"points";r=99999999999999999999`)
	f.Add(`"points";r=-1`)
	f.Fuzz(func(t *testing.T, field string) {
		n := quantity(field, pointsItem)
		require.GreaterOrEqual(t, n, int64(0))
		if n > 0 {
			require.Contains(t, field, pointsItem)
		}
	})
}

func TestQuantity(t *testing.T) {
	const field = `"rate";r=4;t=1, "points";r=988;t=864000`
	require.EqualValues(t, 988, quantity(field, pointsItem))
	require.EqualValues(t, 4, quantity(field, `"rate";r=`))
	require.Zero(t, quantity(field, `"other";r=`))
}
