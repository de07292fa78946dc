package command

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/service"
)

func TestVersionsPrinted(t *testing.T) {
	var out bytes.Buffer
	v := shownVersions{Engine: "1", Lists: "2", Model: "3", Unicode: "17.0.0"}
	require.NoError(t, v.print(&out))
	require.Equal(t, service.Version()+"\nengine 1\nlists 2\nmodel 3\nunicode 17.0.0\n", out.String())
	out.Reset()
	v.Unicode = ""
	require.NoError(t, v.print(&out))
	require.NotContains(t, out.String(), "unicode")
}
