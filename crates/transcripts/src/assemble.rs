//! Builds a session from records in order: each outcome is attached to the tool use it answers.
//!
//! Used both for records from the index and for those read directly from a transcript that is not digested yet. Pure.

use std::collections::{BTreeSet, HashMap, VecDeque};

use crate::session::{Entry, Item, Outcome, PlacedEvidence, Project, Record, RecordKey, Session, is_compaction_agent};

/// Collects entries in order. An outcome joins its tool use and makes no entry of its own.
#[derive(Debug, Default)]
pub struct EntryBuilder {
    all: Vec<Entry>,
    unanswered: HashMap<String, VecDeque<usize>>,
    early: HashMap<String, Outcome>,
    evidence: Vec<PlacedEvidence>,
}

impl EntryBuilder {
    pub fn push(&mut self, mut entry: Entry) {
        if entry.agent.as_deref().is_some_and(is_compaction_agent) {
            return;
        }
        if let Item::Evidence(evidence) = entry.item {
            let Entry { key, at, agent, .. } = entry;
            self.evidence.push(PlacedEvidence { key, at, agent, after: self.all.len(), evidence });
            return;
        }
        match &entry.item {
            // The oldest layout has no ids: uses of the same command are answered in order.
            Item::Outcome(outcome) => {
                match self.unanswered.get_mut(&outcome.tool).and_then(VecDeque::pop_front) {
                    Some(at) => self.end(at, outcome),
                    None => _ = self.early.insert(outcome.tool.clone(), outcome.clone()),
                }
                return;
            }
            Item::Tool(tool) if !tool.id.is_empty() => match self.early.remove(&tool.id) {
                Some(outcome) => {
                    self.attach_to_plan(self.all.len(), entry.key, &outcome);
                    entry.outcome = Some(outcome);
                }
                None => self.unanswered.entry(tool.id.clone()).or_default().push_back(self.all.len()),
            },
            _ => {}
        }
        self.all.push(entry);
    }

    /// Attaches an outcome to the tool use at this index.
    fn end(&mut self, at: usize, outcome: &Outcome) {
        self.attach_to_plan(at, self.all[at].key, outcome);
        self.all[at].outcome = Some(outcome.clone());
    }

    /// A plan comes right before the tool use of the same record that presents it to the user.
    fn attach_to_plan(&mut self, at: usize, key: RecordKey, outcome: &Outcome) {
        let before = at.checked_sub(1).and_then(|before| self.all.get_mut(before));
        if let Some(plan) = before.filter(|plan| plan.key == key && matches!(plan.item, Item::Plan(_))) {
            plan.outcome = Some(outcome.clone());
        }
    }

    /// The entries, and the evidence between them.
    pub fn finish(self) -> (Vec<Entry>, Vec<PlacedEvidence>) {
        (self.all, self.evidence)
    }
}

/// Builds the session `id` from these records alone, for a digest of what is not stored yet. `key_of` maps a folder to its project
/// key.
pub fn session_from_records(id: &str, rows: Vec<Record>, key_of: impl Fn(&str) -> String) -> Session {
    let mut entries = EntryBuilder::default();
    let mut seen = BTreeSet::new();
    let (mut cwd, mut branches) = (None, Vec::new());
    for row in rows.into_iter().filter(|r| r.session == id && r.agent.is_none()) {
        cwd = cwd.or(row.cwd);
        branches.extend(row.branch.filter(|b| !branches.contains(b)));
        // Clients write some lines twice.
        if seen.insert(row.key) {
            for item in row.items {
                entries.push(Entry { key: row.key, at: row.at, agent: None, item, outcome: None });
            }
        }
    }
    let (entries, evidence) = entries.finish();
    let session = Session {
        id: id.to_owned(),
        project: Project { key: cwd.as_deref().map(key_of).unwrap_or_default() },
        cwd,
        branches,
        versions: Vec::new(),
        end_reason: None,
        client: Default::default(),
        entries,
        evidence,
        // The beginning may lie before what was read.
        evident: false,
        usage: Default::default(),
        agents: 0,
        left_out: Default::default(),
        told: None,
        otherwise_at: 0,
    };
    session.with_places()
}
