package contract

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"mime"
	"net/http"
	"net/url"
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

// A Survey compares responses of the API with its OpenAPI description, both ways: every response
// must be described, and everything described must be seen in a response. It is safe for
// concurrent use.
//
// The schemas of OpenAPI 3.1 are JSON Schema 2020-12, for which santhosh-tekuri/jsonschema is the
// validator: it passes the official test suite, depends on x/text alone, and is what validators of
// whole OpenAPI documents use inside. Those would neither report a header that is not described
// nor what was never seen, which is half of a Survey.
type Survey struct {
	paths     map[string]map[string]map[string]*described // by path template, method and status
	otherwise *described                                  // of requests that reached no operation
	features  map[string]bool                             // an operation, and a header, or a status with its code

	mu   sync.Mutex
	seen map[string]bool // features
}

// described is a response in the description.
type described struct {
	operation string                        // its id, or "any"
	headers   map[string]header             // by canonical name
	content   map[string]*jsonschema.Schema // by media type
}

type header struct {
	name     string // as the description has it
	required bool
	schema   *jsonschema.Schema
}

// NewSurvey returns a survey of a description that is not served (openapi-edge.json or
// openapi-hooks.json), or of the one that is if file is empty.
func NewSurvey(t testing.TB, file string) *Survey {
	t.Helper()
	r := &reader{t: t, files: map[string]any{}, compiler: jsonschema.NewCompiler()}
	r.compiler.AssertFormat()
	r.add("openapi.json", api.Description())
	main := "openapi.json"
	if file != "" {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		main = filepath.Base(file)
		r.add(main, text)
	}
	s := &Survey{paths: map[string]map[string]map[string]*described{}, features: map[string]bool{},
		seen: map[string]bool{}}
	paths, at := r.object(location + main + "#/paths")
	for path := range paths {
		s.paths[path] = map[string]map[string]*described{}
		item, at := r.object(at + below(path))
		delete(item, "parameters")
		for method := range item {
			operation, at := r.object(at + below(method))
			statuses := map[string]*described{}
			s.paths[path][strings.ToUpper(method)] = statuses
			for status := range operation["responses"].(map[string]any) {
				d := r.response(operation["operationId"].(string), at+below("responses", status))
				statuses[status] = d
				if status == "default" { // the same for all operations
					d.operation, s.otherwise = "any", d
				}
				for _, h := range d.headers {
					s.features[d.operation+" header "+h.name] = true
				}
				codes := map[string]bool{}
				for _, schema := range d.content {
					addCodes(codes, schema, status)
				}
				if len(codes) == 0 {
					codes[status] = true
				}
				for code := range codes {
					s.features[d.operation+" "+code] = true
				}
			}
		}
	}
	return s
}

// addCodes adds the statuses with codes of a problem with this schema. A problem of shape A has
// a status of its own, one of shape B that of the response.
func addCodes(codes map[string]bool, schema *jsonschema.Schema, status string) {
	for _, other := range append(schema.OneOf, schema.Ref) {
		if other != nil {
			addCodes(codes, other, status)
		}
	}
	values := func(schema *jsonschema.Schema) []any {
		if schema == nil || schema.Enum == nil {
			return nil
		}
		return schema.Enum.Values
	}
	if object := schema.Properties["error"]; object != nil {
		for _, code := range values(object.Properties["code"]) {
			codes[status+" "+code.(string)] = true
		}
	}
	for _, status := range values(schema.Properties["status"]) {
		for _, code := range values(schema.Properties["code"]) {
			if schema.Validate(map[string]any{"status": status, "error": "", "code": code}) == nil {
				codes[fmt.Sprint(status, " ", code)] = true
			}
		}
	}
}

// A reader reads a description, which may consist of several files.
type reader struct {
	t        testing.TB
	files    map[string]any
	compiler *jsonschema.Compiler
}

// location is the URL by which the compiler knows the files.
const location = "https://addrspec.invalid/"

func (r *reader) add(name string, text []byte) {
	content, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	require.NoError(r.t, err, name)
	require.NoError(r.t, r.compiler.AddResource(location+name, content))
	r.files[name] = content
}

// below returns what to append to a place, which is a URL with a JSON Pointer (RFC 6901), for a
// place below it.
func below(steps ...string) (pointer string) {
	for _, step := range steps {
		pointer += "/" + url.PathEscape(strings.NewReplacer("~", "~0", "/", "~1").Replace(step))
	}
	return pointer
}

// object returns the object at a place, or the one to which that refers, and its own place.
func (r *reader) object(place string) (found map[string]any, at string) {
	at = place
	for ref := ""; ; {
		file, pointer, _ := strings.Cut(strings.TrimPrefix(at, location), "#/")
		found, _ = r.files[file].(map[string]any)
		for step := range strings.SplitSeq(pointer, "/") {
			step, err := url.PathUnescape(step)
			require.NoError(r.t, err, at)
			found, _ = found[strings.NewReplacer("~1", "/", "~0", "~").Replace(step)].(map[string]any)
		}
		require.NotNil(r.t, found, "there is nothing at %s", at)
		ref, _ = found["$ref"].(string)
		if ref == "" {
			return found, at
		}
		base, err := url.Parse(at)
		require.NoError(r.t, err)
		target, err := base.Parse(ref)
		require.NoError(r.t, err)
		at = target.String()
	}
}

func (r *reader) response(operation, place string) *described {
	d := &described{operation, map[string]header{}, map[string]*jsonschema.Schema{}}
	response, at := r.object(place)
	compile := func(at string) *jsonschema.Schema {
		schema, err := r.compiler.Compile(at + "/schema")
		require.NoError(r.t, err)
		return schema
	}
	headers, _ := response["headers"].(map[string]any)
	for name := range headers {
		h, at := r.object(at + below("headers", name))
		d.headers[http.CanonicalHeaderKey(name)] = header{name, h["required"] == true, compile(at)}
	}
	content, _ := response["content"].(map[string]any)
	for media := range content {
		d.content[media] = compile(at + below("content", media))
	}
	return d
}

// Requests returns a request for each operation, with no header and no body.
func (s *Survey) Requests() (all []origintest.Request) {
	parameters := strings.NewReplacer("{email}", "jane@mail.example", "{name}", "signup")
	for template, item := range s.paths {
		for method := range item {
			all = append(all, origintest.Request{Method: method, Target: parameters.Replace(template)})
		}
	}
	return all
}

// A Reply is what the service sent to a request.
type Reply struct {
	Method, Target string
	Status         int
	Header         http.Header
	Body           []byte
}

// template returns the path template that matches a target. An address may contain
// slashes, as sent by clients that do not encode them; without an address, the
// path is the operation's too (MISSING_EMAIL).
func (s *Survey) template(target string) string {
	path, _, _ := strings.Cut(target, "?")
	for template := range s.paths {
		prefix, _, has := strings.Cut(template, "{")
		if path == template || has && (strings.HasPrefix(path, prefix) || path == strings.TrimSuffix(prefix, "/")) {
			return template
		}
	}
	return ""
}

// transport has the headers that HTTP itself defines for every message. OpenAPI
// describes Content-Type by the media types of the content.
var transport = []string{"Connection", "Content-Length", "Content-Type", "Date", "Transfer-Encoding"}

// Check returns an error if the reply is not as described. HEAD has the operation of GET (RFC 9110
// section 9.3.2). The dashboard serves what is neither below /v1 nor described: such a problem has
// the shape of the API's, and the headers of a page besides.
func (s *Survey) Check(r Reply) error {
	method, template := r.Method, s.template(r.Target)
	if method == http.MethodHead {
		method = http.MethodGet
	}
	d := s.paths[template][method][strconv.Itoa(r.Status)]
	if d == nil {
		d = s.otherwise
	}
	if d == nil {
		return fmt.Errorf("%s %s: status %d is not described", r.Method, r.Target, r.Status)
	}
	var problems []error
	for name, h := range d.headers {
		if err := h.check(r.Header.Values(name)); err != nil {
			problems = append(problems, fmt.Errorf("header %s: %w", h.name, err))
		}
	}
	isPage := d.operation == "any" && template == "" && !strings.HasPrefix(r.Target, "/v1/")
	for name := range r.Header {
		if _, found := d.headers[name]; !found && !isPage && !slices.Contains(transport, name) {
			problems = append(problems, fmt.Errorf("header %s is not described", name))
		}
	}
	err := errors.Join(append(problems, d.checkBody(r))...)
	if err != nil {
		return fmt.Errorf("the response of %s is not as described: %s %d: %w", d.operation, r.Method, r.Status, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen[strings.TrimSpace(fmt.Sprintf("%s %d %s", d.operation, r.Status, codeOf(r.Body)))] = true
	for name := range r.Header {
		s.seen[d.operation+" header "+d.headers[name].name] = true
	}
	return nil
}

// check compares the values of one header with its description.
func (h header) check(values []string) error {
	switch {
	case len(values) == 0 && h.required:
		return errors.New("is required and absent")
	case len(values) == 0:
		return nil
	case len(values) > 1:
		return errors.New("occurs twice")
	case h.schema.Types != nil && slices.Contains(h.schema.Types.ToStrings(), "integer"):
		return h.schema.Validate(json.Number(values[0]))
	}
	return h.schema.Validate(values[0])
}

// checkBody compares the body with the schema of its media type. The response to
// HEAD has none.
func (d *described) checkBody(r Reply) error {
	if len(d.content) == 0 || r.Method == http.MethodHead {
		if len(r.Body) > 0 {
			return fmt.Errorf("there are %d bytes of body, and none are described", len(r.Body))
		}
		return nil
	}
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	schema := d.content[media]
	if err != nil || schema == nil {
		return fmt.Errorf("the media type is %q, want one of %q", r.Header.Get("Content-Type"),
			slices.Collect(maps.Keys(d.content)))
	}
	if media != "application/json" {
		return schema.Validate(string(r.Body))
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(r.Body))
	if err != nil {
		return err
	}
	return schema.Validate(value)
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

// RequireComplete requires that everything described was seen, but for what
// matches a regular expression in except, whose value is the reason. An
// exception that was seen, or matches nothing described, fails the test as well.
func (s *Survey) RequireComplete(t testing.TB, except map[string]string) {
	t.Helper()
	missing := s.missing(except)
	require.Empty(t, missing, strings.Join(missing, "\n"))
}

// missing returns what RequireComplete reports.
func (s *Survey) missing(except map[string]string) (list []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	used := map[string]bool{}
	for _, feature := range slices.Sorted(maps.Keys(s.features)) {
		excepted := ""
		for pattern := range except {
			if regexp.MustCompile("^(?:" + pattern + ")$").MatchString(feature) {
				excepted, used[pattern] = pattern, true
			}
		}
		switch {
		case excepted == "" && !s.seen[feature]:
			list = append(list, feature+": described, but no response had it")
		case excepted != "" && s.seen[feature]:
			list = append(list, feature+": seen, so it is no exception ("+excepted+")")
		}
	}
	for pattern := range except {
		if !used[pattern] {
			list = append(list, "the exception "+pattern+" matches nothing that is described")
		}
	}
	return list
}
