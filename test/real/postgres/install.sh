#!/usr/bin/env bash
# Installs PostgreSQL and PgBouncer for the tests, if there is none: Debian's packages, without the
# cluster that the one would make and start, and with the service of the other stopped. Needs root for that; the tests run the server
# themselves, as the user "postgres" if they are root.
set -euo pipefail

have() { compgen -G "/usr/lib/postgresql/*/bin/initdb" >/dev/null || command -v initdb >/dev/null; }
pooled() { [ -x /usr/sbin/pgbouncer ] || command -v pgbouncer >/dev/null; }

if have && pooled; then
	exit 0
fi
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
	echo "PostgreSQL or PgBouncer is not installed: initdb is neither in /usr/lib/postgresql nor in the path, or pgbouncer is not." >&2
	echo "Install it (14 or newer), or run this as root where there is apt-get." >&2
	exit 1
fi
echo "installing postgresql and pgbouncer (apt-get), without a cluster of its own" >&2
mkdir -p /etc/postgresql-common/createcluster.d
echo "create_main_cluster = false" >/etc/postgresql-common/createcluster.d/vimbroker-tests.conf
export DEBIAN_FRONTEND=noninteractive
apt=(apt-get -q -y -o DPkg::Lock::Timeout=600 -o Acquire::Retries=3 -o Dpkg::Use-Pty=0)
"${apt[@]}" update
"${apt[@]}" install --no-install-recommends postgresql pgbouncer
if [ -d /run/systemd/system ]; then systemctl disable --now pgbouncer; fi
have && pooled || { echo "PostgreSQL is installed, and there is no initdb in /usr/lib/postgresql." >&2; exit 1; }
