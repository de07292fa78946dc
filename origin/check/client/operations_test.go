package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/addrspec/addrspec/origin/check/output"
	"github.com/addrspec/addrspec/origin/check/pipeline"
	"github.com/addrspec/addrspec/wasm/result"
	"github.com/addrspec/addrspec/wasm/vectors"
)

func emails(count int) (list []string) {
	for n := range count {
		list = append(list, fmt.Sprintf("user%d@mail.example", n))
	}
	return list
}

func TestBatch(t *testing.T) {
	c, f := newFake(t, checked)
	given := []string{"a@mail.example", "b@mail.example", "a@mail.example", "bad\xff@mail.example", strings.Repeat("x", maxText), `<&"\>@mail.example`}
	items, err := check(t.Context(), c, given)
	require.NoError(t, err)
	require.Len(t, items, len(given))
	for _, n := range []int{0, 1, 2, 5} {
		require.Equal(t, resultOf(given[n], false), string(items[n].JSON), "the same bytes as the service sent")
	}
	require.Equal(t, notUTF8, items[3])
	require.Equal(t, tooLong, items[4])
	require.Len(t, f.requests, 1)
	require.Equal(t, []string{"a@mail.example", "b@mail.example", `<&"\>@mail.example`}, f.requests[0].emails, "each once, and none that cannot be sent")
	require.Equal(t, "/base/v1/emails", f.requests[0].path)
	require.Equal(t, testKey, f.requests[0].header.Get("X-API-Key"))
	require.Equal(t, "addrspec/test", f.requests[0].header.Get("User-Agent"))
	require.Len(t, f.requests[0].idempotency, 43)
}

// The verdict of a key's policy is kept, with details and without.
func TestBatchWithVerdict(t *testing.T) {
	const verdict = `,"verdict":{"action":"block","reason":"disposable","rule":"block.reasons[0]"}}`
	c, f := newFake(t, func(s seen) (*http.Response, error) {
		return response(200, envelopeOf(false, strings.Replace(itemText(s.emails[0], s.details), `},"error":null`, verdict+`,"error":null`, 1)))
	})
	for _, checker := range []*Checker{{Client: c}, {Client: c, Reasons: true}, {Client: c, Details: true}, {Client: c, Policy: "sign-up"}} {
		outcomes, err := checkWith(t.Context(), checker, []string{"a@mail.example"})
		require.NoError(t, err)
		require.Equal(t, checker.Details || checker.Reasons, f.requests[len(f.requests)-1].details)
		require.Equal(t, strings.TrimSuffix(resultOf("a@mail.example", checker.Details), "}")+verdict, string(outcomes[0].JSON))
		require.Equal(t, result.Verdict{Action: "block", Reason: "disposable", Rule: "block.reasons[0]"}, outcomes[0].Verdict)
	}
	require.JSONEq(t, `{"emails":["a@mail.example"],"policy":"sign-up"}`, f.requests[3].body)
	for _, checker := range []*Checker{{Client: c, Plain: true}, {Client: c, Plain: true, Reasons: true}, {Client: c, Plain: true, Details: true}} {
		outcomes, err := checkWith(t.Context(), checker, []string{"a@mail.example"})
		require.NoError(t, err)
		require.Equal(t, resultOf("a@mail.example", checker.Details), string(outcomes[0].JSON))
		require.Zero(t, outcomes[0].Verdict)
	}
}

// A verdict keeps its bytes. No member of a verdict or of details can take its place.
func TestBatchWithForeignVerdict(t *testing.T) {
	for more, want := range map[string]string{
		`"verdict":{"action":"block","reason":"a\"b","x":1,"verdict":{"action":"x"}}`:    `,"verdict":{"action":"block","reason":"a\"b","x":1,"verdict":{"action":"x"}}}`,
		`"details":{"a":1,"verdict":{"action":"x"}},"verdict":{"action":"<","rule":"r"}`: `,"verdict":{"action":"<","rule":"r"}}`,
		`"details":{"a":1,"verdict":{"action":"x"}}`:                                     `}`,
	} {
		c, _ := newFake(t, func(s seen) (*http.Response, error) {
			item := strings.Replace(itemText(s.emails[0], s.details && !strings.Contains(more, "details")), `},"error":null`, ","+more+`},"error":null`, 1)
			return response(200, envelopeOf(false, item))
		})
		outcomes, err := checkWith(t.Context(), &Checker{Client: c, Reasons: true}, []string{"a@mail.example"})
		require.NoError(t, err)
		require.Equal(t, strings.TrimSuffix(resultOf("a@mail.example", false), "}")+want, string(outcomes[0].JSON))
	}
}

// A service of an earlier release, which ignores the policy, must not be taken for one that decided.
func TestBatchWithoutTheVerdict(t *testing.T) {
	c, _ := newFake(t, checked)
	_, err := checkWith(t.Context(), &Checker{Client: c, Policy: "sign-up"}, emails(2))
	require.ErrorContains(t, err, "lacks the member verdict, though the request names a policy")
}

// A result that has more members than were asked for is cut to those.
func TestBatchDropsUnknownMembers(t *testing.T) {
	c, _ := newFake(t, func(s seen) (*http.Response, error) {
		item := strings.Replace(itemText(s.emails[0], true), `"valid"`, "\n \"later\": [1],\n \"valid\"", 1)
		return response(200, envelopeOf(false, item))
	})
	items, err := check(t.Context(), c, emails(1))
	require.NoError(t, err)
	require.Equal(t, resultOf("user0@mail.example", false), string(items[0].JSON))
}

// Many addresses, and long ones, go into several requests, each within the limits.
func TestBatchIsSplit(t *testing.T) {
	c, f := newFake(t, checked)
	given := emails(130)
	for n := range 5 {
		given = append(given, strings.Repeat(string(rune('a'+n)), maxText-2))
	}
	for n := range MaxBatch {
		given = append(given, strings.Repeat("\x01", maxText/6-10)+fmt.Sprint(n)) // six bytes each
	}
	items, err := check(t.Context(), c, given)
	require.NoError(t, err)
	var sent []string
	for _, r := range f.requests {
		require.LessOrEqual(t, len(r.emails), MaxBatch)
		require.LessOrEqual(t, len(r.body), 1<<20)
		sent = append(sent, r.emails...)
	}
	require.Equal(t, given, sent)
	for n := range items {
		require.NotEmpty(t, items[n].JSON)
	}
	require.Len(t, f.requests, 4)
}

// After a partial response, only the missing addresses are sent, as a new batch.
func TestPartialResponseIsCompleted(t *testing.T) {
	c, f := newFake(t, func(s seen) (*http.Response, error) {
		if s.number == 1 {
			return response(200, envelopeOf(true, itemText(s.emails[1], false), itemText(s.emails[3], false)))
		}
		return checked(s)
	})
	given := emails(5)
	items, err := check(t.Context(), c, given)
	require.NoError(t, err)
	for n, email := range given {
		require.Equal(t, resultOf(email, false), string(items[n].JSON))
	}
	require.Len(t, f.requests, 2)
	require.Equal(t, []string{given[0], given[2], given[4]}, f.requests[1].emails)
	require.NotEqual(t, f.requests[0].idempotency, f.requests[1].idempotency)
}

func TestItemErrors(t *testing.T) {
	c, _ := newFake(t, func(s seen) (*http.Response, error) {
		return response(200, envelopeOf(false, `{"email":"user0@mail.example","status":"error","result":null,"error":{"code":"DNS_TIMEOUT","message":"DNS lookup timed out for domain mail.example"}}`))
	})
	items, err := check(t.Context(), c, emails(1))
	require.NoError(t, err)
	require.Equal(t, pipeline.Outcome{Code: "DNS_TIMEOUT", Message: "DNS lookup timed out for domain mail.example"}, items[0])
}

// The Idempotency-Key depends on the run and the batch alone.
func TestIdempotencyKey(t *testing.T) {
	key := func(runID string, emails []string, details bool) string {
		f := &fake{respond: checked}
		c, err := New(Config{URL: "http://localhost", Key: testKey, RunID: runID, Transport: f})
		require.NoError(t, err)
		_, err = checkWith(t.Context(), &Checker{Client: c, Details: details}, emails)
		require.NoError(t, err)
		return f.requests[0].idempotency
	}
	const run = "0123456789abcdef"
	require.Equal(t, key(run, emails(2), false), key(run, emails(2), false))
	require.NotEqual(t, key(run, emails(2), false), key(run, emails(2), true))
	require.NotEqual(t, key(run, emails(2), false), key(run, emails(3), false))
	require.NotEqual(t, key("", emails(2), false), key("", emails(2), false), "random by default")
}

// At most Concurrency batches are in flight; with few points left, one.
func TestConcurrency(t *testing.T) {
	for left, most := range map[string]int64{"1000000": Concurrency, "100": 1} {
		synctest.Test(t, func(t *testing.T) {
			var now, highest atomic.Int64
			c, _ := newFake(t, func(s seen) (*http.Response, error) {
				if n := now.Add(1); s.number > 1 && n > highest.Load() {
					highest.Store(n)
				}
				time.Sleep(time.Second)
				now.Add(-1)
				got, err := checked(s)
				got.Header.Set("RateLimit", `"points";r=`+left+`;t=9`)
				return got, err
			})
			_, err := check(t.Context(), c, emails(1))
			require.NoError(t, err)
			var group errgroup.Group
			for n := range 20 {
				group.Go(func() error {
					_, err := check(t.Context(), c, []string{fmt.Sprint(n, "@mail.example")})
					return err
				})
			}
			require.NoError(t, group.Wait())
			require.Equal(t, most, highest.Load(), "%s points left", left)
		})
	}
}

// A response that is not that of the service to this batch is an error, after one attempt.
func TestForeignResponses(t *testing.T) {
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
		"code is no code":      change(`"status":"success"`, `"status":"error","error":{"code":"=CMD","message":""},"x":1`),
		"line break":           change(`"local_part":"x"`, `"local_part":"x\n"`),
		"escape":               change(`"domain":"y"`, `"domain":"y\u001b[2J"`),
		"right to left":        change(`"domain":"y"`, "\"domain\":\"y\u202e\""),
		"not UTF-8":            change(`"domain":"y"`, "\"domain\":\"y\x9b\""),
		"formula":              change(`"typo_suggestion":null`, `"typo_suggestion":"=cmd|' /C calc'!A0"`),
		"formula, later cell":  change(`"role":null`, `"role":"IT;=1+1"`),
		"formula, domain":      change(`"typo_suggestion":null`, `"typo_suggestion":"@SUM(1)"`),
		"formula in a rule":    change(`"typo_suggestion":null`, `"typo_suggestion":null,"verdict":{"action":"block","rule":"=1+1"}`),
		"larger than any":      strings.Repeat(" ", maxResponse) + envelopeOf(false, a, b),
	} {
		t.Run(name, func(t *testing.T) {
			c, f := newFake(t, func(seen) (*http.Response, error) { return response(200, body) })
			_, err := check(t.Context(), c, emails(2))
			require.ErrorContains(t, err, "; check that the URL is that of an addrspec service")
			require.NotContains(t, err.Error(), "mail.example")
			require.Len(t, f.requests, 1)
		})
	}
}

// The module's own results pass, also those of addresses with signs of formulas and with what
// no terminal shows. None of another address can have these.
func TestResultsOfTheModulePass(t *testing.T) {
	golden, err := vectors.ReadDetails("../../../wasm/vectors")
	require.NoError(t, err)
	var lines []vectors.Vector
	for _, list := range golden {
		lines = append(lines, list...)
	}
	native := vectors.NativeWith()
	for _, email := range append(vectors.Generate(1, 500), "+a.b@gmail.com", "=1+1@gmial.com", `"=x"@mail.example`, "-(c)a@mail.example",
		"+ann@googlemail.com", "＝x@mail.example", "a@e-mail.com", "=É@mail.example", "\"\t=a\"@mail.example", "a\u200db@mail.example", "\x1b@x") {
		if utf8.ValidString(email) {
			lines = append(lines, vectors.Vector{Email: email, Result: string(native(email, true, true))})
		}
	}
	for _, v := range lines {
		text := strings.Replace(v.Result, `"mx":null`, `"mx":true`, 1)
		f, err := (&Checker{Details: true}).readResult([]byte(text), v.Email)
		require.NoError(t, err, v.Email)
		require.Equal(t, text, string(f.JSON))
	}
}

func TestForeignUsage(t *testing.T) {
	const named = `{"points":{"remaining":2,"refill":"2026-12-01T00:00:00Z"},"policy":"%s"}`
	for _, body := range []string{"", "<html>", "{}", `{"points":{"refill":7}}`, fmt.Sprintf(named, `\u001b[2J`), fmt.Sprintf(named, "./file"), fmt.Sprintf(named, strings.Repeat("a", 65))} {
		c, _ := newFake(t, func(seen) (*http.Response, error) { return response(200, body) })
		_, err := c.Usage(context.Background())
		require.ErrorContains(t, err, "is not the usage of an account; check that the URL", body)
	}
	for _, name := range []string{"", "sign-up_2"} {
		c, _ := newFake(t, func(seen) (*http.Response, error) { return response(200, fmt.Sprintf(named, name)) })
		u, err := c.Usage(t.Context())
		require.NoError(t, err)
		require.Equal(t, name, u.Policy)
		require.EqualValues(t, 2, *u.Points.Remaining)
	}
}

// Whatever a service sends, what is returned are valid lines about the addresses that were sent.
func FuzzReadBatch(f *testing.F) {
	a, b := itemText("user0@mail.example", true), itemText("user1@mail.example", true)
	for _, seed := range []string{envelopeOf(false, a, b), envelopeOf(true, b), envelopeOf(false, b, a), `{"success":true,"results":[{}]}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		found, err := (&Checker{Details: true}).readBatch(body, emails(2))
		if err != nil {
			return
		}
		require.NotEmpty(t, found)
		for email, item := range found {
			require.Contains(t, emails(2), email)
			if item.Code != "" {
				continue
			}
			var r struct{ Email string }
			require.NoError(t, json.Unmarshal(item.JSON, &r))
			require.Equal(t, email, r.Email)
			require.NotContains(t, string(item.JSON), "\n")
		}
	})
}

// Whatever an error response contains, its error is short and cannot control a terminal.
func FuzzProblem(f *testing.F) {
	for _, seed := range []string{downBody, busyBody, "<html>", `{"error":{"code":"\u001b[31m","message":"\u202e"}}`, `{"error":7}`} {
		f.Add(503, []byte(seed))
		f.Add(402, []byte(seed))
		f.Add(429, []byte(seed))
	}
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		p := problemOf(status, body)
		require.Equal(t, p.Message, output.Formula(p.Message))
		text := p.Error()
		require.Less(t, len([]rune(text)), 1200)
		require.NotContains(t, text, "\x1b")
		require.NotContains(t, text, "\n")
	})
}

func TestQuantity(t *testing.T) {
	const field = `"rate";r=4;t=1, "points";r=988;t=864000`
	for name, want := range map[string]uint64{`"points";r=`: 988, `"rate";r=`: 4, `"rate";t=`: 0, `"other";r=`: 0} {
		n, found := quantity(field, name)
		require.Equal(t, want, n)
		require.Equal(t, want > 0, found)
	}
}
