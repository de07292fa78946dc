package docs

import (
	"html/template"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// An answerView is the answer with one status.
type answerView struct {
	Status      string
	Title       string
	Description template.HTML
	Codes       []string
	Bodies      []bodyView
}

// Heading is the title of the answer's section.
func (a answerView) Heading() string { return strings.TrimPrefix(a.Status+" "+a.Title, "default ") }

// ID is the anchor of the answer.
func (a answerView) ID() string { return "status-" + a.Status }

// A headerView is a header of some of the answers.
type headerView struct {
	field
	Statuses []string
	Example  string
}

func (p *shaper) answers(list ordered[*answer]) (views []answerView, err error) {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b member[*answer]) int { return strings.Compare(a.name, b.name) })
	for _, m := range list {
		found, err := p.answer(m.value)
		if err != nil {
			return nil, err
		}
		v := answerView{Status: m.name, Title: statusText(m.name)}
		if v.Description, err = prose(found.Description); err != nil {
			return nil, err
		}
		if v.Codes, err = p.codes(found); err != nil {
			return nil, err
		}
		if v.Bodies, err = p.bodies(found.Content); err != nil {
			return nil, err
		}
		views = append(views, v)
	}
	return views, nil
}

// headers returns the headers of all answers, each once, with the statuses that
// have it.
func (p *shaper) headers(answers ordered[*answer]) (list []headerView, err error) {
	for _, a := range answers {
		found, err := p.answer(a.value)
		if err != nil {
			return nil, err
		}
		for _, m := range found.Headers {
			at := slices.IndexFunc(list, func(h headerView) bool { return h.Name == m.name })
			if at < 0 {
				h, err := p.headerView(m)
				if err != nil {
					return nil, err
				}
				list, at = append(list, h), len(list)
			}
			list[at].Statuses = append(list[at].Statuses, a.name)
		}
	}
	for _, h := range list {
		slices.Sort(h.Statuses)
	}
	return list, nil
}

func (p *shaper) headerView(m member[*header]) (v headerView, err error) {
	found, err := p.header(m.value)
	if err != nil {
		return v, err
	}
	s := schema{}
	if found.Schema != nil {
		s = *found.Schema
	}
	s.Description = found.Description
	v.field, err = p.field(m.name, &s)
	v.Example = bare(found.Example)
	return v, err
}

// codes returns the values that the member "code" of an answer's body can have.
func (p *shaper) codes(a *answer) (list []string, err error) {
	for _, m := range a.Content {
		if m.value.Schema == nil {
			continue
		}
		more, err := p.codesOf(m.value.Schema)
		if err != nil {
			return nil, err
		}
		list = append(list, more...)
	}
	return list, nil
}

func (p *shaper) codesOf(s *schema) (list []string, err error) {
	_, found, err := p.schema(s)
	if err != nil {
		return nil, err
	}
	if found != found.alternatives()[0] {
		for _, alternative := range found.alternatives() {
			more, err := p.codesOf(alternative)
			if err != nil {
				return nil, err
			}
			list = append(list, more...)
		}
		return list, nil
	}
	members, _, err := p.members(found)
	if err != nil {
		return nil, err
	}
	for _, m := range members {
		more, err := p.codesIn(m)
		if err != nil {
			return nil, err
		}
		list = append(list, more...)
	}
	return list, nil
}

func (p *shaper) codesIn(m member[*schema]) (list []string, err error) {
	if m.name == "error" {
		return p.codesOf(m.value)
	}
	_, found, err := p.schema(m.value)
	if err != nil || m.name != "code" {
		return nil, err
	}
	for _, value := range append(slices.Clip(found.Enum), found.Const) {
		if value != nil {
			list = append(list, bare(value))
		}
	}
	return list, nil
}

// statusText returns the name of a status. OpenAPI's "default" is every other one.
func statusText(status string) string {
	if status == "default" {
		return "Other statuses"
	}
	n, _ := strconv.Atoi(status)
	return http.StatusText(n)
}
