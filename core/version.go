package core

// Version is the version of the checks, by semantic versioning: the same
// version with the same lists gives the same answers on every host.
const Version = "0.1.0"

// ModelVersion names the model that scores gibberish.
func ModelVersion() string { return "0" }
