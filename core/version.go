package core

import detector "github.com/addrspec/addrspec/core/gibberish"

// Version is the semantic version of the checks: the same version with the same
// lists returns the same results in every host.
const Version = "0.3.0"

// ModelVersion returns the version of the gibberish model, a digest of it.
func ModelVersion() string { return detector.Version() }
