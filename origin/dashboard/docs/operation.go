package docs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html/template"
	"slices"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/text"
)

// methods has the methods of a path that are operations, in lower case as OpenAPI
// writes them.
var methods = []string{"get", "put", "post", "delete", "patch"}

// pages returns a page for each operation that callers use. The paths outside /v1
// are the operator's, and /v1/edge is for workers.
func (d *description) pages() (list []*Page, err error) {
	first, err := d.introduction()
	if err != nil {
		return nil, err
	}
	list = append(list, first)
	for _, path := range d.Paths {
		if !strings.HasPrefix(path.name, "/v1/") || strings.HasPrefix(path.name, "/v1/edge/") {
			continue
		}
		for _, m := range path.value {
			if !slices.Contains(methods, m.name) {
				continue
			}
			page, err := d.operationPage(m.name, path.name, m.value)
			if err != nil {
				return nil, fmt.Errorf("%s %s: %w", m.name, path.name, err)
			}
			list = append(list, page)
		}
	}
	return list, nil
}

// introduction is what holds for all operations.
func (d *description) introduction() (*Page, error) {
	source := linked(d.Info.Description)
	root := markdown().Parser().Parse(text.NewReader(source))
	var body bytes.Buffer
	err := markdown().Renderer().Render(&body, source, root)
	return &Page{
		Path: Root + "/api", Title: "Requests and answers", Summary: "What holds for every operation of the API.",
		Body: template.HTML(body.String()), Contents: headings(root, source), //nolint:gosec // goldmark omits raw HTML
	}, err
}

// An operationView is what the template of an operation's page gets.
type operationView struct {
	Method, Path string
	Description  template.HTML
	Examples     []Example
	Parameters   []field
	Body         *bodyView
	Answers      []answerView
	Headers      []headerView
}

func (d *description) operationPage(method, path string, raw json.RawMessage) (*Page, error) {
	var op operation
	if err := json.Unmarshal(raw, &op); err != nil {
		return nil, err
	}
	view, err := d.operationView(strings.ToUpper(method), path, &op)
	if err != nil {
		return nil, err
	}
	var body bytes.Buffer
	if err := templates().ExecuteTemplate(&body, "operation.html", view); err != nil {
		return nil, err
	}
	return &Page{
		Path: Root + "/" + kebab(op.OperationID), Title: op.Summary, Summary: view.Method + " " + path,
		Body: template.HTML(body.String()), Contents: view.contents(), //nolint:gosec // written by html/template
	}, nil
}

func (d *description) operationView(method, path string, op *operation) (v operationView, err error) {
	v = operationView{Method: method, Path: path}
	page := &shaper{description: d}
	steps := []func() error{
		func() (err error) { v.Description, err = prose(op.Description); return err },
		func() (err error) { v.Examples, err = Examples(kebab(op.OperationID)); return err },
		func() (err error) { v.Parameters, err = page.parameters(op.Parameters); return err },
		func() (err error) { v.Body, err = page.requestBody(op); return err },
		func() (err error) { v.Answers, err = page.answers(op.Responses); return err },
		func() (err error) { v.Headers, err = page.headers(op.Responses); return err },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return v, err
		}
	}
	return v, nil
}

func (v *operationView) contents() (list []Heading) {
	list = append(list, Heading{2, "examples", "Examples"}, Heading{2, "parameters", "Parameters"})
	if v.Body != nil {
		list = append(list, Heading{2, "body", "Body"})
	}
	list = append(list, Heading{2, "answers", "Answers"})
	for _, a := range v.Answers {
		list = append(list, Heading{3, a.ID(), a.Heading()})
	}
	return append(list, Heading{2, "headers", "Headers of the answers"})
}

func (p *shaper) parameters(list []*param) (fields []field, err error) {
	for _, one := range list {
		found, err := p.param(one)
		if err != nil {
			return nil, err
		}
		s := *found.Schema
		s.Description = found.Description
		f, err := p.field(found.Name, &s)
		if err != nil {
			return nil, err
		}
		f.Optional, f.In = !found.Required, found.In
		fields = append(fields, f)
	}
	return fields, nil
}

func (p *shaper) requestBody(op *operation) (*bodyView, error) {
	if op.RequestBody == nil {
		return nil, nil
	}
	bodies, err := p.bodies(op.RequestBody.Content)
	if err != nil || len(bodies) == 0 {
		return nil, err
	}
	return &bodies[0], nil
}

// kebab returns an operationId such as checkEmails as check-emails.
func kebab(id string) string {
	var b strings.Builder
	for _, c := range id {
		if unicode.IsUpper(c) {
			b.WriteByte('-')
		}
		b.WriteRune(unicode.ToLower(c))
	}
	return b.String()
}
