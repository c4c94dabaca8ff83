//! `recall`: a memory for Claude Code.
//!
//! Hooks leave a mark. `recall digest` ingests what was appended to the transcripts, keeps what matters, digests it once, and
//! writes daily pages and a SQLite index. Later sessions start with what the index knows.
//!
//! ## The way the data goes
//!
//! ```text
//! hook ─► mark ─┐
//! transcripts ──┴► crates/transcripts ─► store ─► analyze, summarize ─► store ─► render (pages)
//!                   (source ─► sanitizer)  └────► search, render ─► app ─► cli, mcp, hook, web
//! ```
//!
//! ## The rooms, from the bottom up
//!
//! A room imports rooms of lower floors only, and none that its last column forbids; `tests/it/rooms.rs` reads this table and holds that.
//!
//! | floor | room | holds | may not |
//! |---|---|---|---|
//! | | `crates/redact` | secrets out of text | know anything of recall |
//! | | `crates/recall-embed` | vectors of texts, by a model on this machine; a program of its own | know anything of recall |
//! | | `crates/sync` | records of several machines, over a folder, a host or a bucket | know anything of recall |
//! | | `crates/text` | cleaning, escaping, tokens, phrases, how much room a text takes | know anything of recall |
//! | | `crates/transcripts` | sessions of coding agents: a folder for each client, raw texts, the sanitizer, records; its `lib.rs` has its own table | know of an index, pages or settings |
//! | 1 | `sys` | files, child processes, signals, terminal, endpoints, failpoints, git folders | |
//! | 2 | `model` | digests, notes, prices, times: plain data | do I/O |
//! | 3 | `analyze` | what a session was about, and what its commands did: pure functions | |
//! | 4 | `policy` | what may be shown to whom: which projects are excluded, isolated or the viewer's | |
//! | 5 | `inputs` | what is read beside transcripts: marks, memory files, statements of a team, where machines exchange, the database of another tool | |
//! | 6 | `config` | every setting, path, variable and default, read once; pauses | |
//! | 7 | `store` | the SQLite index: `Reader` reads, `Memory` is one under a policy, `WholeIndex` one that hides nothing; `Writer` changes it, `Maintenance` cares for its file | print |
//! | 8 | `summarize` | digests by a model: prompt, call, reply | import `store` |
//! | 8 | `search` | queries, ranking, passages, semantic similarity, notices at a prompt | |
//! | 8 | `render` | pages, briefs, session starts, topics, lists, each within its budget | import `store` |
//! | 8 | `setup` | hooks, MCP registration, timers: install, inspect, undo | |
//! | 9 | `app` | the use cases: a request in, a reply out | parse a command line |
//! | 10 | `hook`, `mcp`, `web` | adapters: read a request, call `app`, write the answer | import `store`, `search` |
//! | 11 | `cli` | the same, for the command line | import `store`, `search` |
//!
//! ## Where to change what
//!
//! - **A setting**: a field and its default in `config::file`, or in the file of its table beside it; its use where `Config` hands it down;
//!   its row in `docs/src/configuration.md`.
//! - **A secret format**: one entry in `crates/redact/formats.toml` with an example; a test there says that `RULES_VERSION` has to be raised,
//!   so that stored texts are sanitized again.
//! - **What is told of a session without a model**: `analyze::account` finds it in rows (raise `ACCOUNT_RULES` with what it holds or how it is
//!   written); `render::quoted` writes it for `render::brief` and `render::session_start`, `render::page::account` for pages.
//! - **A section of a model's digest**: a name and a row in `model::section`, which say what a model is asked for, whose words can carry it,
//!   where it is indexed and how each view shows it; prompt, reply, check, pages and what reads them back, starts, search, sanitizer and
//!   `forget` walk that list.
//! - **What overtakes what**: `analyze::overtaken` finds it in sentences (raise `OVERTAKEN_RULES` with its words and rules), `store::overtaken`
//!   keeps it, `model::since_then` words it. Whoever tells words of a session asks `store::came_since`.
//! - **Was it used?** Readers of transcripts keep the names in what our hooks told a session, `analyze::use_of_told` finds what of that came up in it (its
//!   receipt, a part of the account), and which warnings it passed over, `store::receipts` counts it, and `app::eval` replays what would have
//!   been told.
//! - **What a compaction dropped**: `analyze::dropped` finds it in a session's account and the client's summary, `app::dropped` tells it to who
//!   asks and at the first prompt behind the compaction, which `app::hook_state::compaction` notes; `render::dropped` words it.
//! - **What is out of date in memory files of Claude's**: `analyze::memory_lines` reads their lines, `app::doctor::memory_files` holds them
//!   against what is there.
//! - **What git says of what a session names**: `analyze::repository` finds it in what `sys::git` printed, `app::digest::repository` asks, and
//!   `store::observations` keeps it. `store::came_since` tells it, too; no page does.
//! - **What the user says again and again**: `analyze::rules` finds standing instructions in their words and which of them are one (raise
//!   `INSTRUCTION_RULES` with its words and rules), `store::rules` keeps them beside the account, `app::rules` leaves out what is known already.
//!   Those that a model names are a section of its digest; `analyze::verify::instruction` finds the user's sentence behind each.
//! - **By what an error is known again**: `transcripts::shell::error_line` picks the lines that state it at ingest, `analyze::failures` makes its signature
//!   (raise `ACCOUNT_RULES`);
//!   `store::failures` keeps it beside the account, `app::fix` tells it.
//! - **What a command is for** (`recall how`): the tables in `transcripts::shell::class`; what makes two runs one in `transcripts::shell::same` (raise
//!   `ACCOUNT_RULES` with either).
//! - **Another summarizer that asks a model**: a file beside `summarize::claude` that implements `summarize::Summarizer` (one call, what its
//!   reply means, what it may cost) and has a function that checks its setup for the doctor; its choice, word and settings in `config::digest`,
//!   its lines in `summarize::find` and `summarize::check`. Kept replies and retries are those of `summarize::ask`, an endpoint is asked by
//!   `sys::http`. Messages, `--summarizer` and its help go by the choice; the rows in `docs/src/configuration.md`.
//! - **What a model is asked beside digests**: `app::model_call` reserves, makes and settles a call under the caps of digests; `app::topic` and
//!   `app::report` build a request and hold the reply against what they gave. Its instructions are a file in `prompts/`.
//! - **A program that checks the work**: a row of the table in `transcripts::shell::checks`. By it ingest keeps a run as evidence,
//!   `analyze::account` tells it, `analyze::signal` rates commands, and `analyze::verify` holds claims against runs.
//! - **A command of git that counts**: the lists in `transcripts::shell::git`, by which ingest keeps it as evidence. What is stored already is
//!   not read again. Items that are evidence are `transcripts::session::evidence::Evidence`, which no page tells as it is.
//! - **Where a page lies, or how it is called**: `model::page_path`, for whoever writes, links, lists or reads one.
//! - **What other machines are told**: of sessions `app::sync::sessions`, by which `store::origin` keeps them; of what people say `app::sync::said`.
//!   What is told of a session there is its account, whole: `transcripts::session::ToldElsewhere`. How it is carried: `crates/sync`.
//! - **A filter of search**: `search::query` parses it, `search::rank` makes a condition of it, `store::search` the SQL; its line in the help of
//!   `cli::args`, `mcp::tools` and `mcp::server`, and its row in `docs/src/search.md`.
//! - **A column of a table**: a migration; the struct and its `New…` in `store`, its `Exported…` in `store::transfer`; what repair salvages in
//!   `store::maintenance`, and what pages give back in `app::page_facts`.
//! - **A migration**: `migrations/NNNN_name.sql` and its line at the end of the list in `store::schema`, with the names it makes or drops there. Never edit an older one.
//! - **A tool of the MCP server**: a file in `mcp::tools` that implements `Tool`, and its line in the list there. `build.rs` reads its name
//!   for `config`, which tells the sanitizer, so that its replies are not ingested again. Tests ask for its way out in
//!   `tests/it/private/excluded_everywhere.rs` and its row in the table of `docs/src/agents.md`.
//! - **A page for a browser**: a file in `web::pages`, its address in `web::addresses`, its line in `web::router` and in `web::export`; a thing it
//!   changes is a `web::actions::Action`. Who is let in is `web::access`.
//! - **An adapter, or an answer for one**: `app::asker::Asker` is who asks from which folder; it opens the
//!   `app::open_memory::OpenMemory` that use cases of `app` want: `search`, `show` (briefs, too),
//!   `timeline`, `status`, `topic`, `day`. The adapter is a row of the table above, its answers are ways out in that test.
//! - **A verb of the command line**: its arguments in `cli::args`, a file in `cli`, the work in `app`; `cli::needs_person` and `cli::uses_memory`
//!   make you decide what an agent may do with it. Its row in `docs/src/guide/commands.md`, and in `docs/src/formats.md` where it has `--json`.
//! - **A phase of a digest that takes long**: a `sys::progress::Progress`; the terminal's line and what other processes see of the run follow it. Its word in
//!   the row `running` of `docs/src/formats.md`.
//! - **Another client**: its name in `transcripts::client`, a folder in `crates/transcripts/src/source` that implements
//!   `transcripts::source::Source`, its line in `transcripts::source::source_of`, its table in `config::sources`. Nothing else knows how it writes.
//! - **Where an agent has its hooks and MCP servers**: `setup::locations` names the files; the forms are `setup::hook_command::HookForm` and
//!   `setup::servers::EntryForm`, in TOML `setup::toml_servers`. `setup::InstallScope` says who has hooks of ours. What an agent is told by a
//!   rule that no hook can tell it: `setup::rules_file`.
//! - **What is told of an agent**, by `recall status` and `recall doctor`: `app::agents`. What an agent can be told, its tier, is a column of the table
//!   in `setup::agent_hosts`; the names that users may call it by are in `transcripts::client`. What Codex lets run is `setup::codex_trust`.
//! - **A tool of a client**: its name and class in the `tools` of its folder there; all else asks for its `transcripts::session::item::ToolClass`.
//! - **Another kind of document that search finds**, as memory files of Claude's are (`inputs::client_memory` reads them, `store::memory_files` keeps
//!   them): a column of `doc` and its words in `store::document`; `search::HitSource` makes whoever tells results decide how; a view in
//!   `store::memory`, and `store::forget`, hide it and take it out; `search::kind` names it.
//! - **The memory of another tool, to be imported**: a file beside `inputs::claude_mem` reads it, one like `app::claude_mem` makes sessions of it, with
//!   digests under the tool's name (`model::digest::CLAUDE_MEM`; `claimed_by` there says who is told to say so); a word of `cli::args::OtherTool`.
//! - **A kind of transcript line**: `transcripts::source::claude_code`; the sanitizer sees every text of it before anything is stored.

#![cfg_attr(not(feature = "sync"), allow(dead_code, unused_imports, reason = "what only `recall sync` asks of the lower rooms"))]
#![forbid(unsafe_code)]
// `println!` and `eprintln!` panic if nothing reads the stream, so all output goes through `sys::messages` and `sys::terminal_escape`.
#![deny(clippy::print_stdout, clippy::print_stderr)]

mod analyze;
mod app;
mod cli;
mod config;
mod hook;
mod inputs;
mod mcp;
mod model;
mod policy;
mod render;
mod search;
mod setup;
mod store;
mod summarize;
mod sys;
#[cfg(feature = "testing")]
pub mod testing;
#[cfg(feature = "web")]
mod web;

pub use crate::cli::run;
