package page

import (
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestSealedSecrets(t *testing.T) {
	all := slices.Repeat([]string{strings.Repeat("x", 40)}, 10)
	w := httptest.NewRecorder()
	v := &Visit{Server: &Server{Config: Config{PublicURL: &url.URL{}}}, Writer: w, Token: "token"}
	_, err := v.ShowOnce(Redirect("/page", ""), nil, all...)
	require.NoError(t, err)
	now, sealed := time.Now(), w.Result().Cookies()[0].Value
	require.Less(t, len(sealed), maxOnce)
	require.Equal(t, all, unseal("token", "/page", sealed, now))
	require.Nil(t, unseal("token", "/page", sealed, now.Add(onceLife)), "too late")
	require.Nil(t, unseal("token", "/page", sealed, now.Add(-time.Hour)), "a clock was wrong")
	require.Nil(t, unseal("token", "/page?x", sealed, now))
	require.Nil(t, unseal("token 2", "/page", sealed, now))
	for _, bad := range []string{"", "x", "%", sealed[1:], sealed[:len(sealed)-4] + "AAAA"} {
		require.Nil(t, unseal("token", "/page", bad, now))
	}
}
