//! A server on loopback for a stand-in: on a port of 127.0.0.1 that the system picks, in a thread of its own. It ends when it is dropped.

use std::sync::Arc;
use std::thread::JoinHandle;

use tiny_http::{Request, Server};

pub struct Loopback {
    server: Arc<Server>,
    thread: Option<JoinHandle<()>>,
}

impl Loopback {
    /// Hands over one request after the other.
    pub fn serving(each: impl FnMut(Request) + Send + 'static) -> Self {
        let server = Arc::new(Server::http("127.0.0.1:0").expect("a port on loopback"));
        let requests = Arc::clone(&server);
        let thread = std::thread::spawn(move || requests.incoming_requests().for_each(each));
        Self { server, thread: Some(thread) }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.server.server_addr())
    }
}

impl Drop for Loopback {
    fn drop(&mut self) {
        self.server.unblock();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
