#!/usr/bin/env bash
# Installs PostgreSQL for the tests, if there is none: Debian's package, without the
# cluster that it would make and start. Needs root for that; the tests run the server
# themselves, as the user "postgres" if they are root.
set -euo pipefail

have() { compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null || command -v initdb >/dev/null; }

if have; then
	exit 0
fi
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
	echo "PostgreSQL is not installed: initdb is neither in /usr/lib/postgresql nor in the path." >&2
	echo "Install it (14 or newer), or run this as root where there is apt-get." >&2
	exit 1
fi
echo "installing postgresql (apt-get), without a cluster of its own" >&2
mkdir -p /etc/postgresql-common/createcluster.d
echo "create_main_cluster = false" >/etc/postgresql-common/createcluster.d/vimbroker-tests.conf
export DEBIAN_FRONTEND=noninteractive
apt=(apt-get -q -y -o DPkg::Lock::Timeout=600 -o Acquire::Retries=3 -o Dpkg::Use-Pty=0)
"${apt[@]}" update
"${apt[@]}" install --no-install-recommends postgresql
have || { echo "PostgreSQL is installed, and there is no initdb in /usr/lib/postgresql." >&2; exit 1; }
