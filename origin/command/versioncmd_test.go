package command

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/service"
	"github.com/addrspec/addrspec/wasm/moduletest"
)

func TestVersionsPrinted(t *testing.T) {
	t.Parallel()
	out, err, code := operator(t, "version", "--cache-dir", moduletest.CacheDir())
	require.Zero(t, code, err)
	require.Regexp(t, "^"+regexp.QuoteMeta(service.Version())+`\nengine \S+\nlists \S+\nmodel \S+\nunicode \d+\.0\.0\n$`, out)
}
