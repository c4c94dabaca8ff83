#!/usr/bin/env bash
# Makes a package for Debian and Ubuntu from an archive of packaging/tarball.sh for x86-64 or arm64 with glibc:
#
#     packaging/deb.sh FOLDER/recall-VERSION-TARGET.tar.gz FOLDER
#
# Needs dpkg-deb and objdump. Prints the path of the package. It has no scripts that run as root, and installs no hooks and no timer: these
# are each user's, by `recall install`.
set -euo pipefail
[ $# -eq 2 ] || { sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2 && exit 2; }
archive=$1 out=$2
here=$(cd "$(dirname "$0")" && pwd)

name=$(basename "$archive" .tar.gz)
case $name in
recall-*-x86_64-unknown-linux-gnu) arch=amd64 version=${name#recall-} version=${version%-x86_64-*} ;;
recall-*-aarch64-unknown-linux-gnu) arch=arm64 version=${name#recall-} version=${version%-aarch64-*} ;;
*)
    echo "$archive is no archive for Linux with glibc on x86-64 or arm64" >&2
    exit 1
    ;;
esac
# 1.0.0-rc.1 comes before 1.0.0. Not in the name of the file: not every place of a download takes that sign.
package=$out/recall_${version}_$arch.deb
version=${version/-/\~}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
umask 022
tar -xzf "$archive" -C "$work" --no-same-owner
from=$work/$name root=$work/root
doc=$root/usr/share/doc/recall

for program in recall recall-embed; do
    install -D -m 755 "$from/$program" "$root/usr/bin/$program"
done
for page in "$from"/man/man1/*.1; do
    install -D -m 644 "$page" "$root/usr/share/man/man1/$(basename "$page")"
done
gzip -9n "$root"/usr/share/man/man1/*.1
install -D -m 644 "$from/completions/recall.bash" "$root/usr/share/bash-completion/completions/recall"
install -D -m 644 "$from/completions/_recall" "$root/usr/share/zsh/vendor-completions/_recall"
install -D -m 644 "$from/completions/recall.fish" "$root/usr/share/fish/vendor_completions.d/recall.fish"
install -D -m 644 "$from/LICENSE" "$doc/copyright"
install -D -m 644 "$from/README.md" "$doc/README.md"
install -D -m 644 "$from/NOTICES" "$doc/NOTICES"
install -D -m 644 "$here/../CHANGELOG.md" "$doc/changelog"
gzip -9n "$doc/NOTICES" "$doc/changelog"
for unit in recall-digest.service recall-digest.timer; do
    install -D -m 644 "$here/../systemd/$unit" "$doc/examples/$unit"
done
# There, the program is that of cargo.
sed -i 's|^ExecStart=%h/.cargo/bin/recall |ExecStart=/usr/bin/recall |' "$doc/examples/recall-digest.service"
grep -q '^ExecStart=/usr/bin/recall ' "$doc/examples/recall-digest.service"

# What either of them needs.
floor=$(for program in recall recall-embed; do "$here/glibc-floor.sh" "$from/$program"; done | sort -V | tail -n 1)
depends="libc6 (>= $floor)"
for library in $(objdump -p "$from/recall" "$from/recall-embed" | awk '$1 == "NEEDED" { print $2 }' | sort -u); do
    case $library in
    libc.so.6 | libm.so.6 | libdl.so.2 | libpthread.so.0 | librt.so.1 | ld-linux-*) ;;
    libgcc_s.so.1) depends+=', libgcc-s1' ;;
    *)
        echo "the programs need $library, and packaging/deb.sh knows no package for it" >&2
        exit 1
        ;;
    esac
done

mkdir -p "$root/DEBIAN" "$out"
cat >"$root/DEBIAN/control" <<END
Package: recall
Version: $version
Architecture: $arch
Maintainer: The recall project
Installed-Size: $(du -k -s --apparent-size "$root/usr" | cut -f 1)
Depends: $depends
Suggests: git
Section: utils
Priority: optional
Description: memory for Claude Code, made from its own transcripts
 It digests what the transcripts of Claude Code gained into daily pages and
 a searchable index. Each user sets up hooks and a timer by "recall install";
 "recall install --dry-run" shows them first. recall-embed runs a model for
 search by meaning, once a user has fetched one by "recall embed install".
END
(cd "$root" && find usr -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum) >"$root/DEBIAN/md5sums"
dpkg-deb --root-owner-group -Zxz --build "$root" "$package" >&2
echo "$package"
