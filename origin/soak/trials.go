package main

import ()

// A trial is one fault and the conditions that must hold under it.
type trial struct {
	name      string
	holds     string
	databases []string
	run       func(*scene) error
}

const (
	sqlite   = "sqlite"
	postgres = "postgres"
)

var both = []string{sqlite, postgres}

// trials are in the order of the table that they prove.
var trials = []trial{
	{"kill", "answered points are in the ledger, at most one group unanswered; a retry works at once; serves again in < 1 s", both, killed},
	{"kill-waiting", "no request that waits for the resolver is charged", both, killedWaiting},
	{"replicas-2", "16 clients, a balance of N: exactly N points sold; the rate within a tenth of a second", both, twoReplicas},
	{"replicas-3", "16 clients, a balance of N: exactly N points sold; the rate within a tenth of a second", []string{postgres}, threeReplicas},
	{"replicas-kill", "three replicas killed during a sale: nothing charged twice, uncharged or overdrawn", []string{postgres}, replicasKilled},
	{"rate", "charged by arrival in any time T <= capacity + rate x (T + 0.1 s), on four replicas under contention", both, floodedReplicas},
	{"paced", "a client that keeps its rate gets no 429, although its work takes up to 5 s", both, paced},
	{"leavers", "a client that hangs up while its request waits is not charged", both, leavers},
	{"revoked", "no request that begins after a key is revoked gets a 200 on any replica, replays included", both, revokedKeys},
	{"outage", "503 in shape A within a second, no look-ups after it, recovery without restart, exact balance", []string{postgres}, outages},
	{"resolver", "the contract's errors within the deadline; cached domains still answer", both, resolverFaults},
	{"disk", "503, nothing charged, recovery when there is room", []string{sqlite}, diskFull},
	{"sigterm", "no request cut off: answered or refused with 503; exit 0 within the grace", both, terminated},
	{"crowd", "10,000 idle and slow connections: honest p99 within 3x, bounded memory", both, crowded},
	{"bodies", "700 callers send 1 MiB each: bounded memory, another account's p50 < 60 ms", []string{sqlite}, bodies},
	{"idlers", "idle and slow connections hold the cap: a newcomer is answered at once, a request under way is never cut", []string{sqlite}, idlers},
	{"trap", "that request fails with 500 and costs nothing; the instance is replaced, the next succeeds", both, trapped},
	{"bounds", "64 points and 1,000 batches: one works; hanging up causes a bounded number of look-ups", []string{sqlite}, bounded},
	{"neighbour", "a flood of silent domains by one account or by five: another account's requests are answered, p50 < 60 ms", []string{sqlite}, neighbours},
	{"worst", "a call's time is bounded by its input's length, on the worst input found", []string{sqlite}, worstInput},
	{"clock", "set back across a month's end: no double refill, no lost points; a jump of years rolls no month", both, clockSetBack},
}
