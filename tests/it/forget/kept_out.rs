//! In whatever slices transcripts come, what was forgotten between them stays out.

use proptest::prelude::*;

use crate::forget::scene::{EXTRACT, TEXT, WORD, transcripts};
use crate::support::World;
use crate::support::data_folder::assert_gone;
use crate::support::size::runs;

proptest! {
    #![proptest_config(ProptestConfig { cases: runs(2, 8), failure_persistence: None, max_shrink_iters: 8, ..ProptestConfig::default() })]

    #[test]
    fn a_text_that_was_forgotten_at_any_point_is_gone_as_far_as_it_was_there(cuts in prop::collection::vec(0usize..=1000, 3), whole in any::<bool>()) {
        let world = World::new();
        let all = transcripts();
        for ((path, text), share) in all.iter().zip(&cuts) {
            if *share > 0 {
                world.transcript(path, &text.as_bytes()[..text.len() * share / 1000]);
            }
        }
        world.digest(&EXTRACT);
        let ran = if whole { world.recall(["forget", "--yes", "--project", "*shop*"]) } else { world.recall(["forget", "--yes", "--match", TEXT]) };
        prop_assert!(ran.code == 0, "{ran:#?}");
        assert_gone(&world, WORD);
        for (path, text) in &all {
            world.transcript(path, text);
        }
        world.digest(&EXTRACT);
        let ran = if whole { world.recall(["forget", "--yes", "--project", "*shop*"]) } else { world.recall(["forget", "--yes", "--match", TEXT]) };
        prop_assert!(ran.code == 0, "{ran:#?}");
        for (path, text) in &all {
            world.transcript(path, text);
            world.transcript(&format!("-elsewhere/{path}").replace("-home-dev-src-shop/", ""), text);
        }
        world.digest(&EXTRACT);
        assert_gone(&world, WORD);
    }
}
