package openid

import (
	"context"
	"io"
	"net/http"

	"github.com/coreos/go-oidc/v3/oidc"
)

// maxAnswer bounds what is read of each of the provider's answers: its
// configuration, its keys, a token.
const maxAnswer = 1 << 20

// client asks the provider. It follows no redirect: an operator gives the
// provider's own address, and a redirect could lead to another host.
var client = &http.Client{
	Timeout:   timeout,
	Transport: bounded{http.DefaultTransport.(*http.Transport).Clone()},
	CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	},
}

func withClient(ctx context.Context) context.Context { return oidc.ClientContext(ctx, client) }

// bounded is a transport that ends answers after maxAnswer bytes.
type bounded struct{ http.RoundTripper }

func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := b.RoundTripper.RoundTrip(r)
	if err == nil {
		answer.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(answer.Body, maxAnswer), answer.Body}
	}
	return answer, err
}
