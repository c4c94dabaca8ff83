//! Answers to a browser, with the headers that keep a page from loading, sending or running anything else.

use axum::body::Body;
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, LOCATION, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::Response;
use maud::{DOCTYPE, Markup, html};

use crate::web::addresses;
use crate::web::layout::with_code;

const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; \
form-action 'self'; base-uri 'self'; frame-ancestors 'none'";

pub(super) const HTML: &str = "text/html; charset=utf-8";
pub(super) const JSON: &str = "application/json";
const TEXT: &str = "text/plain; charset=utf-8";

/// On every answer.
pub(super) fn add_safety(headers: &mut HeaderMap) {
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // Not `no-referrer`: forms would then say that they come from nowhere.
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    headers.insert(HeaderName::from_static("cross-origin-opener-policy"), HeaderValue::from_static("same-origin"));
    headers.insert(HeaderName::from_static("cross-origin-resource-policy"), HeaderValue::from_static("same-origin"));
}

pub(super) fn of(status: StatusCode, kind: &'static str, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

pub(super) fn html_page(page: Markup) -> Response {
    of(StatusCode::OK, HTML, page.into_string())
}

pub(super) fn text(status: StatusCode, what: &'static str) -> Response {
    of(status, TEXT, what)
}

/// A page with nothing around it but a way to the first page, which lies at `home`.
pub(super) fn bare_page(status: StatusCode, title: &str, home: &str, body: &Markup) -> Response {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                base href=(home);
                title { (title) " · recall" }
                link rel="icon" href=(addresses::ICON) type="image/svg+xml";
                link rel="stylesheet" href=(addresses::STYLE);
            }
            body { main #content { h1 { (title) } (body) p { a href="./" { "Back to the first page" } } } }
        }
    };
    of(status, HTML, page.into_string())
}

/// What failed, for a person.
pub(super) fn failure(status: StatusCode, what: &str, home: &str) -> Response {
    bare_page(status, status.canonical_reason().unwrap_or("Error"), home, &html! { p { (with_code(what)) } })
}

/// Leads on to another page of ours, after something was changed.
pub(super) fn see_other(address: &str) -> Response {
    let mut response = text(StatusCode::SEE_OTHER, "");
    match HeaderValue::from_str(address) {
        Ok(address) => response.headers_mut().insert(LOCATION, address),
        Err(_) => None,
    };
    response
}
