//! The behaviour of `recall`, a module for each subject.

#[path = "../support/mod.rs"]
mod support;

mod agents;
mod attribution;
mod chunks;
mod commands;
mod dependencies;
mod docs;
mod embeddings;
mod eval;
mod forget;
mod forks;
mod formats;
mod hooks;
mod hostile;
mod install;
mod interim;
mod isolation;
mod mcp;
mod memory_files;
mod near_duplicates;
mod notes;
mod packaging;
mod pages;
mod pages_alone;
mod plugin;
mod private;
mod provenance;
mod quality;
mod reading;
mod readme;
mod real_client;
mod recording;
mod regressions;
mod repository;
mod resanitize;
mod rooms;
mod rules;
mod secrets;
mod share;
mod summarizer;
mod sync;
mod upgrades;
mod web;
mod words;
