//! A client of a running node: HTTP over its socket, or over an address.

mod upload;

pub use upload::blob_path;

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1;
use hyper::header::HeaderName;
use hyper::{Method, Request, Response, StatusCode, header};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::PathBuf;
use tokio::net::{TcpStream, UnixStream};

/// The longest answer that is read into memory, in bytes.
const MAX_ANSWER: usize = 256 << 20;

const JSON: (HeaderName, &str) = (header::CONTENT_TYPE, "application/json");
const LINES: (HeaderName, &str) = (header::CONTENT_TYPE, "application/x-ndjson");

/// Why a node did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// Nobody listens there.
    #[error("no node answers at {at}: {cause}; `wats node` starts one")]
    Connect {
        /// Where.
        at: String,
        /// Why not.
        cause: io::Error,
    },
    /// The connection broke.
    #[error("the connection to the node broke: {0}")]
    Broken(String),
    /// The node refused, and says why.
    #[error("{}", said(*.status, .detail, *.retry_after))]
    Refused {
        /// The status.
        status: u16,
        /// Why.
        detail: String,
        /// When to try again, in seconds.
        retry_after: Option<u64>,
    },
    /// It is no answer of a node.
    #[error("unexpected response: not a wats node? ({0})")]
    Strange(String),
    /// What came could not be written.
    #[error(transparent)]
    Write(#[from] io::Error),
}

/// What a refusal says: its reason, and where it is the node's and not the client's, the status.
fn said(status: u16, detail: &str, retry_after: Option<u64>) -> String {
    match (status, retry_after) {
        (_, Some(seconds)) => format!("{detail}; try again in {seconds} s"),
        (500.., None) => format!("the node answers {status}: {detail}"),
        (_, None) => detail.to_owned(),
    }
}

/// Where a node is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    /// A Unix socket.
    Socket(PathBuf),
    /// An address.
    Address(SocketAddr),
}

impl std::fmt::Display for Node {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Node::Socket(path) => path.display().fmt(f),
            Node::Address(address) => address.fmt(f),
        }
    }
}

/// A connection to a node: one request at a time.
#[derive(Debug)]
pub struct Client {
    node: Node,
    token: Option<String>,
    sender: Option<http1::SendRequest<Full<Bytes>>>,
    runtime: tokio::runtime::Runtime,
}

impl Client {
    /// Connects.
    ///
    /// # Errors
    /// When nobody listens there.
    pub fn connect(node: Node) -> Result<Client, ClientError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let mut client = Client { node, token: None, sender: None, runtime };
        client.reconnect()?;
        Ok(client)
    }

    /// Shows a token with each request.
    #[must_use]
    pub fn with_token(mut self, token: String) -> Client {
        self.token = Some(token);
        self
    }

    fn reconnect(&mut self) -> Result<(), ClientError> {
        let at = self.node.to_string();
        let failed = |cause| ClientError::Connect { at, cause };
        let sender = self.runtime.block_on(async {
            match &self.node {
                Node::Socket(path) => shake(UnixStream::connect(path).await.map_err(failed)?).await,
                Node::Address(address) => shake(TcpStream::connect(address).await.map_err(failed)?).await,
            }
        })?;
        self.sender = Some(sender);
        Ok(())
    }

    /// Asks for a document.
    ///
    /// # Errors
    /// When the node does not answer, or with an error.
    pub fn get(&mut self, path: &str) -> Result<Value, ClientError> {
        let (_, body) = self.call(Method::GET, path, &[], Bytes::new())?;
        read_json(&body)
    }

    /// Sends a document, and reads one.
    ///
    /// # Errors
    /// When the node does not answer, or with an error.
    pub fn post(&mut self, path: &str, document: &Value) -> Result<Value, ClientError> {
        let body = document.to_string().into();
        let (_, body) = self.call(Method::POST, path, &[JSON], body)?;
        read_json(&body)
    }

    /// Sends an event's text; what became of it.
    ///
    /// # Errors
    /// When the node does not answer, or refuses it.
    pub fn event(&mut self, text: &str) -> Result<Value, ClientError> {
        let body = Bytes::copy_from_slice(text.as_bytes());
        let (_, body) = self.call(Method::POST, "/v1/events", &[JSON], body)?;
        read_json(&body)
    }

    /// Sends lines; a document for each, and when to send those again that were not taken.
    ///
    /// # Errors
    /// When the node does not answer, or with an error about all of them.
    pub fn lines(&mut self, path: &str, lines: Vec<u8>) -> Result<Vec<Value>, ClientError> {
        let (_, body) = self.call(Method::POST, path, &[LINES], lines.into())?;
        body.split(|&b| b == b'\n').filter(|line| !line.is_empty()).map(read_json).collect()
    }

    /// Writes an answer out as it comes.
    ///
    /// # Errors
    /// When the node does not answer, or with an error, or the answer breaks off.
    pub fn copy(&mut self, path: &str, out: &mut impl Write) -> Result<u64, ClientError> {
        let response = self.send(Method::GET, path, &[], Bytes::new())?;
        let status = response.status();
        if !status.is_success() {
            let retry = retry_after(response.headers());
            let body = self.runtime.block_on(collect(response))?;
            return Err(refused(status, retry, &body));
        }
        let mut body = response.into_body();
        let mut written = 0;
        while let Some(frame) = self.runtime.block_on(body.frame()) {
            let frame = frame.map_err(|e| ClientError::Broken(e.to_string()))?;
            if let Some(data) = frame.data_ref() {
                out.write_all(data)?;
                written += data.len() as u64;
            }
        }
        Ok(written)
    }

    fn call(
        &mut self,
        method: Method,
        path: &str,
        headers: &[(HeaderName, &str)],
        body: Bytes,
    ) -> Result<(StatusCode, Bytes), ClientError> {
        let response = self.send(method, path, headers, body)?;
        let (status, retry) = (response.status(), retry_after(response.headers()));
        let lines = response.headers().get(header::CONTENT_TYPE).is_some_and(|v| v == "application/x-ndjson");
        let body = self.runtime.block_on(collect(response))?;
        // Lines come with an outcome each, whatever the status.
        match status.is_success() || lines {
            true => Ok((status, body)),
            false => Err(refused(status, retry, &body)),
        }
    }

    fn send(
        &mut self,
        method: Method,
        path: &str,
        headers: &[(HeaderName, &str)],
        body: Bytes,
    ) -> Result<Response<Incoming>, ClientError> {
        if self.sender.as_ref().is_none_or(http1::SendRequest::is_closed) {
            self.reconnect()?;
        }
        let request = request(method, path, headers, self.token.as_deref(), body)?;
        let Some(sender) = &mut self.sender else {
            return Err(ClientError::Broken("it is closed".into()));
        };
        self.runtime
            .block_on(async {
                sender.ready().await?;
                sender.send_request(request).await
            })
            .map_err(|e| ClientError::Broken(e.to_string()))
    }
}

/// One request on a connection of its own, for those who run tasks; when this is dropped the node is told
/// so by the end of the connection.
///
/// # Errors
/// When the node does not answer, or with an error.
pub async fn ask(
    node: &Node,
    method: Method,
    path: &str,
    kind: &str,
    body: Bytes,
) -> Result<Value, ClientError> {
    let failed = |cause| ClientError::Connect { at: node.to_string(), cause };
    let mut sender = match node {
        Node::Socket(path) => shake(UnixStream::connect(path).await.map_err(failed)?).await?,
        Node::Address(address) => shake(TcpStream::connect(address).await.map_err(failed)?).await?,
    };
    let broken = |e: hyper::Error| ClientError::Broken(e.to_string());
    let kind = Some((header::CONTENT_TYPE, kind)).filter(|(_, kind)| !kind.is_empty());
    let request = request(method, path, kind.as_slice(), None, body)?;
    let response = sender.send_request(request).await.map_err(broken)?;
    let (status, retry) = (response.status(), retry_after(response.headers()));
    let body = collect(response).await?;
    match status.is_success() {
        true => read_json(&body),
        false => Err(refused(status, retry, &body)),
    }
}

/// A path with a query of what is given, each value escaped.
pub fn path(start: &str, query: &[(&str, Option<String>)]) -> String {
    let escape = |text: &str| -> String {
        let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b'~');
        text.bytes().map(|b| if plain(b) { char::from(b).to_string() } else { format!("%{b:02X}") }).collect()
    };
    let given =
        query.iter().filter_map(|(name, value)| Some(format!("{name}={}", escape(value.as_deref()?))));
    format!("{start}?{}", given.collect::<Vec<_>>().join("&"))
}

fn request(
    method: Method,
    path: &str,
    headers: &[(HeaderName, &str)],
    token: Option<&str>,
    body: Bytes,
) -> Result<Request<Full<Bytes>>, ClientError> {
    let mut request = Request::builder().method(method).uri(path).header(header::HOST, "wats");
    for (name, value) in headers {
        request = request.header(name, *value);
    }
    if let Some(token) = token {
        request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
    }
    request.body(Full::new(body)).map_err(|e| ClientError::Strange(e.to_string()))
}

async fn shake<S>(stream: S) -> Result<http1::SendRequest<Full<Bytes>>, ClientError>
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Send + Unpin + 'static,
{
    let shaken = http1::handshake(TokioIo::new(stream)).await;
    let (sender, connection) = shaken.map_err(|e| ClientError::Broken(e.to_string()))?;
    // Its errors come up in the request.
    tokio::spawn(async move { drop(connection.await) });
    Ok(sender)
}

async fn collect(response: Response<Incoming>) -> Result<Bytes, ClientError> {
    let body = http_body_util::Limited::new(response.into_body(), MAX_ANSWER).collect().await;
    body.map(http_body_util::Collected::to_bytes).map_err(|e| ClientError::Broken(e.to_string()))
}

/// When to ask again, in seconds.
pub fn retry_after(headers: &hyper::HeaderMap) -> Option<u64> {
    headers.get(header::RETRY_AFTER)?.to_str().ok()?.parse().ok()
}

/// A refusal of the node, read from its problem document.
pub fn refused(status: StatusCode, retry_after: Option<u64>, body: &[u8]) -> ClientError {
    let problem: Value = serde_json::from_slice(body).unwrap_or_default();
    let detail = problem["detail"].as_str().unwrap_or("it does not say why").to_owned();
    ClientError::Refused { status: status.as_u16(), detail, retry_after }
}

/// Reads a document.
///
/// # Errors
/// When it is not JSON.
pub fn read_json(body: impl AsRef<[u8]>) -> Result<Value, ClientError> {
    serde_json::from_slice(body.as_ref()).map_err(|e| ClientError::Strange(e.to_string()))
}
