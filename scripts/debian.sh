#!/usr/bin/env bash
# Installs a Debian package where that is possible; a new machine's own upgrades, which hold the lock, are waited for.
set -euo pipefail
[ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || { echo "only root on Debian or Ubuntu can install $1" >&2; exit 1; }
for _ in 1 2 3 4 5 6; do
    said=$({ apt-get update -qq && apt-get -o DPkg::Lock::Timeout=120 install -y -qq "$1"; } 2>&1) && exit
    [[ $said == *"Could not get lock"* ]] || break
    sleep 10
done
grep -m 1 '^E: ' <<<"$said" >&2 || tail -n 1 <<<"$said" >&2
exit 1
