//! The file that says where each process listens.

use std::io;
use std::path::Path;
use wats_config::{MAX_CONFIG, read_capped};

/// Why a file of addresses cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum HostsError {
    /// It cannot be read.
    #[error(
        "{file}: cannot be read: {cause}; it holds one address a line, like 10.0.0.2:2101, in the order of the processes"
    )]
    Read {
        /// The file.
        file: String,
        /// Why not.
        cause: io::Error,
    },
    /// A line is no address.
    #[error("{file}:{line}: `{text}` is not an address like 10.0.0.2:2101, host-b:2101 or [::1]:2101")]
    NoAddress {
        /// The file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// What stands there.
        text: String,
    },
    /// An address stands there twice.
    #[error("{file}:{line}: {text} stands on line {before} too; each process needs an address of its own")]
    Twice {
        /// The file.
        file: String,
        /// The later line, from 1.
        line: usize,
        /// The earlier line.
        before: usize,
        /// The address.
        text: String,
    },
    /// There are fewer addresses than processes.
    #[error("{file}: {found} addresses for {processes} processes; each needs a line of its own")]
    TooFew {
        /// The file.
        file: String,
        /// How many there are.
        found: usize,
        /// How many are needed.
        processes: usize,
    },
}

/// The longest address that is shown or taken: a name has 253 bytes at most, a port five digits.
const MAX_ADDRESS: usize = 260;

/// Reads the addresses of `processes` processes: one a line, in their order; blank lines and lines
/// that begin with `#` are passed over, and so is what follows the last address needed.
///
/// # Errors
/// When the file cannot be read, or says too little, or something that is no address.
pub fn read_hosts(path: &Path, processes: usize) -> Result<Vec<String>, HostsError> {
    let file = path.display().to_string();
    let text =
        read_capped(path, MAX_CONFIG).map_err(|cause| HostsError::Read { file: file.clone(), cause })?;
    let mut found: Vec<(usize, &str)> = Vec::new();
    for (line, address) in (1..).zip(text.lines().map(str::trim)) {
        if address.is_empty() || address.starts_with('#') || found.len() == processes {
            continue;
        }
        if !is_address(address) {
            let text = address.chars().take(MAX_ADDRESS).collect();
            return Err(HostsError::NoAddress { file, line, text });
        }
        if let Some(&(before, _)) = found.iter().find(|(_, other)| *other == address) {
            return Err(HostsError::Twice { file, line, before, text: address.to_owned() });
        }
        found.push((line, address));
    }
    if found.len() < processes {
        return Err(HostsError::TooFew { file, found: found.len(), processes });
    }
    Ok(found.into_iter().map(|(_, address)| address.to_owned()).collect())
}

/// A name or number of a host, a colon and a port; whether it resolves is seen when it is used.
fn is_address(text: &str) -> bool {
    let Some((host, port)) = text.rsplit_once(':') else {
        return false;
    };
    let numbered = host.starts_with('[') && host.ends_with(']');
    let named = !host.is_empty() && !host.contains([':', '[', ']']);
    let printable = text.len() <= MAX_ADDRESS && text.bytes().all(|b| b.is_ascii_graphic());
    printable && (numbered || named) && port.parse::<u16>().is_ok_and(|port| port > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_a_host_and_a_port() {
        for good in ["10.0.0.2:2101", "host-b:1", "[::1]:65535", "localhost:2101"] {
            assert!(is_address(good), "{good}");
        }
        for bad in ["", "host", ":2101", "host:", "host:0", "host:65536", "::1:2101", "a b:1", "h\u{1b}:1"] {
            assert!(!is_address(bad), "{bad}");
        }
    }
}
