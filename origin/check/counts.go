package check

// Counts are how many records had what.
type Counts struct {
	Records int64 // read and written, of every kind
	Bad     int64 // records without an address

	Valid, Invalid                        int64
	Typo, Disposable, Public, Relay, Role int64 // of the valid ones
	Gibberish                             int64
	NoMX                                  int64 // valid, and looked up
	Errors                                int64 // addresses that could not be checked
}

// add counts one record.
func (c *Counts) add(r *Record, o *Outcome) {
	c.Records++
	switch {
	case r.Err != nil:
		c.Bad++
	case o.Code != "":
		c.Errors++
	case !o.Flags.Valid:
		c.Invalid++
	default:
		c.addValid(o)
	}
}

func (c *Counts) addValid(o *Outcome) {
	c.Valid++
	for _, field := range []struct {
		set   bool
		count *int64
	}{
		{o.Flags.Typo, &c.Typo}, {o.Flags.Disposable, &c.Disposable}, {o.Flags.Public, &c.Public}, {o.Flags.Relay, &c.Relay},
		{o.Flags.Role, &c.Role}, {o.Flags.Gibberish, &c.Gibberish}, {o.MX == MXFalse, &c.NoMX},
	} {
		if field.set {
			*field.count++
		}
	}
}
