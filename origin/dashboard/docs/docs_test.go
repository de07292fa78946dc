package docs

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dustin/go-humanize"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"github.com/addrspec/addrspec/origin/ledger"
)

const openAPIFile = "../../api/openapi.json"

func readFile(t *testing.T, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(name)
	require.NoError(t, err)
	return content
}

func newSite(t *testing.T) *Site {
	t.Helper()
	site, err := New(readFile(t, openAPIFile), "https://addrspec.example/")
	require.NoError(t, err)
	return site
}

// textOf returns the text of a page, and of each block of code in it.
func textOf(t *testing.T, page *Page) (all string, code []string) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(string(page.Body)))
	require.NoError(t, err)
	var text strings.Builder
	for n := range root.Descendants() {
		if n.Type == html.TextNode {
			text.WriteString(n.Data)
		}
		if n.Type == html.ElementNode && n.Data == "code" && n.Parent.Data == "pre" {
			code = append(code, n.FirstChild.Data)
		}
	}
	return text.String(), code
}

// Every code and status of the contract is explained, each code under a heading of
// its own.
func TestEveryProblemIsDocumented(t *testing.T) {
	var table struct {
		Problems []struct {
			Code   string
			Status int
		}
	}
	require.NoError(t, json.Unmarshal(readFile(t, "../../contract/problems/problems.json"), &table))
	require.Greater(t, len(table.Problems), 10)
	page := newSite(t).Page("/docs/errors")
	for _, p := range table.Problems {
		if p.Code == "INVALID_EDGE_SECRET" {
			continue // for workers, not for callers
		}
		title := cmp.Or(p.Code, "Too many requests")
		require.Contains(t, page.Contents, Heading{3, slug(title), title})
		body, _ := textOf(t, page)
		_, section, _ := strings.Cut(body, title+" #")
		require.True(t, strings.HasPrefix(strings.TrimSpace(section), "Status "+strconv.Itoa(p.Status)), title)
	}
	for _, code := range []string{"DNS_TIMEOUT", "DNS_FAILURE"} {
		require.Contains(t, page.Contents, Heading{3, slug(code), code})
	}
}

// Every operation of callers has a page with each of its statuses, headers,
// parameters and the fields of all its bodies.
func TestEveryOperationIsComplete(t *testing.T) {
	var d description
	require.NoError(t, json.Unmarshal(readFile(t, openAPIFile), &d))
	site, operations := newSite(t), 0
	for _, path := range d.Paths {
		for _, m := range path.value {
			var op operation
			if !strings.HasPrefix(path.name, "/v1/") || strings.HasPrefix(path.name, "/v1/edge/") || !slices.Contains(methods, m.name) {
				continue
			}
			require.NoError(t, json.Unmarshal(m.value, &op))
			operations++
			page := site.Page(Root + "/" + kebab(op.OperationID))
			require.NotNil(t, page, op.OperationID)
			requireComplete(t, &d, page, &op)
		}
	}
	require.Equal(t, 3, operations)
}

func requireComplete(t *testing.T, d *description, page *Page, op *operation) {
	text, _ := textOf(t, page)
	for _, a := range op.Responses {
		require.Contains(t, page.Contents, Heading{3, "status-" + a.name, strings.TrimPrefix(a.name+" "+statusText(a.name), "default ")})
		found, err := d.answer(a.value)
		require.NoError(t, err)
		for _, h := range found.Headers {
			require.Contains(t, text, h.name, page.Path)
		}
		for _, m := range found.Content {
			requireFields(t, d, text, m.value.Schema)
		}
	}
	for _, p := range op.Parameters {
		found, err := d.param(p)
		require.NoError(t, err)
		require.Contains(t, text, found.Name, page.Path)
	}
}

// requireFields requires the names of all fields, at any depth.
func requireFields(t *testing.T, d *description, text string, s *schema) {
	_, found, err := d.schema(s)
	require.NoError(t, err)
	members, _, err := d.members(found)
	require.NoError(t, err)
	for _, m := range members {
		require.Contains(t, text, m.name)
		requireFields(t, d, text, m.value)
	}
	for _, value := range found.Enum {
		require.Contains(t, text, bare(value))
	}
	for _, one := range found.alternatives() {
		if one != found {
			requireFields(t, d, text, one)
		}
	}
	if found.Items != nil {
		requireFields(t, d, text, found.Items)
	}
}

// Every field of a result has a source, and no source is left over.
func TestSources(t *testing.T) {
	var d description
	require.NoError(t, json.Unmarshal(readFile(t, openAPIFile), &d))
	result, ok := d.Components.Schemas.get(resultSchema)
	require.True(t, ok)
	text, _ := textOf(t, newSite(t).Page("/docs/check-email"))
	for _, m := range result.Properties {
		require.NotEmpty(t, sources[m.name], m.name)
		require.Contains(t, text, sources[m.name])
	}
	for name := range sources {
		_, ok := result.Properties.get(name)
		require.True(t, ok, "%s is not a field", name)
	}
}

// Every example is shown, as the file has it but for the service's URL.
func TestExamplesAreShown(t *testing.T) {
	site := newSite(t)
	var shown []string
	for _, path := range site.Pages() {
		_, code := textOf(t, site.Page(path))
		shown = append(shown, code...)
	}
	for _, name := range ExampleNames() {
		list, err := Examples(name)
		require.NoError(t, err)
		for _, e := range list {
			require.Contains(t, shown, strings.ReplaceAll(e.Text, placeholder, "https://addrspec.example"), e.File)
		}
	}
}

// The commands that generate clients are those of the README, which
// contract/clients runs.
func TestClientCommands(t *testing.T) {
	readme := string(readFile(t, "../../README.md"))
	_, commands, _ := strings.Cut(readme, "```sh\ncurl -o openapi.json")
	commands, _, found := strings.Cut(commands, "```")
	require.True(t, found)
	require.Contains(t, string(readFile(t, "guides/start.md")), "curl -o openapi.json"+commands)
}

// The guide has the plans that the program comes with.
func TestPlansOfTheGuide(t *testing.T) {
	guide := string(readFile(t, "guides/plans.md"))
	for _, p := range ledger.DefaultPlans() {
		require.Contains(t, guide, fmt.Sprintf("| %s | %s | %s |", p.Name, inTable(p.Rate), inTable(p.Points)))
	}
}

func inTable(l ledger.Limit) string {
	if l == ledger.Unlimited {
		return "unlimited"
	}
	return humanize.Comma(int64(l))
}

// Markup in a description is shown as text or left out; it never becomes markup.
func TestMarkupInADescription(t *testing.T) {
	for _, text := range []string{`<script>alert(1)</script>`, `a <img src=x onerror=alert(1)> b`, `[x](javascript:alert(1))`, "`<b>`"} {
		quoted, err := json.Marshal(text)
		require.NoError(t, err)
		site, err := New([]byte(`{"info": {"description": `+string(quoted)+`}, "paths": {}}`), "https://x.example/\"<b>")
		require.NoError(t, err)
		body := string(site.Page("/docs/api").Body)
		require.NotContains(t, body, "<script")
		require.NotContains(t, body, "<img")
		require.NotContains(t, body, "<b>")
		require.NotContains(t, body, "javascript:")
	}
}

// A description that cannot be rendered is an error that names what is missing.
func TestBrokenDescription(t *testing.T) {
	for document, want := range map[string]string{
		`{`: "cannot be read",
		`{"paths": {"/v1/x": {"get": {"operationId": "getUsage", "responses": {"200": {"$ref": "#/components/responses/None"}}}}}}`: "get /v1/x: there is no #/components/responses/None",
		`{"paths": {"/v1/x": {"get": {"operationId": "other"}}}}`:                                                                   "examples/other has no example",
	} {
		_, err := New([]byte(document), "https://addrspec.example")
		require.ErrorContains(t, err, want)
	}
}

// Fields of objects within objects have their path; those narrowed by allOf keep
// what the wider schema says.
func TestShapes(t *testing.T) {
	var d description
	require.NoError(t, json.Unmarshal([]byte(`{"components": {"schemas": {
		"Problem": {"type": "object", "required": ["error"], "properties": {"error": {"type": "object", "properties": {
			"code": {"type": "string", "description": "Stable."}}}}},
		"Node": {"type": "object", "properties": {"next": {"oneOf": [{"$ref": "#/components/schemas/Node"}, {"type": "null"}]}}}
	}}}`), &d))
	page := &shaper{description: &d}
	list, err := page.shapes(&schema{Ref: "#/components/schemas/Problem"})
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.Equal(t, []string{"error", "error.code"}, []string{list[0].Fields[0].Name, list[0].Fields[1].Name})
	require.False(t, list[0].Fields[0].Optional)
	require.True(t, list[0].Fields[1].Optional)

	list, err = page.shapes(&schema{Ref: "#/components/schemas/Node"}) // contains itself
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.Contains(t, string(list[0].Fields[0].Type), "or null")

	choice := &schema{Properties: ordered[*schema]{{"role", &schema{OneOf: []*schema{{Enum: []json.RawMessage{[]byte(`"HR"`), []byte(`"IT"`)}}, {Type: oneOrMore{"null"}}}}}}}
	list, err = page.shapes(choice)
	require.NoError(t, err)
	require.Equal(t, "string or null", string(list[0].Fields[0].Type))
	require.Contains(t, string(list[0].Fields[0].Meaning), "one of <code>HR</code>, <code>IT</code>")

	narrowed := &schema{AllOf: []*schema{{Properties: ordered[*schema]{{"code", &schema{Type: oneOrMore{"string"}, Description: "Stable."}}}}},
		Properties: ordered[*schema]{{"code", &schema{Const: json.RawMessage(`"X_Y"`)}}}}
	list, err = page.shapes(narrowed)
	require.NoError(t, err)
	require.Contains(t, string(list[0].Fields[0].Meaning), "Stable.")
	require.Contains(t, string(list[0].Fields[0].Meaning), "X_Y")
}
