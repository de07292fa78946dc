package page

import (
	"context"
	"net/http"
	"runtime"
	"sync"
	"time"

	"github.com/addrspec/addrspec/origin/limit"
)

// Bounds of all requests together. A network (/24, /48) or an account gets at most a third of what is
// free, so that few of them cannot take all.
const (
	step          = 64 << 10 // bytes that are one unit where units are memory
	maxArriving   = 256      // steps of forms that arrive
	maxEach       = 32       // of them of a network
	keptForSmall  = 128      // of them for forms of one step
	maxPages      = 64       // places of pages; as many of pages that need no database
	maxLong       = 256      // units of what takes longer than a page
	MaxLongEach   = 8        // of an account, or of a network
	keptForChecks = 64       // units that exports and tests of webhooks, which take maxLongEach, leave
	maxDocuments  = 8        // pages in progress that have the document of a policy
	maxDocsEach   = 2        // of an account
	maxUnsent     = 512      // steps of pages whose clients have not read them
	maxUnsentEach = 128      // of a network
	maxQueue      = 4096     // requests that wait for a processor, or for a place
)

// limits keep pages from slowing the API, and requests of one kind from blocking those of another.
// Owners are networks, or accounts once they are known.
type limits struct {
	Arriving *limit.Limiter[string] // a form is read before its request takes a place, so slow clients block no page
	Pages    *limit.Limiter[string] // places
	Offline  *limit.Limiter[string] // places of pages that need no database, which are shown while all others wait for it
	// Checks wait for DNS, exports for the client's download, tests of webhooks for the receiver, and some
	// sign-ins for the OpenID provider. They leave their place among the pages.
	Long       *limit.Limiter[string]
	Documents  *limit.Limiter[string] // such pages take more memory than others
	Processors *limit.Limiter[string] // pages that are rendered and documents that are read leave half to the API
	Unsent     *limit.Limiter[string] // pages that are being sent have left their place
}

func newLimits() limits {
	places := limit.Config{Units: maxPages, PerOwner: maxPages / 2, Waiting: maxQueue, WaitingPerOwner: maxQueue / 4}
	half := max(1, runtime.GOMAXPROCS(0)/2)
	return limits{
		Arriving: limit.New[string](limit.Config{Units: maxArriving, PerOwner: maxEach, Small: 1, Reserved: keptForSmall}),
		Pages:    limit.New[string](places),
		Offline:  limit.New[string](places),
		Long:     limit.New[string](limit.Config{Units: maxLong, PerOwner: MaxLongEach, Small: 1, Reserved: keptForChecks}),
		Documents: limit.New[string](limit.Config{Units: maxDocuments, PerOwner: maxDocsEach, Waiting: maxQueue,
			WaitingPerOwner: maxQueue / 4}),
		Processors: limit.New[string](limit.Config{Units: half, PerOwner: half, Waiting: maxQueue, WaitingPerOwner: maxQueue}),
		Unsent:     limit.New[string](limit.Config{Units: maxUnsent, PerOwner: maxUnsentEach}),
	}
}

// The problems of requests for which there is no room.
var (
	errBusy = &Problem{Status: http.StatusServiceUnavailable, Code: "BUSY", Wait: busyWait, Input: true,
		Sentence: "Many people use the dashboard at the moment. Try again in a few seconds."}
	ErrBusyAccount = &Problem{Status: http.StatusTooManyRequests, Code: "BUSY_ACCOUNT", Wait: busyWait, Input: true,
		Sentence: "Several requests of this account are in progress in the dashboard. Try again when one has finished."}
	ErrBusyNetwork = &Problem{Status: http.StatusTooManyRequests, Code: "BUSY_NETWORK", Wait: busyWait,
		Sentence: "Many requests from your network are in progress at the moment. Try again in a few seconds."}
	errSlowForm = &Problem{Status: http.StatusRequestTimeout, Code: "SLOW_FORM",
		Sentence: "The form did not arrive within 3 seconds. Send it again."}
)

// take takes n units for an owner, and returns what frees them, or crowded if the owner has its share.
func take(ctx context.Context, from *limit.Limiter[string], owner string, n int, crowded *Problem) (free func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, maxWait)
	defer cancel()
	switch err := from.Take(ctx, owner, n); {
	case err == nil:
		return sync.OnceFunc(func() { from.Free(owner, n) }), nil
	case from.Held(owner) > 0:
		return nil, crowded
	}
	return nil, errBusy
}

// Bounds of a request.
const (
	MaxForm  = 64 << 10               // bytes of a form
	formTime = 3 * time.Second        // for a form to arrive
	maxWait  = 500 * time.Millisecond // for a place
	maxTime  = 20 * time.Second       // of a page
	sendTime = 10 * time.Second       // for a client to read a page
	busyWait = time.Second            // until a client should try again
)
