// Command golang checks rows with AfterShip's email-verifier, in its
// defaults and without SMTP or DNS. Rows come as JSON lines {"question", "value"};
// each gets a line with the result.
package main

import (
	"bufio"
	"encoding/json"
	"log"
	"os"

	emailverifier "github.com/AfterShip/email-verifier"
)

type row struct{ Question, Value string }

type result struct {
	Yes  bool   `json:"yes"`
	Text string `json:"text"`
	None string `json:"none,omitempty"`
}

func main() {
	verifier := emailverifier.NewVerifier()
	results := json.NewEncoder(os.Stdout)
	rows := bufio.NewScanner(os.Stdin)
	rows.Buffer(nil, 1<<20)
	for rows.Scan() {
		var r row
		if err := json.Unmarshal(rows.Bytes(), &r); err != nil {
			log.Fatal(err)
		}
		if err := results.Encode(ask(verifier, r)); err != nil {
			log.Fatal(err)
		}
	}
}

func ask(v *emailverifier.Verifier, r row) result {
	switch r.Question {
	case "valid":
		return result{Yes: v.ParseAddress(r.Value).Valid}
	case "typo":
		return result{Text: v.SuggestDomain(r.Value)}
	case "disposable":
		return result{Yes: v.IsDisposable(r.Value)}
	case "public":
		return result{Yes: v.IsFreeDomain(r.Value)}
	case "role":
		return result{Yes: v.IsRoleAccount(r.Value)}
	}
	return result{None: "it has no such check"}
}
