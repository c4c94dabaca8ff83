//! `recall mcp` as clients of the protocol see it.

mod agreement;
mod claude;
mod concurrent;
mod conversation;
mod days;
mod leaving;
mod other_clients;
mod remember;
mod search;
mod timeline_and_get;
mod topics;
