package dashboard

// What the pages and the handbook promise, as the tests expect it.
const (
	accountsPath  = "/dashboard/operator/accounts"
	auditLines    = 50
	checkPath     = "/dashboard/lists/check"
	deviceCookie  = "addrspec-device"
	keysOnPage    = 50
	maxBatch      = 64
	maxDocument   = 1 << 20
	maxForm       = 64 << 10
	maxLongEach   = 8
	maxPages      = 64
	onceCookie    = "addrspec-once-"
	operatorPath  = "/dashboard/operator"
	policiesPath  = "/dashboard/policies"
	provedPath    = "/dashboard/settings/proved"
	recoveryPath  = "/dashboard/settings/recovery-codes"
	sessionCookie = "addrspec"
	tokenField    = "form_token"
	tokenHeader   = "X-Form-Token"
	usagePageRows = 50
)
