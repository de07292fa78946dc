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
	Delivered bool      `json:"delivered"`
	Status    string    `json:"status"`
}

// messagesOnPage is how many messages the page lists.
const messagesOnPage = 20

// webhookPage shows the webhook, and what was just made: a secret, or a test message,
// which the query "test" names.
func (d *Dashboard) webhookPage(v *visit) (any, error) {
	view, err := v.webhook()
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

func (v *visit) webhook() (webhookView, error) {
	ctx, account := v.r.Context(), v.user.Account
	view := webhookView{Messages: []deliveryView{}}
	hook, err := v.Webhooks.Get(ctx, account)
	if err != nil && !errors.Is(err, webhook.ErrNone) {
		return view, err
	}
	view.URL, view.Created, view.Disabled = hook.URL, hook.Created, hook.Disabled
	list, err := v.Webhooks.Deliveries(ctx, account, messagesOnPage)
	for _, m := range list {
		view.Messages = append(view.Messages, viewOfDelivery(m))
	}
	return view, err
}

func viewOfDelivery(m webhook.Delivery) deliveryView {
	return deliveryView{m.ID, m.Percent, m.Created, m.Attempts, m.Next, m.Delivered, m.Status}
}

// changeWebhook does what the field "do" says.
func (d *Dashboard) changeWebhook(v *visit) (*outcome, error) {
	action, ok := webhookActions[v.form.Get("do")]
	if !ok {
		return nil, inputProblem("do", "The field \"do\" must be set, rotate, test or remove.")
	}
	done, err := action(v)
	if errors.Is(err, webhook.ErrURL) || errors.Is(err, webhook.ErrNone) || errors.Is(err, webhook.ErrDisabled) || errors.Is(err, webhook.ErrTooSoon) {
		return nil, inputProblem("url", sentence(err))
	}
	return done, err
}

// webhookActions are what an owner does with the webhook.
var webhookActions = map[string]func(*visit) (*outcome, error){
	"set": func(v *visit) (*outcome, error) {
		secret, err := v.Webhooks.Set(v.r.Context(), v.user.Account, strings.TrimSpace(v.form.Get("url")))
		return v.showSecret(secret, err)
	},
	"rotate": func(v *visit) (*outcome, error) {
		secret, err := v.Webhooks.Rotate(v.r.Context(), v.user.Account)
		return v.showSecret(secret, err)
	},
	"test": (*visit).testWebhook,
	"remove": func(v *visit) (*outcome, error) {
		return v.done("webhook-removed"), v.Webhooks.Remove(v.r.Context(), v.user.Account)
	},
}

// showSecret leads to the page that shows a new secret.
func (v *visit) showSecret(secret string, err error) (*outcome, error) {
	if err != nil {
		return nil, err
	}
	return v.showOnce(v.done(""), func() (any, error) {
		view, err := v.webhook()
		view.Secret = secret
		return view, err
	}, secret)
}

// testWebhook sends a test message and leads to the page that shows what became of
// it, so that loading the page again sends none. It waits for the
// receiver in a slot for tests.
func (v *visit) testWebhook() (*outcome, error) {
	if _, p := v.move(v.tests, v.account(), 0); p != nil {
		return nil, p
	}
	sent, err := v.Webhooks.Test(v.r.Context(), v.user.Account)
	if err != nil {
		return nil, err
	}
	return v.showOnce(redirect(v.r.URL.Path+"?test="+sent.ID, ""), func() (any, error) {
		view, err := v.webhook()
		test := viewOfDelivery(sent)
		view.Test = &test
		return view, err
	})
}
