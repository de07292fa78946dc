package description

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"mime"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/api"
	"github.com/addrspec/addrspec/origin/rig/origintest"
)

// A Survey compares responses with the description and records what of it was
// seen. It is safe for concurrent use.
type Survey struct {
	document *document

	mu   sync.Mutex
	seen map[string]bool // features; see features
}

// New returns a survey of openapi.json.
func New(t testing.TB) *Survey {
	t.Helper()
	return newSurvey(t, "openapi.json", map[string][]byte{"openapi.json": api.Description()})
}

// NewFile returns a survey of a description that is not served: openapi-edge.json or
// openapi-hooks.json.
func NewFile(t testing.TB, file string) *Survey {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	name := filepath.Base(file)
	return newSurvey(t, name, map[string][]byte{name: text, "openapi.json": api.Description()})
}

func newSurvey(t testing.TB, main string, files map[string][]byte) *Survey {
	t.Helper()
	d, err := parse(main, files)
	require.NoError(t, err)
	return &Survey{document: d, seen: map[string]bool{}}
}

// Check returns an error if the response is not as described.
func (s *Survey) Check(a Response) error {
	r, err := s.document.check(&a)
	if err != nil {
		return fmt.Errorf("%s is not as described: %s %d: %w", r.name(), a.Method, a.Status, err)
	}
	s.record(&r, &a)
	return nil
}

// parameters has a value for each parameter of a path.
var parameters = strings.NewReplacer("{email}", "jane@mail.example", "{name}", "signup")

// Requests returns a request for each operation, with no header and no body.
func (s *Survey) Requests() (all []origintest.Request) {
	for template, item := range s.document.paths {
		target := parameters.Replace(template)
		for method := range item {
			all = append(all, origintest.Request{Method: strings.ToUpper(method), Target: target})
		}
	}
	return all
}

// name returns the name of a response for people.
func (r *described) name() string {
	if r.operation == "" {
		return "the response without an operation"
	}
	return "the response of " + r.operation
}

// record adds the features of a response to those seen.
func (s *Survey) record(r *described, a *Response) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen[feature(r.operation, strconv.Itoa(a.Status), codeOf(a.Body))] = true
	for name := range a.Header {
		if name, ok := r.header(name); ok {
			s.seen[feature(r.operation, "header", name)] = true
		}
	}
}

// codeOf returns the code in a body of shape A or B, or "".
func codeOf(body []byte) string {
	var flat struct {
		Code  string
		Error json.RawMessage
	}
	if json.Unmarshal(body, &flat) != nil || flat.Code != "" {
		return flat.Code
	}
	_ = json.Unmarshal(flat.Error, &flat) // shape B
	return flat.Code
}

// feature returns the name of a feature: an operation, or "any" for all of
// them, and a status with its code, or a header.
func feature(operation string, parts ...string) string {
	if operation == "" {
		operation = "any"
	}
	return strings.TrimSpace(operation + " " + strings.Join(parts, " "))
}

// RequireComplete requires that everything described was seen, but for what
// matches a regular expression in except, whose value is the reason. An
// exception that was seen, or matches nothing described, fails the test as well.
func (s *Survey) RequireComplete(t testing.TB, except map[string]string) {
	t.Helper()
	missing, err := s.missing(except)
	require.NoError(t, err)
	require.Empty(t, missing, strings.Join(missing, "\n"))
}

// missing returns what RequireComplete reports.
func (s *Survey) missing(except map[string]string) (list []string, err error) {
	described, err := s.document.features()
	s.mu.Lock()
	defer s.mu.Unlock()
	used := map[string]bool{}
	for _, f := range slices.Sorted(maps.Keys(described)) {
		pattern := matching(f, except)
		used[pattern] = true
		switch {
		case pattern == "" && !s.seen[f]:
			list = append(list, f+": described, but no response had it")
		case pattern != "" && s.seen[f]:
			list = append(list, f+": seen, so it is no exception ("+pattern+")")
		}
	}
	for pattern := range except {
		if !used[pattern] {
			list = append(list, "the exception "+pattern+" matches nothing that is described")
		}
	}
	return list, err
}

// matching returns the exception that a feature matches, or "".
func matching(feature string, except map[string]string) string {
	for pattern := range except {
		if regexp.MustCompile("^(?:" + pattern + ")$").MatchString(feature) {
			return pattern
		}
	}
	return ""
}

// A Response is what the service sent to a request.
type Response struct {
	Method, Target string
	Status         int
	Header         http.Header
	Body           []byte
}

// transport has the headers that HTTP itself defines for every message. OpenAPI
// describes Content-Type by the media types of the content.
var transport = []string{"Connection", "Content-Length", "Content-Type", "Date", "Transfer-Encoding"}

// described is the response in the document that a response has.
type described struct {
	operation string // its id; empty if the request reached none
	responseObject
}

// isPage reports whether the response is a page's, and not the API's: the dashboard
// serves what is neither below /v1 nor described. Such a problem has the shape of
// the API's, and the headers of a page besides.
func (d *document) isPage(a *Response, r *described) bool {
	return r.operation == "" && !strings.HasPrefix(a.Target, "/v1/") && d.template(a.Target) == ""
}

// describe finds a response in the document. The statuses of requests that
// reached no operation are those of the default response, which is the same for
// all operations.
func (d *document) describe(a *Response) (described, error) {
	if op, found := d.find(a.Method, a.Target); found {
		if r, ok := op.Responses[strconv.Itoa(a.Status)]; ok {
			return described{op.ID, r}, nil
		}
	}
	for _, op := range d.operations() {
		if r, ok := op.Responses["default"]; ok {
			return described{"", r}, nil
		}
	}
	return described{}, fmt.Errorf("status %d is not described", a.Status)
}

// check compares the response with its description.
func (d *document) check(a *Response) (described, error) {
	r, err := d.describe(a)
	if err != nil {
		return r, err
	}
	problems := errors.Join(d.checkHeaders(&r, a.Header), d.checkBody(&r, a))
	if !d.isPage(a, &r) {
		problems = errors.Join(problems, r.checkNames(a.Header))
	}
	return r, problems
}

// checkNames requires that every header is described.
func (r *described) checkNames(header http.Header) (problems error) {
	for name := range header {
		if _, ok := r.header(name); !ok && !slices.Contains(transport, name) {
			problems = errors.Join(problems, fmt.Errorf("header %s is not described", name))
		}
	}
	return problems
}

// checkHeaders requires that every described header has a described value, and
// that no required one is absent.
func (d *document) checkHeaders(r *described, header http.Header) (problems error) {
	for name, h := range r.Headers {
		at, err := resolve(r.at, h.Ref)
		if err == nil {
			err = d.checkHeader(at, header.Values(name))
		}
		if err != nil {
			problems = errors.Join(problems, fmt.Errorf("header %s: %w", name, err))
		}
	}
	return problems
}

// header returns the description's spelling of a header's name.
func (r *described) header(name string) (spelling string, ok bool) {
	for spelling := range r.Headers {
		if strings.EqualFold(spelling, name) {
			return spelling, true
		}
	}
	return "", false
}

// checkHeader compares the values of one header with its description.
func (d *document) checkHeader(at string, values []string) error {
	required, err := d.required(at)
	switch {
	case err != nil:
		return err
	case len(values) == 0 && required:
		return errors.New("is required and absent")
	case len(values) == 0:
		return nil
	case len(values) > 1:
		return errors.New("occurs twice")
	}
	schema, err := d.schema(at + "/schema")
	if err != nil {
		return err
	}
	return schema.Validate(valueOf(schema, values[0]))
}

// required reports whether the header described at a place is required.
func (d *document) required(at string) (bool, error) {
	var header struct{ Required bool }
	err := d.lookup(at, &header)
	return header.Required, err
}

// valueOf returns the JSON value of a header: a number if the schema wants one.
func valueOf(schema *jsonschema.Schema, text string) any {
	if schema.Types != nil && slices.Contains(schema.Types.ToStrings(), "integer") {
		return json.Number(text)
	}
	return text
}

// checkBody compares the body with the schema of its media type. The response to
// HEAD has none.
func (d *document) checkBody(r *described, a *Response) error {
	if len(r.Content) == 0 || a.Method == http.MethodHead {
		if len(a.Body) > 0 {
			return fmt.Errorf("there are %d bytes of body, and none are described", len(a.Body))
		}
		return nil
	}
	media, _, err := mime.ParseMediaType(a.Header.Get("Content-Type"))
	if _, ok := r.Content[media]; err != nil || !ok {
		return fmt.Errorf("the media type is %q, want one of %q", a.Header.Get("Content-Type"), slices.Collect(maps.Keys(r.Content)))
	}
	schema, err := d.schema(r.at + below("content", media, "schema"))
	if err != nil {
		return err
	}
	return validate(schema, media, a.Body)
}

// validate compares a body with a schema: its JSON value, or its text.
func validate(schema *jsonschema.Schema, media string, body []byte) error {
	if media != "application/json" {
		return schema.Validate(string(body))
	}
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(string(body)))
	if err != nil {
		return err
	}
	return schema.Validate(value)
}
