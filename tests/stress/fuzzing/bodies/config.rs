//! The config file: what is wrong is told with its place, and what is taken can be used and written again.

use std::path::Path;

use recall::testing::config::file::{ConfigValues, parse};
use recall::testing::config::globset;
use recall::testing::privacy::ProjectPatterns;

pub fn check(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let path = Path::new("/c.toml");
    match parse(path, &text) {
        Err(e) => {
            let told = format!("{e:#}");
            let line = told.strip_prefix("/c.toml:").and_then(|rest| rest.split(':').next()?.parse::<usize>().ok());
            assert!(line.is_some_and(|line| (1..=text.matches('\n').count() + 1).contains(&line)), "{told}");
        }
        Ok(read) => {
            let settings = read.settings(path);
            assert!(!settings.is_empty());
            let written = toml::to_string(&read.values).expect("values are TOML");
            let again: ConfigValues = toml::from_str(&written).unwrap_or_else(|e| panic!("{e}: {written}"));
            assert_eq!(toml::to_string(&again).expect("values are TOML"), written);
            usable(&read.values);
        }
    }
}

/// What was taken makes no run fail later.
fn usable(values: &ConfigValues) {
    let home = Path::new("/home/dev");
    globset(&values.excluded_transcripts(), home).expect("the globs were checked");
    for list in [values.excluded_projects(), values.privacy.isolate.clone()] {
        let _ = ProjectPatterns::read(&list, home).expect("the patterns were checked").fit("/srv/shop");
    }
    let sanitizer = values.privacy.sanitizer(values.signal.skip_tools.skipped(), &[]).expect("the rules were checked");
    let _ = sanitizer.clean("a text");
    let _ = values.retention.oldest(i64::MAX);
}
