//! How well `recall search` finds what somebody means, measured.
#[path = "../support/mod.rs"]
mod support;
mod corpus;

#[test]
fn every_session_of_the_corpus_is_stored_under_its_project() {
    let world = corpus::world();
    if let Some(dir) = std::env::var_os("RECALL_QUALITY_KEEP") {
        support::copy_tree(&world.claude_dir(), std::path::Path::new(&dir));
    }
    let report = world.digest(&["--summarizer", "extract", "--settle", "0s"]);
    assert_eq!(report["sessions_digested"], 173, "{report:#}");
}
