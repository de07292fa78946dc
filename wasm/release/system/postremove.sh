#!/bin/sh
# After a removal, which keeps the ledger, and after dpkg's purge, which deletes it: the state and the
# cache that systemd keeps for the unit, with their links, and nothing that --database names elsewhere.
set -e
if [ -d "$DPKG_ROOT/run/systemd/system" ]; then
	systemctl daemon-reload
fi
if [ "$1" = purge ]; then
	for base in "$DPKG_ROOT/var/lib" "$DPKG_ROOT/var/cache"; do
		rm -rf "$base/private/addrspec"
		if [ -L "$base/addrspec" ]; then
			rm "$base/addrspec"
		fi
	done
fi
