//! `recall redact` shows what would be kept of a text: every kind in every form.

use crate::secrets::everyday::EVERYDAY;
use crate::secrets::forms::{ALL, Form, written};
use crate::secrets::kinds::{KINDS, Shape};
use crate::secrets::outputs::{Leaks, leaks, said};
use crate::secrets::places::Planted;
use crate::secrets::table::tell;
use crate::support::{Ran, World, fed};

/// `recall redact` with this on its stdin.
fn redacted(world: &World, text: &str) -> Ran {
    let mut command = world.process();
    command.arg("redact");
    let ran = fed(command, text.as_bytes());
    assert_eq!(ran.code, 0, "{ran:#?}");
    ran
}

/// Forms in which a secret of this shape is still to be told.
fn forms(shape: Shape, length: usize) -> Vec<Form> {
    let fits = |form: &&Form| match (form, shape) {
        (Form::Wrapped(_), _) => shape == Shape::Token && length > 76,
        (Form::Sentence | Form::Start | Form::Highlighted | Form::Escaped | Form::Spaceless, Shape::Named) => false,
        (
            Form::Highlighted
            | Form::Yaml
            | Form::Header
            | Form::Url
            | Form::Quoted
            | Form::Assigned
            | Form::Table
            | Form::Spaceless,
            Shape::Text,
        ) => false,
        _ => true,
    };
    ALL.iter().filter(fits).copied().collect()
}

#[test]
fn what_redact_prints_holds_no_secret_of_any_kind_in_any_form() {
    let world = World::new();
    let (mut all, mut leaked) = (Vec::new(), Leaks::new());
    for kind in KINDS.iter().chain(EVERYDAY) {
        let mut planted = Vec::new();
        let mut text = String::new();
        let plain = kind.grown("anywhere").text;
        for form in forms(kind.shape, plain.len()) {
            let place = format!("{form:?}");
            let grown = kind.grown(&place);
            let sown = written(form, kind, &grown.text);
            text += &format!("The list of orders breaks on the first page.\n\n{sown}\n\nIt is as long as ever.\n\n");
            planted.push(Planted { kind: kind.name, place, form: "alone".into(), parts: grown.parts });
        }
        let found = leaks(&planted, &said("redact", &redacted(&world, &text)));
        leaked.extend(found.into_iter().map(|(at, sinks)| (all.len() + at, sinks)));
        all.extend(planted);
    }
    tell(&all, &leaked);
}

/// How many values of each kind are tried.
const VALUES: usize = 20;

#[test]
fn whatever_its_letters_are() {
    let world = World::new();
    let (mut all, mut leaked) = (Vec::new(), Leaks::new());
    for kind in KINDS.iter().chain(EVERYDAY) {
        let mut planted = Vec::new();
        let mut text = String::new();
        for n in 0..VALUES {
            let place = format!("value {n}");
            let grown = kind.grown(&place);
            let form = if kind.shape == Shape::Text { Form::Start } else { Form::Assigned };
            text += &format!("The list of orders breaks on the first page.\n\n{}\n\n", written(form, kind, &grown.text));
            planted.push(Planted { kind: kind.name, place, form: "alone".into(), parts: grown.parts });
        }
        let found = leaks(&planted, &said("redact", &redacted(&world, &text)));
        leaked.extend(found.into_iter().map(|(at, sinks)| (all.len() + at, sinks)));
        all.extend(planted);
    }
    tell(&all, &leaked);
}
