package edge_test

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/addrspec/addrspec/wasm/vectors"
)

// oddities returns requests to which two programs are likely to respond differently.
func oddities() map[string]request {
	all := map[string]request{}
	for n, body := range oddBodies {
		all[fmt.Sprintf("body %d %.60q", n, body)] = post(body)
	}
	for _, media := range oddMediaTypes {
		all["media type "+media] = request{Method: http.MethodPost, Target: "/v1/emails", Header: []string{"Content-Type: " + media}, Body: `{"emails":["a@mail.example"]}`}
	}
	for _, target := range oddTargets {
		all["target "+target] = get(target)
	}
	for n := range 8 {
		all[fmt.Sprintf("64 generated addresses, %d", n)] = post(batchOf(vectors.Generate(uint64(n), 64)))
	}
	for name, r := range oddRequests {
		all[name] = r
	}
	return all
}

const good = `{"emails":["a@mail.example"]}`

// oddRequests have an odd method or odd headers.
var oddRequests = map[string]request{
	"compressed":         post("{}", "Content-Encoding: gzip"),
	"identity":           post("{}", "Content-Encoding: identity"),
	"identity, clean":    post(good, "Content-Encoding: identity"),
	"HEAD":               {Method: http.MethodHead, Target: "/v1/email/a@mail.example"},
	"HEAD, not valid":    {Method: http.MethodHead, Target: "/v1/email/a"},
	"HEAD, no MX":        {Method: http.MethodHead, Target: "/v1/email/a@servfail.example"},
	"HEAD of a batch":    {Method: http.MethodHead, Target: "/v1/emails"},
	"HEAD of nothing":    {Method: http.MethodHead, Target: "/v1/nothing"},
	"usage":              get("/v1/usage"),
	"usage, a query":     get("/v1/usage?month=2026-11"),
	"HEAD of the usage":  {Method: http.MethodHead, Target: "/v1/usage"},
	"POST to the usage":  {Method: http.MethodPost, Target: "/v1/usage"},
	"PUT":                {Method: http.MethodPut, Target: "/v1/email/a@mail.example"},
	"DELETE of a batch":  {Method: http.MethodDelete, Target: "/v1/emails"},
	"OPTIONS, single":    {Method: http.MethodOptions, Target: "/v1/email/a@mail.example"},
	"OPTIONS, no email":  {Method: http.MethodOptions, Target: "/v1/email"},
	"OPTIONS, batch":     {Method: http.MethodOptions, Target: "/v1/emails", Header: []string{"Origin: https://page.example", "Access-Control-Request-Method: POST"}},
	"OPTIONS, usage":     {Method: http.MethodOptions, Target: "/v1/usage"},
	"OPTIONS, nothing":   {Method: http.MethodOptions, Target: "/v1/nothing"},
	"OPTIONS of a page":  {Method: http.MethodOptions, Target: "/healthz"},
	"POST to a page":     {Method: http.MethodPost, Target: "/openapi.json"},
	"HEAD of a page":     {Method: http.MethodHead, Target: "/healthz"},
	"from a page":        post(good, "Origin: https://page.example"),
	"two keys":           get("/v1/email/a@mail.example", "X-API-Key: ask_"),
	"a list of keys":     get("/v1/email/a@mail.example", "X-API-Key: ask_, ask_"),
	"two keys, batch":    post(good, "X-API-Key: ask_"),
	"two types":          post(good, "Content-Type: application/json"),
	"two encodings":      post(good, "Content-Encoding: identity", "Content-Encoding: identity"),
	"a list of encoding": post(good, "Content-Encoding: identity, identity"),
	"once":               post(`{"emails":["a@mail.example","b@none.example"]}`, "Idempotency-Key: one"),
	"once, a policy":     post(`{"emails":["info@mail.example","b@none.example"],"policy":"strict"}`, "Idempotency-Key: three"),
	"HEAD, a policy":     {Method: http.MethodHead, Target: "/v1/email/info@mail.example?policy=strict"},
	"once, no key":       post(good, "Idempotency-Key: "),
	"once, two keys":     post(good, "Idempotency-Key: a", "Idempotency-Key: a"),
	"once, a list":       post(good, "Idempotency-Key: a, b"),
	"once, key too long": post(good, "Idempotency-Key: "+strings.Repeat("k", 256)),
	"once, bad body":     post(`{"emails":`, "Idempotency-Key: two"),
	"no type, no body":   {Method: http.MethodPost, Target: "/v1/emails"},
	"no type":            {Method: http.MethodPost, Target: "/v1/emails", Body: good},
}

// batchOf returns addresses as a batch, with U+FFFD in place of invalid UTF-8.
func batchOf(emails []string) string {
	quoted := make([]string, len(emails))
	for n, email := range emails {
		quoted[n] = quote(strings.ToValidUTF8(email, "\uFFFD"))
	}
	return `{"emails":[` + strings.Join(quoted, ",") + `]}`
}

func quote(s string) string {
	var w strings.Builder
	w.WriteByte('"')
	for _, r := range s {
		if r < ' ' || r == '"' || r == '\\' {
			fmt.Fprintf(&w, `\u%04x`, r)
			continue
		}
		w.WriteRune(r)
	}
	return w.String() + `"`
}

var oddBodies = []string{
	"", " ", "{", "}", "[", "nul", "null", "tru", "trux", "-", "01", "1.", "1e", "1e+", "-x", `"`, `"a`, "{}", " {} ", "{} x", "{}}",
	"\ufeff{}", `{"emails"}`, `{"emails":}`, `{"emails":[}`, `{"emails":["a",]}`, `{"emails":["a" "b"]}`, `{"emails":["a"],}`,
	`{,}`, `{x:1}`, `{"a":1 "b":2}`, `{"a":[1,{"b":[]},"\u12g4"]}`, `{"a":"\q"}`, "{\"a\":\"\n\"}", "{\"a\":\"\x7f\"}", "{\"a\":\"\x00\"}",
	`{"emails":["a@mail.example","info@mail.example","bad","a@servfail.example"],"policy":"strict"}`, `{"emails":["a@mail.example"],"policy":"other"}`,
	`{"emails":["info@mail.example","bad","a+b@none.example","a@none.example","a@null.example","a@missing.example","a@burner.example","info@burner.example","a@gmial.com","a@[192.0.2.1]","a@x.bulk.example","\u00e9@mail.example","a@servfail.example","a@silent.example","a@unreachable.example"],"policy":"strict"}`,
	`{"policy":"strict","details":true,"emails":["a@none.example","a@burner.example","a@own.example","a@silent.example","bad"]}`,
	`{"emails":["a@mail.example"],"policy":null}`, `{"emails":["a@mail.example"],"policy":"strict","policy":7}`, `{"emails":["a@mail.example"],"policy":"strict","details":true}`,
	`{"emails":["a@mail.example"],"p\u006flicy":"strict"}`, `{"emails":["a@mail.example"],"Policy":"strict"}`, `{"emails":[],"policy":"strict"}`, `{"policy":{"policy":"strict"}}`,
	`{"emails":{}}`, `{"emails":null}`, `{"emails":false}`, `{"emails":"a@mail.example"}`, `{"emails":[[]]}`, `{"emails":["a",{}]}`,
	`{"emails":["a@mail.example",1e999]}`, `{"a":1e999,"emails":["a@mail.example"]}`,
	`{"emails":5,"emails":["a@mail.example"]}`, `{"emails":["a@mail.example"],"emails":5}`, `{"EMAILS":["a@mail.example"]}`,
	`{"\u0065mails":["a@mail.example"]}`, `{"__proto__":{"emails":["a@mail.example"]}}`, `{"__proto__":1,"emails":["a@mail.example"]}`,
	`{"emails":["\ud800","\ud801","\ufffd","\ud83d\ude00@mail.example","\ud83d\u0041"]}`, `{"emails":["\ud83d\ude00@mail.example"]}`, `{"emails":["\\ud800"]}`,
	"\ufeff" + good, "\ufeff\ufeff" + good, "\ufeff", good + "\x00", `{"emails":["a"],"details":true}`, `{"Emails":["b"],"emails":["a"]}`, `{"emails":["a"],"\u0065mails":["b"]}`,
	`{"emails":["a"],"\u0065mails":null}`, `{"\u0065mails":["a"]}`, `{"emails":["\/\b\f\n\r\t"]}`, `{"emails":["\u00E9@mail.example","\u00e9@mail.example"]}`,
	"{\"emails\":[\"a\xff\"]}", "{\"emails\":[\"a\xe2\x82\"]}", "{\"emails\":[\"a\xef\xbf", "\xef\xbf(", "{\"emails\":[\"\ufffd\xc0\xaf\"]}", "{\"emails\":[\"\xed\xa0\x80\"]}",
	`{"emails":["a@mail.example","A@mail.example","a@mail.example"]}`,
	`{"emails":["<script>&@mail.example","\u2028@mail.example","\u0000","\u001f","\u007f@x"]}`,
	`{"emails":["a@[192.0.2.1]","a@servfail.example","a@silent.example","b@silent.example","a@null.example","a@b\u00fccher.example"]}`,
	`{"emails":[` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + `]}`,
	`{"a":` + strings.Repeat("[", 9_999) + strings.Repeat("]", 9_999) + `,"emails":[]}`,
	`{"a":` + strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000) + `,"emails":[]}`,
	`{"emails":[` + strings.Repeat(`"",`, 70) + `""]}`,
	strings.Repeat(" ", 1<<20), strings.Repeat(" ", 1<<20+1),
}

var oddMediaTypes = []string{
	"application/json", "Application/JSON", "application/json;charset=utf-8", "application/json ; charset = \"utf-8\"", "application/json;",
	"application/json; ;", "application/json;;", "application/json; charset", "application/json; charset=", "application/json; a=1; a=1",
	"application/json; a=1; A=2", `application/json; a="x\"y"; b=2`, `application/json; a="x`, "application/json, text/plain",
	"application/jsonp", "application/problem+json", "text/json", "application/json/x", "json", "/", ";", "application/json x",
}

var oddTargets = []string{
	"/v1/email", "/v1/email/", "/v1/email//v1/email", "/v1/email//", "/v1/email/?q", "/v1/email?", "/v1/email/%20", "/v1/email/a%ZZ", "/v1/email/a%2", "/v1/email/%",
	"/v1/email/..", "/v1/email/.", "/v1/email/../emails", "/v1/email/%2e%2e/x", "/v1/email/a%2F..%2Fb@mail.example", "//v1/email/a@mail.example",
	"/v1/email/a%00@mail.example", "/v1/email/%C3%28@mail.example", "/v1/email/%ff", "/v1/email/j%C3%A4ne@b%C3%BCcher.example", "/v1/email/%EF%BB%BFa@mail.example",
	"/v1/email/a+b@mail.example", "/v1/email/a%2Bb@mail.example", "/v1/email/%22a%5C%22b%22@mail.example", "/v1/email/a@mail.example?b=c@d", "/v1/email/a@mail.example/",
	"/v1/email/a;b=c@mail.example", "/v1/email/!$&'*+=~@mail.example", "/v1/email/(a)b@mail.example", "/v1/email/a@[IPv6:2001:db8::1]", "/v1/email/a@xn--bcher-kva.example",
	"/v1/email/a@silent.example", "/v1/email/a@servfail.example", "/V1/email/a@mail.example", "/v1/emails/", "/v1/emails/x", "/v2/emails", "/", "/openapi.json", "/healthz",
	"/v1/email/a@burner.example?policy=strict", "/v1/email/a@null.example?policy=strict", "/v1/email/a@missing.example?policy=strict&details=true", "/v1/email/a@unreachable.example?policy=strict",
	"/v1/email/a@none.example?policy=strict&details=true", "/v1/email/bad?policy=other",
	"/v1/email/bad?details=true", "/v1/email/%ff?details=true", "/v1/email/?details=true", "/v1/email/a@b@c?details=true&policy=strict", "/v1/email/%3Ca@mail.example%3E?details=true",
	"/v1/email/a@mail.example?policy=strict", "/v1/email/a%2Fb@mail.example?x&policy=strict&details=true", "/v1/email/%22a%20b%22@mail.example?policy=strict",
	"/v1/email/j%C3%A4ne+x@b%C3%BCcher.example?policy=strict", "/v1/email/a@mail.example?policy=other", "/v1/email/a@mail.example?policy", "/v1/email/a@mail.example?policy=strict&policy=strict",
	"/v1/email/a@mail.example?policy=str%69ct", "/v1/email/a@mail.example?policy='strict'", "/v1/email/a@mail.example?policy=%", "/v1/email/a@mail.example?policy=a/b?c=d:@!$()*+,;~%22",
	"/v1/email/a@mail.example?policy=strict&details=1", "/v1/email/a?policy=strict", "/v1/email/?policy=strict", "/v1/email/?policy=other", "/v1/email/..?policy=strict",
	"/v1/email/%ff?policy=strict", "/v1/email/a@[192.0.2.1]?policy=strict", "/v1/email/a@servfail.example?policy=strict", "/v1/email/a@none.example?policy=strict",
	"/v1/email/" + strings.Repeat("a", 300) + "@mail.example?policy=strict",
	"/v1/email/" + strings.Repeat("a", 300) + "@mail.example", "/v1/email/" + strings.Repeat("%61", 10_000),
}
