//! Numbers on the command line: each parser says in our own words what is accepted.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;
use transcripts::client::Client;

/// An agent by its name.
pub(super) fn agent(text: &str) -> Result<Client, String> {
    Client::named(text).ok_or_else(|| format!("no such agent; known are {}", names_of_agents()))
}

/// Every name that is accepted, with its other ones: `claude-code (claude, claudecode)`.
fn names_of_agents() -> String {
    let all = Client::ALL.into_iter().map(|client| match client.aliases().join(", ") {
        none if none.is_empty() => client.key().to_owned(),
        others => format!("{} ({others})", client.key()),
    });
    all.collect::<Vec<_>>().join(", ")
}

/// A whole number of things, such as sessions or threads.
pub(super) fn count(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| "give a whole number, such as 10".to_owned())
}

/// The same, but at least one: a list of nothing would say that there is nothing.
pub(super) fn some(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|number| *number > 0).ok_or_else(|| "give a whole number from 1, such as 10".to_owned())
}

/// A parser of whole numbers of a range.
pub(super) fn within<T>(range: RangeInclusive<T>, example: T) -> impl Fn(&str) -> Result<T, String> + Clone
where
    T: FromStr + PartialOrd + Display + Clone,
{
    move |text| {
        let known = text.parse().ok().filter(|number| range.contains(number));
        known.ok_or_else(|| format!("give a whole number from {} to {}, such as {example}", range.start(), range.end()))
    }
}

/// An amount of money, in US dollars.
pub(super) fn dollars(text: &str) -> Result<f64, String> {
    let amount = text.parse().ok().filter(|usd: &f64| usd.is_finite() && *usd >= 0.0);
    amount.ok_or_else(|| "give an amount in US dollars, zero or more, such as 0.50".to_owned())
}
