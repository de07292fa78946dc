// Command golang answers questions about rows with AfterShip's email-verifier, in its
// defaults and without SMTP or DNS. Rows come as JSON lines {"question", "value"};
// each gets a line of the answer.
package main

import (
	"bufio"
	"encoding/json"
	"log"
	"os"

	emailverifier "github.com/AfterShip/email-verifier"
)

type row struct{ Question, Value string }

type answer struct {
	Yes  bool   `json:"yes"`
	Text string `json:"text"`
	None string `json:"none,omitempty"`
}

func main() {
	verifier := emailverifier.NewVerifier()
	answers := json.NewEncoder(os.Stdout)
	rows := bufio.NewScanner(os.Stdin)
	rows.Buffer(nil, 1<<20)
	for rows.Scan() {
		var r row
		if err := json.Unmarshal(rows.Bytes(), &r); err != nil {
			log.Fatal(err)
		}
		if err := answers.Encode(ask(verifier, r)); err != nil {
			log.Fatal(err)
		}
	}
}

func ask(v *emailverifier.Verifier, r row) answer {
	switch r.Question {
	case "valid":
		return answer{Yes: v.ParseAddress(r.Value).Valid}
	case "typo":
		return answer{Text: v.SuggestDomain(r.Value)}
	case "disposable":
		return answer{Yes: v.IsDisposable(r.Value)}
	case "public":
		return answer{Yes: v.IsFreeDomain(r.Value)}
	case "role":
		return answer{Yes: v.IsRoleAccount(r.Value)}
	}
	return answer{None: "it has no such check"}
}
