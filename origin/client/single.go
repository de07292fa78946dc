package client

import (
	"context"
	"net/http"
	"net/url"
	"unicode/utf8"
)

// Check checks one address with GET /v1/email/{email}. It costs a point if the
// address is valid. One that is not is a [*Problem] with the code
// INVALID_EMAIL_FORMAT, and so is one that is not UTF-8.
//
// Proxies may log the path of a request, so a batch of one is better where the
// service is not on the same network.
func (c *Client) Check(ctx context.Context, email string, details bool) (Item, error) {
	if !utf8.ValidString(email) {
		return Item{}, &Problem{Status: http.StatusBadRequest, Code: codeInvalid, Message: textNotUTF8}
	}
	r := &request{method: http.MethodGet, path: "/v1/email/" + url.PathEscape(email), patience: patience}
	if details {
		r.query = "?details=true"
	}
	answer, err := c.send(ctx, r)
	if err != nil {
		return Item{}, c.withRefill(ctx, err)
	}
	found, err := readResult(answer.body, email, details)
	return Item{Result: found}, err
}
