#!/usr/bin/env bash
# Makes the archive of a release from programs that run on this machine:
#
#     packaging/tarball.sh PROGRAMS TARGET NOTICES FOLDER
#
# PROGRAMS is a folder with `recall` and `recall-embed`, as target/dist. FOLDER/recall-VERSION-TARGET.tar.gz holds one folder of that name with
# both, the manual pages and completions of `recall`, LICENSE, README.md and NOTICES (of packaging/notices.sh). Prints the path of the archive.
set -euo pipefail
[ $# -eq 4 ] || { sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2 && exit 2; }
programs=$1 target=$2 notices=$3 out=$4
# A name alone would be looked for on the PATH.
[[ $programs == /* ]] || programs=./$programs
here=$(cd "$(dirname "$0")" && pwd)

version=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$here/../Cargo.toml" | head -n 1)
most=2.$(sed -n 's/^ *floor=\([0-9]*\)$/\1/p' "$here/install.sh")
for name in recall recall-embed; do
    program=$programs/$name
    said=$("$program" --version)
    case $said in
    "$name $version" | "$name $version ("*) ;;
    *)
        echo "$program says '$said', and Cargo.toml says $version" >&2
        exit 1
        ;;
    esac
    # What packaging/install.sh takes for enough.
    if [[ $target == *-linux-gnu ]]; then
        floor=$("$here/glibc-floor.sh" "$program")
        if [ "$(printf '%s\n' "$floor" "$most" | sort -V | tail -n 1)" != "$most" ]; then
            echo "$program needs glibc $floor, and packaging/install.sh gives it to machines from $most on" >&2
            exit 1
        fi
    fi
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
name=recall-$version-$target
stage=$work/$name
mkdir -p "$stage/completions" "$out"
cp "$programs/recall" "$programs/recall-embed" "$stage/"
chmod 755 "$stage/recall" "$stage/recall-embed"
cp "$here/../LICENSE" "$here/../README.md" "$stage/"
cp "$notices" "$stage/NOTICES"
"$programs/recall" man "$stage/man/man1"
"$programs/recall" completions bash >"$stage/completions/recall.bash"
"$programs/recall" completions zsh >"$stage/completions/_recall"
"$programs/recall" completions fish >"$stage/completions/recall.fish"

# Owners and order do not depend on who builds.
if tar --version | grep -q 'GNU tar'; then
    options=(--sort=name --owner=root:0 --group=root:0)
else
    options=(--uid 0 --gid 0 --uname root --gname root)
fi
# macOS would add files of its own.
COPYFILE_DISABLE=1 tar -C "$work" "${options[@]}" -cf - "$name" | gzip -9n >"$out/$name.tar.gz"
echo "$out/$name.tar.gz"
