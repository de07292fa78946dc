package docs_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/dashboard/docs"
)

func newSite(t *testing.T) *docs.Site {
	t.Helper()
	openAPI, err := os.ReadFile("../../api/openapi.json")
	require.NoError(t, err)
	site, err := docs.New(openAPI, "https://addrspec.example")
	require.NoError(t, err)
	return site
}

func TestNew(t *testing.T) {
	for _, path := range newSite(t).Pages() {
		page := newSite(t).Page(path)
		t.Log(path, page.Title, "|", page.Summary, len(page.Body))
	}
}
