#!/bin/bash
# setup.sh VENV [runtime|dev]: install what is missing. Nothing is done twice, no service is
# started or enabled, and a second run takes a fraction of a second.
set -euo pipefail
cd "$(dirname "$0")/.."
venv=${1:-.venv}
kind=${2:-dev}

say() { printf '%s\n' "$*" >&2; }

# step TEXT COMMAND...: run it, then one line with a tick and its time, as `muntin up` prints them.
step() {
    local text=$1 began=$EPOCHREALTIME status=0
    shift
    [ ! -t 2 ] || printf ' • %s ...' "$text" >&2
    "$@" || status=$?
    [ ! -t 2 ] || printf '\r\033[K' >&2
    [ "$status" = 0 ] || return "$status"
    local spent=$((${EPOCHREALTIME/[.,]/} - ${began/[.,]/})) mark=ok
    [ ! -t 2 ] || mark='✓'
    printf ' %s %s (%d.%02d s)\n' "$mark" "$text" $((spent / 1000000)) $((spent / 10000 % 100)) >&2
}
die() { say "setup: $1"; say "       $2"; exit 5; }

debian_packages() {
    local lists=(scripts/debian-packages.txt)
    [ "$kind" = runtime ] || lists+=(scripts/debian-packages-dev.txt)
    sed 's/#.*//' "${lists[@]}" | tr -s '[:space:]' '\n' | sed '/^$/d'
    # kubectl: any will do; Debian's where there is none.
    command -v kubectl >/dev/null || echo kubernetes-client
}

missing_packages() {
    local package
    for package in $(debian_packages); do
        case $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) in
            installed) ;;
            *) echo "$package" ;;
        esac
    done
}

# Services that packages bring would start at once; policy-rc.d says no while we install.
install_packages() {
    local policy=/usr/sbin/policy-rc.d package unit
    [ "$(id -u)" = 0 ] || die "missing packages: $*" "run this as root: make setup"
    command -v apt-get >/dev/null || die "missing packages: $*" "use Debian 12 or Ubuntu 24.04"
    if [ ! -e "$policy" ]; then
        printf '#!/bin/sh\nexit 101\n' >"$policy"
        chmod 755 "$policy"
        trap 'rm -f /usr/sbin/policy-rc.d' EXIT
    fi
    export DEBIAN_FRONTEND=noninteractive
    apt-get install -y -qq --no-install-recommends "$@" >/dev/null 2>&1 ||
        { apt-get update -qq && apt-get install -y -qq --no-install-recommends "$@" >/dev/null; } ||
        die "apt-get install failed" "apt-get update, then make setup again"
    for package in "$@"; do
        for unit in $(dpkg -L "$package" | sed -n 's|.*/systemd/system/\([^/@]*\.\(service\|socket\|timer\)\)$|\1|p'); do
            deb-systemd-helper disable "$unit" >/dev/null 2>&1 || true
        done
    done
}

# The system's own first: distributions build theirs with profile-guided optimization, and programs
# start a fifth faster with it than with a plain build.
pythons() {
    local candidate
    for candidate in /usr/bin/python3 python3 python3.13 python3.12 python3.11; do
        if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            command -v "$candidate"
        fi
    done
}

missing=$(missing_packages)
# shellcheck disable=SC2086,SC2116 # a list of words
[ -z "$missing" ] || step "Debian packages: $(echo $missing)" install_packages $missing

make_environment() {
    local found
    for found in $(pythons); do
        "$found" -m venv "$venv" >/dev/null 2>&1 && return
        rm -rf "$venv"
    done
    install_packages python3-venv
    found=$(pythons)
    [ -n "$found" ] || die "Python 3.11 or newer is missing" "use Debian 12 or Ubuntu 24.04"
    "${found%%$'\n'*}" -m venv "$venv"
}

install_python_packages() {
    local what=.
    [ "$kind" = runtime ] || what=".[dev]"
    "$venv/bin/pip" install --quiet --disable-pip-version-check -e "$what" 2>"$venv/.pip-errors" ||
        die "pip install failed: $(grep -m 1 ERROR "$venv/.pip-errors")" \
            "$venv/bin/pip install -e '$what' shows more"
}

stamp=$venv/.setup-$kind
wanted=$(sha256sum pyproject.toml | cut -c1-64)
if [ "$(cat "$stamp" 2>/dev/null)" != "$wanted" ]; then
    "$venv/bin/python" -c 'import pip' 2>/dev/null || step "Python environment $venv" make_environment
    step "Python packages" install_python_packages
    # Where Python is told to keep no bytecode (in many images) every process would compile anew.
    "$venv/bin/python" -m compileall -q src
    echo "$wanted" >"$stamp"
fi
