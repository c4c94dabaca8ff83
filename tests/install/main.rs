//! `recall install` and `recall uninstall`: settings and timers of others, edited and given back.

#[path = "../support/messages_api.rs"]
mod messages_api;
#[path = "../support/mod.rs"]
mod support;

mod at_once;
mod crontab;
mod fakes;
mod hooks;
mod servers;
mod system;
mod timers;
mod undo;
