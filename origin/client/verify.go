package client

import (
	"bytes"
	"encoding/json"

	"github.com/addrspec/addrspec/origin/result"
)

// An envelope is the answer to a batch.
type envelope struct {
	Success, Partial bool
	Results          []struct {
		Email, Status string
		Result        json.RawMessage
		Error         struct{ Code, Message string }
	}
}

// readBatch verifies the answer to a batch of these distinct emails and adds its
// items to found. An answer has one item for each address in the order sent; a
// partial one, where work did not finish in time, has at least one.
func readBatch(body []byte, emails []string, details bool, found map[string]Item) error {
	var e envelope
	if json.Unmarshal(body, &e) != nil || !e.Success {
		return &BadAnswer{"the answer to the batch is not the JSON of one"}
	}
	if len(e.Results) > len(emails) || len(e.Results) == 0 || len(e.Results) < len(emails) && !e.Partial {
		return &BadAnswer{"the answer to the batch has another number of results than addresses were sent"}
	}
	items, at := make([]Item, len(e.Results)), 0
	for n, r := range e.Results {
		for at < len(emails) && emails[at] != r.Email {
			at++
		}
		if at == len(emails) {
			return &BadAnswer{"the answer to the batch has a result for an address that was not sent, or in another order"}
		}
		at++
		var err error
		if items[n], err = readItem(r.Status, r.Result, r.Error.Code, r.Error.Message, r.Email, details); err != nil {
			return err
		}
	}
	for n, r := range e.Results {
		found[r.Email] = items[n]
	}
	return nil
}

func readItem(status string, found json.RawMessage, code, message, email string, details bool) (Item, error) {
	switch {
	case status == "success":
		object, err := readResult(found, email, details)
		return Item{Result: object}, err
	case status == "error" && code != "":
		return Item{Code: sentence(code), Message: sentence(message)}, nil
	}
	return Item{}, &BadAnswer{"the answer to the batch has a result that is neither a success nor an error"}
}

// fields are the members of a result in the contract's order.
var fields = [16]string{"email", "valid", "normalized", "local_part", "alias", "ascii", "role", "gibberish",
	"gibberish_score", "domain", "mx", "disposable", "public", "relay", "typo", "typo_suggestion"}

var nullable = map[string]bool{"normalized": true, "local_part": true, "domain": true, "role": true, "typo_suggestion": true}

// readResult verifies a result and returns it on one line with the 16 fields in
// their order, and details if they were asked for. The values keep their bytes, so
// the line is the same as that of any host. Other members are left out: a later
// version of the service may have more.
func readResult(object []byte, email string, details bool) ([]byte, error) {
	var members map[string]json.RawMessage
	r, err := result.Parse(object)
	if err != nil || json.Unmarshal(object, &members) != nil || r.Email != email {
		return nil, &BadAnswer{"the result of an address is not one of the service, or of another address"}
	}
	line, names := bytes.NewBuffer(make([]byte, 0, len(object))), fields[:]
	if details {
		names = append(names[:len(names):len(names)], "details")
	}
	for n, name := range names {
		value, ok := members[name]
		if !ok || string(value) == "null" && !nullable[name] {
			return nil, &BadAnswer{"the result of an address lacks the member " + name}
		}
		line.WriteByte("{,"[min(n, 1)])
		line.WriteString(`"` + name + `":`)
		_ = json.Compact(line, value) // it is valid JSON, since members was decoded
	}
	line.WriteByte('}')
	return line.Bytes(), nil
}
