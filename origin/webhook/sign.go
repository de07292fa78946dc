package webhook

import (
	"crypto/rand"
	"encoding/base64"
	"net/http"
	"strconv"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// secretBytes is between the 24 and 64 bytes of Standard Webhooks.
const secretBytes = 32

// bothSign is how long the previous secret signs too after a rotation, so that a
// receiver can be changed without losing a message.
const bothSign = 24 * time.Hour

func newSecret() string {
	random := make([]byte, secretBytes)
	_, _ = rand.Read(random) // never fails (Go 1.24)
	return "whsec_" + base64.StdEncoding.EncodeToString(random)
}

// newID returns a message's ID. It contains no dot, which separates what is
// signed.
func newID() string { return "msg_" + rand.Text() }

// sign sets the headers of Standard Webhooks. The secrets' signatures are
// separated by spaces. The specification's own library makes them, as it verifies
// them at receivers.
func sign(h http.Header, id string, now time.Time, body string, secrets []string) error {
	signatures := ""
	for _, secret := range secrets {
		signer, err := standardwebhooks.NewWebhook(secret)
		if err != nil {
			return err
		}
		signature, err := signer.Sign(id, now, []byte(body))
		if err != nil {
			return err
		}
		if signatures != "" {
			signatures += " "
		}
		signatures += signature
	}
	h.Set(standardwebhooks.HeaderWebhookID, id)
	h.Set(standardwebhooks.HeaderWebhookTimestamp, strconv.FormatInt(now.Unix(), 10))
	h.Set(standardwebhooks.HeaderWebhookSignature, signatures)
	return nil
}
