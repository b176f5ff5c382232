#!/bin/sh
# A purge removes the configuration, the state and the keys, and the user. RPM knows no purge: there they stay.
set -e
if [ "$1" = purge ]; then
	rm -rf /etc/vimbroker /var/lib/vimbroker
	if getent passwd vimbroker >/dev/null; then userdel vimbroker || true; fi
	if getent group vimbroker >/dev/null; then groupdel vimbroker || true; fi
fi
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload
fi
