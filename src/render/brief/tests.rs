use proptest::prelude::*;

use super::*;
use crate::model::session::Project;
use crate::text::budget::tokens;

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_brief_takes_more_than_its_tokens(
        title in "\\PC{0,400}", id in "\\PC{1,300}", key in "\\PC{1,4000}", branch in "\\PC{1,300}",
        said in prop::collection::vec("\\PC{0,500}|[\u{4e00}-\u{4e80}]{0,300}", 0..24),
    ) {
        let entry = |text: &String| crate::model::session::Entry {
            key: crate::model::session::RecordKey([7; 16]), at: None, agent: None, item: Item::Prompt(text.clone()), outcome: None,
        };
        let session = Session {
            id: id.clone(), project: Project { key }, cwd: None, branches: vec![branch], versions: vec![], end_reason: None,
            entries: said.iter().map(entry).collect(), evidence: Vec::new(), evident: true, usage: Default::default(), agents: 0,
            left_out: Default::default(),
        };
        let facts = FrameFacts {
            session: &session, title: &title, state: DigestCoverage::SoFar, never: None, repeated_by: Some(id.clone()), id: &id,
        };
        let text = of_account(&facts, &SessionAccount::of(&session, true), &TimeZone::UTC, MAX_TOKENS);
        prop_assert!(tokens(&text) <= MAX_TOKENS, "{} tokens: {}", tokens(&text), text);
        prop_assert!(text.contains("--full") && !text.contains("<recall-context>"), "{}", text);
    }
}
