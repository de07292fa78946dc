package contract

import (
	"encoding/json"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// unauthorized returns a response that is as described.
func unauthorized() Reply {
	return Reply{Method: http.MethodGet, Target: "/v1/usage?x", Status: http.StatusUnauthorized,
		Header: http.Header{"Content-Type": {"application/json"}, "X-Request-Id": {"1"}, "Cache-Control": {"no-store"},
			"X-Content-Type-Options": {"nosniff"}, "Date": {"today"}, "Www-Authenticate": {`Bearer realm="addrspec"`}},
		Body: []byte(`{"status":401,"error":"x","code":"INVALID_API_KEY"}`)}
}

func TestCheck(t *testing.T) {
	s := NewSurvey(t, "")
	require.NoError(t, s.Check(unauthorized()))
	for want, change := range map[string]func(*Reply){
		"header X-Odd is not described":      func(a *Reply) { a.Header.Set("X-Odd", "1") },
		"header Allow is not described":      func(a *Reply) { a.Header.Set("Allow", "GET") },
		"WWW-Authenticate: is required":      func(a *Reply) { a.Header.Del("WWW-Authenticate") },
		"X-Request-Id: is required":          func(a *Reply) { a.Header.Del("X-Request-Id") },
		"X-Request-Id: occurs twice":         func(a *Reply) { a.Header.Add("X-Request-Id", "2") },
		"header Cache-Control: jsonschema":   func(a *Reply) { a.Header.Set("Cache-Control", "public") },
		"value must be 'INVALID_API_KEY'":    func(a *Reply) { a.Body = []byte(`{"status":401,"error":"x","code":"NOT_FOUND"}`) },
		"additional properties 'more'":       func(a *Reply) { a.Body = []byte(`{"status":401,"error":"x","code":"INVALID_API_KEY","more":1}`) },
		"missing property 'code'":            func(a *Reply) { a.Body = []byte(`{"status":401,"error":"x"}`) },
		"invalid character":                  func(a *Reply) { a.Body = []byte(`not JSON`) },
		`the media type is "text/plain"`:     func(a *Reply) { a.Header.Set("Content-Type", "text/plain") },
		"the response of any is not":         func(a *Reply) { a.Status = http.StatusPaymentRequired },
		"there are 51 bytes of body":         func(a *Reply) { a.Method = http.MethodHead },
		"header Access-Control-Allow-Origin": func(a *Reply) { a.Method, a.Status, a.Body = http.MethodOptions, http.StatusNoContent, nil },
	} {
		a := unauthorized()
		change(&a)
		require.ErrorContains(t, s.Check(a), want)
	}
}

// Only a page may have headers that are not described.
func TestCheckPage(t *testing.T) {
	s, a := NewSurvey(t, ""), unauthorized()
	a.Status, a.Body = http.StatusNotFound, []byte(`{"status":404,"error":"x","code":"NOT_FOUND"}`)
	a.Header.Set("Content-Security-Policy", "default-src 'none'")
	for target, page := range map[string]bool{"/nothing": true, "/v1/nothing": false, "/v1/usage": false, "/healthz": false} {
		a.Target = target
		require.Equal(t, page, s.Check(a) == nil, target)
	}
}

// An integer in a header is compared as a number.
func TestCheckNumberInHeader(t *testing.T) {
	s, a := NewSurvey(t, ""), unauthorized()
	a.Status, a.Body = http.StatusTooManyRequests, []byte(`{"status":429,"title":"Too Many Requests","detail":"Rate limit exceeded: wait 1 second."}`)
	a.Header.Del("WWW-Authenticate")
	a.Header.Set("Retry-After", "1")
	require.NoError(t, s.Check(a))
	a.Header.Set("Retry-After", "0")
	require.ErrorContains(t, s.Check(a), "header Retry-After")
	a.Header.Set("Retry-After", "soon")
	require.ErrorContains(t, s.Check(a), "header Retry-After")
}

func TestMissing(t *testing.T) {
	s := NewSurvey(t, "")
	require.NoError(t, s.Check(unauthorized()))
	missing := s.missing(nil)
	require.NotContains(t, missing, "getUsage 401 INVALID_API_KEY: described, but no response had it")
	require.NotContains(t, missing, "getUsage header X-Request-Id: described, but no response had it")
	for _, feature := range []string{"getUsage 200", "getUsage header RateLimit", "any 405 METHOD_NOT_ALLOWED", "any 431 BAD_REQUEST",
		"checkEmails 400 EMPTY_BATCH", "checkEmails 400 INVALID_REQUEST", "checkEmails header Idempotency-Replayed"} {
		require.Contains(t, missing, feature+": described, but no response had it")
	}
	missing = s.missing(map[string]string{".* 200": "a reason", "getUsage 401 .*": "seen", "odd": "nothing"})
	require.NotContains(t, missing, "getUsage 200: described, but no response had it")
	require.Contains(t, missing, "getUsage 401 INVALID_API_KEY: seen, so it is no exception (getUsage 401 .*)")
	require.Contains(t, missing, "the exception odd matches nothing that is described")
}

// The codes of the description are those of the table from which the code of
// origin and worker is generated, with their statuses. BAD_REQUEST has
// several statuses.
func TestCodesAreThoseOfTheTable(t *testing.T) {
	want, got := tableCodes(t), map[string]bool{}
	for _, file := range []string{"", "../../api/openapi-edge.json", "../../api/openapi-hooks.json"} {
		for feature := range NewSurvey(t, file).features {
			words := strings.Fields(feature) // the operation, the status and the code
			if len(words) < 3 || words[1] == "header" {
				continue
			}
			if words[2] == "BAD_REQUEST" {
				words[1] = "417"
			}
			got[words[1]+" "+words[2]] = true
		}
	}
	for problem := range want {
		require.True(t, got[problem], `problems.json has %s: add the code to the "enum" of "code" in origin/api/openapi.json, openapi-edge.json for workers `+
			"or openapi-hooks.json for hooks, at a response with the status", problem)
	}
	for problem := range got {
		require.True(t, want[problem], "the descriptions have %s: add it to origin/rig/contract/problems/problems.json", problem)
	}
}

// tableCodes returns the statuses and codes of problems.json.
func tableCodes(t *testing.T) map[string]bool {
	text, err := os.ReadFile("problems/problems.json")
	require.NoError(t, err)
	var table struct {
		Problems []struct {
			Code   string
			Status int
		}
	}
	require.NoError(t, json.Unmarshal(text, &table))
	codes := map[string]bool{}
	for _, p := range table.Problems {
		if p.Code != "" {
			codes[strconv.Itoa(p.Status)+" "+p.Code] = true
		}
	}
	return codes
}
