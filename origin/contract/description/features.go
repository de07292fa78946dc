package description

import (
	"fmt"
	"maps"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

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

// A pair is a status and a code that an answer with this status may have.
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
