//! What tokens cost at the API's list prices, in US dollars. A model that is not listed has no price, which is not zero.
//!
//! The list is `price/list.toml`; the user's `[prices]` go before it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use serde::Deserialize;

use crate::config::Price;
use crate::session::{Counts, Tokens};

const LIST: &str = include_str!("price/list.toml");

/// What requests at another speed, or answered in the US, are counted under: the model's id with this behind it.
pub const FAST: &str = "-fast";
pub const US: &str = "-us";
/// How many times as much inference in the US costs.
const US_TIMES: f64 = 1.1;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    /// When it was compared with what is asked.
    date: String,
    aliases: BTreeMap<String, Vec<String>>,
    models: BTreeMap<String, Listed>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
struct Listed {
    #[serde(flatten)]
    price: Price,
    long: Option<Price>,
    fast: Option<Price>,
    #[serde(default)]
    thinks: bool,
}

// It is part of the program: a test reads it.
static PRICES: LazyLock<Option<List>> = LazyLock::new(|| toml::from_str(LIST).ok());

/// What a model's tokens cost.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rates {
    price: Price,
    /// In requests with a long prompt, where these cost more.
    long: Option<Price>,
    times: f64,
}

/// When the list was compared with what is asked.
pub fn listed_on() -> Option<&'static str> {
    PRICES.as_ref().map(|list| list.date.as_str())
}

/// What a model's tokens cost: by the user's own price of just this name or of its model, else by the list's.
pub fn price_of(model: &str, own: &BTreeMap<String, Price>) -> Option<Rates> {
    let (rest, us) = cut(model, US);
    let (id, fast) = cut(rest, FAST);
    let bare = bare(id);
    let flat = |price: &Price| Rates { price: *price, long: None, times: 1.0 };
    let own_id = || own.get(id).or_else(|| own.get(bare)).filter(|_| !fast);
    let listed = || {
        let listed = find(bare)?;
        let price = if fast { listed.fast? } else { listed.price };
        Some(Rates { price, long: listed.long.filter(|_| !fast), times: 1.0 })
    };
    let rates = own.get(rest).or_else(own_id).map(flat).or_else(listed)?;
    own.get(model).map(flat).or(Some(Rates { times: if us { US_TIMES } else { 1.0 }, ..rates }))
}

/// The models that a name may stand for, the newest first; a name of no other kind stands for itself.
pub fn meanings(model: &str) -> Vec<&str> {
    let known = PRICES.as_ref().and_then(|list| list.aliases.get(bare(model)));
    known.map_or_else(|| vec![model], |ids| ids.iter().map(String::as_str).collect())
}

/// Does it think whatever it is told? Of a model that nobody knows that is to be feared.
pub fn thinks(model: &str) -> bool {
    find(bare(model)).is_none_or(|listed| listed.thinks)
}

fn find(bare: &str) -> Option<&'static Listed> {
    PRICES.as_ref()?.models.get(bare)
}

fn cut<'m>(model: &'m str, mark: &str) -> (&'m str, bool) {
    model.strip_suffix(mark).map_or((model, false), |rest| (rest, true))
}

/// A model's name as the list has it, whoever serves it and of whatever date: `us.anthropic.claude-opus-4-1-20250805-v1:0`,
/// `claude-opus-4-1@20250805`, `claude-opus-4-1-20250805[1m]` → `claude-opus-4-1`
fn bare(model: &str) -> &str {
    let model = model.rsplit_once("anthropic.").map_or(model, |(_, id)| id);
    let model = model.split(['[', '@', ':']).next().unwrap_or(model);
    let model = strip_last(model, |part| part.len() == 2 && part.starts_with('v') && part.ends_with(|c: char| c.is_ascii_digit()));
    let model = strip_last(model, |part| part == "latest" || part.len() == 8 && part.bytes().all(|b| b.is_ascii_digit()));
    // `claude-sonnet-4-0` and `claude-opus-4-0` are the fours' other names.
    model.strip_suffix("-4-0").map_or(model, |id| &model[..id.len() + 2])
}

fn strip_last(model: &str, is_mark: impl Fn(&str) -> bool) -> &str {
    model.rsplit_once('-').filter(|(_, part)| is_mark(part)).map_or(model, |(id, _)| id)
}

/// What tokens cost, in US dollars.
pub fn cost(tokens: &Tokens, rates: &Rates) -> f64 {
    let long = rates.long.map_or(0.0, |price| flat(&tokens.long, &price));
    let counted = if rates.long.is_some() { tokens.all().without(&tokens.long) } else { tokens.all() };
    (flat(&counted, &rates.price) + long) * rates.times
}

/// Cache prices follow from the input's where they are not given: 1.25 times to write for five minutes, twice for an hour, a tenth to
/// read.
fn flat(counts: &Counts, price: &Price) -> f64 {
    let all = [
        (counts.input, price.input),
        (counts.output, price.output),
        (counts.cache_write, price.cache_write.unwrap_or(price.input * 1.25)),
        (counts.cache_write_hour, price.cache_write_hour.unwrap_or(price.input * 2.0)),
        (counts.cache_read, price.cache_read.unwrap_or(price.input * 0.1)),
    ];
    all.iter().map(|(count, price)| *count as f64 * price / 1e6).sum()
}

/// What each model of a session cost; `None` where its price is unknown.
pub fn costs_by_model(usage: &BTreeMap<String, Tokens>, own: &BTreeMap<String, Price>) -> BTreeMap<String, Option<f64>> {
    usage.iter().map(|(model, tokens)| (model.clone(), price_of(model, own).map(|rates| cost(tokens, &rates)))).collect()
}

/// What a session's tokens cost, and whether any model's price is unknown.
pub fn session_cost(by_model: &BTreeMap<String, Option<f64>>) -> (f64, bool) {
    // An empty sum of floating-point numbers is -0.
    (by_model.values().flatten().sum::<f64>() + 0.0, by_model.values().any(Option::is_none))
}

/// What the client and we reckon that a session cost, of the models that both tell of: it asks some for what no transcript holds.
/// `None` where there are none, or one has no price.
pub fn compared(client: &BTreeMap<String, f64>, own: &BTreeMap<String, Option<f64>>) -> Option<(f64, f64)> {
    let model = |counted: &str| bare(cut(cut(counted, US).0, FAST).0).to_owned();
    let ours: BTreeSet<String> = own.keys().map(|name| model(name)).collect();
    let theirs: BTreeSet<String> = client.keys().map(|name| model(name)).collect();
    let both: BTreeSet<&String> = ours.intersection(&theirs).collect();
    let of_client: f64 = client.iter().filter(|(name, _)| both.contains(&model(name))).map(|(_, usd)| usd).sum();
    let of_ours: Option<f64> = own.iter().filter(|(name, _)| both.contains(&model(name))).map(|(_, usd)| *usd).sum();
    of_ours.filter(|_| !both.is_empty()).map(|ours| (of_client, ours))
}

#[cfg(test)]
mod tests;
