//! What the tests, benches and fuzz targets of this repository reach inside for. No part of the program; it may change at any time.

pub mod analyze {
    pub mod account {
        pub use crate::analyze::account::SessionAccount;
    }
    pub mod verify {
        pub use crate::analyze::verify::verify;
    }
    pub mod without_model {
        pub use crate::analyze::without_model::digest;
    }
}
pub mod cli {
    pub mod args {
        pub use crate::cli::args::Cli;
    }
}
pub mod config {
    pub use crate::config::{QueryContext, globset};
    pub mod file {
        pub use crate::config::file::{ConfigValues, parse};
    }
}
pub mod hook {
    pub mod payload {
        pub use crate::hook::payload::{Event, Payload};
    }
}
pub mod model {
    pub mod assemble {
        pub use transcripts::assemble::{EntryBuilder, session_from_records};
    }
    pub mod author {
        pub use crate::model::author::Author;
    }
    pub mod client {
        pub use transcripts::client::Client;
    }
    pub mod digest {
        pub use crate::model::digest::{Claim, Digest};
    }
    pub mod item_state {
        pub use crate::model::item_state::{Closer, Closing, ItemState, ItemStates};
    }
    pub mod section {
        pub use crate::model::section::Section;
    }
    pub mod price {
        pub use crate::model::price::costs_by_model;
    }
    pub mod session {
        pub use transcripts::session::{
            Answer, Entry, FileTouch, Item, Outcome, Project, Record, RecordKey, Session, Tokens, ToolUse, Touch, said, short_id,
        };
    }
    pub mod session_facts {
        pub use transcripts::session::SessionFacts;
    }
}
pub mod privacy {
    pub use crate::policy::{Policy, ProjectPatterns, View};
    pub use crate::sys::projects::Projects;
    pub use transcripts::privacy::{Sanitizer, opens_private, strip};
}
pub mod render {
    pub mod page {
        pub use crate::model::page_path::session_page_name;
        pub use crate::render::page::{DayEntry, PaidDigest, SessionPageInput, UndigestedTotals, day_of, day_page, session_page};
    }
}
pub mod search {
    pub use crate::search::{Highlighter, Query, SearchOptions, find, max_distinctiveness};
}
pub mod setup {
    pub mod hook_command {
        pub use crate::setup::hook_command::{HookForm, Invocation};
    }
    pub mod servers {
        pub use crate::setup::servers::{EntryForm, ServerLocation, add, find, locations, remove};
    }
    pub mod settings {
        pub use crate::setup::settings::{add, remove, state};
    }
    pub mod strict_json {
        pub use crate::setup::strict_json::{Insertion, Shapes};
    }
}
pub mod source {
    pub use transcripts::source::{ParsedLine, TranscriptIdentity, is_complete, parse_line};
    pub mod delta {
        pub use transcripts::source::delta::{Checkpoint, LineReader, RawLine, TranscriptLines, last_lines, open, tail_hash};
    }
    pub mod json {
        pub use transcripts::source::json::{fields, map_strings};
    }
    pub mod mark {
        pub use crate::inputs::mark::Mark;
    }
}
pub mod store {
    pub use crate::store::{Memory, WholeIndex, Writer, is_there};
    pub mod notes {
        pub use crate::model::note::Note;
    }
    pub mod transfer {
        pub use crate::store::transfer::{Exported, ExportedRow, ExportedSource};
    }
}
pub mod summarize {
    pub use crate::summarize::{Attempt, ModelRequest};
    pub mod claude {
        pub mod report {
            pub use crate::summarize::claude::report::{read, redacted};
        }
    }
    pub mod reply {
        pub use crate::summarize::reply::read;
    }
}
pub mod text {
    pub mod budget {
        pub use text::budget::tokens;
    }
    pub mod clean {
        pub use text::clean::{both_ends, fold_lines, head_and_tail, one_line, shorten, without_controls};
    }
    pub mod disarm {
        pub use text::disarm::disarm;
    }
    pub mod markdown {
        pub use text::markdown::{code, inline, slug, yaml};
    }
}
