#!/usr/bin/env bash
# Prints a formula for a Homebrew tap, from the sums of a release:
#
#     packaging/formula.sh SHA256SUMS VERSION HOMEPAGE DOWNLOADS
#
# DOWNLOADS is the URL under which the archives lie.
set -euo pipefail
[ $# -eq 4 ] || { sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2 && exit 2; }
sums=$1 version=$2 homepage=$3 downloads=${4%/}

# The lines of one archive.
archive() {
    local name=recall-$version-$1.tar.gz sum
    sum=$(awk -v name="$name" '$2 == name || $2 == "*" name { print $1 }' "$sums")
    [[ $sum =~ ^[0-9a-f]{64}$ ]] || { echo "$sums has no sum of $name" >&2 && exit 1; }
    printf '      url "%s"\n      sha256 "%s"\n' "$downloads/$name" "$sum"
}

mac_arm=$(archive aarch64-apple-darwin)
mac_intel=$(archive x86_64-apple-darwin)
linux_arm=$(archive aarch64-unknown-linux-gnu)
linux_intel=$(archive x86_64-unknown-linux-gnu)
cat <<END
class Recall < Formula
  desc "Memory for Claude Code, made from its own transcripts"
  homepage "$homepage"
  version "$version"
  license "MIT"

  on_macos do
    on_arm do
$mac_arm
    end
    on_intel do
$mac_intel
    end
  end

  on_linux do
    on_arm do
$linux_arm
    end
    on_intel do
$linux_intel
    end
  end

  def install
    bin.install "recall", "recall-embed"
    man1.install Dir["man/man1/*.1"]
    bash_completion.install "completions/recall.bash" => "recall"
    zsh_completion.install "completions/_recall"
    fish_completion.install "completions/recall.fish"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/recall --version")
    assert_match version.to_s, shell_output("#{bin}/recall-embed --version")
  end
end
END
