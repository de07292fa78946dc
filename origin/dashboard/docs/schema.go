package docs

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// A schema is what the reference shows of a Schema Object (JSON Schema 2020-12).
type schema struct {
	Ref         string `json:"$ref"`
	Title       string
	Description string
	Type        oneOrMore
	Format      string
	Enum        []json.RawMessage
	Const       json.RawMessage
	Pattern     string
	Minimum     json.RawMessage
	Maximum     json.RawMessage
	MinLength   *int
	MaxLength   *int
	MinItems    *int
	MaxItems    *int
	Properties  ordered[*schema]
	Required    []string
	Items       *schema
	OneOf       []*schema
	AnyOf       []*schema
	AllOf       []*schema
	Example     json.RawMessage
	Examples    []json.RawMessage
}

// oneOrMore is a string or an array of strings, as "type" is.
type oneOrMore []string

// UnmarshalJSON reads either.
func (o *oneOrMore) UnmarshalJSON(raw []byte) error {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		*o = oneOrMore{one}
		return nil
	}
	return json.Unmarshal(raw, (*[]string)(o))
}

// schema returns what s refers to, with the name of the component, if s is a
// reference.
func (d *description) schema(s *schema) (name string, _ *schema, err error) {
	found, err := resolve(s.Ref, "schemas", s, d.Components.Schemas)
	if s.Ref != "" {
		name = s.Ref[strings.LastIndexByte(s.Ref, '/')+1:]
	}
	return name, found, err
}

// alternatives returns the schemas of which a value matches one, or s itself.
func (s *schema) alternatives() []*schema {
	switch {
	case len(s.OneOf) > 0:
		return s.OneOf
	case len(s.AnyOf) > 0:
		return s.AnyOf
	}
	return []*schema{s}
}

// members returns the members of an object, those of allOf included. A later
// schema for the same member adds to an earlier one: components are often narrowed
// that way, such as a code to those of one status.
func (d *description) members(s *schema) (all ordered[*schema], required []string, err error) {
	for _, part := range append(slices.Clip(s.AllOf), s) {
		if part != s {
			_, found, err := d.schema(part)
			if err != nil {
				return nil, nil, err
			}
			more, names, err := d.members(found)
			if err != nil {
				return nil, nil, err
			}
			all, required = merge(all, more), append(required, names...)
		}
	}
	return merge(all, s.Properties), append(required, s.Required...), nil
}

func merge(all, more ordered[*schema]) ordered[*schema] {
	for _, m := range more {
		at := slices.IndexFunc(all, func(have member[*schema]) bool { return have.name == m.name })
		if at < 0 {
			all = append(all, m)
			continue
		}
		narrowed := *m.value
		if narrowed.Description == "" {
			narrowed.Description = all[at].value.Description
		}
		if len(narrowed.Type) == 0 {
			narrowed.Type = all[at].value.Type
		}
		all = slices.Clone(all)
		all[at].value = &narrowed
	}
	return all
}

// limits returns what restricts the values of s, in words.
func (s *schema) limits() (words []string) {
	switch len(s.Enum) {
	case 0:
	case 1:
		words = append(words, "always "+code(s.Enum[0]))
	default:
		words = append(words, "one of "+strings.Join(codes(s.Enum), ", "))
	}
	if s.Const != nil {
		words = append(words, "always "+code(s.Const))
	}
	words = append(words, span("", "", s.Minimum, s.Maximum)...)
	words = append(words, span("characters", "character", raw(s.MinLength), raw(s.MaxLength))...)
	words = append(words, span("elements", "element", raw(s.MinItems), raw(s.MaxItems))...)
	if s.Format != "" && s.Format != "int64" && s.Format != "int32" && s.Format != "double" {
		words = append(words, s.Format)
	}
	if s.Pattern != "" {
		words = append(words, "pattern `"+s.Pattern+"`")
	}
	return words
}

// span says from where to where a number goes, such as "1 to 64 elements".
func span(unit, single string, from, to json.RawMessage) []string {
	if string(to) == "1" && single != "" {
		unit = single
	}
	unit = strings.TrimSuffix(" "+unit, " ")
	switch {
	case from != nil && to != nil:
		return []string{fmt.Sprintf("%s to %s%s", from, to, unit)}
	case from != nil:
		return []string{fmt.Sprintf("%s or more%s", from, unit)}
	case to != nil:
		return []string{fmt.Sprintf("at most %s%s", to, unit)}
	}
	return nil
}

func raw(n *int) json.RawMessage {
	if n == nil {
		return nil
	}
	return json.RawMessage(fmt.Sprint(*n))
}

// code returns a JSON value as Markdown code; a string has no quotes.
func code(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) != nil || string(value) == "null" {
		text = string(value)
	}
	return "`" + text + "`"
}

func codes(values []json.RawMessage) (all []string) {
	for _, v := range values {
		all = append(all, code(v))
	}
	return all
}
