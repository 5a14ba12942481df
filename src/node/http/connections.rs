//! Connections: a bounded number of them, each with the address it comes from.

use axum::extract::connect_info::Connected;
use axum::serve::{IncomingStream, Listener};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream, UnixListener};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// A listener that accepts no more than so many connections at a time.
#[derive(Debug)]
pub struct Capped {
    listener: TcpListener,
    room: Arc<Semaphore>,
}

impl Capped {
    /// Caps a listener.
    pub fn new(listener: TcpListener, most: usize) -> Capped {
        Capped { listener, room: Arc::new(Semaphore::new(most)) }
    }
}

impl Listener for Capped {
    type Io = Held;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Held, SocketAddr) {
        loop {
            let Ok(room) = self.room.clone().acquire_owned().await else {
                // The semaphore is never closed.
                continue;
            };
            // The trait's own accept sleeps on errors such as too many open files.
            let (stream, address) = Listener::accept(&mut self.listener).await;
            // Without it an answer of a few bytes waits for an acknowledgement.
            let _ = stream.set_nodelay(true);
            return (Held { stream, _room: room }, address);
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// A connection, and its place among the bounded number of them.
#[derive(Debug)]
pub struct Held {
    stream: TcpStream,
    _room: OwnedSemaphorePermit,
}

impl AsyncRead for Held {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for Held {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, buf)
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
        Pin::new(&mut self.stream).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

/// The address that a connection comes from.
#[derive(Clone, Copy, Debug)]
pub struct Peer(pub IpAddr);

impl Connected<IncomingStream<'_, Capped>> for Peer {
    fn connect_info(stream: IncomingStream<'_, Capped>) -> Peer {
        Peer(stream.remote_addr().ip())
    }
}

/// A socket that only the owner of this process may open. The store's lock is held by this process,
/// so a socket that is there was left by one that is gone.
pub fn private_socket(path: &Path) -> io::Result<UnixListener> {
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
