//! What tokens cost at the API's list prices, in US dollars. A model that is not listed has no price, which is not zero.

use std::collections::BTreeMap;

use crate::config::Price;
use crate::session::Tokens;

/// List prices by the model's id without its date, per million tokens of input and of output.
/// Published prices as of May 2026. Newer models are unknown until they are added here or in the config.
const LIST: &[(&str, f64, f64)] = &[
    ("claude-3-haiku", 0.25, 1.25),
    ("claude-3-5-haiku", 0.8, 4.0),
    ("claude-haiku-4-5", 1.0, 5.0),
    ("haiku", 1.0, 5.0),
    ("claude-3-5-sonnet", 3.0, 15.0),
    ("claude-3-7-sonnet", 3.0, 15.0),
    ("claude-sonnet-4", 3.0, 15.0),
    ("claude-sonnet-4-5", 3.0, 15.0),
    ("claude-sonnet-4-6", 3.0, 15.0),
    ("claude-3-opus", 15.0, 75.0),
    ("claude-opus-4", 15.0, 75.0),
    ("claude-opus-4-1", 15.0, 75.0),
    ("claude-opus-4-5", 5.0, 25.0),
    ("claude-opus-4-6", 5.0, 25.0),
    ("claude-opus-4-7", 5.0, 25.0),
    ("claude-opus-4-8", 5.0, 25.0),
];

/// The price of a model: the user's own, else the list's.
pub fn price_of(model: &str, own: &BTreeMap<String, Price>) -> Option<Price> {
    let listed = || {
        let (_, input, output) = LIST.iter().find(|(id, ..)| *id == undated(model))?;
        Some(Price { input: *input, output: *output, cache_write: None, cache_write_hour: None, cache_read: None })
    };
    own.get(model).copied().or_else(listed)
}

/// `claude-opus-4-1-20250805` → `claude-opus-4-1`
fn undated(model: &str) -> &str {
    match model.rsplit_once('-') {
        Some((id, date)) if date == "latest" || date.len() == 8 && date.bytes().all(|b| b.is_ascii_digit()) => id,
        _ => model,
    }
}

/// What tokens cost. Cache prices follow from the input's: 1.25 times to write for five minutes, twice for an hour, a tenth to read.
pub fn cost(tokens: &Tokens, price: &Price) -> f64 {
    let write = price.cache_write.unwrap_or(price.input * 1.25);
    let write_hour = price.cache_write_hour.unwrap_or(price.input * 2.0);
    let read = price.cache_read.unwrap_or(price.input * 0.1);
    let all = [
        (tokens.input, price.input),
        (tokens.output, price.output),
        (tokens.cache_write, write),
        (tokens.cache_write_hour, write_hour),
        (tokens.cache_read, read),
    ];
    all.iter().map(|(count, price)| *count as f64 * price / 1e6).sum()
}

/// What each model of a session cost; `None` where its price is unknown.
pub fn costs_by_model(usage: &BTreeMap<String, Tokens>, own: &BTreeMap<String, Price>) -> BTreeMap<String, Option<f64>> {
    usage.iter().map(|(model, tokens)| (model.clone(), price_of(model, own).map(|price| cost(tokens, &price)))).collect()
}

/// What a session's tokens cost, and whether any model's price is unknown.
pub fn session_cost(by_model: &BTreeMap<String, Option<f64>>) -> (f64, bool) {
    // An empty sum of floating-point numbers is -0.
    (by_model.values().flatten().sum::<f64>() + 0.0, by_model.values().any(Option::is_none))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dated_id_has_its_models_price_and_the_unknown_has_none() {
        let none = BTreeMap::new();
        let input = |model: &str| price_of(model, &none).map(|p| p.input);
        assert_eq!(input("claude-opus-4-1-20250805"), Some(15.0));
        assert_eq!(input("claude-opus-4-5-20251101"), Some(5.0));
        assert_eq!(input("claude-haiku-4-5-20251001"), Some(1.0));
        assert_eq!(input("claude-opus-4-9"), None);
        assert_eq!(input("glm-4.7"), None);
    }

    #[test]
    fn cache_tokens_have_prices_of_their_own() {
        let price = price_of("claude-sonnet-4-5", &BTreeMap::new()).unwrap();
        let tokens = Tokens {
            input: 1_000_000,
            output: 100_000,
            cache_write: 1_000_000,
            cache_write_hour: 1_000_000,
            cache_read: 1_000_000,
        };
        assert!((cost(&tokens, &price) - (3.0 + 1.5 + 3.75 + 6.0 + 0.3)).abs() < 1e-9);
    }
}
