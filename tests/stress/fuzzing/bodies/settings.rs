//! Settings editing: what install put in uninstall takes out, byte for byte, and what is not ours is as it was in between.

use recall::testing::setup::hook_command::{HookForm, Invocation};
use recall::testing::setup::servers::{self, EntryForm, ServerLocation};
use recall::testing::setup::settings;
use recall::testing::setup::strict_json::{Insertion, Shapes};
use serde_json::Value;

pub fn check(data: &[u8]) {
    let Some((choice, rest)) = data.split_first() else { return };
    let text = String::from_utf8_lossy(rest);
    let form = match choice & 1 {
        0 => Invocation::Own { program: "/opt/re call/recall".into(), environment: vec![("RECALL_DATA_DIR", "/d'\"".into())] },
        _ => Invocation::Shared,
    };
    match choice >> 1 & 3 {
        0 => hooks(&text, &form, HookForm::USUAL),
        1 => hooks(&text, &form, HookForm::GEMINI),
        2 => server(&text, &form, &ServerLocation::TopLevel),
        _ => server(&text, &form, &ServerLocation::Project("/src/a.b/shop".into())),
    }
}

fn hooks(text: &str, form: &Invocation, of: HookForm) {
    let Ok(added) = settings::add(text, form, of, false) else {
        // What cannot be added to is left alone, or is no settings file at all.
        let left = settings::remove(text, &Shapes::new());
        return assert!(left.is_ok_and(|left| parse(&left).is_some()) || parse(text).is_none_or(|value| !value.is_object()));
    };
    let state = settings::state(&added.text).expect("the client reads it");
    assert_eq!(state.missing(of), [""; 0], "{}", added.text);
    let twice = settings::add(&added.text, form, of, false).expect("it was read before");
    assert_eq!((twice.text, twice.shapes), (added.text.clone(), Shapes::new()), "a second time changes nothing");
    others_stay(text, &added.text, "hooks");
    let left = settings::remove(&added.text, &added.shapes).expect("it was read before");
    // What somebody put beside a hook of ours was brought up to date, and stays so.
    let was_there = settings::state(text).is_ok_and(|state| !state.hooks.is_empty());
    if !was_there && settings::remove(text, &Shapes::new()).is_ok_and(|same| same == text) {
        assert_eq!(left, text, "taken out of {}", added.text);
        if let Ok(both) = settings::add(text, form, of, true) {
            assert!(settings::state(&both.text).is_ok_and(|state| state.permitted), "{}", both.text);
            assert_eq!(settings::remove(&both.text, &both.shapes).expect("it was read before"), text, "taken out of {}", both.text);
        }
        beside_a_server(text, &added, form);
    }
    let state = settings::state(&left).expect("the client reads it");
    assert!(state.hooks.iter().all(|hook| hook.call.does_more), "{left}");
}

/// Hooks and server in one file.
fn beside_a_server(text: &str, hooks: &Insertion, form: &Invocation) {
    let (place, known) = (&ServerLocation::TopLevel, &|_: &str| true);
    let had_none = servers::locations(text, known).is_ok_and(|places| places.is_empty());
    let Ok(both) = servers::add(&hooks.text, place, EntryForm::PLAIN, form, known) else { return };
    if had_none {
        let shapes: Shapes = both.shapes.into_iter().chain(hooks.shapes.clone()).collect();
        let left = servers::remove(&both.text, place, &shapes, known).expect("it was read before");
        assert_eq!(settings::remove(&left, &shapes).expect("it was read before"), text, "taken out of {}", both.text);
    }
}

fn server(text: &str, form: &Invocation, place: &ServerLocation) {
    // Whatever program has our name.
    let known = &|_: &str| true;
    let Ok(added) = servers::add(text, place, EntryForm::TYPED, form, known) else { return };
    let ours = servers::find(&added.text, place, known).expect("the client reads it").expect("it is there");
    let twice = servers::add(&added.text, place, EntryForm::TYPED, form, known).expect("it was read before");
    assert_eq!((twice.text, twice.shapes), (added.text.clone(), Shapes::new()), "a second time changes nothing");
    others_stay(text, &added.text, if *place == ServerLocation::TopLevel { "mcpServers" } else { "projects" });
    if servers::locations(text, known).is_ok_and(|places| places.is_empty()) {
        assert!(ours.matches(form), "{ours:?}");
        assert_eq!(servers::remove(&added.text, place, &added.shapes, known).expect("it was read before"), text);
    }
}

/// What the client reads; nothing of a file that is empty. `None` for what is no JSON, or has a number that Rust has no room for.
fn parse(text: &str) -> Option<Value> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim().is_empty() { Some(Value::Object(Default::default())) } else { serde_json::from_str(text).ok() }
}

fn others_stay(before: &str, now: &str, but: &str) {
    let (Some(before), now) = (parse(before), parse(now)) else { return };
    let others = |all: &Value| {
        let all = all.as_object().expect("an object").iter().filter(|(key, _)| *key != but);
        all.map(|(key, value)| (key.clone(), value.clone())).collect::<Vec<_>>()
    };
    assert_eq!(others(&before), others(&now.expect("it is JSON still")));
}
