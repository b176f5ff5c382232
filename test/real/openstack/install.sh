#!/usr/bin/env bash
# Installs the real OpenStack that the tests run (Keystone, Barbican, Heat, and
# for servers Nova, Neutron, Glance and Placement, of Debian 12, on MariaDB, memcached
# and uwsgi) and its command line clients, by apt-get and as root; it says which packages.
# Where they are installed already it does nothing, for anyone.
#   ./install.sh DIR
#
# Only the Python libraries are installed. The packages of the services (keystone,
# barbican-api, heat-engine ...) would ask questions, make users and start
# daemons; what is needed out of them is unpacked into DIR.
set -euo pipefail
out=${1:?usage: install.sh DIR}
packages=(
  python3-keystone python3-barbican python3-heat python3-pymysql
  python3-nova python3-neutron python3-glance python3-placement
  uwsgi-core uwsgi-plugin-python3 mariadb-server-core mariadb-client-core libevent-2.1-7 libsasl2-2
  python3-openstackclient python3-tackerclient python3-heatclient python3-barbicanclient
)
unpacked=(barbican-common heat-common heat-api heat-engine nova-common neutron-common glance-common glance-api memcached)

missing=()
for p in "${packages[@]}"; do
  [ "$(dpkg-query -W -f '${db:Status-Abbrev}' "$p" 2>/dev/null || true)" = "ii " ] || missing+=("$p")
done
if [ ${#missing[@]} -gt 0 ]; then
  if [ "$(id -u)" != 0 ]; then
    echo "install.sh: these packages are missing, and only root can install them: ${missing[*]}" >&2
    exit 1
  fi
  echo "installing with apt-get: ${missing[*]}"
  # No daemon may be started by what is installed along; afterwards the machine's own rule is back.
  rule=/usr/sbin/policy-rc.d
  if [ -e $rule ]; then mv $rule $rule.before; fi
  restore() { if [ -e $rule.before ]; then mv $rule.before $rule; else rm -f $rule; fi; }
  trap restore EXIT
  printf '#!/bin/sh\nexit 101\n' >$rule
  chmod 755 $rule
  export DEBIAN_FRONTEND=noninteractive
  apt=(apt-get -q -y -o DPkg::Lock::Timeout=600 -o Acquire::Retries=3 -o Dpkg::Options::=--force-confold -o Dpkg::Use-Pty=0)
  "${apt[@]}" update
  "${apt[@]}" install --no-install-recommends "${missing[@]}"
fi

mkdir -p "$out"
out=$(cd "$out" && pwd)
if [ "$(cat "$out/unpacked" 2>/dev/null || true)" != "${unpacked[*]}" ]; then
  echo "unpacking into $out: ${unpacked[*]}"
  work=$(mktemp -d)
  chmod 755 "$work" # apt-get downloads as another user
  (cd "$work" && apt-get -q download "${unpacked[@]}")
  for deb in "$work"/*.deb; do dpkg-deb -x "$deb" "$out"; done
  rm -rf "$work"
  echo "${unpacked[*]}" >"$out/unpacked"
fi
