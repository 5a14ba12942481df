//! `/mcp` of the node.

use super::http::{Answer, answer, connect};
use super::{House, Other, Served, mcp};
use serde_json::{Value, json};
use std::io::Write;

/// A host of agents that speaks to the node over HTTP, with its token.
pub(crate) struct Remote {
    address: std::net::SocketAddr,
    token: String,
}

impl Remote {
    pub(crate) fn of(served: &Served) -> Remote {
        Remote { address: served.address.parse().expect("an address"), token: served.token.clone() }
    }

    fn post(&self, path: &str, headers: &[(&str, &str)], message: &Value) -> Answer {
        self.post_as("localhost", path, headers, message)
    }

    fn post_as(&self, host: &str, path: &str, headers: &[(&str, &str)], message: &Value) -> Answer {
        let body = message.to_string();
        let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let request = format!(
            "POST {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Length: {}\r\n\
             Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
             {headers}\r\n{body}",
            body.len()
        );
        let mut stream = connect(self.address);
        // A node that has heard enough answers before the end.
        let _ = stream.write_all(request.as_bytes());
        answer(stream).expect("an answer")
    }

    pub(crate) fn call(&self, tool: &str, arguments: Value) -> Result<Value, String> {
        let bearer = format!("Bearer {}", self.token);
        let params = json!({ "name": tool, "arguments": arguments });
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        let headers = [("Authorization", bearer.as_str()), ("MCP-Protocol-Version", "2025-11-25")];
        let answer = self.post("/mcp", &headers, &message);
        assert_eq!(answer.status, 200, "{}", String::from_utf8_lossy(&answer.body));
        mcp::outcome(&answer.json())
    }
}

#[test]
fn token_holders_use_the_same_tools_and_nobody_else_does() {
    let house = House::new("remote");
    let served = house.serve();
    let remote = Remote::of(&served);
    let id = remote.call("ask", json!({ "title": "Over HTTP?" })).expect("said")["id"].clone();
    let id = id.as_str().expect("an id");
    let other = Other::new(7).answer(&house, id, "Yes.");
    let thread = remote.call("read", json!({ "id": other })).expect("read");
    assert_eq!(thread["root"]["id"], id);
    assert_eq!(remote.call("whoami", json!({})), house.host().call("whoami", json!({})));
    // Without the token, with another, from a browser's page, under another name.
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    let bearer = format!("Bearer {}", remote.token);
    let right = ("Authorization", bearer.as_str());
    let status = |headers: &[(&str, &str)]| remote.post("/mcp", headers, &message).status;
    assert_eq!(status(&[right]), 200);
    assert_eq!(status(&[]), 401);
    assert_eq!(status(&[("Authorization", "Bearer another-token-for-agents")]), 401);
    assert_eq!(status(&[right, ("Origin", "https://example.org")]), 403);
    assert_eq!(status(&[right, ("Origin", "null")]), 403);
    assert_eq!(status(&[right, ("Origin", "http://localhost:6274")]), 200, "a page of this machine's own");
    assert_eq!(remote.post_as("example.org", "/mcp", &[right], &message).status, 403);
    // The network by its name; no other.
    assert_eq!(remote.post("/mcp/main", &[right], &message).status, 200);
    assert_eq!(remote.post("/mcp/other", &[right], &message).status, 404);
    let long = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": "x".repeat(5 << 20) });
    assert_eq!(remote.post("/mcp", &[right], &long).status, 413);
}

#[test]
fn without_a_token_nobody_speaks_with_the_nodes_key_over_http() {
    let house = House::new("closed");
    let mut host = house.host();
    host.good("whoami", json!({}));
    let log = std::fs::read_to_string(house.dir().join("node.log")).expect("a log");
    let address = log.split("address=").nth(1).and_then(|rest| rest.split(' ').next()).expect("an address");
    let remote = Remote { address: address.parse().expect("an address"), token: String::new() };
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    let answer = remote.post("/mcp", &[], &message);
    assert_eq!(answer.status, 403);
    assert!(answer.json()["detail"].as_str().is_some_and(|detail| detail.contains("token_file")));
}
