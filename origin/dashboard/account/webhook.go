package account

import (
	"errors"
	"strings"
	"time"

	"github.com/addrspec/addrspec/origin/dashboard/page"
	"github.com/addrspec/addrspec/origin/webhook"
)

// WebhookView is the page Webhook.
type WebhookView struct {
	URL      string             `json:"url"` // "" for none
	Created  time.Time          `json:"created,omitzero"`
	Disabled time.Time          `json:"disabled,omitzero"` // the receiver returned 410 Gone
	Messages []webhook.Delivery `json:"messages"`
	// Secret is a new secret, which is shown only this once.
	Secret string `json:"secret,omitempty"`
	// Test is what became of a test message that was just sent.
	Test *webhook.Delivery `json:"test,omitempty"`
}

const messagesOnPage = 20

// webhookPage shows the webhook, and what was just made: a secret, or a test message,
// which the query "test" names.
func webhookPage(v *page.Visit) (any, error) {
	view, err := webhookOf(v)
	if err != nil {
		return nil, err
	}
	for _, m := range view.Messages {
		if m.Percent == 0 && m.ID == v.Request.URL.Query().Get("test") {
			view.Test = &m
		}
	}
	if made := v.ShownOnce(); len(made) == 1 {
		view.Secret = made[0]
	}
	return view, nil
}

func webhookOf(v *page.Visit) (view WebhookView, err error) {
	ctx, account := v.Context(), v.User.Account
	hook, err := v.Webhooks.Get(ctx, account)
	if err != nil && !errors.Is(err, webhook.ErrNone) {
		return view, err
	}
	view.URL, view.Created, view.Disabled = hook.URL, hook.Created, hook.Disabled
	messages, err := v.Webhooks.Deliveries(ctx, account, messagesOnPage)
	view.Messages = append([]webhook.Delivery{}, messages...)
	return view, err
}

func changeWebhook(v *page.Visit) (done *page.Outcome, err error) {
	ctx, account := v.Context(), v.User.Account
	secret := ""
	switch v.Form.Get("do") {
	case "set":
		secret, err = v.Webhooks.Set(ctx, account, strings.TrimSpace(v.Form.Get("url")))
	case "rotate":
		secret, err = v.Webhooks.Rotate(ctx, account)
	case "test":
		done, err = testWebhook(v)
	case "remove":
		done, err = v.Done("webhook-removed"), v.Webhooks.Remove(ctx, account)
	default:
		err = page.InputProblem("do", "The field \"do\" must be set, rotate, test or remove.")
	}
	for _, input := range []error{webhook.ErrURL, webhook.ErrNone, webhook.ErrDisabled, webhook.ErrTooSoon} {
		if errors.Is(err, input) {
			err = page.InputProblem("url", page.Sentence(err))
		}
	}
	if err != nil || done != nil {
		return done, err
	}
	return v.ShowOnce(v.Done(""), func() (any, error) {
		view, err := webhookOf(v)
		view.Secret = secret
		return view, err
	}, secret)
}

// testWebhook sends a test message and leads to the page that shows what became of
// it, so that loading the page again sends none. It waits for the
// receiver outside the places of pages.
func testWebhook(v *page.Visit) (*page.Outcome, error) {
	if err := v.Hold(v.Limits.Long, "tests of "+v.Account(), page.MaxLongEach, page.ErrBusyAccount); err != nil {
		return nil, err
	}
	sent, err := v.Webhooks.Test(v.Context(), v.User.Account)
	if err != nil {
		return nil, err
	}
	return v.ShowOnce(page.Redirect(v.Request.URL.Path+"?test="+sent.ID, ""), func() (any, error) {
		view, err := webhookOf(v)
		view.Test = &sent
		return view, err
	})
}
