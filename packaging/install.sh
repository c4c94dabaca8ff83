#!/bin/sh
# Installs a released `recall`: fetches the archive for this machine and SHA256SUMS, compares the sum, and puts both programs into one folder:
# `recall`, and `recall-embed`, which it starts from beside itself.
# It writes nothing else, asks for no password and edits no file of a shell.
#
#     RECALL_DOWNLOAD_URL   where the archives and SHA256SUMS lie; a copy of this script that is part of a release knows where
#     RECALL_INSTALL_DIR    where the programs go; ~/.local/bin if it is not set
#     RECALL_TARGET         which archive is taken, as x86_64-unknown-linux-musl; found out if it is not set
#
# The sum finds a damaged or mixed-up download. Against whoever can change the place of the download, `gh attestation verify` helps.
set -eu

# A release fills this in.
released_at=''

die() {
    echo "recall is not installed: $*" >&2
    exit 1
}

has() {
    command -v "$1" >/dev/null 2>&1
}

# glibc from this version on is enough for the archives that end in -gnu; packaging/tarball.sh refuses a program that needs a newer one.
gnu_target_for() {
    floor=34
    version=$(getconf GNU_LIBC_VERSION 2>/dev/null) || version=''
    minor=${version#glibc 2.}
    case $minor in
    '' | *[!0-9]*) echo "$1-unknown-linux-musl" ;;
    *) if [ "$minor" -ge $floor ]; then echo "$1-unknown-linux-gnu"; else echo "$1-unknown-linux-musl"; fi ;;
    esac
}

target() {
    system=$(uname -s)
    machine=$(uname -m)
    case $machine in
    x86_64 | amd64) machine=x86_64 ;;
    arm64 | aarch64) machine=aarch64 ;;
    *) die "there is no archive for the processor '$machine' ($system). It can be built from source: cargo install --path ." ;;
    esac
    case $system in
    Linux) gnu_target_for "$machine" ;;
    Darwin)
        # A shell that runs under Rosetta says x86_64.
        if [ "$(sysctl -n sysctl.proc_translated 2>/dev/null)" = 1 ]; then machine=aarch64; fi
        echo "$machine-apple-darwin"
        ;;
    *) die "there is no archive for the system '$system'. recall runs on Linux and macOS" ;;
    esac
}

# The file of a URL, to a path. Nothing but https, and http on this machine.
fetch() {
    case $1 in
    https://*) only=https ;;
    http://127.0.0.1[:/]* | http://localhost[:/]*) only=http ;;
    *) die "RECALL_DOWNLOAD_URL has to begin with https://, and is '$base'" ;;
    esac
    if has curl; then
        curl --proto "=$only" --fail --silent --show-error --location --retry 2 --output "$2" "$1"
    elif has wget; then
        wget -q -O "$2" "$1"
    else
        die 'neither curl nor wget is here'
    fi || die "cannot fetch $1"
}

sum_of() {
    if has sha256sum; then sha256sum <"$1"; else shasum -a 256 <"$1"; fi | cut -d ' ' -f 1
}

# All of it stands in a function, so that a script of which only a part arrived does nothing.
main() {
    base=${RECALL_DOWNLOAD_URL:-$released_at}
    base=${base%/}
    [ -n "$base" ] || die 'say by RECALL_DOWNLOAD_URL where the archives and SHA256SUMS lie'
    into=${RECALL_INSTALL_DIR:-${HOME:?}/.local/bin}
    for program in recall recall-embed; do
        [ ! -d "$into/$program" ] || die "$into/$program is a folder"
    done
    has sha256sum || has shasum || die 'neither sha256sum nor shasum is here, so the download could not be checked'
    target=${RECALL_TARGET:-$(target)}
    [ -n "$target" ] || exit 1

    work=$(mktemp -d)
    new=$into/.recall.$$
    trap 'rm -rf "$work" "$new" "$new-embed"' EXIT
    trap 'exit 1' HUP INT TERM

    fetch "$base/SHA256SUMS" "$work/SHA256SUMS"
    # "SUM  NAME" or "SUM *NAME", as sha256sum writes it. The version is not known before.
    listed=$(grep -E "^[0-9a-f]{64} [ *]recall-[0-9A-Za-z.+-]+-$target\.tar\.gz\$" "$work/SHA256SUMS") || listed=''
    case $listed in
    '') die "SHA256SUMS of $base lists no archive for $target" ;;
    *"
"*) die "SHA256SUMS of $base lists more than one archive for $target" ;;
    esac
    expected=${listed%% *}
    archive=${listed#*[ ][ *]}
    folder=${archive%.tar.gz}

    echo "Fetching $base/$archive"
    fetch "$base/$archive" "$work/$archive"
    actual=$(sum_of "$work/$archive")
    [ "$actual" = "$expected" ] || die "$archive has the sum $actual, and SHA256SUMS says $expected. Nothing of it was used"

    tar -xzf "$work/$archive" -C "$work" || die "$archive cannot be unpacked"
    for program in recall recall-embed; do
        [ -f "$work/$folder/$program" ] || die "$archive holds no $folder/$program"
    done

    mkdir -p "$into"
    # Beside their places, then renamed: a recall that runs there goes on, and none is ever half there. None is replaced unless both run.
    cp "$work/$folder/recall" "$new"
    cp "$work/$folder/recall-embed" "$new-embed"
    chmod 755 "$new" "$new-embed"
    version=$("$new" --version) && "$new-embed" --version >/dev/null ||
        die "the programs for $target do not run here. RECALL_TARGET names others"
    mv -f "$new-embed" "$into/recall-embed"
    mv -f "$new" "$into/recall"

    echo "Installed $version as $into/recall, and recall-embed beside it"
    case :$PATH: in
    *":$into:"*) echo 'Next, see what hooks and a timer would change: recall install --dry-run' ;;
    *)
        echo "$into is not on your PATH; add it in the way of your shell."
        echo "Next, see what hooks and a timer would change: $into/recall install --dry-run"
        ;;
    esac
}

main
