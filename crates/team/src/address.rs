//! An address of a server, and what TLS it needs.

use crate::error::Error;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

/// Where a team is.
#[derive(Clone, Debug)]
pub(crate) struct Address {
    pub(crate) config: Config,
    pub(crate) team: Option<String>,
}

impl Address {
    /// `postgres://login[:password]@host[:port]/database[?team=name][&...]`, the other parameters as tokio-postgres knows them.
    pub(crate) fn parse(url: &str) -> Result<Self, Error> {
        if !["postgres://", "postgresql://"].iter().any(|scheme| url.starts_with(scheme)) {
            return Err(Error::Address { why: "it does not begin with postgres://".into() });
        }
        let (plain, team) = without_team(url);
        let mut config: Config = plain.parse().map_err(|error: tokio_postgres::Error| {
            let why = std::error::Error::source(&error).map_or_else(|| error.to_string(), ToString::to_string);
            Error::Address { why }
        })?;
        if config.get_user().is_none() {
            return Err(Error::Address { why: "it names no login".into() });
        }
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            return Err(Error::Address { why: "it names no host".into() });
        }
        // `prefer` would send a password in the clear to whoever answers for the server and says that it has no TLS.
        if config.get_ssl_mode() == SslMode::Prefer && !is_local(&config) {
            config.ssl_mode(SslMode::Require);
        }
        config.application_name("recall");
        Ok(Self { config, team })
    }
}

/// The hosts and ports of an address: `db.example.com:5432`.
pub(crate) fn place(config: &Config) -> String {
    let names = config.get_hosts().iter().map(|host| match host {
        Host::Tcp(name) => name.clone(),
        #[cfg(unix)]
        Host::Unix(folder) => folder.display().to_string(),
    });
    let names: Vec<String> = match config.get_hosts() {
        [] => config.get_hostaddrs().iter().map(ToString::to_string).collect(),
        _ => names.collect(),
    };
    // One port is that of all.
    let ports = config.get_ports();
    let port = |at: usize| ports.get(at).or(ports.first()).copied().unwrap_or(5432);
    let places: Vec<String> = names.iter().enumerate().map(|(at, name)| format!("{name}:{}", port(at))).collect();
    places.join(", ")
}

fn without_team(url: &str) -> (String, Option<String>) {
    // The login goes up to the first `@`: a `?` in its password begins no parameters.
    let behind_login = url.find('@').unwrap_or_default();
    let Some(at) = url[behind_login..].find('?').map(|at| behind_login + at) else { return (url.to_owned(), None) };
    let (before, query) = (&url[..at], &url[at + 1..]);
    let (teams, others): (Vec<&str>, Vec<&str>) = query.split('&').partition(|part| part.starts_with("team="));
    let team = teams.last().map(|part| part["team=".len()..].to_owned());
    let plain = if others.is_empty() { before.to_owned() } else { format!("{before}?{}", others.join("&")) };
    (plain, team)
}

/// Whether nothing leaves this machine: sockets and loopback only.
fn is_local(config: &Config) -> bool {
    let hosts = config.get_hosts().iter().all(|host| match host {
        Host::Tcp(name) => name == "localhost" || name.parse().is_ok_and(|address: std::net::IpAddr| address.is_loopback()),
        #[cfg(unix)]
        Host::Unix(_) => true,
    });
    hosts && config.get_hostaddrs().iter().all(std::net::IpAddr::is_loopback)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_the_host_and_port_alone() {
        for (url, told) in [
            ("postgres://anna:s3cret@db.example.com/team", "db.example.com:5432"),
            ("postgres://anna@a.example.com,b.example.com:6432/team", "a.example.com:5432, b.example.com:6432"),
            ("postgres://anna@%2Frun%2Fpg:5433/team", "/run/pg:5433"),
        ] {
            assert_eq!(place(&Address::parse(url).unwrap_or_else(|error| panic!("{url}: {error}")).config), told);
        }
    }

    #[test]
    fn a_server_elsewhere_is_asked_only_with_tls() {
        for (url, mode) in [
            ("postgres://anna@db.example.com/team", SslMode::Require),
            ("postgres://anna@db.example.com/team?sslmode=prefer", SslMode::Require),
            ("postgres://anna@db.example.com/team?sslmode=disable", SslMode::Disable),
            ("postgres://anna@10.0.0.7/team", SslMode::Require),
            ("postgres://anna@localhost,db.example.com/team", SslMode::Require),
            ("postgres://anna@localhost/team?hostaddr=10.0.0.7", SslMode::Require),
            ("postgres://anna@localhost/team", SslMode::Prefer),
            ("postgres://anna@127.0.0.1:5433/team", SslMode::Prefer),
            ("postgres://anna@%2Frun%2Fpostgresql/team", SslMode::Prefer),
        ] {
            let address = Address::parse(url).unwrap_or_else(|error| panic!("{url}: {error}"));
            assert_eq!(address.config.get_ssl_mode(), mode, "{url}");
        }
    }

    #[test]
    fn the_team_is_taken_out_of_the_address() {
        for (url, team) in [
            ("postgres://anna@localhost/team", None),
            ("postgres://anna@localhost/team?team=core", Some("core")),
            ("postgres://anna@localhost/team?team=core&connect_timeout=3", Some("core")),
            ("postgres://anna@localhost/team?connect_timeout=3&team=core", Some("core")),
            ("postgres://anna:p?team=x&w@localhost/team", None),
            ("postgres://anna:p?w@localhost/team?team=core", Some("core")),
        ] {
            let address = Address::parse(url).unwrap_or_else(|error| panic!("{url}: {error}"));
            assert_eq!(address.team.as_deref(), team, "{url}");
            assert_eq!(address.config.get_dbname(), Some("team"), "{url}");
        }
        let address = Address::parse("postgres://anna:p?team=x&w@localhost/team?team=core").expect("an address");
        assert_eq!(address.config.get_password(), Some(&b"p?team=x&w"[..]));
    }

    #[test]
    fn what_is_no_address_is_refused_without_its_password() {
        for url in [
            "",
            "anna@localhost/team",
            "host=localhost user=anna password=s3cret",
            "postgres://localhost/team",
            "postgres://anna:s3cret@localhost/team?sslmode=never",
            "postgres://anna:s3cret@localhost:port/team",
        ] {
            let error = Address::parse(url).expect_err(url).to_string();
            assert!(!error.contains("s3cret"), "{error}");
        }
    }
}
