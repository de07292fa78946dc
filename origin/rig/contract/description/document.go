// Package description compares responses of the API with its OpenAPI description,
// both ways: every response must be described, and everything described must be
// seen in a response.
//
// A [Survey] does both. [Survey.Check] finds the operation and the response of
// a response in the description, and compares headers and body with it.
// [Survey.RequireComplete] then lists what no response had.
//
// The schemas of OpenAPI 3.1 are JSON Schema 2020-12, for which
// santhosh-tekuri/jsonschema is the validator: it passes the official test suite,
// depends on x/text alone, and is what validators of whole OpenAPI documents use
// inside. Those would neither report a header that is not described nor what was
// never seen, which is half of this package.
package description

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// A document is an OpenAPI description. References between its files are
// resolved when it is parsed.
type document struct {
	paths map[string]map[string]operation // by path template and method in lower case
	files map[string]any                  // the decoded files by name

	mu       sync.Mutex // the compiler is not safe for concurrent use; its schemas are
	compiler *jsonschema.Compiler
}

// An operation is a method of a path.
type operation struct {
	ID        string `json:"operationId"`
	Responses map[string]responseObject
}

// A responseObject is a response of an operation in the document.
type responseObject struct {
	Ref     string `json:"$ref"`
	Headers map[string]struct {
		Ref string `json:"$ref"`
	}
	Content map[string]json.RawMessage
	at      string // its place: FILE#POINTER
}

// parse reads the description in files[main].
func parse(main string, files map[string][]byte) (*document, error) {
	d := &document{files: map[string]any{}, compiler: jsonschema.NewCompiler()}
	d.compiler.AssertFormat()
	for name, text := range files {
		content, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if err := d.compiler.AddResource(location(name), content); err != nil {
			return nil, err
		}
		d.files[name] = content
	}
	return d, d.readPaths(main)
}

// schema returns the schema at a place. It is compiled once.
func (d *document) schema(at string) (*jsonschema.Schema, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.compiler.Compile(at)
}

// location returns the URL by which the compiler knows a file.
func location(file string) string { return "https://addrspec.invalid/" + file }

func (d *document) readPaths(main string) error {
	var paths map[string]map[string]json.RawMessage
	if err := d.lookup(location(main)+pointer("paths"), &paths); err != nil {
		return err
	}
	d.paths = map[string]map[string]operation{}
	for path, item := range paths {
		delete(item, "parameters")
		d.paths[path] = map[string]operation{}
		for method, text := range item {
			op, err := d.readOperation(text, location(main)+pointer("paths", path, method))
			if err != nil {
				return fmt.Errorf("%s %s: %w", method, path, err)
			}
			d.paths[path][method] = op
		}
	}
	return nil
}

// readOperation reads the operation at a place.
func (d *document) readOperation(text json.RawMessage, at string) (op operation, err error) {
	if err := json.Unmarshal(text, &op); err != nil {
		return op, err
	}
	for status, a := range op.Responses {
		a.at = at + below("responses", status)
		if op.Responses[status], err = d.follow(a); err != nil {
			return op, err
		}
	}
	return op, nil
}

// follow returns the response that a refers to, if it refers to one.
func (d *document) follow(a responseObject) (responseObject, error) {
	if a.Ref == "" {
		return a, nil
	}
	at, err := resolve(a.at, a.Ref)
	if err != nil {
		return a, err
	}
	a = responseObject{at: at}
	return a, d.lookup(at, &a)
}

// pointer returns the JSON Pointer (RFC 6901) of a place as a fragment.
func pointer(steps ...string) (fragment string) {
	fragment = "#"
	for _, s := range steps {
		s = strings.NewReplacer("~", "~0", "/", "~1").Replace(s)
		fragment += "/" + url.PathEscape(s)
	}
	return fragment
}

// below returns what to append to a place for a place below it.
func below(steps ...string) string { return strings.TrimPrefix(pointer(steps...), "#") }

// resolve returns the place that a reference at a place refers to.
func resolve(at, ref string) (string, error) {
	base, err := url.Parse(at)
	if err != nil {
		return "", err
	}
	target, err := base.Parse(ref)
	if err != nil {
		return "", err
	}
	return target.String(), nil
}

// lookup decodes what is at a place.
func (d *document) lookup(at string, into any) error {
	file, fragment, _ := strings.Cut(strings.TrimPrefix(at, location("")), "#/")
	value := d.files[file]
	for step := range strings.SplitSeq(fragment, "/") {
		step, err := url.PathUnescape(step)
		members, ok := value.(map[string]any)
		if err != nil || !ok {
			return fmt.Errorf("there is nothing at %s", at)
		}
		value = members[strings.NewReplacer("~1", "/", "~0", "~").Replace(step)]
	}
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

// find returns the operation of a request and whether there is one. A method that
// the path has not has none. HEAD has the operation of GET (RFC 9110 section
// 9.3.2).
func (d *document) find(method, target string) (op operation, found bool) {
	if method == "HEAD" {
		method = "GET"
	}
	path, _, _ := strings.Cut(target, "?")
	op, found = d.paths[d.template(path)][strings.ToLower(method)]
	return op, found
}

// template returns the path template that matches path. An address may contain
// slashes, as sent by clients that do not encode them; without an address, the
// path is the operation's too (MISSING_EMAIL).
func (d *document) template(path string) string {
	for template := range d.paths {
		prefix, _, has := strings.Cut(template, "{")
		if path == template || has && (strings.HasPrefix(path, prefix) || path == strings.TrimSuffix(prefix, "/")) {
			return template
		}
	}
	return ""
}

// operations returns all operations, sorted by id.
func (d *document) operations() (all []operation) {
	for _, item := range d.paths {
		for _, op := range item {
			all = append(all, op)
		}
	}
	slices.SortFunc(all, func(a, b operation) int { return strings.Compare(a.ID, b.ID) })
	return all
}

// features returns all features of the document; see feature.
func (d *document) features() (map[string]bool, error) {
	all := map[string]bool{}
	err := d.visit(func(r *described, pairs map[pair]bool) {
		for name := range r.Headers {
			all[feature(r.operation, "header", name)] = true
		}
		for p := range pairs {
			all[feature(r.operation, p.status, p.code)] = true
		}
	})
	return all, err
}

// codes returns the pairs of all responses.
func (d *document) codes() (map[pair]bool, error) {
	all := map[pair]bool{}
	err := d.visit(func(_ *described, pairs map[pair]bool) { maps.Copy(all, pairs) })
	return all, err
}

// visit calls f for every response, with its pairs.
func (d *document) visit(f func(*described, map[pair]bool)) error {
	for _, op := range d.operations() {
		for status, a := range op.Responses {
			r := described{op.ID, a}
			if status == "default" {
				r.operation = ""
			}
			pairs, err := d.pairs(&r, status)
			if err != nil {
				return fmt.Errorf("%s: %s: %w", op.ID, status, err)
			}
			f(&r, pairs)
		}
	}
	return nil
}

// pairs returns the pairs of a response with a status.
func (d *document) pairs(r *described, status string) (map[pair]bool, error) {
	pairs := map[pair]bool{}
	for media := range r.Content {
		schema, err := d.schema(r.at + below("content", media, "schema"))
		if err != nil {
			return nil, err
		}
		addPairs(pairs, schema, status)
	}
	if len(pairs) == 0 {
		pairs[pair{status: status}] = true
	}
	return pairs, nil
}

// A pair is a status and a code that a response with this status may have.
type pair struct{ status, code string }

// addPairs adds the pairs of a problem with this schema. A problem of shape A has
// a status of its own, one of shape B that of the response.
func addPairs(pairs map[pair]bool, schema *jsonschema.Schema, status string) {
	for _, other := range append(schema.OneOf, schema.Ref) {
		if other != nil {
			addPairs(pairs, other, status)
		}
	}
	if object := schema.Properties["error"]; object != nil {
		for _, code := range values(object.Properties["code"]) {
			pairs[pair{status, code.(string)}] = true
		}
	}
	for _, status := range values(schema.Properties["status"]) {
		for _, code := range values(schema.Properties["code"]) {
			if schema.Validate(map[string]any{"status": status, "error": "", "code": code}) == nil {
				pairs[pair{fmt.Sprint(status), code.(string)}] = true
			}
		}
	}
}

// values returns the values of an enum, nil without one.
func values(schema *jsonschema.Schema) []any {
	if schema == nil || schema.Enum == nil {
		return nil
	}
	return schema.Enum.Values
}
