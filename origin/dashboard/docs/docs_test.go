package docs

import (
	"bytes"
	"cmp"
	"compress/gzip"
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

	"github.com/addrspec/addrspec/origin/ledger/book"
)

func readFile(t *testing.T, name string) []byte {
	content, err := os.ReadFile(name)
	require.NoError(t, err)
	return content
}

func newSite() *Site { return New("https://addrspec.example/") }

func textOf(t *testing.T, page *Page) (all string, code []string) {
	root, err := html.Parse(strings.NewReader(string(page.Body)))
	require.NoError(t, err)
	for n := range root.Descendants() {
		if n.Type == html.ElementNode && n.Data == "pre" {
			code = append(code, elementsIn(n, "code")...)
		}
	}
	return textIn(root), code
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
	require.NoError(t, json.Unmarshal(readFile(t, "../../rig/contract/problems/problems.json"), &table))
	require.Greater(t, len(table.Problems), 10)
	page := newSite().Page("/docs/errors")
	for _, p := range table.Problems {
		if p.Code == "INVALID_EDGE_SECRET" {
			continue // for workers, not for callers
		}
		title := cmp.Or(p.Code, "Too many requests")
		require.True(t, slices.Contains(page.Contents, Heading{3, anchorOf(title), title}), "origin/dashboard/docs/guides/errors.md lacks the section \"### %s\", which begins with \"Status %d.\"", title, p.Status)
		body, _ := textOf(t, page)
		_, section, _ := strings.Cut(body, title+" #")
		require.True(t, strings.HasPrefix(strings.TrimSpace(section), "Status "+strconv.Itoa(p.Status)), title)
	}
	for _, code := range []string{"DNS_TIMEOUT", "DNS_FAILURE"} {
		require.Contains(t, page.Contents, Heading{3, anchorOf(code), code})
	}
}

func anchorOf(title string) string {
	return strings.ToLower(strings.NewReplacer(" ", "-", "_", "-").Replace(title))
}

// Every example is shown, as the file has it but for the service's URL.
func TestExamplesAreShown(t *testing.T) {
	site := newSite()
	var shown []string
	for _, page := range site.Pages {
		_, code := textOf(t, page)
		shown = append(shown, code...)
	}
	names, err := os.ReadDir("examples")
	require.NoError(t, err)
	for _, name := range names {
		list, err := Examples(name.Name())
		require.NoError(t, err)
		for _, e := range list {
			require.Contains(t, shown, strings.ReplaceAll(e.Text, Placeholder, "https://addrspec.example"), e.File)
		}
	}
}

// Links that people and other sites have keep their targets: every page and anchor that
// there has been, a line per page. Where a section moves, its old page has a block "moved".
func TestOldAnchors(t *testing.T) {
	site := newSite()
	for line := range strings.Lines(string(readFile(t, "testdata/anchors.txt"))) {
		fields := strings.Fields(line)
		page := site.Page(fields[0])
		require.NotNil(t, page, fields[0])
		require.Subset(t, idsOf(t, page), fields[1:], page.Path)
	}
}

// The index has every page with its title, and every anchor.
func TestIndex(t *testing.T) {
	site, index := newSite(), index{}
	require.NoError(t, json.Unmarshal(site.Index, &index))
	found := map[string][]string{}
	for _, e := range index.Entries {
		path := index.Pages[int(e[0].(float64))][0]
		found[path] = append(found[path], e[1].(string))
	}
	for _, listed := range index.Pages {
		require.Equal(t, site.Page(listed[0]).PageTitle(), listed[1])
	}
	for path, anchors := range found {
		page := site.Page(path)
		require.NotNil(t, page, path)
		require.Empty(t, anchors[0], path)
		ids := slices.DeleteFunc(idsOf(t, page), func(id string) bool { return strings.Contains(string(page.Body), `<a id="`+id) }) // moved
		require.Equal(t, ids, anchors[1:], path)
	}
	require.Len(t, found, len(site.Pages)-2, "all but the pages that list the others")
	var sent bytes.Buffer
	z, err := gzip.NewWriterLevel(&sent, gzip.BestCompression)
	require.NoError(t, err)
	_, err = z.Write(site.Index)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	require.LessOrEqual(t, sent.Len(), 60<<10)
}

type index struct {
	Pages   [][]string
	Entries [][]any // page, anchor, title, text
}

func idsOf(t *testing.T, page *Page) (ids []string) {
	root, err := html.Parse(strings.NewReader(string(page.Body)))
	require.NoError(t, err)
	for n := range root.Descendants() {
		for _, a := range n.Attr {
			if a.Key == "id" {
				ids = append(ids, a.Val)
			}
		}
	}
	return ids
}

// The commands that generate clients are those of api/README.md, which
// contract/clients runs.
func TestClientCommands(t *testing.T) {
	readme := string(readFile(t, "../../api/README.md"))
	_, commands, _ := strings.Cut(readme, "```sh\ncurl -o openapi.json")
	commands, _, found := strings.Cut(commands, "```")
	require.True(t, found)
	require.Contains(t, string(readFile(t, "guides/start.md")), "curl -o openapi.json"+commands)
}

// The guide has the plans that the program comes with.
func TestPlansOfTheGuide(t *testing.T) {
	guide := string(readFile(t, "guides/plans.md"))
	for _, p := range book.DefaultPlans() {
		row := fmt.Sprintf("| %s | %s | %s |", p.Name, humanize.Comma(int64(p.Rate)), humanize.Comma(int64(p.Points)))
		require.Contains(t, guide, strings.ReplaceAll(row, humanize.Comma(int64(book.Unlimited)), "unlimited"))
	}
}
