package core

import detector "github.com/addrspec/addrspec/core/gibberish"

// Version is the version of the checks, by semantic versioning: the same
// version with the same lists gives the same answers on every host.
const Version = "0.2.0"

// ModelVersion names the model that scores gibberish, by its digest.
func ModelVersion() string { return detector.Version() }
