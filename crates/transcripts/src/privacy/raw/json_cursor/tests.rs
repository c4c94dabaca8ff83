use super::*;
use proptest::prelude::*;
use serde::de::IgnoredAny;

/// Is it one well-formed value, both for this reader and for serde_json?
fn both(json: &str) -> (bool, bool) {
    (Raw::of(json).is_ok(), serde_json::from_str::<IgnoredAny>(json).is_ok())
}

#[test]
fn what_is_no_json_is_told() {
    for bad in [
        "", " ", "[", "]", "{", "}", "[1,]", "[,1]", "[1 2]", "{,}", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{a:1}", "{1:2}",
        "{\"a\":1]", "[1}", "\"", "\"\\\"", "\"\\x\"", "\"\\u12\"", "\"\\u12g4\"", "\"a\nb\"", "\"\u{1}\"", "01", "-", "-a", "1.",
        ".5", "1e", "1e+", "+1", "0x1", "tru", "truee", "nul", "1 2", "{} {}", "[1]]", "NaN", "'a'", "\u{a0}1",
    ] {
        assert_eq!(both(bad), (false, false), "{bad:?}");
    }
    for good in [
        "0",
        "-0",
        "1.5e-7",
        "1E9999",
        " [ ] ",
        "{ }",
        "[[],{},\"\",null,true,false]",
        "{\"a\" : {\"b\":[1 , 2]} , \"\":0}\r\n\t",
        "\"\\ud800\\/\\b\\f\u{7f}\u{e9}\"",
        "\"0123456789abcde\\\\\"",
        "\"0123456789abcdef\"",
    ] {
        assert_eq!(both(good), (true, true), "{good:?}");
    }
}

#[test]
fn an_object_on_the_way_is_gone_through_and_is_handed_out_as_a_whole() {
    let mut inner = [None; 1];
    let mut outer = None;
    let mut cursor = JsonCursor::new(r#"{"x":[{"m":0}], "m" : {"y":1,"\u0063":"it"} ,"z":2}"#);
    let read = cursor.object(&["m"], |cursor, _| {
        outer = Some(cursor.whole(|cursor| {
            inner = cursor.fields(&["c"])?;
            Ok(())
        })?);
        Ok(())
    });
    assert_eq!((read, cursor.end()), (Ok(()), Ok(())));
    assert_eq!((outer, inner), (Some(Raw(r#"{"y":1,"\u0063":"it"}"#)), [Some(Raw("\"it\""))]));
}

/// Nested objects and arrays in which level `wrong` is closed by the other kind of bracket.
fn nested(are_objects: &[bool], wrong: Option<usize>) -> String {
    let opening = are_objects.iter().map(|is_object| if *is_object { "{\"k\":" } else { "[0," });
    let closing =
        are_objects.iter().enumerate().rev().map(|(at, is_object)| char::from(closing(*is_object != (wrong == Some(at)))));
    opening.chain(["null"]).map(str::to_owned).chain(closing.map(String::from)).collect()
}

#[test]
fn a_name_is_found_among_many_as_among_few() {
    const FEW: [&str; 7] = ["type", "text", "id", "tool_use_id", "is_error", "content", ""];
    const MANY: NameTable<7> = NameTable::of(FEW);
    let others = ["typ", "types", "texT", "is", "a name that is longer than all that are looked for", "cöntent", "idéé"];
    for name in FEW.iter().chain(&others) {
        assert_eq!(MANY.position(name), FEW.position(name), "{name}");
    }
    assert_eq!((MANY.position("content"), MANY.position("")), (Some(5), Some(6)));
}

proptest! {
    #[test]
    fn brackets_are_counted_however_deep(are_objects in prop::collection::vec(any::<bool>(), 1..300), at in any::<prop::sample::Index>()) {
        prop_assert_eq!(both(&nested(&are_objects, None)), (true, true));
        let wrong = at.index(are_objects.len());
        prop_assert_eq!(both(&nested(&are_objects, Some(wrong))), (false, false));
        let cut = nested(&are_objects, None);
        prop_assert_eq!(both(&cut[..cut.len() - 1]), (false, false));
        prop_assert_eq!(both(&format!("[{cut},{cut}]")), (true, true));
    }

    #[test]
    fn a_string_ends_where_others_end_it(text in "([a-z ]{0,20}|\\\\[\"\\\\/bfnrtux]|\\\\u[0-9a-f]{3,4}|\"|\u{1f}|\u{7f}|é|日){0,12}") {
        let json = format!("[\"{text}\"]");
        let (ours, theirs) = both(&json);
        prop_assert_eq!(ours, theirs, "{}", json);
    }

    #[test]
    fn a_long_string_ends_where_others_end_it(
        before in "[a-zé]{0,70}",
        special in "\"|\\\\|\\\\[\"\\\\/bfnrtux]|\\\\u[0-9a-f]{4}|\u{1f}|\u{0}|\t|\u{7f}|é|",
        behind in "[a-z]{0,70}",
        around in "[ \t\n]?",
    ) {
        let json = format!("{around}{{\"{before}{special}{behind}\":[\"{behind}{special}{before}\",\"{special}\"]}}");
        let (ours, theirs) = both(&json);
        prop_assert_eq!(ours, theirs, "{}", json);
    }

    #[test]
    fn what_is_json_is_said_as_others_say_it(json in "([\\[\\]{}:, \\t]|\"|\\\\|u00e9|[tfn0-9.eE+-]|true|false|null|\"a\"|\"key\":|\\PC|\u{1f}|[a-z ]{0,40}){0,14}") {
        let (ours, theirs) = both(&json);
        prop_assert_eq!(ours, theirs);
    }

    #[test]
    fn a_value_with_one_byte_changed_is_judged_as_others_judge_it(
        json in prop::collection::vec(("[a-z]{0,3}", prop_oneof!["[a-z\\\\\"\n]{0,40}".prop_map(serde_json::Value::from), any::<i32>().prop_map(Into::into), any::<f64>().prop_map(Into::into), Just(serde_json::json!([{"k": [null, true]}, {}, []]))]), 0..6),
        at in any::<prop::sample::Index>(),
        byte in "[\\[\\]{}:,\"\\\\0-9a-fu. -]",
    ) {
        let mut text = serde_json::Value::Object(json.into_iter().collect()).to_string();
        prop_assert_eq!(both(&text), (true, true));
        let at = text.floor_char_boundary(at.index(text.len()));
        let end = text.ceil_char_boundary(at + 1);
        text.replace_range(at..end, &byte);
        let (ours, theirs) = both(&text);
        prop_assert_eq!(ours, theirs, "{}", text);
    }
}
