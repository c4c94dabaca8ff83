//! The carrier over ssh to a real server on loopback, which `RECALL_TEST_SSHD=1` asks for: see `.ci/full servers`.

use crate::carriers::{carries_records, keeps_the_contract};
use std::fs;
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use sync::{Carrier, Error, Ssh};
use tempfile::TempDir;

const LONG: Duration = Duration::from_secs(60);

struct Sshd {
    folder: TempDir,
    port: u16,
    server: Child,
}

impl Sshd {
    /// `None`, with a word on stderr, unless somebody asks for it.
    fn start() -> Option<Self> {
        if std::env::var_os("RECALL_TEST_SSHD").is_none_or(|value| value != "1") {
            eprintln!("SKIPPED: this test starts an ssh server and runs only with RECALL_TEST_SSHD=1");
            return None;
        }
        let folder = TempDir::with_prefix("sync-sshd").expect("a temporary folder");
        // Where Debian's looks for a folder to be shut in; made by its service otherwise.
        let _ = fs::create_dir("/run/sshd");
        for key in ["host", "user", "stranger"] {
            let file = folder.path().join(key);
            let made = Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(file).status();
            assert!(made.expect("ssh-keygen").success());
        }
        let port = TcpListener::bind(("127.0.0.1", 0)).expect("a port").local_addr().expect("an address").port();
        let at = folder.path().display();
        let server = format!(
            "ListenAddress 127.0.0.1\nPort {port}\nHostKey {at}/host\nAuthorizedKeysFile {at}/user.pub\nPidFile none\nStrictModes no\n\
             PasswordAuthentication no\nKbdInteractiveAuthentication no\nPermitRootLogin prohibit-password\nUsePAM no\n"
        );
        fs::write(folder.path().join("server.conf"), server).expect("a file");
        let host_key = fs::read_to_string(folder.path().join("host.pub")).expect("the key");
        fs::write(folder.path().join("known"), format!("[127.0.0.1]:{port} {host_key}")).expect("a file");
        let server = Command::new("/usr/sbin/sshd")
            .args(["-D", "-e", "-f"])
            .arg(folder.path().join("server.conf"))
            .env_clear()
            .stderr(fs::File::create(folder.path().join("log")).expect("a file"))
            .stdin(Stdio::null())
            .spawn()
            .expect("RECALL_TEST_SSHD=1, and there is no /usr/sbin/sshd");
        let mut sshd = Self { folder, port, server };
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            let log = || fs::read_to_string(sshd.folder.path().join("log")).unwrap_or_default();
            assert!(sshd.server.try_wait().expect("its state").is_none(), "{}", log());
            std::thread::sleep(Duration::from_millis(20));
        }
        Some(sshd)
    }

    /// `ssh` as a user has set it up, with this key and this list of known hosts.
    fn carrier(&self, folder: &str, key: &str, known: &str) -> Ssh {
        let at = self.folder.path().display();
        let program = self.folder.path().join(format!("ssh-{key}-{known}"));
        let script = format!(
            "#!/bin/sh\nexec ssh -F none -i {at}/{key} -o IdentitiesOnly=yes -o UserKnownHostsFile={at}/{known} -o StrictHostKeyChecking=yes \"$@\"\n"
        );
        fs::write(&program, script).expect("a file");
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("to run it");
        let login = Command::new("id").arg("-un").output().expect("a login").stdout;
        let login = String::from_utf8(login).expect("UTF-8");
        Ssh::with_program(&format!("ssh://{}@127.0.0.1:{}{folder}", login.trim(), self.port), program, LONG).expect("an address")
    }

    fn below(&self, name: &str) -> String {
        let folder: &Path = self.folder.path();
        folder.join(name).display().to_string()
    }
}

impl Drop for Sshd {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

#[test]
fn a_real_host_keeps_the_contract() {
    let Some(sshd) = Sshd::start() else { return };
    for folder in ["shared", "it's a $(folder) `of` \"files\" *"] {
        let host = sshd.carrier(&sshd.below(folder), "user", "known");
        keeps_the_contract(&host);
        carries_records(&host);
    }
}

#[test]
fn a_host_that_is_a_stranger_or_gone_is_an_error_that_says_so() {
    let Some(mut sshd) = Sshd::start() else { return };
    let folder = sshd.below("shared");
    let said = |carrier: &Ssh| match carrier.put("x.manifest", b"x") {
        Err(error @ Error::Ssh { .. }) => error.to_string(),
        other => panic!("{other:?}"),
    };
    let refused = said(&sshd.carrier(&folder, "stranger", "known"));
    assert!(refused.contains("Permission denied"), "{refused}");
    let unknown = said(&sshd.carrier(&folder, "user", "nobody"));
    assert!(unknown.contains("Host key verification failed"), "{unknown}");
    assert!(!Path::new(&folder).exists());
    let host = sshd.carrier(&folder, "user", "known");
    host.put("x.manifest", b"x").expect("to write");
    sshd.server.kill().expect("to kill it");
    sshd.server.wait().expect("its end");
    let gone = said(&host);
    assert!(gone.contains("Connection refused"), "{gone}");
}
