#!/usr/bin/env bash
# Makes the archive of a release from a program that runs on this machine:
#
#     packaging/tarball.sh PROGRAM TARGET NOTICES FOLDER
#
# FOLDER/recall-VERSION-TARGET.tar.gz holds one folder of that name with the program, its manual pages and completions, LICENSE, README.md
# and NOTICES (of packaging/notices.sh). Prints the path of the archive.
set -euo pipefail
[ $# -eq 4 ] || { sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2 && exit 2; }
program=$1 target=$2 notices=$3 out=$4
# A name alone would be looked for on the PATH.
[[ $program == */* ]] || program=./$program
here=$(cd "$(dirname "$0")" && pwd)

version=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$here/../Cargo.toml" | head -n 1)
said=$("$program" --version)
case $said in
"recall $version" | "recall $version ("*) ;;
*)
    echo "$program says '$said', and Cargo.toml says $version" >&2
    exit 1
    ;;
esac

# What packaging/install.sh takes for enough.
if [[ $target == *-linux-gnu ]]; then
    floor=$("$here/glibc-floor.sh" "$program")
    most=2.$(sed -n 's/^ *floor=\([0-9]*\)$/\1/p' "$here/install.sh")
    if [ "$(printf '%s\n' "$floor" "$most" | sort -V | tail -n 1)" != "$most" ]; then
        echo "$program needs glibc $floor, and packaging/install.sh gives it to machines from $most on" >&2
        exit 1
    fi
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
name=recall-$version-$target
stage=$work/$name
mkdir -p "$stage/completions" "$out"
cp "$program" "$stage/recall"
chmod 755 "$stage/recall"
cp "$here/../LICENSE" "$here/../README.md" "$stage/"
cp "$notices" "$stage/NOTICES"
"$program" man "$stage/man/man1"
"$program" completions bash >"$stage/completions/recall.bash"
"$program" completions zsh >"$stage/completions/_recall"
"$program" completions fish >"$stage/completions/recall.fish"

# Owners and order do not depend on who builds.
if tar --version | grep -q 'GNU tar'; then
    options=(--sort=name --owner=root:0 --group=root:0)
else
    options=(--uid 0 --gid 0 --uname root --gname root)
fi
# macOS would add files of its own.
COPYFILE_DISABLE=1 tar -C "$work" "${options[@]}" -cf - "$name" | gzip -9n >"$out/$name.tar.gz"
echo "$out/$name.tar.gz"
