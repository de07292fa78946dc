package docs

import (
	"encoding/json"
	"fmt"
	"strings"
)

// A description is what the reference shows of an OpenAPI 3.1 document.
type description struct {
	Info struct {
		Description string
	}
	Paths      ordered[ordered[json.RawMessage]] // by path, then by method or other name
	Components struct {
		Schemas    ordered[*schema]
		Headers    ordered[*header]
		Responses  ordered[*answer]
		Parameters ordered[*param]
		Examples   ordered[*sample]
	}
}

// An operation is an Operation Object.
type operation struct {
	OperationID string
	Summary     string
	Description string
	Parameters  []*param
	RequestBody *struct {
		Description string
		Required    bool
		Content     ordered[media]
	}
	Responses ordered[*answer]
}

// A param is a Parameter Object.
type param struct {
	Ref         string `json:"$ref"`
	Name, In    string
	Required    bool
	Description string
	Schema      *schema
	Example     json.RawMessage
}

// An answer is a Response Object.
type answer struct {
	Ref         string `json:"$ref"`
	Description string
	Headers     ordered[*header]
	Content     ordered[media]
}

// A header is a Header Object.
type header struct {
	Ref         string `json:"$ref"`
	Description string
	Schema      *schema
	Example     json.RawMessage
}

// A media is a Media Type Object.
type media struct {
	Schema   *schema
	Example  json.RawMessage
	Examples ordered[*sample]
}

// A sample is an Example Object.
type sample struct {
	Ref         string `json:"$ref"`
	Summary     string
	Description string
	Value       json.RawMessage
}

// resolve returns what ref, such as #/components/headers/RequestId, names, and
// here if there is no ref.
func resolve[T any](ref, kind string, here T, in ordered[T]) (T, error) {
	if ref == "" {
		return here, nil
	}
	name, ok := strings.CutPrefix(ref, "#/components/"+kind+"/")
	found, known := in.get(name)
	if !ok || !known {
		return here, fmt.Errorf("there is no %s", ref)
	}
	return found, nil
}

func (d *description) param(p *param) (*param, error) {
	return resolve(p.Ref, "parameters", p, d.Components.Parameters)
}

func (d *description) answer(a *answer) (*answer, error) {
	return resolve(a.Ref, "responses", a, d.Components.Responses)
}

func (d *description) header(h *header) (*header, error) {
	return resolve(h.Ref, "headers", h, d.Components.Headers)
}

func (d *description) sample(s *sample) (*sample, error) {
	return resolve(s.Ref, "examples", s, d.Components.Examples)
}
