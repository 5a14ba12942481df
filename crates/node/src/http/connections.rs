//! Connections: a bounded number of them, each with the address it comes from. No address has more
//! than half of them, and one that says nothing is closed.

use super::fair_semaphore::{FairSemaphore, Share};
use crate::limits;
use axum::extract::connect_info::Connected;
use axum::serve::{IncomingStream, Listener};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream, UnixListener};
use tokio::time::{Instant, Sleep, sleep};

/// A listener that accepts no more than so many connections at a time.
#[derive(Debug)]
pub(super) struct Capped {
    listener: TcpListener,
    room: Arc<FairSemaphore>,
}

/// How long nothing may come or go on a connection: longer than any answer takes.
const IDLE: Duration = Duration::from_secs(75);

impl Capped {
    /// Caps a listener.
    pub(super) fn new(listener: TcpListener, most: usize) -> Capped {
        Capped { listener, room: Arc::new(FairSemaphore::new(most)) }
    }
}

impl Listener for Capped {
    type Io = HeldConnection;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (HeldConnection, SocketAddr) {
        loop {
            self.room.wait().await;
            // The trait's own accept sleeps on errors such as too many open files.
            let (stream, address) = Listener::accept(&mut self.listener).await;
            // Without it an answer of a few bytes waits for an acknowledgement.
            let _ = stream.set_nodelay(true);
            // One who has a share too many is hung up on.
            if let Some(room) = self.room.take(limits::source(address.ip())) {
                return (HeldConnection { stream, idle: Box::pin(sleep(IDLE)), _room: room }, address);
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// A connection, and its place among the bounded number of them.
#[derive(Debug)]
pub(super) struct HeldConnection {
    stream: TcpStream,
    idle: Pin<Box<Sleep>>,
    _room: Share,
}

impl HeldConnection {
    fn stirred(&mut self) {
        self.idle.as_mut().reset(Instant::now() + IDLE);
    }
}

impl AsyncRead for HeldConnection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if let Poll::Ready(read) = Pin::new(&mut self.stream).poll_read(cx, buf) {
            self.stirred();
            return Poll::Ready(read);
        }
        ready!(self.idle.as_mut().poll(cx));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncWrite for HeldConnection {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, buf);
        if written.is_ready() {
            self.stirred();
        }
        written
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, bufs);
        if written.is_ready() {
            self.stirred();
        }
        written
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

/// The address that a connection comes from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Peer(pub IpAddr);

impl Connected<IncomingStream<'_, Capped>> for Peer {
    fn connect_info(stream: IncomingStream<'_, Capped>) -> Peer {
        Peer(stream.remote_addr().ip())
    }
}

/// A socket that only the owner of this process may open. The store's lock is held by this process,
/// so a socket that is there was left by one that is gone.
pub(super) fn private_socket(path: &Path) -> io::Result<UnixListener> {
    use std::os::unix::fs::PermissionsExt;
    match std::fs::remove_file(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
        _ => {}
    }
    // It lies in a directory that only the owner may enter, so nobody can open it before this is done.
    let listener = UnixListener::bind(path)?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))?;
    Ok(listener)
}
