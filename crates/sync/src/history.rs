//! Whether a place keeps what is deleted there. Nothing can be forgotten at such a place.

use std::fmt;

/// What keeps the files that are deleted at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum History {
    /// The place is in a work tree of this program, which does not ignore it.
    Repository {
        /// `git`, `jj`, `hg` or `svn`.
        program: &'static str,
        /// The top folder of the work tree.
        top: String,
    },
    /// Syncthing keeps old versions of the files in this folder.
    Syncthing {
        /// The folder that has `.stversions`.
        top: String,
    },
    /// The bucket keeps every version of an object.
    Bucket,
}

impl History {
    /// What keeps the files, in one word.
    pub fn keeper(&self) -> &'static str {
        match self {
            Self::Repository { program, .. } => program,
            Self::Syncthing { .. } => "syncthing",
            Self::Bucket => "bucket",
        }
    }
}

/// As a sentence without its end.
impl fmt::Display for History {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Repository { program, top } => write!(f, "{top} is a work tree of {program}, which keeps what is deleted"),
            Self::Syncthing { top } => write!(f, "Syncthing keeps what is deleted in {top}/.stversions"),
            Self::Bucket => write!(f, "the versioning of the bucket is on, which keeps what is deleted"),
        }
    }
}

/// A script that prints what keeps the files of the folder `$1`, which need not exist: [`History::keeper`], a space and the top folder; nothing if
/// nothing does. A work tree that git says it ignores the folder in keeps nothing, and no git around it has the files either. Where git says
/// nothing (it is not installed, the work tree is somebody else's), the folder counts as not ignored. It runs here and over ssh, and keeps to the
/// rules of scripts there.
pub(crate) const HISTORY: &str = "
echo sync-begin;
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_COMMON_DIR GIT_CEILING_DIRECTORIES;
d=$1;
until [ -d \"$d\" ] || [ -z \"$d\" ]; do d=${d%/*}; done;
rest=${1#\"$d\"};
cd -- \"${d:-/}\" || exit 1;
top=$(pwd -P) || exit 1;
top=${top%/};
file=$top/$rest/00000000000000000000000000000000.0000000000000000.segment;
git=;
found=;
while :; do
    if [ -d \"$top/.stversions\" ]; then found=syncthing;
    elif [ -f \"$top/.git\" ] || [ -e \"$top/.git/HEAD\" ]; then
        if [ -z \"$git\" ]; then
            git=asked;
            git -C \"$top/\" -c core.fsmonitor=false --no-optional-locks check-ignore -q -- \"$file\" </dev/null >/dev/null 2>&1 || found=git;
        fi;
    elif [ -d \"$top/.jj\" ]; then found=jj;
    elif [ -d \"$top/.hg\" ]; then found=hg;
    elif [ -d \"$top/.svn\" ]; then found=svn;
    fi;
    if [ -n \"$found\" ]; then echo \"$found ${top:-/}\"; break; fi;
    if [ -z \"$top\" ]; then break; fi;
    top=${top%/*};
done;
echo sync-end";

/// What [`HISTORY`] printed.
pub(crate) fn parse(printed: &[u8]) -> Option<History> {
    let keeper = |line: &str| {
        let (word, top) = line.split_once(' ')?;
        let top = top.to_owned();
        if word == "syncthing" {
            return Some(History::Syncthing { top });
        }
        let program = ["git", "jj", "hg", "svn"].into_iter().find(|program| *program == word)?;
        Some(History::Repository { program, top })
    };
    String::from_utf8_lossy(printed).lines().find_map(keeper)
}
