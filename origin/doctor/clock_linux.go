package doctor

import "golang.org/x/sys/unix"

// synchronised returns advice if the kernel's clock is not synchronised, as
// adjtimex(2) reports: no time server has to be asked or trusted.
func synchronised() error {
	var t unix.Timex
	state, err := unix.Adjtimex(&t)
	if err != nil || state != unix.TIME_ERROR && t.Status&unix.STA_UNSYNC == 0 {
		return nil // a sandbox may forbid the call
	}
	return Advise("the kernel does not report the clock as synchronised: run an NTP client such as chrony or systemd-timesyncd; in a container, on the host")
}
