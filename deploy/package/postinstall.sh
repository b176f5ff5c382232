#!/bin/sh
# Makes the server's user and directories. Runs again at each upgrade.
set -e
getent group vimbroker >/dev/null || groupadd --system vimbroker
getent passwd vimbroker >/dev/null || useradd --system --gid vimbroker --home-dir /var/lib/vimbroker --no-create-home --shell /usr/sbin/nologin vimbroker
install -d -m 0700 -o vimbroker -g vimbroker /var/lib/vimbroker
chown root:vimbroker /etc/vimbroker
chmod 0750 /etc/vimbroker
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload
	# A server that runs goes over to the new program; one that does not is left alone.
	systemctl try-restart vimbroker.service || true
fi
