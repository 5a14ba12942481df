//! The connections between the processes of a cluster: made in a bounded time, between processes that
//! are set up alike, and telling when one breaks.

use super::Cluster;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};
use timely::communication::allocator::zero_copy::stream::Stream;

/// Why processes did not come together.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// The own address cannot be had.
    #[error(
        "cannot listen at {address}, the address of process {process}: {cause}; give each process an address of its machine that nothing else uses"
    )]
    Listen {
        /// This process.
        process: usize,
        /// Its address.
        address: String,
        /// Why not.
        cause: io::Error,
    },
    /// A process was not there in time.
    #[error(
        "process {process} at {address} did not come up within {wait:?} ({cause}); start all processes, with the same addresses"
    )]
    Absent {
        /// The process.
        process: usize,
        /// Its address.
        address: String,
        /// How long it was waited for.
        wait: Duration,
        /// What was last seen of it.
        cause: String,
    },
    /// A process is there, and is set up otherwise.
    #[error("process {process} at {address} {what}; start all processes alike")]
    Unlike {
        /// The process.
        process: usize,
        /// Its address.
        address: String,
        /// In what it differs.
        what: String,
    },
}

/// A process that was there and is gone.
#[derive(Clone, Debug, thiserror::Error)]
#[error(
    "process {process} at {address} is gone ({cause}); no process can go on without its share: start all anew"
)]
pub struct Lost {
    /// The process.
    pub process: usize,
    /// Its address.
    pub address: String,
    /// What was seen of it.
    pub cause: String,
}

/// The first process that was lost, if any.
pub(crate) type FirstLost = Arc<OnceLock<Lost>>;

/// The connections of a process, by process; none to itself.
pub(crate) struct Links {
    pub sockets: Vec<Option<Link>>,
    pub lost: FirstLost,
}

/// How long to sleep before looking again for a process that is not there.
const PAUSE: Duration = Duration::from_millis(20);

/// How long a caller may take to say who it is: processes of a cluster say so at once.
const INTRODUCTION: Duration = Duration::from_secs(2);

/// Connects a process with all others: it calls those before it, and those after it call.
///
/// `settings` stands for all that must be the same everywhere.
///
/// # Errors
/// When the own address cannot be had, or another process is not there in time or is set up otherwise.
pub(crate) fn connect(cluster: &Cluster, settings: u64) -> Result<Links, LinkError> {
    let (own, processes) = (cluster.process, cluster.addresses.len());
    let meeting = Meeting { cluster, settings, deadline: Instant::now() + cluster.wait };
    let mut streams: Vec<Option<TcpStream>> = (0..processes).map(|_| None).collect();
    let listener = if own + 1 < processes { Some(meeting.listen()?) } else { None };
    for (peer, stream) in streams.iter_mut().enumerate().take(own) {
        *stream = Some(meeting.call(peer)?);
    }
    if let Some(listener) = listener {
        meeting.receive(&listener, &mut streams)?;
    }
    let lost = FirstLost::default();
    let link = |(process, stream): (usize, Option<TcpStream>)| {
        let peer = Peer { process, address: cluster.addresses[process].clone(), lost: lost.clone() };
        Some(Link { stream: stream?, peer: Arc::new(peer), frames: Frames::default() })
    };
    Ok(Links { sockets: streams.into_iter().enumerate().map(link).collect(), lost: lost.clone() })
}

/// A process on its way to the others.
struct Meeting<'a> {
    cluster: &'a Cluster,
    settings: u64,
    deadline: Instant,
}

impl Meeting<'_> {
    fn listen(&self) -> Result<TcpListener, LinkError> {
        let process = self.cluster.process;
        let address = &self.cluster.addresses[process];
        let listener = TcpListener::bind(address).and_then(|l| l.set_nonblocking(true).map(|()| l));
        listener.map_err(|cause| LinkError::Listen { process, address: address.clone(), cause })
    }

    fn absent(&self, process: usize, cause: impl std::fmt::Display) -> LinkError {
        let (address, wait) = (self.cluster.addresses[process].clone(), self.cluster.wait);
        LinkError::Absent { process, address, wait, cause: cause.to_string() }
    }

    fn left(&self) -> Duration {
        // A time limit of zero would mean none.
        self.deadline.saturating_duration_since(Instant::now()).max(PAUSE)
    }

    /// Calls a process before this one until it answers.
    fn call(&self, peer: usize) -> Result<TcpStream, LinkError> {
        loop {
            match self.dial(&self.cluster.addresses[peer]).and_then(|s| self.introduce(s)) {
                Ok((stream, theirs)) => return self.alike(peer, &theirs).map(|()| stream),
                Err(cause) if Instant::now() >= self.deadline => return Err(self.absent(peer, cause)),
                Err(_) => thread::sleep(PAUSE),
            }
        }
    }

    /// Connects within the time that is left: an address that swallows everything is given up as well.
    fn dial(&self, address: &str) -> io::Result<TcpStream> {
        let mut last = io::Error::new(io::ErrorKind::NotFound, "its name has no address");
        for address in address.to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, self.left()) {
                Ok(stream) => return Ok(stream),
                Err(e) => last = e,
            }
        }
        Err(last)
    }

    /// Says who this is, and waits for the answer: the other may still be calling others.
    fn introduce(&self, mut stream: TcpStream) -> io::Result<(TcpStream, Greeting)> {
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(self.left()))?;
        stream.write_all(&self.greeting().to_bytes())?;
        let greeting = Greeting::read(&mut stream)?;
        stream.set_read_timeout(None)?;
        Ok((stream, greeting))
    }

    /// Waits for the calls of all processes after this one.
    fn receive(&self, listener: &TcpListener, streams: &mut [Option<TcpStream>]) -> Result<(), LinkError> {
        let own = self.cluster.process;
        while let Some(missing) = (own + 1..streams.len()).find(|peer| streams[*peer].is_none()) {
            match listener.accept().and_then(|(stream, _)| self.answer(stream)) {
                Ok((stream, theirs)) => {
                    let peer = theirs.process as usize;
                    // Another that claims a number already taken is not heard.
                    if peer > own && streams.get(peer).is_some_and(Option::is_none) {
                        self.alike(peer, &theirs)?;
                        streams[peer] = Some(stream);
                    }
                }
                Err(_) if Instant::now() >= self.deadline => {
                    return Err(self.absent(missing, "it did not call"));
                }
                // Nobody yet, or somebody who is not of the cluster.
                Err(_) => thread::sleep(PAUSE),
            }
        }
        Ok(())
    }

    /// Hears who calls, and says who this is.
    fn answer(&self, mut stream: TcpStream) -> io::Result<(TcpStream, Greeting)> {
        stream.set_nonblocking(false)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(INTRODUCTION))?;
        let greeting = Greeting::read(&mut stream)?;
        stream.write_all(&self.greeting().to_bytes())?;
        stream.set_read_timeout(None)?;
        Ok((stream, greeting))
    }

    fn greeting(&self) -> Greeting {
        Greeting {
            version: Greeting::VERSION,
            process: self.cluster.process as u64,
            processes: self.cluster.addresses.len() as u64,
            workers: self.cluster.workers as u64,
            settings: self.settings,
        }
    }

    /// Whether the other is who it should be, and is set up like this process.
    fn alike(&self, process: usize, theirs: &Greeting) -> Result<(), LinkError> {
        let ours = self.greeting();
        let what = if theirs.version != ours.version {
            "is another version of wats".to_owned()
        } else if theirs.process != process as u64 {
            format!("says that it is process {}", theirs.process)
        } else if theirs.processes != ours.processes {
            format!("counts {} processes and this one {}", theirs.processes, ours.processes)
        } else if theirs.workers != ours.workers {
            format!("has {} workers and this one {}", theirs.workers, ours.workers)
        } else if theirs.settings != ours.settings {
            "has another configuration".to_owned()
        } else {
            return Ok(());
        };
        Err(LinkError::Unlike { process, address: self.cluster.addresses[process].clone(), what })
    }
}

/// What processes say first to each other.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Greeting {
    version: [u8; 16],
    process: u64,
    processes: u64,
    workers: u64,
    settings: u64,
}

impl Greeting {
    /// Before everything: who is not of wats is not of the cluster.
    const MAGIC: [u8; 8] = *b"wats\0cl1";

    /// The version of wats, filled up with zeros.
    const VERSION: [u8; 16] = {
        let (text, mut version, mut at) = (env!("CARGO_PKG_VERSION").as_bytes(), [0; 16], 0);
        while at < text.len() && at < version.len() {
            version[at] = text[at];
            at += 1;
        }
        version
    };

    fn to_bytes(&self) -> Vec<u8> {
        let numbers = [self.process, self.processes, self.workers, self.settings];
        let numbers = numbers.iter().flat_map(|n| n.to_be_bytes());
        Greeting::MAGIC.into_iter().chain(self.version).chain(numbers).collect()
    }

    fn read(from: &mut impl Read) -> io::Result<Greeting> {
        let (mut magic, mut version) = ([0; 8], [0; 16]);
        from.read_exact(&mut magic)?;
        if magic != Greeting::MAGIC {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "something else than wats is there"));
        }
        from.read_exact(&mut version)?;
        let mut numbers = [0; 4];
        for number in &mut numbers {
            let mut bytes = [0; 8];
            from.read_exact(&mut bytes)?;
            *number = u64::from_be_bytes(bytes);
        }
        let [process, processes, workers, settings] = numbers;
        Ok(Greeting { version, process, processes, workers, settings })
    }
}

/// The other end of a connection.
struct Peer {
    process: usize,
    address: String,
    lost: FirstLost,
}

impl Peer {
    /// Records that the process is gone, and ends here: timely's threads know no other way to stop than
    /// to panic. The operator sees the record, and the threads end with this process.
    fn lose(&self, cause: impl std::fmt::Display) -> ! {
        let lost = Lost { process: self.process, address: self.address.clone(), cause: cause.to_string() };
        // The first cause is the one to tell.
        let _ = self.lost.set(lost);
        loop {
            thread::park();
        }
    }
}

/// A connection as timely uses it.
pub(crate) struct Link {
    stream: TcpStream,
    peer: Arc<Peer>,
    frames: Frames,
}

impl Read for Link {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.stream.read(buffer) {
                Ok(0) if !self.frames.ended => self.peer.lose("it closed the connection"),
                Ok(read) => {
                    self.frames.pass(&buffer[..read]);
                    return Ok(read);
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(_) if self.frames.ended => return Ok(0),
                Err(e) => self.peer.lose(e),
            }
        }
    }
}

impl Write for Link {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.stream.write(bytes) {
            Err(e) if e.kind() != io::ErrorKind::Interrupted => self.peer.lose(e),
            other => other,
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

impl Stream for Link {
    fn try_clone(&self) -> io::Result<Link> {
        let stream = self.stream.try_clone()?;
        Ok(Link { stream, peer: self.peer.clone(), frames: Frames::default() })
    }

    fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()> {
        self.stream.set_nonblocking(nonblocking)
    }

    fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        // Where the other end is closed already there is nothing left to shut.
        let _ = self.stream.shutdown(how);
        Ok(())
    }
}

/// Bytes of a header of timely's messages, and where in it the length of what follows stands.
const HEADER: usize = 48;
const LENGTH: std::ops::Range<usize> = 32..40;

/// Follows timely's messages as they pass, to know the last one, which has no body: what closes before
/// it is lost.
struct Frames {
    header: [u8; HEADER],
    /// Bytes of the header that have passed.
    have: usize,
    /// Bytes of the body that are to come.
    body: u64,
    ended: bool,
}

impl Default for Frames {
    fn default() -> Frames {
        Frames { header: [0; HEADER], have: 0, body: 0, ended: false }
    }
}

impl Frames {
    fn pass(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let skipped = usize::try_from(self.body).unwrap_or(usize::MAX).min(bytes.len());
            self.body -= skipped as u64;
            bytes = &bytes[skipped..];
            let taken = (HEADER - self.have).min(bytes.len());
            self.header[self.have..self.have + taken].copy_from_slice(&bytes[..taken]);
            self.have += taken;
            bytes = &bytes[taken..];
            if self.have == HEADER {
                let mut length = [0; 8];
                length.copy_from_slice(&self.header[LENGTH]);
                self.body = u64::from_be_bytes(length);
                self.have = 0;
                self.ended |= self.body == 0;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use timely::communication::networking::MessageHeader;

    fn message(length: usize) -> Vec<u8> {
        let header =
            MessageHeader { channel: 3, source: 1, target_lower: 0, target_upper: 1, length, seqno: 9 };
        let mut bytes = Vec::new();
        header.write_to(&mut bytes).expect("a vector takes all");
        bytes.resize(bytes.len() + length, 0);
        bytes
    }

    #[test]
    fn the_last_message_is_known_however_it_is_cut() {
        let all = [message(100), message(7), message(48), message(0)].concat();
        for cut in [1, 5, 47, 48, 49, 100, all.len()] {
            let mut frames = Frames::default();
            let (before, last) = all.split_at(all.len() - 1);
            before.chunks(cut).for_each(|chunk| frames.pass(chunk));
            assert!(!frames.ended, "cut into {cut}");
            frames.pass(last);
            assert!(frames.ended, "cut into {cut}");
        }
    }

    #[test]
    fn a_greeting_is_read_as_written_and_nothing_else_is() {
        let greeting =
            Greeting { version: Greeting::VERSION, process: 1, processes: 2, workers: 3, settings: 4 };
        let bytes = greeting.to_bytes();
        assert_eq!(Greeting::read(&mut bytes.as_slice()).expect("a greeting"), greeting);
        assert!(Greeting::read(&mut &bytes[..bytes.len() - 1]).is_err());
        assert!(Greeting::read(&mut b"GET / HTTP/1.1\r\n\r\n".as_slice()).is_err());
    }
}
