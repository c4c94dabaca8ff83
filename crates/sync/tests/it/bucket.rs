//! A bucket, against a stand-in on loopback that keeps objects in memory and wants requests to be signed.

use crate::carriers::{carries_records, keeps_the_contract};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use sync::{Bucket, Carrier, Error, History};
use tiny_http::{Method, Request, Response, Server};

type Objects = BTreeMap<String, Vec<u8>>;

struct Service {
    server: Arc<Server>,
    objects: Arc<Mutex<Objects>>,
    /// How many of the next requests are answered with 503.
    busy: Arc<AtomicUsize>,
    /// What version it says that an object has which is stored.
    version: Arc<Mutex<Option<&'static str>>>,
    thread: Option<JoinHandle<()>>,
}

impl Service {
    fn start() -> Self {
        let server = Arc::new(Server::http("127.0.0.1:0").unwrap());
        let (objects, busy) = (Arc::<Mutex<Objects>>::default(), Arc::new(AtomicUsize::new(0)));
        let version = Arc::<Mutex<Option<&'static str>>>::default();
        let (serving, all, left, stored_as) = (server.clone(), objects.clone(), busy.clone(), version.clone());
        let thread = thread::spawn(move || {
            for request in serving.incoming_requests() {
                let is_busy = left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok();
                answer(request, &mut all.lock().unwrap(), is_busy, *stored_as.lock().unwrap());
            }
        });
        Self { server, objects, busy, version, thread: Some(thread) }
    }

    fn bucket(&self, address: &str, key_id: &str) -> Bucket {
        let variables = [
            ("AWS_ACCESS_KEY_ID", key_id.to_owned()),
            ("AWS_SECRET_ACCESS_KEY", "secret".into()),
            ("AWS_REGION", "eu-central-1".into()),
            ("AWS_ENDPOINT_URL", format!("http://{}", self.server.server_addr())),
            ("AWS_ALLOW_HTTP", "true".into()),
            // Of other programs.
            ("AWS_PROFILE", "work".into()),
            ("AWS_EXECUTION_ENV", "x".into()),
        ];
        Bucket::with_variables(address, variables.map(|(name, value)| (name.to_owned(), value))).unwrap()
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.server.unblock();
        self.thread.take().into_iter().for_each(|thread| thread.join().unwrap());
    }
}

fn answer(mut request: Request, objects: &mut Objects, busy: bool, version: Option<&str>) {
    let header = |name: &str| request.headers().iter().find(|header| header.field.as_str().as_str().eq_ignore_ascii_case(name));
    let signed = header("authorization").is_some_and(|header| {
        let signature = header.value.as_str();
        signature.starts_with("AWS4-HMAC-SHA256 Credential=ours/") && signature.contains("/eu-central-1/s3/aws4_request")
    });
    let (status, body) = if busy {
        (503, "<Error><Code>SlowDown</Code></Error>".into())
    } else if !signed {
        (403, "<Error><Code>AccessDenied</Code><Message>Access Denied.</Message></Error>".into())
    } else {
        let mut content = Vec::new();
        request.as_reader().read_to_end(&mut content).unwrap();
        act(request.method(), request.url(), content, objects)
    };
    let e_tag = tiny_http::Header::from_bytes("ETag", "\"0\"").unwrap();
    let modified = tiny_http::Header::from_bytes("Last-Modified", "Sat, 28 Nov 2026 10:11:12 GMT").unwrap();
    let version = version.filter(|_| *request.method() == Method::Put);
    let mut response = Response::from_data(body)
        .with_chunked_threshold(usize::MAX)
        .with_status_code(status)
        .with_header(e_tag)
        .with_header(modified);
    if let Some(version) = version {
        response.add_header(tiny_http::Header::from_bytes("x-amz-version-id", version).unwrap());
    }
    // The other side may have gone.
    let _ = request.respond(response);
}

fn act(method: &Method, url: &str, content: Vec<u8>, objects: &mut Objects) -> (u16, Vec<u8>) {
    let (path, query) = url.split_once('?').unwrap_or((url, ""));
    let key = path.strip_prefix("/box").unwrap().trim_start_matches('/').to_owned();
    match method {
        Method::Get if query.contains("list-type=2") => (200, list(query, objects).into_bytes()),
        Method::Get => {
            objects.get(&key).map_or((404, b"<Error><Code>NoSuchKey</Code></Error>".to_vec()), |object| (200, object.clone()))
        }
        Method::Put => {
            objects.insert(key, content);
            (200, Vec::new())
        }
        Method::Delete => {
            objects.remove(&key);
            (204, Vec::new())
        }
        other => panic!("{other} {url}"),
    }
}

/// One page has two objects, so that there are several.
fn list(query: &str, objects: &Objects) -> String {
    let value = |name: &str| {
        let pair = query.split('&').filter_map(|pair| pair.split_once('=')).find(|(key, _)| *key == name);
        pair.map(|(_, value)| value.replace("%2F", "/")).unwrap_or_default()
    };
    assert_eq!(value("delimiter"), "/", "nothing below is listed");
    let (prefix, after) = (value("prefix"), value("continuation-token"));
    let here = |key: &&String| key.strip_prefix(prefix.as_str()).is_some_and(|rest| !rest.contains('/'));
    let keys: Vec<&String> = objects.keys().filter(here).filter(|key| **key > after).collect();
    let mut page = String::from("<ListBucketResult>");
    for key in keys.iter().take(2) {
        let size = objects[*key].len();
        write!(
            page,
            "<Contents><Key>{key}</Key><Size>{size}</Size><LastModified>2026-11-28T10:11:12.000Z</LastModified></Contents>"
        )
        .unwrap();
    }
    if keys.len() > 2 {
        write!(page, "<NextContinuationToken>{}</NextContinuationToken>", keys[1]).unwrap();
    }
    page + "</ListBucketResult>"
}

#[test]
fn a_bucket_keeps_the_contract() {
    let service = Service::start();
    for address in ["s3://box/some/prefix/", "s3://box/other", "s3://box"] {
        // What is not below the prefix, or further below.
        service.objects.lock().unwrap().clear();
        for key in
            ["x.manifest/y", "some/x.manifest/z", "some/prefix/deep/x.manifest", "some/prefix2/x.manifest", "other-x/x.manifest"]
        {
            service.objects.lock().unwrap().insert(key.into(), b"not ours".to_vec());
        }
        let bucket = service.bucket(address, "ours");
        keeps_the_contract(&bucket);
        carries_records(&bucket);
        assert_eq!(service.objects.lock().unwrap().values().filter(|object| *object == b"not ours").count(), 5);
    }
}

#[test]
fn a_request_is_tried_again_where_the_service_asks_for_it() {
    let service = Service::start();
    let bucket = service.bucket("s3://box/x", "ours");
    service.busy.store(1, Ordering::SeqCst);
    bucket.put("a.manifest", b"text").unwrap();
    assert_eq!(service.busy.load(Ordering::SeqCst), 0);
    assert_eq!(bucket.get(&["a.manifest"]).unwrap(), [Some(b"text".to_vec())]);
}

#[test]
fn a_bucket_with_versions_keeps_what_is_deleted() {
    let service = Service::start();
    let bucket = service.bucket("s3://box/x", "ours");
    // Left by a look that was killed.
    service.objects.lock().unwrap().insert("x/.versions.part".into(), Vec::new());
    for (version, history) in [(None, None), (Some("3HL4kqtJlcpXroDTDmJ"), Some(History::Bucket)), (Some("null"), None)] {
        *service.version.lock().unwrap() = version;
        assert_eq!(bucket.history().unwrap(), history, "{version:?}");
        assert!(service.objects.lock().unwrap().is_empty(), "nothing is left");
    }
    assert!(matches!(service.bucket("s3://box/x", "somebody").history(), Err(Error::S3 { .. })));
}

#[test]
fn a_service_that_says_no_is_an_error_that_says_so() {
    let service = Service::start();
    let bucket = service.bucket("s3://box/x", "somebody");
    let errors = [
        bucket.list().err(),
        bucket.get(&["a.manifest"]).err(),
        bucket.put("a.manifest", b"").err(),
        bucket.delete(&["a.manifest"]).err(),
    ];
    for error in errors {
        let error = error.unwrap();
        assert!(matches!(error, Error::S3 { .. }));
        let text = error.to_string();
        assert!(text.contains("in s3://box/x: ") && text.contains("AccessDenied") && text.contains("AWS_*"), "{text}");
    }
}

#[test]
fn addresses() {
    let none = std::iter::empty;
    for wrong in ["s3:/box", "s3://", "s3:///x", "s3://b ox/x", "s3://box/a//b", "s3://box/../x"] {
        assert!(matches!(Bucket::with_variables(wrong, none()), Err(Error::Address { .. })), "{wrong}");
    }
    assert!(Bucket::with_variables("s3://box/a/b", none()).is_ok());
    assert!(sync::carrier("s3://box/x").is_ok());
}
