//! How this machine is called.

/// Its name in the network, without the domain.
pub(crate) fn name() -> String {
    let uname = rustix::system::uname();
    let name = uname.nodename().to_string_lossy();
    name.split('.').next().unwrap_or_default().to_owned()
}
