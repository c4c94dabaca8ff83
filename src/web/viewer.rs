//! What pages are made from: the memory as it may be shown to whoever started the server, and what their links lead to.

use std::cell::OnceCell;

use anyhow::Result;
use jiff::civil::Date;

use crate::app::asker::Asker;
use crate::app::day::{DayReader, DaysReply, DaysRequest};
use crate::app::health::KnownTimers;
use crate::app::open_memory::OpenMemory;
use crate::app::show::KnownIds;
use crate::config::Config;
use crate::model::page_path::{self, LinkedPage};
use crate::render::html::{HtmlPage, References, html, html_page};
use crate::web::addresses;

/// What a page can do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Purpose {
    /// It is served: what changes something has to send this word.
    Served { word: String },
    /// It is a file.
    Exported,
}

pub(super) struct Viewer<'a> {
    pub(super) config: &'a Config,
    pub(super) asker: &'a Asker<'a>,
    pub(super) memory: OpenMemory,
    pub(super) purpose: Purpose,
    pub(super) timers: &'a KnownTimers,
    /// Read once, when a page asks for it.
    ids: OnceCell<KnownIds>,
}

impl<'a> Viewer<'a> {
    pub(super) fn new(
        config: &'a Config,
        asker: &'a Asker<'a>,
        memory: OpenMemory,
        purpose: Purpose,
        timers: &'a KnownTimers,
    ) -> Self {
        Self { config, asker, memory, purpose, timers, ids: OnceCell::new() }
    }

    pub(super) fn is_served(&self) -> bool {
        self.purpose != Purpose::Exported
    }

    pub(super) fn today(&self) -> Date {
        self.config.local(self.config.now()).date()
    }

    /// The page of a day, as markdown.
    pub(super) fn day_page(&self, date: Date) -> Result<Option<String>> {
        self.days_reader().day(date)
    }

    /// Days with a page, newest first.
    pub(super) fn days(&self, before: Option<Date>, limit: usize) -> Result<DaysReply> {
        self.days_reader().days(DaysRequest { before, limit })
    }

    fn days_reader(&self) -> DayReader<'_, impl FnOnce() -> Result<Option<OpenMemory>>> {
        DayReader { config: self.config, policy: self.config.policy(self.asker.view()), open: || self.asker.memory_if_there() }
    }

    /// The id that goes by this name in addresses; `None` if none does.
    pub(super) fn id_of(&self, name: &str) -> Result<Option<String>> {
        if !addresses::is_by_hash(name) {
            return Ok(Some(name.to_owned()));
        }
        Ok(self.ids()?.all().iter().find(|id| addresses::name_of(id) == name).cloned())
    }

    /// A page of the memory as HTML.
    pub(super) fn read(&self, markdown: &str) -> HtmlPage {
        html_page(markdown, &References { link: &|link| self.address_of(link) })
    }

    /// A text of the memory as HTML.
    pub(super) fn text(&self, markdown: &str) -> String {
        html(markdown, &References { link: &|link| self.address_of(link) })
    }

    fn ids(&self) -> Result<&KnownIds> {
        if let Some(known) = self.ids.get() {
            return Ok(known);
        }
        let known = KnownIds::of(&self.memory)?;
        Ok(self.ids.get_or_init(|| known))
    }

    /// Where a link between pages leads: to the day, the session or the list of days that it means.
    fn address_of(&self, link: &str) -> Option<String> {
        Some(match page_path::linked_page(link)? {
            LinkedPage::Session(id) => addresses::session(self.ids().ok()?.whole(id)?),
            LinkedPage::Day(day) => addresses::day(day),
            LinkedPage::DayList => addresses::DAYS.to_owned(),
        })
    }
}
