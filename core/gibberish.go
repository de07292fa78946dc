package core

import detector "github.com/addrspec/addrspec/core/gibberish"

// gibberish scores name, a normalized local part without its tag.
func gibberish(name []byte) Score { return Score(detector.Score(name)) }
