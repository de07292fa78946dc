//go:build !linux

package ledger

import "testing"

func mountSmallDisk(t *testing.T, _ string) { t.Skip("a full disk needs Linux and root") }
