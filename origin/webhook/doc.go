// Package webhook sends an account one message when its points used this month
// reach 80 % of its limit, and one at 100 %, to a URL that the account gives.
// Messages follow Standard Webhooks 1.0.0 (standardwebhooks.com).
//
// Every replica runs a [Sender] on the ledger's database. Each scans for accounts
// over a threshold and stores a delivery, whose primary key is account, month and
// threshold, so there is one message for each. To send it, a replica claims it
// with a lease: no other replica sends to this account before the attempt has
// ended or the lease has. A replica that dies leaves a lease that ends, and
// another repeats the attempt. Delivery is therefore at least once: a receiver may
// get a message again, with the same webhook-id.
//
//	target/      which URLs are accepted
//	client.go    the HTTP client: public addresses only, no redirect, no proxy
//	sign.go      secrets and signatures
//	message.go   the body of a message
//	scan.go      accounts over a threshold get a delivery
//	claim.go     one replica at a time sends to an account
//	send.go      one attempt
//	finish.go    success, retry or end
//	run.go       the loop of a replica
//	owner.go     what an account's owner can do
//
// The package does not notice a threshold that was crossed less than a scan's
// interval before the month ended: the points have been refilled by then. An
// account gets a threshold's message once a month, even if its limit is raised
// later.
package webhook
