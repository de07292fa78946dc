package docs

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"github.com/addrspec/addrspec/wasm/moduletest"
)

// An openAPI is the description that the reference is held to.
type openAPI struct {
	*testing.T
	root map[string]any
}

func readOpenAPI(t *testing.T) openAPI {
	d := openAPI{T: t}
	require.NoError(t, json.Unmarshal(readFile(t, "../../api/openapi.json"), &d.root))
	return d
}

// object returns a member that is an object, or what it refers to; empty if there is none.
func (d openAPI) object(in map[string]any, names ...string) map[string]any {
	found := in
	for _, name := range names {
		found, _ = found[name].(map[string]any)
	}
	ref, ok := found["$ref"].(string)
	if !ok {
		return found
	}
	target := d.object(d.root, strings.Split(strings.TrimPrefix(ref, "#/"), "/")...)
	require.NotEmpty(d, target, ref)
	return target
}

// An operation is what callers use; the preflights of browsers have no page.
type operation struct {
	method, path string
	members      map[string]any
}

func (d openAPI) operations() (list []operation) {
	for path := range d.object(d.root, "paths") {
		for _, method := range []string{"get", "put", "post", "delete", "patch"} {
			members := d.object(d.root, "paths", path, method)
			if len(members) > 0 && strings.HasPrefix(path, "/v1/") && !strings.HasPrefix(path, "/v1/edge/") {
				list = append(list, operation{method, path, members})
			}
		}
	}
	return list
}

// bodies returns the request of an operation, and the response that is not an error.
func (d openAPI) bodies(op operation) []map[string]any {
	return []map[string]any{d.object(op.members, "requestBody"), d.object(op.members, "responses", "200")}
}

// schema returns the schema of a body, which may be a reference; nil if there is no body.
func (d openAPI) schema(of map[string]any) map[string]any {
	schema, _ := d.object(of, "content", "application/json")["schema"].(map[string]any)
	return schema
}

func (d openAPI) parts(schema map[string]any) (list []map[string]any) {
	for _, kind := range []string{"oneOf", "anyOf", "allOf"} {
		parts, _ := schema[kind].([]any)
		for _, part := range parts {
			list = append(list, part.(map[string]any))
		}
	}
	return list
}

// visit calls f with each component that a schema consists of, by name.
func (d openAPI) visit(schema map[string]any, f func(name string, schema map[string]any)) {
	if ref, ok := schema["$ref"].(string); ok {
		schema = d.object(map[string]any{"it": schema}, "it")
		f(ref[strings.LastIndexByte(ref, '/')+1:], schema)
	}
	for _, part := range d.parts(schema) {
		d.visit(part, f)
	}
	for _, property := range d.object(schema, "properties") {
		d.visit(property.(map[string]any), f)
	}
	if items, ok := schema["items"].(map[string]any); ok {
		d.visit(items, f)
	}
}

// values returns the values that the fields of a name can have in a schema, at any depth.
func (d openAPI) values(schema map[string]any, field string) (list []string) {
	d.visit(schema, func(_ string, found map[string]any) {
		for _, at := range []map[string]any{d.object(found, "properties", field), d.object(found, "properties", "error", "properties", field)} {
			list = append(list, d.enum(at)...)
		}
	})
	return unique(list)
}

func (d openAPI) enum(schema map[string]any) (list []string) {
	for _, part := range append(d.parts(schema), schema) {
		values, _ := d.object(map[string]any{"it": part}, "it")["enum"].([]any)
		for _, value := range values {
			if text, ok := value.(string); ok {
				list = append(list, text)
			}
		}
	}
	return list
}

func unique(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}

// A row is a line of a table: the text of its first cell, the words in code of each cell.
type row struct {
	name string
	code [][]string
}

// tablesOf returns the rows of a page's tables by the heading before them.
func tablesOf(t *testing.T, page *Page) map[string][]row {
	root, err := html.Parse(strings.NewReader(string(page.Body)))
	require.NoError(t, err)
	tables, heading := map[string][]row{}, ""
	for n := range root.Descendants() {
		switch {
		case n.Type != html.ElementNode:
		case n.Data == "h2" || n.Data == "h3":
			heading = strings.TrimSuffix(strings.TrimSpace(textIn(n)), " #")
		case n.Data == "tr" && n.Parent.Data == "tbody":
			var r row
			for td := range n.ChildNodes() {
				if td.Data != "td" {
					continue
				}
				r.code = append(r.code, elementsIn(td, "code"))
				if len(r.code) == 1 {
					r.name = strings.TrimSpace(textIn(td))
				}
			}
			tables[heading] = append(tables[heading], r)
		}
	}
	return tables
}

func elementsIn(n *html.Node, name string) (texts []string) {
	for child := range n.Descendants() {
		if child.Type == html.ElementNode && child.Data == name {
			texts = append(texts, textIn(child))
		}
	}
	return texts
}

func textIn(n *html.Node) string {
	var text strings.Builder
	for child := range n.Descendants() {
		if child.Type == html.TextNode {
			text.WriteString(child.Data)
		}
	}
	return text.String()
}

func names(rows []row) (list []string) {
	for _, r := range rows {
		list = append(list, r.name)
	}
	return list
}

var capital = regexp.MustCompile("[A-Z]")

// The pages of the reference and openapi.json name the same operations, parameters,
// statuses, codes, headers, fields and values.
func TestReferenceMatchesOpenAPI(t *testing.T) {
	d, site := readOpenAPI(t), newSite()
	tables, schemas, headers := map[string][]row{}, map[string]map[string]any{}, map[string]bool{}
	var paths []string
	for _, op := range d.operations() {
		id := op.members["operationId"].(string) // such as checkEmails for check-emails
		page := site.Page(Root + "/" + strings.ToLower(capital.ReplaceAllString(id, "-$0")))
		require.NotNil(t, page, op.path)
		paths = append(paths, page.Path)
		require.Equal(t, strings.ToUpper(op.method)+" "+op.path, page.Summary)
		own := tablesOf(t, page)
		require.ElementsMatch(t, d.parameters(op), names(own["Parameters"]), op.path)
		d.requireResponses(op, own["Responses"], headers)
		d.requireSamples(op, page)
		delete(own, "Parameters")
		delete(own, "Responses")
		maps.Copy(tables, own)
		for _, body := range d.bodies(op) {
			d.visit(d.schema(body), func(name string, schema map[string]any) { schemas[name] = schema })
		}
	}
	var linked []string
	for _, l := range site.Groups[1].Links {
		linked = append(linked, l.Path)
	}
	require.ElementsMatch(t, append(paths, Root+"/api", Root+"/result", Root+"/details", Root+"/refusals"), linked)
	maps.Copy(tables, tablesOf(t, site.Page(Root+"/result")))
	maps.Copy(tables, tablesOf(t, site.Page(Root+"/details")))
	d.requireFields(schemas, tables)
	require.ElementsMatch(t, slices.Collect(maps.Keys(headers)), names(tablesOf(t, site.Page(Root+"/api"))["Headers of the responses"]))
}

func (d openAPI) parameters(op operation) []string {
	found := []string{"X-API-Key"} // a security scheme
	shared := d.object(d.root, "paths", op.path)["parameters"]
	for _, list := range []any{shared, op.members["parameters"]} {
		parameters, _ := list.([]any)
		for _, p := range parameters {
			found = append(found, d.object(map[string]any{"it": p}, "it")["name"].(string))
		}
	}
	return found
}

// requireResponses requires a row for each status, with its codes, and collects the headers.
func (d openAPI) requireResponses(op operation, rows []row, headers map[string]bool) {
	var statuses []string
	for status := range d.object(op.members, "responses") {
		response := d.object(op.members, "responses", status)
		for name := range d.object(response, "headers") {
			headers[name] = true
		}
		shown := strings.Replace(status, "default", "other", 1)
		statuses = append(statuses, shown)
		at := slices.IndexFunc(rows, func(r row) bool { return r.name == shown })
		require.GreaterOrEqual(d, at, 0, "%s %s", op.path, status)
		if status != "200" {
			for _, code := range d.values(d.schema(response), "code") {
				require.True(d, slices.Contains(rows[at].code[1], code), "origin/dashboard/docs/reference lacks %s in the row %s of the page of %s", code, status, op.path)
			}
			require.ElementsMatch(d, d.values(d.schema(response), "code"), rows[at].code[1], "%s %s", op.path, status)
		}
	}
	require.ElementsMatch(d, statuses, names(rows), op.path)
}

func (d openAPI) requireSamples(op operation, page *Page) {
	var known []any
	for _, body := range d.bodies(op) {
		content := d.object(body, "content", "application/json")
		known = append(known, content["example"])
		for name := range d.object(content, "examples") {
			known = append(known, d.object(content, "examples", name)["value"])
		}
	}
	_, blocks := textOf(d.T, page)
	shown := 0
	for _, block := range blocks {
		var value any
		if json.Unmarshal([]byte(block), &value) == nil {
			require.Contains(d, known, value, page.Path)
			shown++
		}
	}
	require.Positive(d, shown, page.Path)
}

func (d openAPI) requireFields(schemas map[string]map[string]any, tables map[string][]row) {
	for name, schema := range schemas {
		properties := d.object(schema, "properties")
		if len(properties) == 0 {
			continue // values, which the fields that have them name
		}
		require.ElementsMatch(d, slices.Collect(maps.Keys(properties)), names(tables[name]), name)
		for _, r := range tables[name] {
			require.Subset(d, append(slices.Concat(r.code...), r.name), d.enum(d.object(properties, r.name)), "%s.%s", name, r.name)
		}
	}
	for name := range tables {
		require.NotNil(d, schemas[name], name)
	}
}

// The guide to errors names every member of their bodies, and no other.
func TestMembersOfErrors(t *testing.T) {
	d := readOpenAPI(t)
	var want, got []string
	for _, op := range d.operations() {
		for status := range d.object(op.members, "responses") {
			if status != "200" {
				schema := d.schema(d.object(op.members, "responses", status))
				d.visit(schema, func(name string, found map[string]any) {
					if !strings.HasSuffix(name, "Problem") { // no body; the pages of results have its parts
						return
					}
					for name := range d.object(found, "properties") {
						inner := d.object(found, "properties", name, "properties")
						if len(inner) == 0 {
							want = append(want, name)
						}
						for member := range inner {
							want = append(want, name+"."+member)
						}
					}
				})
			}
		}
	}
	for _, r := range tablesOf(t, newSite().Page(Root+"/errors"))["Three shapes"] {
		got = append(got, r.code[2]...)
	}
	require.Equal(t, unique(want), unique(got))
}

// The search box finds each name of the API first by itself, and by its beginnings, and what people
// look for under a word of their own.
func TestSearchFindsEveryName(t *testing.T) {
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("node is not installed")
	}
	moduletest.Inputs(t, "../browser", "../assets")
	names := readOpenAPI(t).names()
	require.Subset(t, names, []string{"typo_suggestion", "X-Usage-Current", "Idempotency-Key", "INVALID_EMAIL_FORMAT", "DNS_TIMEOUT", "canonical_rule"})
	first := map[string]string{}
	for path, queries := range map[string]string{
		"/docs/errors#too-many-requests": "429,rate limit,Rate limits", "/docs/errors#invalid-api-key": "401", "/docs/errors#bad-request": "431",
		"/docs/errors#insufficient-usage": "402", "/docs/errors#internal-error": "500", "/docs/lists#on-your-machine": "excel", "/docs/packages": "packages",
		"/docs/forms": "forms", "/docs/forms#in-javascript": "zod,react", "/docs/forms#in-python": "fastapi,django", "/docs/privacy": "privacy",
	} {
		for query := range strings.SplitSeq(queries, ",") {
			first[query] = path
		}
	}
	text, err := json.Marshal(map[string]any{"index": newSite().Index, "names": names, "first": first})
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "names.json")
	require.NoError(t, os.WriteFile(file, text, 0o600))
	out, err := exec.Command("node", "../browser/search.mjs", file).CombinedOutput()
	require.NoError(t, err, "%s", out)
}

func (d openAPI) names() (list []string) {
	for _, op := range d.operations() {
		for status := range d.object(op.members, "responses") {
			response := d.object(op.members, "responses", status)
			list = slices.AppendSeq(list, maps.Keys(d.object(response, "headers")))
			list = append(list, d.values(d.schema(response), "code")...)
		}
		for _, body := range d.bodies(op) {
			d.visit(d.schema(body), func(_ string, schema map[string]any) {
				list = slices.AppendSeq(list, maps.Keys(d.object(schema, "properties")))
			})
		}
		list = append(list, d.parameters(op)...)
	}
	return unique(list)
}

// The guide has the rows of the table of test keys, in its order, each with what it gets.
func TestTestingGuideHasTheTable(t *testing.T) {
	var table struct {
		Rows []struct {
			Local, Failure string
			Result         map[string]json.RawMessage
		}
	}
	require.NoError(t, json.Unmarshal(readFile(t, "../../api/testkeys.json"), &table))
	_, text, _ := strings.Cut(string(readFile(t, "guides/testing.md")), "|---|---|\n")
	text, _, _ = strings.Cut(text, "\n\n")
	lines := strings.Split(text, "\n")
	require.Len(t, lines, len(table.Rows))
	failures := map[string]string{"dns-timeout": "DNS_TIMEOUT", "dns-failure": "DNS_FAILURE", "unfinished": `"partial": true`,
		"points-used-up": "402", "rate-limited": "429", "unavailable": "503"}
	for n, row := range table.Rows {
		local, gets, _ := strings.Cut(strings.Trim(lines[n], "| "), " | ")
		require.Equal(t, "`"+row.Local+"`", local)
		require.Contains(t, gets, failures[row.Failure], row.Local)
		require.Equal(t, row.Failure == "", len(row.Result) > 0, row.Local)
		for name, value := range row.Result {
			switch {
			case name != "details" && (row.Local != "invalid" || name == "valid"):
				require.Contains(t, gets, `"`+name+`": `+string(value), row.Local)
			case name == "details" && len(row.Result) == 1:
				var details struct{ Form json.RawMessage }
				require.NoError(t, json.Unmarshal(value, &details))
				require.Contains(t, gets, `"form": `+string(details.Form), row.Local)
			}
		}
	}
}
