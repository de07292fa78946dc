package api

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const malformedPath = "/v1/email/100%@mail.example"

func askMalformedPath(method, key, headers string) string {
	return method + " " + malformedPath + " HTTP/1.1\r\nHost: x\r\nX-API-Key: " + key + "\r\nX-Request-Id: mine\r\n" + headers + "\r\n"
}

// A percent sign without two hexadecimal digits is a malformed address, checked
// after the key, however the request is split into segments.
func TestMalformedPath(t *testing.T) {
	f := newFakes(t)
	address := f.listen(t, 10)
	for name, c := range map[string]struct {
		request, want string
		status        int
	}{
		"good key":    {askMalformedPath("GET", goodKey, ""), `{"status":400,"error":"A percent sign in the path is not followed by two hexadecimal digits; encode a percent sign as %25.","code":"INVALID_EMAIL_FORMAT"}`, 400},
		"no key":      {askMalformedPath("GET", "", ""), `"code":"INVALID_API_KEY"`, 401},
		"other path":  {strings.Replace(askMalformedPath("GET", goodKey, ""), "email", "other", 1), `"code":"BAD_REQUEST"`, 400},
		"bad header":  {askMalformedPath("GET", goodKey, "no colon\r\n"), `"code":"BAD_REQUEST"`, 400},
		"long header": {askMalformedPath("GET", goodKey, "X: "+strings.Repeat("x", 3*maxRequestStart)+"\r\n"), `"code":"BAD_REQUEST"`, 400},
	} {
		t.Run(name, func(t *testing.T) {
			for cut := 1; cut < len(c.request); cut += 1 + len(c.request)/40 {
				w := dial(t, address)
				w.Send(c.request[:cut]).Send(c.request[cut:])
				response, body := w.Response()
				require.Equal(t, c.status, response.StatusCode, body)
				require.Contains(t, body, c.want)
				require.Equal(t, "application/json", response.Header.Get("Content-Type"))
				require.True(t, response.Close)
				require.True(t, w.IsClosed())
			}
		})
	}
	require.Regexp(t, "route=single status=400 .*request_id=mine", strings.Join(f.log.list(), ""), "logged like every request")
}

// The same on a connection that was used before. A request sent before the
// previous answer is refused too, possibly with another code.
func TestMalformedPathOnKeptConnection(t *testing.T) {
	f := newFakes(t)
	w := dial(t, f.listen(t, 10))
	for range 3 {
		response, _ := w.Send(asks("a@mail.example")).Response()
		require.Equal(t, 200, response.StatusCode)
		response, _ = w.Send("POST /v1/emails " + askHeader + goodKey + "\r\nContent-Length: 30\r\n\r\n" + `{"emails":["100%@x.example"]} `).Response()
		require.Equal(t, 200, response.StatusCode)
	}
	response, body := w.Send(askMalformedPath("GET", goodKey, "")).Response()
	require.Equal(t, 400, response.StatusCode)
	require.Contains(t, body, `"code":"INVALID_EMAIL_FORMAT"`)

	ahead := dial(t, f.listen(t, 10)).Send(asks("a@mail.example") + askMalformedPath("GET", goodKey, ""))
	response, _ = ahead.Response()
	require.Equal(t, 200, response.StatusCode)
	response, body = ahead.Response()
	require.Equal(t, 400, response.StatusCode)
	require.Contains(t, body, `{"status":400,"error":"`)
}

func TestMalformedPathHEAD(t *testing.T) {
	f := newFakes(t)
	w := dial(t, f.listen(t, 10)).Send(askMalformedPath("HEAD", goodKey, ""))
	response := w.Header(http.MethodHead)
	require.Contains(t, []int{400, 405}, response.StatusCode)
	require.True(t, w.IsClosed(), "a body follows the header")
}

func TestRequestStartIsLimited(t *testing.T) {
	var o requestStart
	o.begin()
	for range 100 {
		o.add([]byte("GET " + strings.Repeat("x", 1000)))
		require.LessOrEqual(t, cap(o.bytes), 2*maxRequestStart)
	}
	require.False(t, o.known)
	o.begin()
	o.add([]byte(asks("a%40mail.example")))
	require.Nil(t, o.bytes, "a well-formed path is not stored")
}

// FuzzRequestStart checks that the result does not depend on how a request is
// split, and that net/url rejects every path found malformed.
func FuzzRequestStart(f *testing.F) {
	f.Add(askMalformedPath("GET", goodKey, ""), 3, 20)
	f.Add(asks("a%40mail.example"), 1, 9)
	f.Add("GET /v1/email/%?%zz HTTP/1.1\n", 0, 0)
	f.Fuzz(func(t *testing.T, request string, first, second int) {
		if len(request) > maxRequestStart {
			t.Skip()
		}
		var whole, cut requestStart
		whole.begin()
		whole.add([]byte(request))
		cut.begin()
		first = min(max(first, 0), len(request))
		second = min(max(second, first), len(request))
		for _, part := range []string{request[:first], request[first:second], request[second:]} {
			cut.add([]byte(part))
		}
		start, target := whole.take()
		same, again := cut.take()
		if target != again || target != "" && string(start) != string(same) {
			t.Fatalf("%q and %q", target, again)
		}
		if path, _, _ := strings.Cut(target, "?"); target != "" {
			if _, err := url.PathUnescape(path); err == nil {
				t.Fatalf("%q is well-formed", path)
			}
		}
	})
}
