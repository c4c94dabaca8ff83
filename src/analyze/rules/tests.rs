use super::*;

#[derive(Debug, Default)]
struct Score {
    /// Sentences that are rules and were found to be, that are and were not, and that are none and were.
    found: usize,
    missed: Vec<String>,
    wrong: Vec<String>,
    /// The same of rules of whole scenes.
    rules: usize,
    rules_missed: Vec<String>,
    rules_wrong: Vec<String>,
}

/// How the scenes of a fixture are told, each of which is one project.
fn score(fixture: &str) -> Score {
    let path = format!("{}/fixtures/{fixture}", env!("CARGO_MANIFEST_DIR"));
    let mut score = Score::default();
    for line in std::fs::read_to_string(path).expect("the scenes").lines() {
        let scene: serde_json::Value = serde_json::from_str(line).expect("a scene");
        let list = |key: &str| scene[key].as_array().expect("a list").clone();
        let text = |of: &serde_json::Value, key: &str| of[key].as_str().unwrap_or_default().to_owned();
        let mut mentions = Vec::new();
        let mut labels: Vec<(String, String)> = Vec::new();
        for (n, one) in list("said").iter().enumerate() {
            let (said, label) = (text(one, "text"), text(one, "rule"));
            let found = instructions_in(&said);
            match (label.is_empty(), found.is_empty()) {
                (false, false) => score.found += 1,
                (false, true) => score.missed.push(said.clone()),
                (true, false) => score.wrong.push(said.clone()),
                (true, true) => {}
            }
            for text in found {
                let at = one["day"].as_i64().expect("a day") * 86_400_000 + n as i64;
                labels.push((text.clone(), label.clone()));
                mentions.push(Mention { at, session: one["in"].to_string(), turn: n, text, wording: None });
            }
        }
        let found = recurring(&mentions);
        mentions.reverse();
        assert_eq!(found, recurring(&mentions), "whatever the order");
        let label_of = |mention: &Mention| {
            labels.iter().find(|(text, _)| *text == mention.text).map(|(_, label)| label.clone()).unwrap_or_default()
        };
        let found: Vec<BTreeSet<String>> = found.iter().map(|rule| rule.mentions.iter().map(label_of).collect()).collect();
        let standing: Vec<String> = list("standing").iter().filter_map(|one| one.as_str().map(str::to_owned)).collect();
        for label in &standing {
            match found.iter().any(|labels| labels.len() == 1 && labels.contains(label)) {
                true => score.rules += 1,
                false => score.rules_missed.push(format!("{}: {label}", scene["id"])),
            }
        }
        let is_standing = |labels: &&BTreeSet<String>| labels.len() == 1 && standing.contains(labels.first().expect("a label"));
        let wrong = found.iter().filter(|labels| !is_standing(labels));
        score.rules_wrong.extend(wrong.map(|labels| format!("{}: {labels:?}", scene["id"])));
    }
    score
}

/// Scenes of projects, each with what recurs: rules in several words, opposite ones, near-misses, and what is for once, asked, quoted or printed.
/// The second set was held back while the words and rules were chosen.
#[test]
fn of_made_scenes_no_rule_is_false_and_most_are_found() {
    let first = score("rules-1.jsonl");
    assert!(first.wrong.is_empty() && first.rules_wrong.is_empty(), "{first:#?}");
    assert!(first.missed.len() <= 1 && first.rules >= 21, "{first:#?}");
    let second = score("rules-2.jsonl");
    let wrong = (second.wrong.len(), second.rules_wrong.len());
    assert_eq!(wrong, (1, 0), "sentences and rules that are none");
    assert!(second.found >= 31 && second.rules >= 8, "{} sentences, {} rules", second.found, second.rules);
}

#[test]
fn what_reports_or_was_broken_off_is_no_instruction() {
    for text in [
        "No fixes applied.",
        "ensure that the session is checked, and avoid returning a promise from the",
        "removeEventListener inside the handler) and do not await the destroy call —",
        "npm error Exit handler never called!",
        "The command never ends with 0 when a flag is unknown.",
        "I don't want hardcoded tests in the parser?",
    ] {
        assert_eq!(instructions_in(text), Vec::<String>::new(), "{text}");
    }
}

/// What a fork holds was said once, and so was a text that a script sends again and again.
#[test]
fn copies_and_templates_count_once() {
    let mention =
        |at, session: &str, text: &str| Mention { at, session: session.to_owned(), turn: 1, text: text.to_owned(), wording: None };
    assert_eq!(recurring(&[mention(1, "a", "Never push to main."), mention(1, "b", "Never push to main.")]), []);
    let long = format!("Never push to main, {}.", "the release manager of the platform team does that by hand".repeat(2));
    assert_eq!(recurring(&[mention(1, "a", &long), mention(9, "b", &long)]), []);
    assert_eq!(recurring(&[mention(1, "a", "Never push to main."), mention(9, "b", "Never push to main.")]).len(), 1);
    assert_eq!(recurring(&[mention(1, "a", "Never push to main."), mention(9, "a", "Never push to main.")]), [], "one session");
}

#[test]
fn what_a_file_says_already_is_known_in_other_words() {
    let said = |text: &str, other: &str| {
        let mention =
            |at, session: &str| Mention { at, session: session.to_owned(), turn: 1, text: text.to_owned(), wording: None };
        let found = recurring(&[mention(1, "a"), mention(2, "b")]);
        assert_eq!(found.len(), 1, "{text}");
        found[0].is_said_in(&statements_of(other))
    };
    assert!(said("Use pnpm, not npm.", "# Tools\n\n- **Always** use pnpm, never npm, for packages."));
    assert!(said("never push to main", "Work on branches. Never push to main or force-push."));
    assert!(!said("Use pnpm, not npm.", "Use npm, not pnpm."));
    assert!(!said("never push to main", "Deploys run on each push to main."));
}
