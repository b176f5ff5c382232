#!/bin/sh
# Stops the server when the package is removed, and not when it is upgraded.
set -e
case "$1" in
remove | 0)
	if [ -d /run/systemd/system ]; then
		systemctl disable --now vimbroker.service || true
	fi
	;;
esac
