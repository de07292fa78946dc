package main

import ()

// A trial is a fault and the condition that must be true under it.
type trial struct {
	name      string
	condition string
	databases []string
	run       func(*session) error
}

const (
	sqlite   = "sqlite"
	postgres = "postgres"
)

var both = []string{sqlite, postgres}

// trials are in the order of the report.
var trials = []trial{
	{"kill", "points in responses are in the ledger, at most one commit group has no responses; a retry works at once; serves again in < 1 s", both, killed},
	{"kill-waiting", "no request that waits for the resolver is charged", both, killedWaiting},
	{"replicas-2", "16 clients, a balance of N: exactly N points sold; the rate within a tenth of a second", both, twoReplicas},
	{"replicas-3", "16 clients, a balance of N: exactly N points sold; the rate within a tenth of a second", []string{postgres}, threeReplicas},
	{"replicas-kill", "three replicas killed during a sale: nothing charged twice, not charged or overdrawn", []string{postgres}, replicasKilled},
	{"rate", "requests charged, by arrival in any time T <= capacity + rate x (T + 0.1 s), on replicas under contention", both, floodedReplicas},
	{"paced", "a client that keeps to its rate gets no 429, although its work takes up to 5 s", both, paced},
	{"leavers", "a client that hangs up while its request waits is not charged", both, leavers},
	{"revoked", "no request that begins after a key is revoked gets a 200 on any replica, not even a replay", both, revokedKeys},
	{"outage", "503 in shape A within a second, no look-ups after it, recovery without restart, exact balance", []string{postgres}, outages},
	{"resolver", "the contract's errors within the deadline; cached domains are still served", both, resolverFaults},
	{"disk", "503, nothing charged, recovery when there is space", []string{sqlite}, diskFull},
	{"sigterm", "no request cut off: each is served or gets 503; exit 0 within the grace", both, terminated},
	{"crowd", "10,000 idle and slow connections: honest p99 within 3x, bounded memory", both, crowded},
	{"bodies", "700 clients send 1 MiB each: bounded memory, another account's p50 < 60 ms", []string{sqlite}, bodies},
	{"idlers", "idle and slow connections up to the limit: a new one is served at once, a request under way is never cut", []string{sqlite}, idlers},
	{"trap", "the request that traps gets 500 and costs nothing; the instance is replaced, the next request succeeds", both, trapped},
	{"bounds", "64 points and 1,000 batches: one is served; hanging up causes a bounded number of look-ups", []string{sqlite}, bounded},
	{"neighbour", "one account or five flood the service with silent domains: another account's requests are served, p50 < 60 ms", []string{sqlite}, neighbours},
	{"worst", "a call's time is bounded by its input's length, on the worst input found", []string{sqlite}, worstInput},
	{"clock", "set back across a month's end: no double refill, no lost points; a jump of years does not advance the month", both, clockSetBack},
}
