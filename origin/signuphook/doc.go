// Package signuphook decides sign-ups: a system that creates users asks, before it
// creates one, whether the address may sign up, and gets allow or deny.
//
// The file of --hooks has the hooks (file.go). Each has the format of its caller,
// the secrets that sign its requests, the account that pays, and a policy: which
// facts about an address deny the sign-up and which only flag it (policy.go).
//
// Requests are signed as Standard Webhooks 1.0.0 describes. The signature is checked
// by the library of that specification, which Supabase uses too, so both sides agree
// (verify.go). This package reads requests and writes answers, as values; origin/api
// has the route, which checks the address and charges for it.
//
// The file is JSON, as the file of --plans is. go-json-experiment/json reads it and
// the requests: unlike encoding/json it refuses a member that occurs twice, so two
// readers cannot see two different addresses, and it reports where an error is.
package signuphook
