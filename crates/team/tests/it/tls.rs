//! A server with TLS, and whom the client believes.

use crate::server::{SHOP, TEAM, patient, server_with};
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;
use team::{Access, Client, Error, Team};

#[test]
#[ignore = "starts a PostgreSQL server and needs openssl: RECALL_TEST_POSTGRES=1"]
fn a_password_goes_only_to_a_server_whose_certificate_is_trusted() {
    let port = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a port").port();
    let settings = format!("-c listen_addresses=127.0.0.1 -c port={port} -c ssl=on");
    let Some(server) = server_with(&settings, with_certificate) else { return };
    let mut team = Team::prepare(&server.address("postgres", "team")).unwrap();
    team.add_team(TEAM).unwrap();
    team.add_project(TEAM, SHOP).unwrap();
    server.admin("CREATE ROLE anna LOGIN PASSWORD 's3cret'");
    team.add_member(TEAM, "anna").unwrap();
    team.set_access(TEAM, "anna", SHOP, Access::ReadWrite).unwrap();

    let address = format!("postgres://anna:s3cret@localhost:{port}/team?sslmode=require");
    let error = Client::join(&address, "desk", patient()).err().expect("a stranger's certificate");
    assert!(matches!(error, Error::Server { .. }), "{error}");
    let text = error.to_string();
    assert!(text.contains("certificate") && !text.contains("s3cret"), "{text}");

    // In a process of its own, since what is trusted is read from the environment.
    let trusted = Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "tls::joins", "--include-ignored", "--nocapture"])
        .env("SSL_CERT_FILE", server.folder().join("data/server.crt"))
        .env("TEAM_TEST_ADDRESS", &address)
        .output()
        .expect("to run it");
    let out = String::from_utf8_lossy(&trusted.stdout);
    assert!(trusted.status.success() && out.contains("1 passed") && out.contains("joined"), "{out}");
}

#[test]
#[ignore = "the part of the test above that runs in a process of its own"]
fn joins() {
    let Ok(address) = std::env::var("TEAM_TEST_ADDRESS") else { return };
    let mut client = Client::join(&address, "desk", patient()).unwrap();
    assert_eq!(client.projects().unwrap().len(), 1);
    println!("joined");
}

/// With a certificate that it signed itself, and passwords for whoever does not come over the socket.
fn with_certificate(data: &Path) {
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"])
        .args([
            "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-addext", "basicConstraints=critical,CA:FALSE",
        ])
        .args(["-keyout", "server.key", "-out", "server.crt"])
        .current_dir(data)
        .output()
        .expect("openssl");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let owner = std::fs::metadata(data).expect("the folder");
    let (uid, gid) = (std::os::unix::fs::MetadataExt::uid(&owner), std::os::unix::fs::MetadataExt::gid(&owner));
    for file in ["server.key", "server.crt"] {
        std::os::unix::fs::chown(data.join(file), Some(uid), Some(gid)).expect("to give it away");
    }
    std::fs::write(data.join("pg_hba.conf"), "local all all trust\nhostssl all all 127.0.0.1/32 scram-sha-256\n")
        .expect("to write");
}
