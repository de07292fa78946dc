#!/bin/sh
# After an install or an upgrade of the deb or rpm. It starts nothing. dpkg sets DPKG_ROOT where it
# installs into another root.
set -e
if [ -d "$DPKG_ROOT/run/systemd/system" ]; then
	systemctl daemon-reload
	if systemctl is-active --quiet addrspec; then
		echo 'addrspec: the version that runs is still the old one. Next: systemctl restart addrspec'
		exit 0
	fi
fi
echo 'addrspec: installed, not started. Next: put settings into /etc/addrspec.env, then systemctl enable --now addrspec'
