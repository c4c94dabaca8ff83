//! A company's memory: what developers share over a PostgreSQL server, and what they do not.

#[cfg(feature = "team")]
mod backlog;
#[cfg(feature = "team")]
mod colleague;
#[cfg(feature = "team")]
mod copied_disk;
#[cfg(feature = "team")]
mod first_word;
#[cfg(feature = "team")]
mod installations;
#[cfg(feature = "team")]
mod kept_back;
#[cfg(feature = "team")]
mod meaning;
#[cfg(feature = "team")]
mod open_and_rules;
#[cfg(feature = "team")]
mod over_postgres;
#[cfg(feature = "team")]
mod policy;
#[cfg(feature = "team")]
mod usage;

#[cfg(not(feature = "team"))]
#[test]
fn a_program_without_the_client_says_how_to_get_it() {
    let world = crate::support::World::digested(&["plain"]);
    for command in
        [&["team", "status"][..], &["team"], &["search", "--team", "redis"], &["stats", "--team"], &["show", "--team", "0badc0de"]]
    {
        let ran = world.recall(command);
        assert_eq!(ran.code, 2, "{ran:#?}");
        assert!(ran.err.contains("--features team"), "{ran:#?}");
    }
}

#[test]
fn what_the_config_says_of_a_team_is_checked() {
    let world = crate::support::World::new();
    world.configure("[team.\"~/work/shop\"]\nshare = true\nsessions = false\n");
    let ran = world.recall(["config"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert!(ran.out.contains("~/work/shop"), "{ran:#?}");
    world.configure("[team.\"~/work/shop\"]\nshar = true\n");
    let ran = world.recall(["config"]);
    assert_eq!(ran.code, 2, "{ran:#?}");
    assert!(ran.err.contains("shar"), "{ran:#?}");
}
