#!/usr/bin/env bash
# Completes the files of a release in a folder that holds its archives and packages:
#
#     packaging/release.sh FOLDER HOMEPAGE RELEASES
#
# Adds SHA256SUMS, install.sh, which then knows that all of it lies under RELEASES/vVERSION, and recall.rb.
set -euo pipefail
[ $# -eq 3 ] || { sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2 && exit 2; }
folder=$1 homepage=$2
here=$(cd "$(dirname "$0")" && pwd)
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$here/../Cargo.toml" | head -n 1)
downloads=${3%/}/v$version

(cd "$folder" && sha256sum -- recall-*.tar.gz recall_*.deb >SHA256SUMS)
"$here/formula.sh" "$folder/SHA256SUMS" "$version" "$homepage" "$downloads" >"$folder/recall.rb"
sed "s|^released_at=''\$|released_at='$downloads'|" "$here/install.sh" >"$folder/install.sh"
grep -qxF "released_at='$downloads'" "$folder/install.sh"
