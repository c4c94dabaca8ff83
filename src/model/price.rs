//! What tokens cost at the API's list prices, in US dollars. A model that is not listed has no price, which is not the same as zero.
//!
//! The list is `price/list.toml`; the user's `[prices]` take precedence.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use transcripts::session::{FAST_SUFFIX, TokenCounts, Tokens, US_SUFFIX};

/// US dollars per million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    pub(crate) input: f64,
    pub(crate) output: f64,
    /// 1.25 times `input` when not given.
    pub(crate) cache_write: Option<f64>,
    /// Twice `input` when not given.
    pub(crate) cache_write_hour: Option<f64>,
    /// A tenth of `input` when not given.
    pub(crate) cache_read: Option<f64>,
}

impl Price {
    /// The prices that are given, with the names of their keys.
    pub(crate) fn named(&self) -> impl Iterator<Item = (&'static str, f64)> {
        let Self { input, output, cache_write, cache_write_hour, cache_read } = *self;
        let all = [
            ("input", Some(input)),
            ("output", Some(output)),
            ("cache_write", cache_write),
            ("cache_write_hour", cache_write_hour),
            ("cache_read", cache_read),
        ];
        all.into_iter().filter_map(|(name, dollars)| Some((name, dollars?)))
    }
}

const LIST: &str = include_str!("price/list.toml");

/// Price factor for US-only inference.
const US_FACTOR: f64 = 1.1;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PriceList {
    /// When the list was last compared with the published prices.
    date: String,
    aliases: BTreeMap<String, Vec<String>>,
    models: BTreeMap<String, ListedModel>,
    openai: Vendor,
    google: Vendor,
}

/// The models of a vendor that asks nothing more for what is written to a cache, where its list does not say so.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Vendor {
    long_above: u64,
    models: BTreeMap<String, ListedModel>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
struct ListedModel {
    #[serde(flatten)]
    price: Price,
    long: Option<Price>,
    fast: Option<Price>,
    #[serde(default)]
    thinks: bool,
    /// How many tokens a prompt has to have more than, for `long` to count.
    #[serde(skip, default = "usual_long_above")]
    long_above: u64,
}

const fn usual_long_above() -> u64 {
    100_000
}

impl PriceList {
    /// With every vendor's models among the others.
    fn with_all(mut self) -> Self {
        let others = [&self.openai, &self.google].into_iter().flat_map(Vendor::listed);
        self.models.extend(others.collect::<Vec<_>>());
        self
    }
}

impl Vendor {
    fn listed(&self) -> impl Iterator<Item = (String, ListedModel)> + use<'_> {
        let plain = |price: Price| {
            let cache_write = price.cache_write.or(Some(price.input));
            Price { cache_write, cache_write_hour: price.cache_write_hour.or(cache_write), ..price }
        };
        self.models.iter().map(move |(id, ListedModel { price, long, fast, .. })| {
            let [long, fast] = [long, fast].map(|price| price.map(plain));
            (id.clone(), ListedModel { price: plain(*price), long, fast, thinks: true, long_above: self.long_above })
        })
    }
}

// Built into the program; a test parses it.
static PRICES: LazyLock<Option<PriceList>> = LazyLock::new(|| toml::from_str(LIST).ok().map(PriceList::with_all));

/// What a model's tokens cost.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rates {
    price: Price,
    /// The price of requests with a long prompt, if it is higher.
    long: Option<Price>,
    times: f64,
}

/// When the list was last compared with the published prices.
pub(crate) fn price_list_date() -> Option<&'static str> {
    PRICES.as_ref().map(|list| list.date.as_str())
}

/// Price of a model's tokens: the user's price for this name or its base model, else the list's.
pub(crate) fn price_of(model: &str, own: &BTreeMap<String, Price>) -> Option<Rates> {
    let (rest, us) = split_suffix(model, US_SUFFIX);
    let (id, fast) = split_suffix(rest, FAST_SUFFIX);
    let bare = bare(id);
    let flat = |price: &Price| Rates { price: *price, long: None, times: 1.0 };
    let own_id = || own.get(id).or_else(|| own.get(bare)).filter(|_| !fast);
    let listed = || {
        let listed = find(bare)?;
        let price = if fast { listed.fast? } else { listed.price };
        Some(Rates { price, long: listed.long.filter(|_| !fast), times: 1.0 })
    };
    let rates = own.get(rest).or_else(own_id).map(flat).or_else(listed)?;
    own.get(model).map(flat).or(Some(Rates { times: if us { US_FACTOR } else { 1.0 }, ..rates }))
}

/// The models an alias may stand for, newest first; any other name stands for itself.
pub(crate) fn models_of_alias(model: &str) -> Vec<&str> {
    let known = PRICES.as_ref().and_then(|list| list.aliases.get(bare(model)));
    known.map_or_else(|| vec![model], |ids| ids.iter().map(String::as_str).collect())
}

/// Requests to the model whose prompt has more tokens than this may have another price.
fn long_above(model: &str) -> u64 {
    let id = split_suffix(split_suffix(model, US_SUFFIX).0, FAST_SUFFIX).0;
    find(bare(id)).map_or(usual_long_above(), |listed| listed.long_above)
}

/// The least that [`long_above`] says of a model: most messages have a shorter prompt, and their model need not be looked up.
static LEAST_LONG_ABOVE: LazyLock<u64> = LazyLock::new(|| {
    let listed = PRICES.iter().flat_map(|list| list.models.values()).map(|listed| listed.long_above);
    listed.min().map_or(usual_long_above(), |least| least.min(usual_long_above()))
});

/// The tokens of one message, with `long` set if its prompt is long for this model.
pub(crate) fn of_one_message(tokens: Tokens, model: &str) -> Tokens {
    let prompt = tokens.total().saturating_sub(tokens.output);
    let is_long = prompt > *LEAST_LONG_ABOVE && prompt > long_above(model);
    Tokens { long: if is_long { tokens.all() } else { TokenCounts::default() }, ..tokens }
}

/// Does the model always think, whatever it is told? Assumed of unknown models.
pub(crate) fn always_thinks(model: &str) -> bool {
    find(bare(model)).is_none_or(|listed| listed.thinks)
}

fn find(bare: &str) -> Option<&'static ListedModel> {
    PRICES.as_ref()?.models.get(bare)
}

fn split_suffix<'m>(model: &'m str, mark: &str) -> (&'m str, bool) {
    model.strip_suffix(mark).map_or((model, false), |rest| (rest, true))
}

/// A model's name as listed, without provider prefix, date or version suffix: `us.anthropic.claude-opus-4-1-20250805-v1:0`,
/// `claude-opus-4-1@20250805`, `claude-opus-4-1-20250805[1m]` → `claude-opus-4-1`; `openai/gpt-5-2025-08-07` → `gpt-5`
fn bare(model: &str) -> &str {
    let model = model.rsplit_once("anthropic.").map_or(model, |(_, id)| id);
    let model = model.rsplit_once('/').map_or(model, |(_, id)| id);
    let model = model.split(['[', '@', ':']).next().unwrap_or(model);
    let model = strip_last(model, |part| part.len() == 2 && part.starts_with('v') && part.ends_with(|c: char| c.is_ascii_digit()));
    let model = strip_last(model, |part| part == "latest" || part.len() == 8 && part.bytes().all(|b| b.is_ascii_digit()));
    let model = without_day(model);
    // `claude-sonnet-4-0` and `claude-opus-4-0` are aliases of `claude-sonnet-4` and `claude-opus-4`.
    model.strip_suffix("-4-0").map_or(model, |id| &model[..id.len() + 2])
}

/// A name without the day at its end: `-2025-08-07`.
fn without_day(model: &str) -> &str {
    let is_day = |end: &str| {
        let digits = |part: &str, count: usize| part.len() == count && part.bytes().all(|b| b.is_ascii_digit());
        let mut parts = end.split('-');
        [0, 4, 2, 2].into_iter().all(|count| parts.next().is_some_and(|part| digits(part, count)))
    };
    let at = model.len().saturating_sub("-2025-08-07".len());
    model.split_at_checked(at).filter(|(id, end)| !id.is_empty() && is_day(end)).map_or(model, |(id, _)| id)
}

fn strip_last(model: &str, is_mark: impl Fn(&str) -> bool) -> &str {
    model.rsplit_once('-').filter(|(_, part)| is_mark(part)).map_or(model, |(id, _)| id)
}

/// What tokens cost, in US dollars.
pub(crate) fn cost(tokens: &Tokens, rates: &Rates) -> f64 {
    let long = rates.long.map_or(0.0, |price| flat(&tokens.long, &price));
    let counted = if rates.long.is_some() { tokens.all().without(&tokens.long) } else { tokens.all() };
    (flat(&counted, &rates.price) + long) * rates.times
}

/// Cost at one price. Cache prices that are not given follow from the input price: 1.25 times for writing with five minutes of lifetime,
/// twice for an hour, a tenth for reading.
fn flat(counts: &TokenCounts, price: &Price) -> f64 {
    let all = [
        (counts.input, price.input),
        (counts.output, price.output),
        (counts.cache_write, price.cache_write.unwrap_or(price.input * 1.25)),
        (counts.cache_write_hour, price.cache_write_hour.unwrap_or(price.input * 2.0)),
        (counts.cache_read, price.cache_read.unwrap_or(price.input * 0.1)),
    ];
    all.iter().map(|(count, price)| *count as f64 * price / 1e6).sum()
}

/// Cost by model, by its price, else as the client says; `None` where neither is known.
pub fn costs_by_model(usage: &BTreeMap<String, Tokens>, own: &BTreeMap<String, Price>) -> BTreeMap<String, Option<f64>> {
    let stated = |tokens: &Tokens| (tokens.stated_cost > 0).then_some(tokens.stated_cost as f64 / 1e6);
    let cost_of = |(model, tokens): (&String, &Tokens)| {
        let cost = price_of(model, own).map(|rates| cost(tokens, &rates)).or_else(|| stated(tokens));
        (model.clone(), cost)
    };
    usage.iter().map(cost_of).collect()
}

/// Total cost of a session, and whether the price of any of its models is unknown.
pub(crate) fn session_cost(by_model: &BTreeMap<String, Option<f64>>) -> (f64, bool) {
    // An empty sum of floats is -0.
    (by_model.values().flatten().sum::<f64>() + 0.0, by_model.values().any(Option::is_none))
}

/// What a session cost by the client's reckoning and by ours, for the models both know of: the client also calls some for purposes that
/// no transcript records. `None` when they have no model in common, or one of these has no price.
pub(crate) fn compare_costs(client: &BTreeMap<String, f64>, own: &BTreeMap<String, Option<f64>>) -> Option<(f64, f64)> {
    let model = |counted: &str| bare(split_suffix(split_suffix(counted, US_SUFFIX).0, FAST_SUFFIX).0).to_owned();
    let ours: BTreeSet<String> = own.keys().map(|name| model(name)).collect();
    let theirs: BTreeSet<String> = client.keys().map(|name| model(name)).collect();
    let both: BTreeSet<&String> = ours.intersection(&theirs).collect();
    let of_client: f64 = client.iter().filter(|(name, _)| both.contains(&model(name))).map(|(_, usd)| usd).sum();
    let of_ours: Option<f64> = own.iter().filter(|(name, _)| both.contains(&model(name))).map(|(_, usd)| *usd).sum();
    of_ours.filter(|_| !both.is_empty()).map(|ours| (of_client, ours))
}

#[cfg(test)]
mod tests;
