#!/bin/sh
# Before a removal ("remove" from dpkg, 0 from rpm), not before an upgrade.
set -e
case "$1" in
remove | 0)
	if [ -d "$DPKG_ROOT/run/systemd/system" ]; then
		systemctl disable --now addrspec.service addrspec-backup.timer
	fi
	;;
esac
