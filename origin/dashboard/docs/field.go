package docs

import (
	"html/template"
	"slices"
	"strings"
)

// A shape is an object as a page shows it: a table of its fields.
type shape struct {
	Name   string // of the component; empty for an object without a name
	Seen   bool   // the page showed it before: a link is enough
	Fields []field

	Description template.HTML
}

// ID is the anchor of the shape.
func (s shape) ID() string { return "shape-" + slug(s.Name) }

// A field is a row of the table.
type field struct {
	Name     string
	Type     template.HTML
	Optional bool
	In       string // where a parameter is
	Meaning  template.HTML
	Source   template.HTML // where the value comes from, if that is documented
}

// A shaper lists the shapes of a page. Each is shown once, where it first occurs.
type shaper struct {
	*description
	seen []string
}

// shapes returns the objects that make up a schema: first the schema's own, then
// those that its fields refer to.
func (p *shaper) shapes(s *schema) (list []shape, err error) {
	for _, alternative := range s.alternatives() {
		more, err := p.object(alternative)
		if err != nil {
			return nil, err
		}
		list = append(list, more...)
	}
	return list, nil
}

func (p *shaper) object(s *schema) ([]shape, error) {
	name, found, err := p.schema(s)
	if err != nil {
		return nil, err
	}
	if found.Items != nil {
		return p.shapes(found.Items)
	}
	if slices.Contains(p.seen, name) {
		return []shape{{Name: name, Seen: true}}, nil
	}
	if found != found.alternatives()[0] {
		return p.shapes(found)
	}
	members, required, err := p.members(found)
	if err != nil || len(members) == 0 {
		return nil, err
	}
	if name != "" {
		p.seen = append(p.seen, name)
	}
	own := shape{Name: name}
	if own.Description, err = prose(found.Description); err != nil {
		return nil, err
	}
	inner, err := p.fields(&own, "", members, required)
	return append([]shape{own}, inner...), err
}

// fields adds rows for members, and returns the shapes that they refer to. The
// members of an object without a name get rows of their own, with its name before
// theirs.
func (p *shaper) fields(to *shape, prefix string, members ordered[*schema], required []string) (inner []shape, err error) {
	for _, m := range members {
		f, err := p.field(prefix+m.name, m.value)
		if err != nil {
			return nil, err
		}
		f.Optional = !slices.Contains(required, m.name)
		if to.Name == resultSchema {
			if f.Source, err = phrase(sources[m.name]); err != nil {
				return nil, err
			}
		}
		to.Fields = append(to.Fields, f)
		more, err := p.below(to, prefix+m.name, m.value)
		if err != nil {
			return nil, err
		}
		inner = append(inner, more...)
	}
	return inner, nil
}

// below shows what is inside a member.
func (p *shaper) below(to *shape, name string, s *schema) (inner []shape, err error) {
	for s.Ref == "" && s.Items != nil {
		name, s = name+"[]", s.Items
	}
	if s.Ref == "" && (len(s.Properties) > 0 || len(s.AllOf) > 0) {
		members, required, err := p.members(s)
		if err != nil {
			return nil, err
		}
		return p.fields(to, name+".", members, required)
	}
	for _, alternative := range s.alternatives() {
		if alternative.Ref == "" && alternative.Items == nil {
			continue
		}
		more, err := p.object(alternative)
		if err != nil {
			return nil, err
		}
		inner = append(inner, slices.DeleteFunc(more, func(s shape) bool { return s.Seen })...)
	}
	return inner, nil
}

// field returns the row of one member.
func (p *shaper) field(name string, s *schema) (f field, err error) {
	kind, err := p.kind(s)
	if err != nil {
		return f, err
	}
	_, found, err := p.schema(s)
	if err != nil {
		return f, err
	}
	f.Name = name
	if f.Type, err = phrase(kind); err != nil {
		return f, err
	}
	meaning := s.Description
	if meaning == "" {
		meaning = found.Description
	}
	limits, err := p.limits(found)
	if err != nil {
		return f, err
	}
	if len(limits) > 0 {
		meaning = strings.TrimSpace(meaning + "\n\nValues: " + strings.Join(limits, "; ") + ".")
	}
	f.Meaning, err = prose(meaning)
	return f, err
}

// limits returns what restricts a value that is not an object, in words. One of
// several schemas may restrict it.
func (p *shaper) limits(s *schema) (words []string, err error) {
	words = s.limits()
	for _, alternative := range s.alternatives() {
		_, found, err := p.schema(alternative)
		if err != nil {
			return nil, err
		}
		if found != s && len(found.Properties) == 0 && len(found.AllOf) == 0 {
			words = append(words, found.limits()...)
		}
	}
	return words, nil
}

// kind returns the type of a schema in words, as Markdown.
func (p *shaper) kind(s *schema) (string, error) {
	name, found, err := p.schema(s)
	if err != nil {
		return "", err
	}
	switch {
	case name != "" && (len(found.Properties) > 0 || len(found.AllOf) > 0):
		return "[" + name + "](#" + shape{Name: name}.ID() + ")", nil
	case found != found.alternatives()[0]:
		return p.either(found.alternatives())
	case found.Items != nil:
		of, err := p.kind(found.Items)
		return "array of " + of, err
	case len(found.Type) > 0:
		return strings.Join(found.Type, " or "), nil
	case found.Const != nil:
		return literal(found.Const), nil
	case len(found.Enum) > 0:
		return literal(found.Enum[0]), nil
	}
	return "object", nil
}

func (p *shaper) either(list []*schema) (string, error) {
	var kinds []string
	for _, s := range list {
		kind, err := p.kind(s)
		if err != nil {
			return "", err
		}
		if !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	return strings.Join(kinds, " or "), nil
}

// literal returns the type of a JSON value.
func literal(value []byte) string {
	switch value[0] {
	case '"':
		return "string"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	}
	return "integer"
}
