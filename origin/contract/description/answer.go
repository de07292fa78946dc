package description

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// An Answer is the answer to a request.
type Answer struct {
	Method, Target string
	Status         int
	Header         http.Header
	Body           []byte
}

// transport has the headers that HTTP itself defines for every message. OpenAPI
// describes Content-Type by the media types of the content.
var transport = []string{"Connection", "Content-Length", "Content-Type", "Date", "Transfer-Encoding"}

// described is the response in the document that an answer has.
type described struct {
	operation string // its id; empty if the request reached none
	answer
}

// isPage reports whether the answer is a page's, and not the API's: the dashboard
// answers what is neither below /v1 nor described. Such a problem has the shape of
// the API's, and the headers of a page besides.
func (d *document) isPage(a *Answer, r *described) bool {
	return r.operation == "" && !strings.HasPrefix(a.Target, "/v1/") && d.template(a.Target) == ""
}

// describe finds the response of an answer. The statuses of requests that
// reached no operation are those of the default response, which is the same for
// all operations.
func (d *document) describe(a *Answer) (described, error) {
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

// check compares the answer with its description.
func (d *document) check(a *Answer) (described, error) {
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
	err := d.lookUp(at, &header)
	return header.Required, err
}

// valueOf returns the JSON value of a header: a number if the schema wants one.
func valueOf(schema *jsonschema.Schema, text string) any {
	if schema.Types != nil && slices.Contains(schema.Types.ToStrings(), "integer") {
		return json.Number(text)
	}
	return text
}

// checkBody compares the body with the schema of its media type. The answer to
// HEAD has none.
func (d *document) checkBody(r *described, a *Answer) error {
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
