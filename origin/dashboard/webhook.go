package dashboard

import (
	"errors"
	"strings"
	"time"

	"github.com/addrspec/addrspec/origin/webhook"
)

// webhookView is the page Webhook.
type webhookView struct {
	URL      string         `json:"url"` // "" for none
	Created  time.Time      `json:"created,omitzero"`
	Disabled time.Time      `json:"disabled,omitzero"` // the receiver returned 410 Gone
	Messages []deliveryView `json:"messages"`
	// Secret is a new secret, which is shown only this once.
	Secret string `json:"secret,omitempty"`
	// Test is what became of a test message that was just sent.
	Test *deliveryView `json:"test,omitempty"`
}

type deliveryView struct {
	ID        string    `json:"id"`
	Percent   int       `json:"percent"` // 0 is a test
	Created   time.Time `json:"created"`
	Attempts  int       `json:"attempts"`
	Next      time.Time `json:"next,omitzero"`
	Done      bool      `json:"-"`
	Delivered bool      `json:"delivered"`
	Status    string    `json:"status"`
}

// messagesOnPage is how many messages the page lists.
const messagesOnPage = 20

// webhookPage shows the webhook, and what was just made: a secret, or a test message,
// which the query "test" names.
func webhookPage(v *visit) (any, error) {
	view, err := webhookOf(v)
	if err != nil {
		return nil, err
	}
	for _, m := range view.Messages {
		if m.Percent == 0 && m.ID == v.r.URL.Query().Get("test") {
			view.Test = &m
		}
	}
	if made := v.shownOnce(); len(made) == 1 {
		view.Secret = made[0]
	}
	return view, nil
}

func webhookOf(v *visit) (webhookView, error) {
	ctx, account := v.r.Context(), v.user.Account
	view := webhookView{Messages: []deliveryView{}}
	hook, err := v.Webhooks.Get(ctx, account)
	if err != nil && !errors.Is(err, webhook.ErrNone) {
		return view, err
	}
	view.URL, view.Created, view.Disabled = hook.URL, hook.Created, hook.Disabled
	list, err := v.Webhooks.Deliveries(ctx, account, messagesOnPage)
	for _, m := range list {
		view.Messages = append(view.Messages, deliveryView(m))
	}
	return view, err
}

// changeWebhook does what the field "do" says.
func changeWebhook(v *visit) (done *outcome, err error) {
	ctx, account := v.r.Context(), v.user.Account
	secret := ""
	switch v.form.Get("do") {
	case "set":
		secret, err = v.Webhooks.Set(ctx, account, strings.TrimSpace(v.form.Get("url")))
	case "rotate":
		secret, err = v.Webhooks.Rotate(ctx, account)
	case "test":
		done, err = testWebhook(v)
	case "remove":
		done, err = v.done("webhook-removed"), v.Webhooks.Remove(ctx, account)
	default:
		err = inputProblem("do", "The field \"do\" must be set, rotate, test or remove.")
	}
	for _, input := range []error{webhook.ErrURL, webhook.ErrNone, webhook.ErrDisabled, webhook.ErrTooSoon} {
		if errors.Is(err, input) {
			err = inputProblem("url", sentence(err))
		}
	}
	if err != nil || done != nil {
		return done, err
	}
	return v.showOnce(v.done(""), func() (any, error) {
		view, err := webhookOf(v)
		view.Secret = secret
		return view, err
	}, secret)
}

// testWebhook sends a test message and leads to the page that shows what became of
// it, so that loading the page again sends none. It waits for the
// receiver in a slot for tests.
func testWebhook(v *visit) (*outcome, error) {
	if err := v.hold(v.limits.long, "tests of "+v.account(), maxLongEach, errBusyAccount); err != nil {
		return nil, err
	}
	sent, err := v.Webhooks.Test(v.r.Context(), v.user.Account)
	if err != nil {
		return nil, err
	}
	return v.showOnce(redirect(v.r.URL.Path+"?test="+sent.ID, ""), func() (any, error) {
		view, err := webhookOf(v)
		test := deliveryView(sent)
		view.Test = &test
		return view, err
	})
}
