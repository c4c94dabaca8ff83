use super::*;

fn rates(model: &str) -> Option<Rates> {
    price_of(model, &BTreeMap::new())
}

fn million(model: &str) -> Option<[f64; 5]> {
    let rates = rates(model)?;
    let one = |at: usize| {
        let mut counts = [0; 5];
        counts[at] = 1_000_000;
        let [input, output, cache_write, cache_write_hour, cache_read] = counts;
        let tokens = Tokens { input, output, cache_write, cache_write_hour, cache_read, ..Tokens::default() };
        (cost(&tokens, &rates) * 1e6).round() / 1e6
    };
    Some([one(0), one(1), one(2), one(3), one(4)])
}

#[test]
fn the_list_is_read_and_dated() {
    let list: PriceList = toml::from_str(LIST).unwrap();
    assert!(list.date.parse::<jiff::civil::Date>().is_ok() && price_list_date() == Some(&list.date), "{}", list.date);
    for (alias, meant) in &list.aliases {
        assert!(meant.iter().all(|id| list.models.contains_key(id)), "{alias}: {meant:?}");
    }
    let (own, all) = (list.models.len(), list.with_all().models);
    assert!(all.len() > own + 50, "no name is listed twice: {}", all.len());
    for (id, ListedModel { price, long, fast, .. }) in &all {
        for price in [Some(price), long.as_ref(), fast.as_ref()].into_iter().flatten() {
            assert!(0.0 < price.input && price.input < price.output, "{id}: {price:?}");
        }
        assert_eq!(bare(id), id, "it can be found");
    }
}

#[test]
fn todays_models_cost_what_the_clients_catalogue_says() {
    for (model, price) in [
        ("claude-haiku-5-5", [0.1, 0.5, 0.125, 0.2, 0.01]),
        ("claude-haiku-4-5-20251001", [1.0, 5.0, 1.25, 2.0, 0.1]),
        ("claude-sonnet-5", [2.0, 10.0, 2.5, 4.0, 0.2]),
        ("claude-sonnet-5-5", [2.0, 10.0, 2.5, 4.0, 0.1]),
        ("claude-opus-5", [5.0, 25.0, 6.25, 10.0, 0.5]),
        ("claude-opus-5-5", [4.0, 20.0, 5.0, 8.0, 0.2]),
        ("claude-opus-5-5-fast", [8.0, 40.0, 10.0, 16.0, 0.4]),
        ("claude-opus-4-6-fast", [30.0, 150.0, 37.5, 60.0, 3.0]),
        ("claude-opus-4-8-fast", [10.0, 50.0, 12.5, 20.0, 1.0]),
        ("claude-opus-5-5-us", [4.4, 22.0, 5.5, 8.8, 0.22]),
        ("claude-opus-5-5-fast-us", [8.8, 44.0, 11.0, 17.6, 0.44]),
        ("claude-fable-5", [10.0, 50.0, 12.5, 20.0, 1.0]),
        ("claude-mythos-5-1", [10.0, 50.0, 12.5, 20.0, 0.25]),
        ("claude-fable-5-2", [8.0, 40.0, 10.0, 16.0, 0.2]),
        ("claude-fable-5-2-fast", [16.0, 80.0, 20.0, 32.0, 0.4]),
    ] {
        assert_eq!(million(model), Some(price), "{model}");
    }
}

#[test]
fn whoever_serves_it_and_whatever_its_date_a_model_has_its_price_and_the_unknown_has_none() {
    let input = |model: &str| million(model).map(|p| p[0]);
    for (model, price) in [
        ("claude-opus-4-1-20250805", Some(15.0)),
        ("claude-opus-4-5-20251101", Some(5.0)),
        ("claude-sonnet-4-20250514", Some(3.0)),
        ("claude-sonnet-4-0", Some(3.0)),
        ("claude-opus-4-0", Some(15.0)),
        ("claude-opus-4-1@20250805", Some(15.0)),
        ("us.anthropic.claude-haiku-4-5-20251001-v1:0", Some(1.0)),
        ("us.anthropic.claude-opus-4-6-v1", Some(5.0)),
        ("claude-sonnet-4-5-20250929[1m]", Some(3.0)),
        ("claude-3-5-haiku-latest", Some(0.8)),
        // Its price at that speed is unknown.
        ("claude-haiku-5-5-fast", None),
        ("claude-opus-4-9", None),
        ("glm-4.7", None),
        ("", None),
    ] {
        assert_eq!(input(model), price, "{model}");
    }
}

#[test]
fn long_prompts_have_their_own_price_where_the_list_has_one() {
    let half = TokenCounts { input: 500_000, output: 100_000, cache_read: 1_000_000, ..TokenCounts::default() };
    let tokens = Tokens { input: 1_000_000, output: 200_000, cache_read: 2_000_000, long: half, ..Tokens::default() };
    let of = |model: &str| cost(&tokens, &rates(model).unwrap());
    let (short, long) = (0.05 + 0.05 + 0.01, 0.25 + 0.25 + 0.05);
    assert!((of("claude-haiku-5-5") - (short + long)).abs() < 1e-9, "{}", of("claude-haiku-5-5"));
    assert!((of("claude-opus-5-5") - (4.0 + 4.0 + 0.4)).abs() < 1e-9);
}

#[test]
fn models_of_other_vendors_cost_what_their_lists_say() {
    for (model, price) in [
        // What is written to a cache is input like any other, up to GPT-5.5.
        ("gpt-5-codex", [1.25, 10.0, 1.25, 1.25, 0.125]),
        ("gpt-5-2025-08-07", [1.25, 10.0, 1.25, 1.25, 0.125]),
        ("openai/gpt-5.1-codex-max", [1.25, 10.0, 1.25, 1.25, 0.125]),
        ("gpt-5.2-codex", [1.75, 14.0, 1.75, 1.75, 0.175]),
        ("gpt-5.5", [5.0, 30.0, 5.0, 5.0, 0.5]),
        ("gpt-5.6-terra", [2.0, 12.0, 2.5, 2.5, 0.2]),
        ("gpt-6-sol", [2.0, 10.0, 2.5, 2.5, 0.2]),
        ("gpt-6.1-sol", [2.0, 10.0, 2.5, 2.5, 0.1]),
        ("codex-mini-latest", [1.5, 6.0, 1.5, 1.5, 0.375]),
        ("gpt-4.1-2025-04-14", [2.0, 8.0, 2.0, 2.0, 0.5]),
        ("o4-mini", [1.1, 4.4, 1.1, 1.1, 0.275]),
        ("gpt-5.5-pro", [30.0, 180.0, 30.0, 30.0, 30.0]),
        ("models/gemini-2.5-pro", [1.25, 10.0, 1.25, 1.25, 0.125]),
        ("gemini-3.8-flash", [0.75, 3.75, 0.75, 0.75, 0.075]),
    ] {
        assert_eq!(million(model), Some(price), "{model}");
    }
    for model in
        ["gpt-7", "gpt-5.5-fast", "gpt-oss:20b", "gpt-5-2025", "2025-08-07", "-2025-08-07", "gemini-ultra", "codex-auto-review"]
    {
        assert_eq!(rates(model), None, "{model}");
    }
    assert!(always_thinks("gpt-5.5"));
}

#[test]
fn how_long_a_long_prompt_is_depends_on_the_vendor() {
    for (model, above) in
        [("claude-haiku-5-5", 100_000), ("somebody-elses", 100_000), ("gpt-5.5-2026-04-23", 272_000), ("gemini-2.5-pro", 200_000)]
    {
        let of = |input: u64| of_one_message(Tokens { input, output: 5, cache_read: 10, ..Tokens::default() }, model).long;
        assert_eq!((of(above - 10).input, of(above - 9).input), (0, above - 9), "{model}");
    }
    let cost_of = |input: u64| cost(&of_one_message(Tokens { input, ..Tokens::default() }, "gpt-5.5"), &rates("gpt-5.5").unwrap());
    assert!((cost_of(200_000) - 1.0).abs() < 1e-9 && (cost_of(900_000) - 9.0).abs() < 1e-9, "the whole request costs more");
}

#[test]
fn the_users_own_prices_go_before_the_list() {
    let flat = |input| Price { input, output: 9.0, cache_write: None, cache_write_hour: None, cache_read: None };
    let own =
        [("claude-haiku-5-5", 7.0), ("glm-4.7", 0.6), ("claude-opus-5-5-fast", 1.0)].map(|(id, usd)| (id.to_owned(), flat(usd)));
    let own = BTreeMap::from(own);
    let input = |model: &str| price_of(model, &own).map(|rates| rates.price.input * rates.times);
    assert_eq!(input("claude-haiku-5-5"), Some(7.0));
    assert_eq!(input("us.anthropic.claude-haiku-5-5"), Some(7.0));
    assert_eq!(input("claude-haiku-5-5-us"), Some(7.0 * US_FACTOR));
    assert_eq!(input("glm-4.7"), Some(0.6));
    assert_eq!(input("claude-opus-5-5-fast"), Some(1.0));
    assert_eq!(input("claude-opus-5-5"), Some(4.0));
}

#[test]
fn an_alias_may_mean_several_models_and_the_unknown_may_think() {
    assert_eq!(models_of_alias("haiku"), ["claude-haiku-5-5", "claude-haiku-4-5"]);
    assert_eq!(models_of_alias("sonnet[1m]")[0], "claude-sonnet-5-5");
    assert_eq!(models_of_alias("claude-opus-4-5"), ["claude-opus-4-5"]);
    assert!(always_thinks("claude-haiku-5-5") && always_thinks("somebody-elses") && !always_thinks("claude-haiku-4-5-20251001"));
}
