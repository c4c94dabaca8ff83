//! Who named a session: the user in it, or someone before it.
//!
//! The client writes every given title as the same `custom-title` line, and repeats it. `/clear` carries it over to the next
//! session, and a hook may set one. Other lines tell these cases apart: the command, and the output of the hook.

use super::fields::{Field, LineFields};
use super::json;
use super::user::tagged;
use crate::session::{Item, Title, TitleBy, TitleEvent};
use crate::source::line::MAX_TITLE_CHARS;
use text::clean::{one_line, shorten};

/// What a line says about names, and the title that it gives itself.
pub(super) fn title_event(fields: &LineFields<'_>, kind: &str) -> Option<(TitleEvent, Option<Item>)> {
    if kind == "attachment" {
        return title_by_hook(fields).map(|title| (TitleEvent::HookTitled(title), None));
    }
    if kind != "user" && kind != "system" {
        return None;
    }
    let content = fields.message.as_ref().and_then(|message| message.content.as_ref()).map(|content| content.raw);
    let said = json::text(content.or_else(|| fields.raw(Field::Content))?)?;
    if !said.starts_with("<command-") {
        return None;
    }
    let command = said.part(|said| Some(tagged(said, "command-name")?.trim().trim_start_matches('/')))?;
    match command.known(&["clear", "reset", "new", "rename"]) {
        "clear" | "reset" | "new" => Some((TitleEvent::Cleared, None)),
        "rename" => {
            let name = said.part(|said| tagged(said, "command-args")).unwrap_or_default();
            let name = one_line(&fields.sanitizer.clean(name));
            let title = Title { text: shorten(&name, MAX_TITLE_CHARS), by: TitleBy::User, leaf: None };
            Some((TitleEvent::Renamed, (!name.is_empty()).then_some(Item::Title(title))))
        }
        _ => None,
    }
}

/// The title that a hook sets in its output.
fn title_by_hook(fields: &LineFields<'_>) -> Option<String> {
    let printed = fields.attachment.stdout.filter(|raw| raw.written().contains("sessionTitle")).and_then(json::text)?;
    let [output] = json::fields(&printed, &["hookSpecificOutput"]).ok()?;
    let [title] = json::fields(output?, &["sessionTitle"]).ok()?;
    json::text(title?).map(|title| shorten(&one_line(&fields.sanitizer.clean(&title)), MAX_TITLE_CHARS))
}
