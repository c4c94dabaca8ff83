#!/usr/bin/env bash
# Prints the licences of what is linked into the programs for a target, with their texts, each text once:
#
#     packaging/notices.sh TARGET
#
# The sources have to be where cargo keeps them, as after a build or `cargo fetch`.
set -euo pipefail
[ $# -eq 1 ] || { sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2 && exit 2; }
cd "$(dirname "$0")/.."
sources=${CARGO_HOME:-$HOME/.cargo}/registry/src
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# "NAME vVERSION|LICENCE", without what only compiles and without the parts of this repository, which end in their folder.
cargo tree --locked --package recall --package recall-embed --edges normal,no-proc-macro --prefix none --no-dedupe --target "$1" --format '{p}|{l}' |
    grep -v ') *|' | grep . | LC_ALL=C sort -u >"$work/crates"
while IFS='|' read -r crate licence; do
    name=${crate%% v*} version=${crate##* v}
    found=0
    # Of C sources that a crate brings, too.
    while IFS= read -r text; do
        sum=$(cksum <"$text" | tr ' ' -)
        cp "$text" "$work/$sum.text"
        echo "$name $version ($licence)" >>"$work/$sum.of"
        found=1
    done < <(find "$sources"/*/"$name-$version" -maxdepth 3 -type f ! -name '*.rs' \
        \( -iname 'licen[cs]e*' -o -iname 'copying*' -o -iname 'notice*' -o -iname 'unlicense*' -o -iname 'copyright*' \) | LC_ALL=C sort)
    [ $found -eq 1 ] || echo "$name $version ($licence)" >>"$work/bare"
done <"$work/crates"
[ -s "$work/crates" ]

echo "recall and recall-embed are linked with Rust's standard library (MIT OR Apache-2.0, the Rust project's contributors)"
case $1 in *-musl) echo 'and musl (MIT, Rich Felker and others)' ;; esac
echo 'and with the crates below, whose licences and notices follow.'
for of in "$work"/*.of; do
    printf '\n%s\n\n' '--------------------------------------------------------------------------------'
    sort -u "$of"
    echo
    cat "${of%.of}.text"
done
if [ -f "$work/bare" ]; then
    printf '\n%s\n\n' '--------------------------------------------------------------------------------'
    echo 'These come without a text of their licence:'
    echo
    cat "$work/bare"
fi
