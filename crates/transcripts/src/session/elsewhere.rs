//! What another machine told of a session whose records are not here.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::facts::SessionFacts;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToldElsewhere {
    /// How that machine is called; stored beside it.
    #[serde(skip)]
    pub machine: String,
    pub facts: SessionFacts,
    /// Its account with what is stored beside one, as `analyze::account` writes and reads it.
    pub account: Value,
}

impl ToldElsewhere {
    /// Puts `clean` in place of every text in it, whatever it is part of: no list of them can miss one.
    pub fn pass(&mut self, clean: impl Fn(&str) -> String) {
        let usage = std::mem::take(&mut self.facts.usage);
        self.facts.usage = usage.into_iter().map(|(model, tokens)| (clean(&model), tokens)).collect();
        pass(&mut self.account, &clean);
    }

    /// Every text in it.
    pub fn texts(&self) -> Vec<&str> {
        let mut texts = Vec::new();
        collect(&self.account, &mut texts);
        texts
    }
}

fn collect<'v>(value: &'v Value, texts: &mut Vec<&'v str>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(all) => all.iter().for_each(|one| collect(one, texts)),
        Value::Object(all) => all.values().for_each(|one| collect(one, texts)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn pass(value: &mut Value, clean: &impl Fn(&str) -> String) {
    match value {
        Value::String(text) => *text = clean(text),
        Value::Array(all) => all.iter_mut().for_each(|one| pass(one, clean)),
        Value::Object(all) => all.values_mut().for_each(|one| pass(one, clean)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
