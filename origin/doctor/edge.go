package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/addrspec/addrspec/wasm/host"
)

// Origin looks at the endpoint that workers use: that it takes each edge secret. It
// is left out without a URL or a secret.
func Origin(at *url.URL, secrets ...string) Check {
	return Check{"edge secret", func(ctx context.Context) (detail string, err error) {
		if at == nil || len(secrets) == 0 {
			return "", nil
		}
		for n, secret := range secrets {
			if err := takes(ctx, at, secret); err != nil {
				return "", fmt.Errorf("secret %d of %d: %w", n+1, len(secrets), err)
			}
		}
		return fmt.Sprintf("the origin takes the edge secret (%d of %[1]d)", len(secrets)), nil
	}}
}

// takes sends a request without an API key, which the origin refuses after the
// secret and before any work.
func takes(ctx context.Context, at *url.URL, secret string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, at.JoinPath("v1/edge/admit").String(), strings.NewReader("{}"))
	if err != nil {
		return err
	}
	request.Header.Set("X-Edge-Secret", secret)
	request.Header.Set("Content-Type", "application/json")
	answer, err := do(request)
	if err != nil {
		return err
	}
	return verdictOfSecret(answer)
}

func verdictOfSecret(answer *http.Response) error {
	var problem struct{ Code string }
	_ = json.NewDecoder(answer.Body).Decode(&problem)
	switch {
	case problem.Code == "INVALID_EDGE_SECRET":
		return errors.New("the origin refuses the edge secret: start it and its workers with the same --edge-secret")
	case answer.StatusCode == http.StatusUnauthorized && problem.Code != "":
		return nil
	case answer.StatusCode == http.StatusNotFound:
		return errors.New("the origin has no /v1/edge/admit: start it with --edge-secret, and let the proxy pass the path")
	}
	return fmt.Errorf("/v1/edge/admit is %s: is the origin behind this URL?", answer.Status)
}

// Edge asks a worker for its versions and compares them with this program's: with
// others its answers may differ from the origin's. It also looks at whether the
// worker refuses a request without a key. A nil URL is left out.
func Edge(at *url.URL, ours func(context.Context) (host.Info, error)) Check {
	return Check{"edge", func(ctx context.Context) (string, error) {
		if at == nil {
			return "", nil
		}
		theirs, err := versions(ctx, at)
		if err != nil {
			return "", err
		}
		if err := refusesWithoutKey(ctx, at); err != nil {
			return "", err
		}
		info, err := ours(ctx)
		if err != nil {
			return "", err
		}
		detail := fmt.Sprintf("%s has engine %s, lists %s, model %s", at, theirs.Engine, theirs.Lists, theirs.Model)
		if theirs != info {
			return detail, Advise("%s, and this program engine %s, lists %s, model %s, so their answers may differ: deploy both from one release, with one feed of lists", detail, info.Engine, info.Lists, info.Model)
		}
		return detail, nil
	}}
}

func versions(ctx context.Context, at *url.URL) (info host.Info, err error) {
	answer, err := get(ctx, at.JoinPath("versions"), nil)
	if err != nil {
		return info, err
	}
	if err := json.NewDecoder(answer.Body).Decode(&info); err != nil || answer.StatusCode != http.StatusOK || info.Engine == "" {
		return info, fmt.Errorf("%s/versions is %s without versions: is a worker of addrspec behind this URL?", at, answer.Status)
	}
	return info, nil
}

func refusesWithoutKey(ctx context.Context, at *url.URL) error {
	answer, err := get(ctx, at.JoinPath("v1/usage"), nil)
	if err != nil {
		return err
	}
	if answer.StatusCode != http.StatusUnauthorized {
		return fmt.Errorf("%s/v1/usage without a key is %s and not 401: does the worker reach its origin?", at, answer.Status)
	}
	return nil
}
